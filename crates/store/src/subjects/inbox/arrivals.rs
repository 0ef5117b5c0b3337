//! Changes of inboxes that are in memory: they wait until many can be written at once, each inbox with one change.
//!
//! The jobs that made them stay on disk until their changes are written, so a crash repeats jobs and loses nothing.
//! Reads of an inbox see its changes from the first moment on.
//!
//! There are two sets: one takes changes while the other one is written. The changes of deep inboxes are written apart: they are
//! moved into a second set of their own. A read copies the changes of both, then reads
//! the row, then looks whether a set was let go in between. If so, it reads again. If not, the row lacks no change that
//! the copy lacks, too; changes in both do no harm.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use parking_lot::{Mutex, MutexGuard};

use super::set::Set;
use crate::rows::inbox::merge::{Change, Step};
use model::error::Result;
use model::stripes::Striped;
use model::{Fill, JobId, UserId};

/// Inboxes are spread over this many parts, each with a lock.
const PARTS: usize = 64;
/// Bytes of the record of a job.
pub(super) const RECORD: usize = 160;
/// Steps of one inbox in a set from which on they are written, alone: each read of the inbox copies and sorts them.
pub(super) const DEEP: u32 = 256;
/// Steps of one inbox after which the whole set is written, if they could not be written alone.
const MOST_STEPS: u32 = 4096;
/// Records of jobs after which they are written, with all changes: a start after a crash has these jobs again, and
/// refuses changes until fewer than `fanout.queue` are left.
pub(super) const MOST_RECORDS: usize = 32_768;

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
pub(super) type Record = Option<Vec<u8>>;

#[derive(Debug, Default)]
struct Records {
    filling: HashMap<JobId, Record>,
    leaving: HashMap<JobId, Record>,
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
pub(super) struct Copy {
    pub(super) change: Change,
    let_go: u64,
}

impl Arrivals {
    /// Takes up to `limit` bytes, both sets together.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            parts: Striped::default(),
            records: Mutex::default(),
            filling: AtomicI64::new(0),
            leaving: AtomicI64::new(0),
            is_due: AtomicBool::new(false),
            writing: Mutex::default(),
            limit,
        }
    }

    /// Adds a step for each of these users; returns the users whose inboxes are deep now. The record of their job, if any, must
    /// come after.
    pub(super) fn add(&self, users: &[UserId], step: Step) -> Vec<UserId> {
        let (mut more, mut deep) = (0, Vec::new());
        for user in users {
            let mut part = self.parts.of(user.get()).lock();
            let before = part.filling.bytes();
            let steps = part.filling.add(*user, step);
            if self.is_deep(steps) {
                deep.push(*user);
            }
            more += part.filling.bytes() as i64 - before as i64;
        }
        self.filling.fetch_add(more, Ordering::Relaxed);
        deep
    }

    /// Adds all steps of a change of one user at once; returns whether the inbox is deep now.
    pub(super) fn change(&self, user: UserId, change: Change) -> bool {
        let mut part = self.parts.of(user.get()).lock();
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
    pub(super) fn record(&self, job: JobId, record: Record) {
        let mut records = self.records.lock();
        if records.filling.insert(job, record).is_none() {
            self.filling.fetch_add(RECORD as i64, Ordering::Relaxed);
        }
        if records.filling.len() >= MOST_RECORDS {
            self.is_due.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a change removes an entry of this inbox.
    pub(super) fn removes(&self, user: UserId) -> bool {
        let part = self.parts.of(user.get()).lock();
        let mut steps = Vec::new();
        part.filling.copy(user, &mut steps);
        part.leaving.iter().for_each(|leaving| _ = leaving.copy(user, &mut steps));
        steps.iter().any(|step| matches!(step, Step::Remove(_)))
    }

    /// The changes of one inbox.
    pub(super) fn copy(&self, user: UserId) -> Copy {
        let part = self.parts.of(user.get()).lock();
        let mut steps = Vec::new();
        let floor = part.filling.copy(user, &mut steps);
        let older = part.leaving.as_ref().and_then(|leaving| leaving.copy(user, &mut steps));
        let let_go = part.let_go;
        drop(part);
        Copy { change: Change::of(floor.max(older), steps), let_go }
    }

    /// Whether a row of this user that was read since then goes with the copy.
    pub(super) fn goes_with(&self, user: UserId, copy: &Copy) -> bool {
        self.parts.of(user.get()).lock().let_go == copy.let_go
    }

    /// The sets are half full, slow to read, or of too many jobs: they should be written.
    pub(super) fn should_leave(&self) -> bool {
        self.is_due.load(Ordering::Relaxed) || self.filling.load(Ordering::Relaxed) > self.limit as i64 / 2
    }

    /// There is no room: more changes must wait.
    pub(super) fn is_full(&self) -> bool {
        self.used() > self.limit
    }

    /// Lets one thread write, at once or not at all.
    pub(super) fn try_turn(&self) -> Option<MutexGuard<'_, ()>> {
        self.writing.try_lock()
    }

    /// Lets one thread write, after those before it.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        self.writing.lock()
    }

    /// Writes the changes taken so far: each part by `write_set`, and last the records of jobs, whose changes are all
    /// written then. After an error the rest is written by the next call, before newer changes.
    pub(super) fn write(
        &self,
        _turn: &MutexGuard<'_, ()>,
        mut write_set: impl FnMut(&Set) -> Result<()>,
        write_records: impl Fn(&HashMap<JobId, Record>) -> Result<()>,
    ) -> Result<()> {
        while !self.begin_to_leave() {
            self.write_leaving(&mut write_set, &write_records)?;
        }
        self.write_leaving(&mut write_set, &write_records)
    }

    /// Adds a change to each of some inboxes, and writes all changes of these. They stay where changes of an earlier attempt must
    /// be written first. After an error the changes of that part stay; those of later parts are not added.
    pub(super) fn write_alone(
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

    fn write_leaving(
        &self,
        write_set: &mut impl FnMut(&Set) -> Result<()>,
        write_records: &impl Fn(&HashMap<JobId, Record>) -> Result<()>,
    ) -> Result<()> {
        self.parts.all().try_for_each(|part| self.write_part(part, &mut *write_set))?;
        let records = std::mem::take(&mut self.records.lock().leaving);
        if records.is_empty() {
            return Ok(());
        }
        let written = write_records(&records);
        match written {
            Ok(()) => {
                self.leaving.fetch_sub((RECORD * records.len()) as i64, Ordering::Relaxed);
            }
            Err(_) => self.records.lock().leaving = records,
        }
        written
    }

    /// Exchanges the sets; false if some are left from an attempt before, which must be written first.
    fn begin_to_leave(&self) -> bool {
        let mut records = self.records.lock();
        if !records.leaving.is_empty() || self.parts.all().any(|part| part.lock().leaving.is_some()) {
            return false;
        }
        self.is_due.store(false, Ordering::Relaxed);
        // First the records: all changes of a job that has one here are in the sets that leave now.
        records.leaving = std::mem::take(&mut records.filling);
        let mut bytes = RECORD * records.leaving.len();
        drop(records);
        for part in self.parts.all() {
            let mut part = part.lock();
            if !part.filling.is_empty() {
                let leaving = std::mem::take(&mut part.filling);
                bytes += leaving.bytes();
                part.leaving = Some(Arc::new(leaving));
            }
        }
        self.leaving.fetch_add(bytes as i64, Ordering::Relaxed);
        self.filling.fetch_sub(bytes as i64, Ordering::Relaxed);
        true
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
mod tests {
    use super::super::set::tests::{step, user};
    use super::*;
    use model::Cursor;
    use model::error::Error;

    #[test]
    fn memory_is_counted_and_given_back() {
        let arrivals = Arrivals::new(1 << 20);
        let users: Vec<_> = (1..=1000).map(user).collect();
        (1..=50).for_each(|at| _ = arrivals.add(&users, step(at, Some(7))));
        arrivals.change(user(5), Change::of(Some(Cursor::OLDEST), vec![step(3, None)]));
        // A node of eight bytes for each step.
        let nodes = 50_001 * 8;
        assert!((nodes..3 * nodes).contains(&arrivals.used()), "{} bytes", arrivals.used());
        let sets = arrivals.parts.all().map(|part| part.lock().filling.bytes());
        assert_eq!(arrivals.used(), sets.sum::<usize>());
        let turn = arrivals.turn();
        let mut rows = 0;
        let written = arrivals.write(
            &turn,
            |set| {
                rows += set.users().len();
                Ok(())
            },
            |_| Ok(()),
        );
        assert!(written.is_ok());
        assert_eq!((rows, arrivals.used()), (1000, 0));
    }

    #[test]
    fn a_deep_inbox_leaves_alone_and_a_failed_write_stays_in_front() {
        let arrivals = Arrivals::new(1 << 20);
        let users = [user(1), user(2)];
        let deep: Vec<_> = (1..=u64::from(DEEP)).map(|at| arrivals.add(&users, step(at, Some(7)))).collect();
        assert!(deep.iter().rev().skip(1).all(Vec::is_empty), "{deep:?}");
        assert_eq!(deep.last(), Some(&users.to_vec()));
        let before = arrivals.copy(user(1));
        let turn = arrivals.turn();
        let more = || Change::of(None, vec![step(5, None), step(1000, Some(8))]);
        let failed = |set: &Set| {
            assert_eq!(set.users(), [user(1)]);
            Err(Error::Corrupt("on purpose".to_owned()))
        };
        arrivals.write_alone(&turn, vec![(user(1), more())], failed).expect_err("fails");
        let expected = [&[step(1000, Some(8))][..], &before.change.steps].concat();
        let expected: Vec<_> =
            expected.into_iter().map(|of| if of == step(5, Some(7)) { step(5, None) } else { of }).collect();
        assert_eq!(arrivals.copy(user(1)).change.steps, expected, "the later step of a place counts");
        assert!(arrivals.goes_with(user(1), &before), "the row lacks them still");
        // A later change is written after it.
        let again = Change::of(None, vec![step(5, Some(7))]);
        arrivals.write_alone(&turn, vec![(user(1), again)], |_| panic!("too early")).expect("waits");
        let mut written = Vec::new();
        let write = |set: &Set| {
            written.extend(set.users().into_iter().map(|user| (user.get(), set.change(user).steps.len())));
            Ok(())
        };
        arrivals.write(&turn, write, |_| Ok(())).expect("writes");
        assert_eq!(written.remove(0), (1, DEEP as usize + 1), "the failed one comes first");
        written.sort_unstable();
        assert_eq!(written, [(1, 1), (2, DEEP as usize)]);
        assert!(!arrivals.goes_with(user(1), &before) && arrivals.copy(user(1)).change.steps.is_empty());
        assert_eq!(arrivals.used(), 0);
    }

    #[test]
    fn a_deep_inbox_leaves_the_others_where_they_are() {
        let arrivals = Arrivals::new(1 << 20);
        arrivals.add(&[user(1), user(2)], step(1, Some(7)));
        let turn = arrivals.turn();
        let mut written = Vec::new();
        let write = |set: &Set| {
            written.extend(set.users());
            Ok(())
        };
        arrivals.write_alone(&turn, vec![(user(1), Change::of(None, vec![step(2, Some(7))]))], write).expect("writes");
        assert_eq!(written, [user(1)]);
        assert!(arrivals.copy(user(1)).change.steps.is_empty());
        assert_eq!(arrivals.copy(user(2)).change.steps, [step(1, Some(7))]);
        arrivals.add(&[user(1)], step(3, Some(7)));
        assert_eq!(arrivals.copy(user(1)).change.steps, [step(3, Some(7))], "a new chain begins");
        assert!(arrivals.used() > 0);
        arrivals.write(&turn, |_| Ok(()), |_| Ok(())).expect("writes");
        assert_eq!(arrivals.used(), 0);
    }

    #[test]
    fn the_memory_is_right_however_many_leave_alone() {
        let arrivals = Arrivals::new(1 << 30);
        let users: Vec<_> = (1..=5000).map(user).collect();
        let turn = arrivals.turn();
        let sum = || arrivals.parts.all().map(|part| part.lock().filling.bytes()).sum::<usize>();
        for at in 1..=20 {
            _ = arrivals.add(&users, step(at, Some(7)));
            let alone = users.iter().skip(at as usize).step_by(3).map(|user| (*user, Change::default())).collect();
            let mut rows = 0;
            let write = |set: &Set| {
                rows += set.users().len();
                Ok(())
            };
            arrivals.write_alone(&turn, alone, write).expect("writes");
            assert_eq!((rows, arrivals.used()), ((5000 - at as usize).div_ceil(3), sum()));
        }
        arrivals.write(&turn, |_| Ok(()), |_| Ok(())).expect("writes");
        assert_eq!((arrivals.used(), sum()), (0, 0));
    }
}
