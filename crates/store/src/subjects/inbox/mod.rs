//! Inboxes: reads, deliveries, settle jobs, floors; and jobs.
//!
//! An inbox is one row ([`packed`]). Its changes are collected in memory ([`arrivals`]), and merged into the row by the
//! engine ([`merge`]). One that cannot be read claims nothing ([`damage`]).

mod arrivals;
mod damage;
mod set;

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use parking_lot::MutexGuard;

pub(crate) use self::arrivals::Arrivals;
use self::arrivals::{DEEP, Record};
pub(crate) use self::damage::DamagedInboxes;
use self::set::Set;
use crate::Store;
use crate::kv::Scope;
use crate::rows::batch::WriteBatch;
use crate::rows::inbox::TOP;
use crate::rows::inbox::merge::{self, Change, Merged, Step};
use crate::rows::inbox::packed::{self, Damaged, Packed};
use crate::rows::tables::{FOLLOWING, INBOXES, JOBS};
use crate::rows::{keys, values};
use model::cache::memory::{CacheMemory, Share};
use model::cache::{CacheChange, ReadThrough};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::priority::Pace;
use model::store::{Delivery, Then, Tier};
use model::{ContentId, Cursor, Entry, Job, JobId, Order, Progress, Reach, Span, UserId, Work};

/// A usual row: 300 entries.
const ROW_BYTES: u64 = 1600;

/// Rows by user, as the engine merges them; empty for no row. A read of a row with many changes to merge takes ten times
/// as long as one without.
pub(crate) type Rows = ReadThrough<UserId, Arc<[u8]>>;

/// A row that is being changed.
pub(crate) type RowChange = CacheChange<UserId, Arc<[u8]>>;

/// An empty cache of rows.
pub(crate) fn rows(memory: CacheMemory) -> Rows {
    ReadThrough::new(memory.of(Share::INBOXES), ROW_BYTES, |row| row.len() as u64)
}

/// Most entries that a read from memory decodes: other requests wait for its thread.
const MOST_ENTRIES: usize = 16_384;

/// Most inboxes or jobs that one write changes: a publish waits for the write before it.
const MOST_ROWS: usize = 256;

impl Store {
    /// Visits the entries of an inbox above its floor within `span`, in `order`, until `visit` breaks. Returns the
    /// floor, at or below which the inbox claims nothing; `None` means that the inbox is complete. Floor and rows are
    /// of one instant.
    ///
    /// An inbox that cannot be read has its floor at [`Cursor::NEWEST`]. That may show only after some entries were
    /// visited: entries at or below the floor do not count.
    pub fn inbox(
        &self,
        user: UserId,
        span: Span<ContentId>,
        order: Order,
        tier: Tier,
        visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<Option<Cursor>> {
        let inbox = self.read_inbox(user, tier)?;
        let (mut floor, entries) = inbox.read();
        let most = if tier == Tier::Memory { MOST_ENTRIES } else { usize::MAX };
        let span = span.newer_than(floor);
        let mut newest_first = Vec::new();
        for (number, entry) in entries.enumerate() {
            let Ok(entry) = entry else {
                floor = Some(TOP);
                newest_first.clear();
                break;
            };
            if span.after.is_some_and(|after| entry.cursor <= after) {
                break;
            }
            if number >= most {
                return Err(Error::NotCached);
            }
            match order {
                _ if !span.contains(entry.cursor) => {}
                Order::NewestFirst if visit(entry).is_break() => break,
                Order::NewestFirst => {}
                Order::OldestFirst => newest_first.push(entry),
            }
        }
        let _ = newest_first.into_iter().rev().try_for_each(visit);
        if floor == Some(TOP) {
            self.note_damaged(user);
        }
        Ok(floor)
    }

    /// Raises the floor of an inbox; never lowers it. Merges and settles also raise floors themselves.
    pub fn raise_floor(&self, user: UserId, floor: Cursor) -> Result<()> {
        self.make_room()?;
        self.arrivals.change(user, Change::of(Some(floor), Vec::new()));
        Ok(())
    }

    /// Records the reach of an item before the first recipient is chosen, and for a reach short of all the author's
    /// [`Unpushed`](model::Unpushed).
    pub fn begin_fan_out(&self, job: JobId, entry: Entry, reach: Reach) -> Result<()> {
        let mut batch = WriteBatch::default();
        let progress = Some(Progress { reach, done_to: None });
        batch.put(JOBS, keys::job(job), values::job(&Work::FanOut { entry }, progress)?);
        let unpushed = self.put_unpushed(&mut batch, &[entry], reach)?;
        self.follow_up(Write::BeginFanOut, batch)?;
        unpushed.written();
        Ok(())
    }

    /// Puts an entry into inboxes and records the job's progress or end. Reads see the entry at once. On disk, the
    /// record of a job never comes before the entries; both may come much later.
    pub fn deliver(&self, delivery: &Delivery<'_>) -> Result<()> {
        self.make_room()?;
        let deep = self.arrivals.add(delivery.recipients, Step::Add(delivery.entry));
        if !deep.is_empty() {
            self.write_alone(deep.into_iter().map(|user| (user, Change::default())).collect())?;
        }
        match delivery.then {
            Then::Nothing => {}
            Then::Progress(progress) => {
                let work = Work::FanOut { entry: delivery.entry };
                self.arrivals.record(delivery.job, Some(values::job(&work, Some(progress))?));
            }
            Then::End => self.arrivals.record(delivery.job, None),
        }
        Ok(())
    }

    /// Makes a user's entries of one source agree with the present relation, and ends the job, like
    /// [`Store::deliver`]. A follower gets the source's newest `room` entries above the floor; if there are more, the
    /// floor rises to the first one left out. A user who does not follow loses all entries. Returns how many entries
    /// above the floor changed.
    pub fn settle(&self, job: JobId, user: UserId, source: UserId, room: usize) -> Result<usize> {
        self.make_room()?;
        // A rebuild comes before the look at the outbox, or after the steps.
        let _user = self.user_locks.of(user.get()).lock();
        let mut found = self.read_inbox(user, Tier::Disk)?.entries_of(source);
        if found.is_none() {
            self.drop_if_damaged(user)?;
            found = self.read_inbox(user, Tier::Disk)?.entries_of(source);
        }
        let (floor, present) = found.ok_or_else(|| Error::Corrupt(format!("the inbox of user {user}")))?;
        let following = self.get(FOLLOWING, &keys::pair(user, source), Tier::Disk)?.is_some();
        let (mut wanted, mut new_floor) = (Vec::new(), None);
        if following {
            let span = Span::ALL.newer_than(floor);
            wanted = self.outboxes(&[source], span.newest(room.saturating_add(1)), Tier::Disk)?;
            new_floor = wanted.get(room).map(|entry| entry.cursor);
            wanted.truncate(room);
        }
        let wanted: HashSet<_> = wanted.into_iter().collect();
        let added = wanted.difference(&present).map(|entry| Step::Add(*entry));
        let removed = present.difference(&wanted).map(|entry| Step::Remove(packed::place(entry)));
        let above = floor.max(new_floor);
        let changed = wanted.symmetric_difference(&present).filter(|entry| Some(entry.cursor) > above).count();
        // Also the floor that was read: a merge may have raised it for this read only, and the next one may keep it
        // lower, because entries are removed now.
        self.add_change(user, Change::of(above, added.chain(removed).collect()))?;
        self.arrivals.record(job, None);
        Ok(changed)
    }

    /// Ends a job that has nothing left to do, once its entries are on disk.
    pub fn drop_job(&self, job: JobId) -> Result<()> {
        // Not before the entries that it delivered.
        self.make_room()?;
        self.arrivals.record(job, None);
        Ok(())
    }

    /// Writes what [`Store::deliver`] and [`Store::settle`] have in memory, and the records of their jobs. After an
    /// error the next call, or a delivery, tries it again.
    pub fn write_arrivals(&self) -> Result<()> {
        self.write_in_turn(&self.arrivals.turn())
    }

    /// All jobs on disk, by lane, then by age, oldest first.
    pub fn jobs(&self) -> Result<Vec<Job>> {
        self.write_arrivals()?;
        self.now(Tier::Disk).beginning((JOBS, Scope::Table), &[], &[], usize::MAX, |key, value| {
            values::read_job(keys::split_job(key).ok_or_else(|| Error::Corrupt("a key in jobs".to_owned()))?, value)
        })
    }
}

/// A row of `inboxes` with the changes in memory that belong on top.
struct Inbox {
    row: Arc<[u8]>,
    change: Change,
}

impl Inbox {
    /// The floor, and the entries above it, newest first.
    fn read(&self) -> (Option<Cursor>, impl Iterator<Item = Result<Entry, Damaged>>) {
        let row = match &*self.row {
            [] => Packed::default(),
            row => Packed::read(row).unwrap_or(Packed { floor: Some(TOP), ..Packed::default() }),
        };
        let floor = row.floor.max(self.change.floor);
        let is_above = move |entry: &Result<Entry, Damaged>| entry.map_or(true, |entry| Some(entry.cursor) > floor);
        (floor, Merged::new(row.entries, &self.change.steps).take_while(is_above))
    }

    /// The floor, and the entries of a source; `None` if the inbox is damaged.
    fn entries_of(&self, source: UserId) -> Option<(Option<Cursor>, HashSet<Entry>)> {
        let (floor, entries) = self.read();
        let mut of_source = HashSet::new();
        for entry in entries {
            let entry = entry.ok()?;
            if entry.source == source {
                of_source.insert(entry);
            }
        }
        (floor != Some(TOP)).then_some((floor, of_source))
    }
}

impl Store {
    /// Row and changes of one instant.
    fn read_inbox(&self, user: UserId, tier: Tier) -> Result<Inbox> {
        loop {
            let copy = self.arrivals.copy(user);
            let row = self.inbox_rows.get(user, || match self.get(INBOXES, &keys::id(user.get()), tier) {
                Ok(row) => Ok(row.as_deref().unwrap_or_default().into()),
                Err(Error::NotCached) => Err(Error::NotCached),
                Err(error) => {
                    self.note_unreadable(user, &error);
                    Ok(merge::claims_nothing().into())
                }
            })?;
            if self.arrivals.goes_with(user, &copy) {
                return Ok(Inbox { row, change: copy.change });
            }
        }
    }

    /// The floor of an inbox.
    pub(crate) fn floor(&self, user: UserId) -> Result<Option<Cursor>> {
        Ok(self.read_inbox(user, Tier::Disk)?.read().0)
    }

    /// Merges entries (newest first, all above the floor) into an inbox in a change, and raises the floor. The result is
    /// dropped after the change is written.
    pub(crate) fn put_inbox(
        &self,
        batch: &mut WriteBatch,
        user: UserId,
        floor: Option<Cursor>,
        entries: &[Entry],
    ) -> Result<RowChange> {
        batch.merge(INBOXES, keys::id(user.get()), packed::pack(floor, entries, &[]));
        Ok(self.inbox_rows.change(user))
    }

    /// Removes all entries of an author from an inbox, on whatever paths they came.
    pub(crate) fn forget_author(&self, user: UserId, author: UserId) -> Result<()> {
        self.make_room()?;
        let _user = self.user_locks.of(user.get()).lock();
        let inbox = self.read_inbox(user, Tier::Disk)?;
        let (floor, entries) = inbox.read();
        let mut removed = Vec::new();
        for entry in entries {
            // A damaged inbox is dropped as a whole.
            let Ok(entry) = entry else { return Ok(()) };
            if entry.author == author {
                removed.push(Step::Remove(packed::place(&entry)));
            }
        }
        if !removed.is_empty() {
            self.add_change(user, Change::of(floor, removed))?;
        }
        Ok(())
    }

    /// Makes sure that no removal of an entry of this user is in memory only: it would be written after a change that
    /// brings the entry back, and take it away again. The caller holds the user's lock, so no settle makes another one.
    pub(crate) fn write_removals(&self, user: UserId) -> Result<()> {
        if self.arrivals.removes(user) { self.write_arrivals() } else { Ok(()) }
    }

    /// Writes changes in memory if there are many. Waits if there is no room for more.
    fn make_room(&self) -> Result<()> {
        if !self.arrivals.should_leave() {
            return Ok(());
        }
        match self.arrivals.try_turn() {
            Some(turn) => self.write_in_turn(&turn),
            None if self.arrivals.is_full() => self.write_arrivals(),
            None => Ok(()),
        }
    }

    /// Adds a change of one inbox to the changes in memory; a large one it writes.
    fn add_change(&self, user: UserId, change: Change) -> Result<()> {
        if change.steps.len() >= DEEP as usize {
            self.write_alone(vec![(user, change)])
        } else if self.arrivals.change(user, change) {
            self.write_alone(vec![(user, Change::default())])
        } else {
            Ok(())
        }
    }

    /// Adds a change to each of some inboxes that have many, and writes them; those of other inboxes stay in memory. While
    /// others are being written these stay, too: the next change of such an inbox tries again.
    fn write_alone(&self, changes: Vec<(UserId, Change)>) -> Result<()> {
        let Some(turn) = self.arrivals.try_turn() else {
            let new = changes.into_iter().filter(|(_, change)| *change != Change::default());
            new.for_each(|(user, change)| _ = self.arrivals.change(user, change));
            return Ok(());
        };
        let written = self.arrivals.write_alone(&turn, changes, |set| self.write_set(set, &mut Pace::default()));
        match written {
            // They wait in memory for the next write of all, which says so if it is still so.
            Err(error) if error.is_unavailable() => Ok(()),
            written => written,
        }
    }

    fn write_in_turn(&self, turn: &MutexGuard<'_, ()>) -> Result<()> {
        let mut pace = Pace::default();
        self.arrivals.write(turn, |set| self.write_set(set, &mut pace), |records| self.write_records(records))
    }

    fn write_set(&self, set: &Set, pace: &mut Pace) -> Result<()> {
        for users in set.users().chunks(MOST_ROWS) {
            let mut batch = WriteBatch::default();
            let mut announced = Vec::with_capacity(users.len());
            for user in users {
                batch.merge(INBOXES, keys::id(user.get()), set.change(*user).pack());
                announced.push(self.inbox_rows.change(*user));
            }
            self.follow_up(Write::Deliver, batch)?;
            drop(announced);
            pace.step();
        }
        Ok(())
    }

    fn write_records(&self, records: &HashMap<JobId, Record>) -> Result<()> {
        let mut pace = Pace::default();
        let mut records = records.iter().peekable();
        while records.peek().is_some() {
            let mut batch = WriteBatch::default();
            for (job, record) in records.by_ref().take(MOST_ROWS) {
                batch.set(JOBS, keys::job(*job), record.as_ref());
            }
            self.follow_up(Write::EndJobs, batch)?;
            pace.step();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
