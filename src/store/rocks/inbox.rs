//! Inboxes: reads, deliveries, settle jobs, floors; and jobs.

use std::collections::HashSet;
use std::ops::ControlFlow;

use rocksdb::{ReadOptions, WriteBatch};

use super::tables::{FOLLOWING, INBOX, JOBS, UNPUSHED};
use super::walk::Walk;
use super::{Rocks, keys, storage, values};
use crate::error::{Error, Result};
use crate::failpoint::Write;
use crate::model::{ContentId, Cursor, Entry, Job, JobId, Order, Progress, Reach, Span, UserId, Work};
use crate::store::{Activities, Delivery, Inboxes, Lists, Then, Tier};

impl Inboxes for Rocks {
    fn inbox(
        &self,
        user: UserId,
        span: Span<ContentId>,
        order: Order,
        tier: Tier,
        visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<Option<Cursor>> {
        let mut walk = Walk::new(self, INBOX, tier)?;
        let floor = read_floor(walk.head(user.get())?)?;
        walk.rows(user.get(), span.newer_than(floor), order, &mut |cursor, value| {
            Ok(visit(Entry { cursor, author: values::read_author(value)? }))
        })?;
        Ok(floor)
    }

    fn raise_floor(&self, user: UserId, floor: Cursor) -> Result<()> {
        let _lock = self.floor_locks.of(user.get()).lock();
        let mut batch = WriteBatch::default();
        self.put_floor(&mut batch, user, floor)?;
        self.follow_up(Write::RaiseFloor, batch)
    }

    fn begin_fan_out(&self, job: JobId, entry: Entry, reach: Reach) -> Result<()> {
        let mut batch = WriteBatch::default();
        let progress = Some(Progress { reach, done_to: None });
        batch.put_cf(self.family(JOBS)?, keys::job(job), values::job(&Work::FanOut { entry }, progress)?);
        // Read, then written: the author's lane runs no other fan-out of the author meanwhile.
        let mut unpushed = self.unpushed(entry.author, Tier::Disk)?;
        match reach {
            Reach::All => {}
            Reach::Active => unpushed.to_active = unpushed.to_active.max(Some(entry.cursor)),
            Reach::Nobody => unpushed.to_nobody = unpushed.to_nobody.max(Some(entry.cursor)),
        }
        if reach != Reach::All {
            let key = keys::id(entry.author.get());
            batch.put_cf(self.family(UNPUSHED)?, key, values::unpushed(unpushed));
        }
        self.follow_up(Write::BeginFanOut, batch)?;
        if reach != Reach::All {
            self.unpushed.set(entry.author, unpushed);
        }
        Ok(())
    }

    fn deliver(&self, delivery: &Delivery<'_>) -> Result<()> {
        let (inbox, jobs) = (self.family(INBOX)?, self.family(JOBS)?);
        let author = values::author(delivery.entry.author);
        let mut batch = WriteBatch::with_capacity_bytes(64 + 40 * delivery.recipients.len());
        for user in delivery.recipients {
            batch.put_cf(inbox, keys::entry(*user, delivery.entry.cursor), author);
        }
        match delivery.then {
            Then::Nothing => {}
            Then::Progress(progress) => {
                let work = Work::FanOut { entry: delivery.entry };
                batch.put_cf(jobs, keys::job(delivery.job), values::job(&work, Some(progress))?);
            }
            Then::End => batch.delete_cf(jobs, keys::job(delivery.job)),
        }
        self.follow_up(Write::Deliver, batch)
    }

    fn settle(&self, job: JobId, user: UserId, author: UserId, room: usize) -> Result<usize> {
        let mut batch = WriteBatch::default();
        batch.delete_cf(self.family(JOBS)?, keys::job(job));
        let mut present = Vec::new();
        let floor = self.every_row(user, |entry| {
            if entry.author == author {
                present.push(entry.cursor);
            }
        })?;
        let following = self.get(FOLLOWING, &keys::pair(user, author), Tier::Disk)?.is_some();
        let (mut wanted, mut new_floor) = (Vec::new(), None);
        if following {
            let span = Span::ALL.newer_than(floor);
            wanted = self.outboxes(&[author], span, Order::NewestFirst, room.saturating_add(1), Tier::Disk)?;
            new_floor = wanted.get(room).map(|entry| entry.cursor);
            wanted.truncate(room);
        }
        let wanted: HashSet<_> = wanted.iter().map(|entry| entry.cursor).collect();
        let had: HashSet<_> = present.iter().copied().collect();
        let inbox = self.family(INBOX)?;
        for cursor in wanted.difference(&had) {
            batch.put_cf(inbox, keys::entry(user, *cursor), values::author(author));
        }
        for cursor in had.difference(&wanted) {
            batch.delete_cf(inbox, keys::entry(user, *cursor));
        }
        let floor = floor.max(new_floor);
        let changed = wanted.symmetric_difference(&had).filter(|cursor| Some(**cursor) > floor).count();
        let _lock = self.floor_locks.of(user.get()).lock();
        if let Some(floor) = new_floor {
            self.put_floor(&mut batch, user, floor)?;
        }
        self.follow_up(Write::Settle, batch)?;
        Ok(changed)
    }

    fn drop_job(&self, job: JobId) -> Result<()> {
        let mut batch = WriteBatch::default();
        batch.delete_cf(self.family(JOBS)?, keys::job(job));
        self.follow_up(Write::DropJob, batch)
    }

    fn jobs(&self) -> Result<Vec<Job>> {
        let mut rows = self.db.raw_iterator_cf_opt(self.family(JOBS)?, ReadOptions::default());
        let mut jobs = Vec::new();
        rows.seek_to_first();
        while let Some((key, value)) = rows.item() {
            let id = keys::split_job(key).ok_or_else(|| Error::Corrupt("a key in jobs".to_owned()))?;
            jobs.push(values::read_job(id, value)?);
            rows.next();
        }
        rows.status().map_err(storage)?;
        Ok(jobs)
    }
}

impl Rocks {
    /// Adds the first `room` of these entries to an inbox in a change, and raises the floor to the next one. The caller
    /// holds the user's floor lock until it is written. Returns how many there are.
    pub(super) fn put_newest(
        &self,
        batch: &mut WriteBatch,
        user: UserId,
        newest: &[Entry],
        room: usize,
    ) -> Result<usize> {
        let (kept, left_out) = newest.split_at(room.min(newest.len()));
        let inbox = self.family(INBOX)?;
        for Entry { cursor, author } in kept {
            batch.put_cf(inbox, keys::entry(user, *cursor), values::author(*author));
        }
        if let Some(left_out) = left_out.first() {
            self.put_floor(batch, user, left_out.cursor)?;
        }
        Ok(kept.len())
    }

    /// The floor of an inbox.
    pub(super) fn floor(&self, user: UserId) -> Result<Option<Cursor>> {
        read_floor(self.get(INBOX, &keys::head(user.get()), Tier::Disk)?.as_deref())
    }

    /// Raises a floor in a change. The caller holds the user's floor lock until it is written.
    pub(super) fn put_floor(&self, batch: &mut WriteBatch, user: UserId, floor: Cursor) -> Result<()> {
        if self.floor(user)? < Some(floor) {
            batch.put_cf(self.family(INBOX)?, keys::head(user.get()), values::cursor(floor));
        }
        Ok(())
    }

    /// Visits all rows of an inbox, also those below its floor; returns the floor.
    fn every_row(&self, user: UserId, mut visit: impl FnMut(Entry)) -> Result<Option<Cursor>> {
        let mut walk = Walk::new(self, INBOX, Tier::Disk)?;
        let floor = read_floor(walk.head(user.get())?)?;
        walk.rows(user.get(), Span::ALL, Order::NewestFirst, &mut |cursor, value| {
            visit(Entry { cursor, author: values::read_author(value)? });
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(floor)
    }

    /// Puts a row into an inbox against all rules, for tests of the search for such rows.
    #[doc(hidden)]
    pub fn put_inbox_row(&self, user: UserId, entry: Entry) -> Result<()> {
        let mut batch = WriteBatch::default();
        batch.put_cf(self.family(INBOX)?, keys::entry(user, entry.cursor), values::author(entry.author));
        self.commit(batch, true)
    }

    /// Removes a row of an inbox against all rules, for tests of the search for such rows.
    #[doc(hidden)]
    pub fn delete_inbox_row(&self, user: UserId, cursor: Cursor) -> Result<()> {
        let mut batch = WriteBatch::default();
        batch.delete_cf(self.family(INBOX)?, keys::entry(user, cursor));
        self.commit(batch, true)
    }
}

pub(super) fn read_floor(head: Option<&[u8]>) -> Result<Option<Cursor>> {
    head.map(|bytes| values::read_cursor(bytes).ok_or_else(|| Error::Corrupt("floor".to_owned()))).transpose()
}
