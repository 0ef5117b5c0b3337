//! Changes of inboxes that are in memory: they wait until many can be written at once, each inbox with one change.
//!
//! The jobs that made them stay on disk until their changes are written, so a crash repeats jobs and loses nothing.
//! Reads of an inbox see its changes from the first moment on.
//!
//! There are two sets: one takes changes while the other one is written. Sets that take changes at the same time share the steps
//! of items. The changes of deep inboxes are written apart: they are moved into a second set of their own.
//!
//! A read copies the changes of both, then reads the row, then looks whether a set was let go in between. If so, it reads
//! again. If not, the row lacks no change that the copy lacks, too; changes in both do no harm.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use parking_lot::{Mutex, MutexGuard};

use super::arrival_set::{Set, Shared, Steps};
use crate::rows::inbox::merge::{Change, Step};
use model::error::Result;
use model::stripes::Striped;
use model::{Fill, JobId, UserId};

/// Inboxes are spread over this many parts, each with a lock.
const PARTS: usize = 64;
/// Bytes of the record of a job.
pub(crate) const RECORD: usize = 160;
/// Steps of one inbox in a set from which on they are written, alone: each read of the inbox copies and sorts them.
pub(crate) const DEEP: u32 = 256;
/// Steps of one inbox after which the whole set is written, if they could not be written alone.
const MOST_STEPS: u32 = 4096;
/// Records of jobs after which they are written, with all changes: a start after a crash has these jobs again, and
/// refuses changes until fewer than `fanout.queue` are left.
pub(crate) const MOST_RECORDS: usize = 32_768;

#[derive(Debug, Default)]
struct Part {
    /// Takes changes.
    filling: Set,
    /// Is written, or waits for another attempt.
    leaving: Option<Arc<Set>>,
    /// How often `leaving` was let go.
    let_go: u64,
}

/// The record of a job on disk: its bytes, or `None` to remove it.
pub(crate) type Record = Option<Vec<u8>>;

#[derive(Debug, Default)]
struct Records {
    filling: HashMap<JobId, Record>,
    /// The steps of items of the sets that take changes.
    items: Arc<Steps>,
    /// Bytes of the steps of items of the leaving sets. They stay until the last of these sets is let go.
    items_leaving: usize,
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Arrivals {
    parts: Striped<Mutex<Part>, PARTS>,
    records: Mutex<Records>,
    /// Bytes of the sets that take changes, and of those that leave.
    filling: AtomicI64,
    leaving: AtomicI64,
    /// Some inbox has too many steps, or there are too many records.
    is_due: AtomicBool,
    /// Held while sets are written.
    writing: Mutex<()>,
    limit: usize,
}

/// The changes of one inbox in memory at some instant.
pub(crate) struct Copy {
    pub(crate) change: Change,
    let_go: u64,
}

impl Arrivals {
    /// Takes up to `limit` bytes, both sets together.
    pub(crate) fn new(limit: usize) -> Self {
        let (parts, records) = (Striped::default(), Records::default());
        parts.all().for_each(|part: &Mutex<Part>| part.lock().filling = Set::with(Arc::clone(&records.items)));
        Self {
            parts,
            records: Mutex::new(records),
            filling: AtomicI64::new(0),
            leaving: AtomicI64::new(0),
            is_due: AtomicBool::new(false),
            writing: Mutex::default(),
            limit,
        }
    }

    fn part(&self, user: UserId) -> MutexGuard<'_, Part> {
        self.parts.of(user.get()).lock()
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock()
    }

    /// Adds a step for each of these users; returns the users whose inboxes are deep now. The record of their job, if any, must
    /// come after.
    pub(crate) fn add(&self, users: &[UserId], step: Step) -> Vec<UserId> {
        let (mut more, mut deep, mut shared) = (0, Vec::new(), Shared::new(step));
        for user in users {
            let mut part = self.part(*user);
            let before = part.filling.bytes();
            let steps = part.filling.add(*user, &mut shared);
            if self.is_deep(steps) {
                deep.push(*user);
            }
            more += part.filling.bytes() as i64 - before as i64;
        }
        self.filling.fetch_add(more + shared.grown as i64, Ordering::Relaxed);
        deep
    }

    /// Adds all steps of a change of one user at once; returns whether the inbox is deep now.
    pub(crate) fn change(&self, user: UserId, change: Change) -> bool {
        let mut part = self.part(user);
        let before = part.filling.bytes();
        let steps = part.filling.add_change(user, change);
        self.filling.fetch_add(part.filling.bytes() as i64 - before as i64, Ordering::Relaxed);
        self.is_deep(steps)
    }

    /// Whether this many steps of one inbox should be written alone.
    fn is_deep(&self, steps: u32) -> bool {
        if steps >= MOST_STEPS {
            self.is_due.store(true, Ordering::Relaxed);
        }
        steps >= DEEP
    }

    /// Records a job after the changes that it made so far.
    pub(crate) fn record(&self, job: JobId, record: Record) {
        let mut records = self.records();
        if records.filling.insert(job, record).is_none() {
            self.filling.fetch_add(RECORD as i64, Ordering::Relaxed);
        }
        if records.filling.len() >= MOST_RECORDS {
            self.is_due.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a change removes an entry of this inbox.
    pub(crate) fn removes(&self, user: UserId) -> bool {
        self.copy(user).change.steps.iter().any(|step| matches!(step, Step::Remove(_)))
    }

    /// The changes of one inbox.
    pub(crate) fn copy(&self, user: UserId) -> Copy {
        let part = self.part(user);
        let mut steps = Vec::new();
        let floor = part.filling.copy(user, &mut steps);
        let older = part.leaving.as_ref().and_then(|leaving| leaving.copy(user, &mut steps));
        let let_go = part.let_go;
        drop(part);
        Copy { change: Change::of(floor.max(older), steps), let_go }
    }

    /// Whether a row of this user that was read since then goes with the copy.
    pub(crate) fn goes_with(&self, user: UserId, copy: &Copy) -> bool {
        self.part(user).let_go == copy.let_go
    }

    /// The sets are half full, slow to read, or of too many jobs: they should be written.
    pub(crate) fn should_leave(&self) -> bool {
        self.is_due.load(Ordering::Relaxed) || self.filling.load(Ordering::Relaxed) > self.limit as i64 / 2
    }

    /// There is no room: more changes must wait.
    pub(crate) fn is_full(&self) -> bool {
        self.used() > self.limit
    }

    /// Lets one thread write, at once or not at all.
    pub(crate) fn try_turn(&self) -> Option<MutexGuard<'_, ()>> {
        self.writing.try_lock()
    }

    /// Lets one thread write, after those before it.
    pub(crate) fn turn(&self) -> MutexGuard<'_, ()> {
        self.writing.lock()
    }

    /// Writes the changes taken so far: each part by `write_set`, and last the records of jobs, whose changes are all
    /// written then. After an error the rest is written by the next call, before newer changes.
    pub(crate) fn write(
        &self,
        _turn: &MutexGuard<'_, ()>,
        mut write_set: impl FnMut(&Set) -> Result<()>,
        write_records: impl Fn(&HashMap<JobId, Record>) -> Result<()>,
    ) -> Result<()> {
        // Those of an attempt before.
        self.write_leaving(&mut write_set)?;
        let records = self.begin_to_leave();
        let written = self.write_leaving(&mut write_set);
        let written = written.and_then(|()| if records.is_empty() { Ok(()) } else { write_records(&records) });
        self.leaving.fetch_sub((RECORD * records.len()) as i64, Ordering::Relaxed);
        if written.is_err() {
            let mut present = self.records();
            for (job, record) in records {
                // A newer one goes beyond it.
                if let Slot::Vacant(slot) = present.filling.entry(job) {
                    slot.insert(record);
                    self.filling.fetch_add(RECORD as i64, Ordering::Relaxed);
                }
            }
        }
        written
    }

    /// Adds a change to each of some inboxes, and writes all changes of these. They stay where changes of an earlier attempt must
    /// be written first. After an error the changes of that part stay; those of later parts are not added.
    pub(crate) fn write_alone(
        &self,
        _turn: &MutexGuard<'_, ()>,
        mut changes: Vec<(UserId, Change)>,
        mut write_set: impl FnMut(&Set) -> Result<()>,
    ) -> Result<()> {
        while let Some((first, _)) = changes.first() {
            let part_of = |user: UserId| self.parts.of(user.get());
            let part = part_of(*first);
            let (here, rest) = changes.into_iter().partition(|(user, _)| std::ptr::eq(part_of(*user), part));
            changes = rest;
            if self.set_apart(part, here) {
                self.write_part(part, &mut write_set)?;
            }
        }
        Ok(())
    }

    /// Lets the changes of some users of a part leave, with further ones. False if others must leave first: then all stay.
    fn set_apart(&self, part: &Mutex<Part>, changes: Vec<(UserId, Change)>) -> bool {
        let mut part = part.lock();
        if part.leaving.is_some() {
            drop(part);
            changes.into_iter().for_each(|(user, more)| _ = self.change(user, more));
            return false;
        }
        let (before, mut apart) = (part.filling.bytes() as i64, Set::default());
        for (user, more) in changes {
            let (floor, steps) = part.filling.take(user);
            apart.add_change(user, Change::of(floor, steps));
            apart.add_change(user, more);
        }
        // The map of users may have other room afterwards.
        self.filling.fetch_add(part.filling.bytes() as i64 - before, Ordering::Relaxed);
        self.leaving.fetch_add(apart.bytes() as i64, Ordering::Relaxed);
        part.leaving = Some(Arc::new(apart));
        true
    }

    /// Writes the set of a part that leaves, and lets it go.
    fn write_part(&self, part: &Mutex<Part>, mut write_set: impl FnMut(&Set) -> Result<()>) -> Result<()> {
        let Some(leaving) = part.lock().leaving.clone() else { return Ok(()) };
        write_set(&leaving)?;
        let mut part = part.lock();
        part.leaving = None;
        part.let_go += 1;
        drop(part);
        self.leaving.fetch_sub(leaving.bytes() as i64, Ordering::Relaxed);
        Ok(())
    }

    /// Writes the sets that leave, and lets them go.
    fn write_leaving(&self, write_set: &mut impl FnMut(&Set) -> Result<()>) -> Result<()> {
        self.parts.all().try_for_each(|part| self.write_part(part, &mut *write_set))?;
        let items = std::mem::take(&mut self.records().items_leaving);
        self.leaving.fetch_sub(items as i64, Ordering::Relaxed);
        Ok(())
    }

    /// Exchanges the sets, of which none is left from an attempt before. Returns the records of jobs to write after them.
    fn begin_to_leave(&self) -> HashMap<JobId, Record> {
        self.is_due.store(false, Ordering::Relaxed);
        let mut present = self.records();
        // First the records: all changes of a job that has one here are in the sets that leave now.
        let records = std::mem::take(&mut present.filling);
        let mut bytes = RECORD * records.len();
        let items = Arc::<Steps>::default();
        let items_leaving = std::mem::replace(&mut present.items, Arc::clone(&items));
        drop(present);
        for part in self.parts.all() {
            let mut part = part.lock();
            let leaving = std::mem::replace(&mut part.filling, Set::with(Arc::clone(&items)));
            if !leaving.is_empty() {
                bytes += leaving.bytes();
                part.leaving = Some(Arc::new(leaving));
            }
        }
        // No set adds to the old steps any more.
        let items_leaving = items_leaving.bytes();
        self.records().items_leaving = items_leaving;
        bytes += items_leaving;
        self.leaving.fetch_add(bytes as i64, Ordering::Relaxed);
        self.filling.fetch_sub(bytes as i64, Ordering::Relaxed);
        records
    }

    fn used(&self) -> usize {
        // A count can be behind its set for a moment.
        let used = self.filling.load(Ordering::Relaxed) + self.leaving.load(Ordering::Relaxed);
        used.max(0) as usize
    }

    /// Memory in use.
    pub(crate) fn usage(&self) -> Fill {
        Fill::of(self.used(), self.limit)
    }
}

#[cfg(test)]
mod tests;
