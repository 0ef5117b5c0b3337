//! Inboxes, their floors, the rows that fan-out and settle jobs write into them; and jobs.

use std::ops::ControlFlow;

use model::error::Result;
use model::store::{Delivery, Inboxes, Then, Tier};
use model::{ContentId, Cursor, Entry, Job, JobId, LANES, Lane, Order, Progress, Reach, Span, UserId, Work};

use super::{Double, Fault, State, walk};

impl Inboxes for Double {
    fn inbox(
        &self,
        user: UserId,
        span: Span<ContentId>,
        order: Order,
        _: Tier,
        visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<Option<Cursor>> {
        let (floor, mut rows) = {
            let state = self.state();
            let (floor, rows) = state.early.get(&user).cloned().unwrap_or_else(|| state.inbox_with_floor(user));
            (floor, walk(rows.into_iter(), |row| row.cursor, span.newer_than(floor).scan(order, usize::MAX)))
        };
        if self.fault == Some(Fault::PathsOnce) {
            rows.dedup_by_key(|row| row.cursor);
        }
        // The lock is released: `visit` may call the store.
        let _ = rows.into_iter().try_for_each(visit);
        Ok(floor)
    }

    fn raise_floor(&self, user: UserId, floor: Cursor) -> Result<()> {
        self.state().raise_floor(user, floor);
        Ok(())
    }

    fn begin_fan_out(&self, job: JobId, entry: Entry, reach: Reach) -> Result<()> {
        let mut state = self.state();
        state.set_progress(job, Progress { reach, done_to: None });
        if reach != Reach::All {
            state.note_unpushed(entry, reach);
        }
        Ok(())
    }

    fn deliver(&self, delivery: &Delivery<'_>) -> Result<()> {
        let mut state = self.state();
        // What the caller was told may lack the kind.
        let entry = match (self.fault, state.jobs.get(&delivery.job)) {
            (Some(Fault::PendingWithoutKind), Some((Work::FanOut { entry }, _))) => *entry,
            _ => delivery.entry,
        };
        for user in delivery.recipients {
            if Some(&entry.cursor) > state.floors.get(user) {
                state.put_row(*user, entry);
            }
        }
        match delivery.then {
            Then::Nothing => {}
            Then::Progress(progress) => state.set_progress(delivery.job, progress),
            Then::End => state.end_job(delivery.job),
        }
        Ok(())
    }

    // Counts the source's rows put or removed above the new floor.
    fn settle(&self, job: JobId, user: UserId, source: UserId, room: usize) -> Result<usize> {
        let mut state = self.state();
        let is_above = |floor: Option<Cursor>, entry: &Entry| Some(entry.cursor) > floor;

        let mut wanted: Vec<Entry> = Vec::new();
        if state.follows(user, source) {
            let floor = state.floors.get(&user).copied();
            let mut newest = state.outbox_of(source).rev().filter(|entry| is_above(floor, entry));
            wanted = newest.by_ref().take(room).collect();
            let left_out = newest.next();
            drop(newest);
            if let Some(first) = left_out {
                state.raise_floor(user, first.cursor);
            }
        }

        let floor = state.floors.get(&user).copied();
        let present: Vec<Entry> = state.inbox_of(user).filter(|row| row.source == source).collect();
        let mut changed = 0;
        for entry in present.iter().filter(|row| !wanted.contains(row)) {
            state.inbox.remove(&(user, entry.cursor, entry.source));
            changed += usize::from(is_above(floor, entry));
        }
        for entry in wanted.iter().filter(|entry| !present.contains(entry)) {
            state.put_row(user, *entry);
            changed += 1;
        }
        state.end_job(job);
        Ok(changed)
    }

    fn drop_job(&self, job: JobId) -> Result<()> {
        self.state().end_job(job);
        Ok(())
    }

    fn write_arrivals(&self) -> Result<()> {
        Ok(())
    }

    // Nothing here can be damaged.
    fn drop_damaged_inboxes(&self) -> Result<()> {
        Ok(())
    }

    fn jobs(&self) -> Result<Vec<Job>> {
        let state = self.state();
        Ok(state.jobs.iter().map(|(id, (work, progress))| Job { id: *id, work: *work, progress: *progress }).collect())
    }
}

impl State {
    /// A user's rows, oldest first, also those at or below the floor.
    fn inbox_of(&self, user: UserId) -> impl Iterator<Item = Entry> {
        let rows = self.inbox.range((user, Cursor::OLDEST, UserId::MIN)..=(user, Cursor::NEWEST, UserId::MAX));
        rows.map(|(_, entry)| *entry)
    }

    /// Puts a row into an inbox.
    pub(super) fn put_row(&mut self, user: UserId, entry: Entry) {
        self.inbox.insert((user, entry.cursor, entry.source), entry);
    }

    /// The floor, and all rows.
    pub(super) fn inbox_with_floor(&self, user: UserId) -> (Option<Cursor>, Vec<Entry>) {
        (self.floors.get(&user).copied(), self.inbox_of(user).collect())
    }

    pub(super) fn raise_floor(&mut self, user: UserId, floor: Cursor) {
        let present = self.floors.entry(user).or_insert(floor);
        *present = floor.max(*present);
    }
}

impl State {
    /// Makes a job with the next number.
    pub(super) fn add_job(&mut self, work: Work) -> Job {
        self.last_job += 1;
        let lane = match Lane::new((self.last_job % u64::from(LANES)) as u16) {
            Some(own) if self.lane_per_job => own,
            _ => work.lane(),
        };
        let id = JobId { lane, seq: self.last_job };
        self.jobs.insert(id, (work, None));
        Job { id, work, progress: None }
    }

    /// Records that an item does not reach all followers.
    pub(super) fn note_unpushed(&mut self, entry: Entry, reach: Reach) {
        self.unpushed_version += u64::from(!self.unpushed.contains_key(&entry.source));
        let unpushed = self.unpushed.entry(entry.source).or_default();
        let newest = if reach == Reach::Nobody { &mut unpushed.to_nobody } else { &mut unpushed.to_active };
        *newest = (*newest).max(Some(entry.cursor));
    }

    /// Records a job's progress; does nothing if it has ended.
    pub(super) fn set_progress(&mut self, job: JobId, progress: Progress) {
        if let Some((_, recorded)) = self.jobs.get_mut(&job) {
            *recorded = Some(progress);
        }
    }

    pub(super) fn end_job(&mut self, job: JobId) {
        self.jobs.remove(&job);
    }
}
