//! Changes of inboxes that are in memory: they wait until many can be written at once, each inbox with one change.
//!
//! The jobs that made them stay on disk until their changes are written, so a crash repeats jobs and loses nothing.
//! Reads of an inbox see its changes from the first moment on.
//!
//! There are two sets: one takes changes while the other one is written. A read copies the changes of both, then reads
//! the row, then looks whether a set was let go in between. If so, it reads again. If not, the row lacks no change that
//! the copy lacks, too; changes in both do no harm.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use foldhash::fast::RandomState;
use parking_lot::{Mutex, MutexGuard};

use crate::rows::inbox::merge::{Change, Step};
use model::error::Result;
use model::stripes::Striped;
use model::{Cursor, Fill, JobId, UserId};

/// Inboxes are spread over this many parts, each with a lock.
const PARTS: usize = 64;
/// Steps that were added last and are looked through for another use of the same: more threads that deliver at once
/// share fewer steps, and take more memory.
const RECENT: usize = 4;
/// Room that a list of steps gets at first.
const LEAST_ROOM: usize = 16;
/// Bytes of the record of a job.
pub(super) const RECORD: usize = 160;
/// Steps of one inbox in a set after which the set is written: each read of the inbox copies and sorts them.
const MOST_STEPS: u32 = 256;
/// Most steps of settles for one inbox, because each settle makes many at once.
const MOST_SETTLED: u32 = 4096;
/// Records of jobs after which they are written, with all changes: a start after a crash has these jobs again, and
/// refuses changes until fewer than `fanout.queue` are left.
pub(super) const MOST_RECORDS: usize = 32_768;

type ByUser<T> = HashMap<u64, T, RandomState>;

/// The last step made for a user.
#[derive(Debug, Clone, Copy)]
struct Last {
    place: u32,
    /// How many steps there are.
    count: u32,
}

/// A step of a user, and the one made before it for the same user.
#[derive(Debug)]
struct Node {
    /// The place of the step in the set.
    step: u32,
    before: Option<NonZeroU32>,
}

/// Changes of the users of one part.
#[derive(Debug, Default)]
pub(super) struct Set {
    last: ByUser<Last>,
    nodes: Vec<Node>,
    /// An item goes to many users: its step is here once, or a few times.
    steps: Vec<Step>,
    floors: ByUser<Cursor>,
}

impl Set {
    /// Returns how many steps of the user there are now.
    fn add(&mut self, user: UserId, step: Step) -> u32 {
        let last = self.last.entry(user.get()).or_insert(Last { place: 0, count: 0 });
        let before = NonZeroU32::new(last.place);
        // Places count from 1.
        *last = Last { place: self.nodes.len() as u32 + 1, count: last.count + 1 };
        let count = last.count;
        let step = self.place(step);
        push(&mut self.nodes, Node { step, before });
        count
    }

    /// The place of a step, which is appended unless it is one of the last ones.
    fn place(&mut self, step: Step) -> u32 {
        let recent = self.steps.len().saturating_sub(RECENT);
        let known = self.steps.iter().skip(recent).position(|known| *known == step);
        if known.is_none() {
            push(&mut self.steps, step);
        }
        known.map_or(self.steps.len() - 1, |place| recent + place) as u32
    }

    /// Appends the steps of a user, the last one made first; returns the floor.
    fn copy(&self, user: UserId, steps: &mut Vec<Step>) -> Option<Cursor> {
        let mut next = self.last.get(&user.get()).and_then(|last| NonZeroU32::new(last.place));
        while let Some(node) = next.and_then(|place| self.nodes.get(place.get() as usize - 1)) {
            steps.extend(self.steps.get(node.step as usize));
            next = node.before;
        }
        self.floors.get(&user.get()).copied()
    }

    /// The users with a change, ascending.
    pub(super) fn users(&self) -> Vec<UserId> {
        let mut users: Vec<u64> = self.last.keys().chain(self.floors.keys()).copied().collect();
        users.sort_unstable();
        users.dedup();
        users.into_iter().filter_map(|raw| UserId::new(raw).ok()).collect()
    }

    /// The change of a user.
    pub(super) fn change(&self, user: UserId) -> Change {
        let mut steps = Vec::new();
        let floor = self.copy(user, &mut steps);
        Change::of(floor, steps)
    }

    fn is_empty(&self) -> bool {
        self.last.is_empty() && self.floors.is_empty()
    }

    /// Its memory, the room for more included.
    fn bytes(&self) -> usize {
        size_of::<Step>() * self.steps.capacity()
            + size_of::<Node>() * self.nodes.capacity()
            + map_bytes(&self.last)
            + map_bytes(&self.floors)
    }
}

/// Appends with room for a quarter more at most: the room counts, and twice as much of it would be written half full.
fn push<T>(to: &mut Vec<T>, value: T) {
    if to.len() == to.capacity() {
        to.reserve_exact((to.len() / 4).max(LEAST_ROOM));
    }
    to.push(value);
}

/// The memory of a map: seven of eight places may be used, and each has a byte beside its entry.
fn map_bytes<T>(map: &ByUser<T>) -> usize {
    let places = map.capacity() + map.capacity().div_ceil(7);
    places * (size_of::<(u64, T)>() + 1)
}

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

    /// Adds a step for each of these users. The record of their job, if any, must come after.
    pub(super) fn add(&self, users: &[UserId], step: Step) {
        let mut more = 0;
        for user in users {
            let mut part = self.parts.of(user.get()).lock();
            let before = part.filling.bytes();
            if part.filling.add(*user, step) >= MOST_STEPS {
                self.is_due.store(true, Ordering::Relaxed);
            }
            more += part.filling.bytes() - before;
        }
        self.filling.fetch_add(more as i64, Ordering::Relaxed);
    }

    /// Adds all steps of a change of one user at once.
    pub(super) fn change(&self, user: UserId, change: Change) {
        let mut part = self.parts.of(user.get()).lock();
        let before = part.filling.bytes();
        for step in change.steps {
            if part.filling.add(user, step) >= MOST_SETTLED {
                self.is_due.store(true, Ordering::Relaxed);
            }
        }
        if let Some(floor) = change.floor {
            let present = part.filling.floors.entry(user.get()).or_insert(floor);
            *present = floor.max(*present);
        }
        self.filling.fetch_add((part.filling.bytes() - before) as i64, Ordering::Relaxed);
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

    fn write_leaving(
        &self,
        write_set: &mut impl FnMut(&Set) -> Result<()>,
        write_records: &impl Fn(&HashMap<JobId, Record>) -> Result<()>,
    ) -> Result<()> {
        for part in self.parts.all() {
            let Some(leaving) = part.lock().leaving.clone() else { continue };
            write_set(&leaving)?;
            let mut part = part.lock();
            part.leaving = None;
            part.let_go += 1;
            drop(part);
            self.leaving.fetch_sub(leaving.bytes() as i64, Ordering::Relaxed);
        }
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
    use super::*;
    use model::{ContentId, Entry};

    fn user(raw: u64) -> UserId {
        UserId::new(raw).expect("in range")
    }

    fn step(at: u64, author: Option<u64>) -> Step {
        let cursor = Cursor { at, id: ContentId::MIN };
        match author {
            Some(author) => Step::Add(Entry::plain(cursor, user(author))),
            None => Step::Remove((cursor, user(7))),
        }
    }

    /// Two threads deliver two items to the same users in turn.
    #[test]
    fn users_share_a_step_and_each_has_its_own_order() {
        let mut set = Set::default();
        for raw in 1..=100 {
            let (one, other) = (step(10, Some(7)), step(20, Some(8)));
            let steps = if raw % 2 == 0 { [one, other] } else { [other, one] };
            steps.into_iter().enumerate().for_each(|(n, step)| assert_eq!(set.add(user(raw), step), n as u32 + 1));
        }
        assert_eq!(set.steps.len(), 2);
        set.add(user(1), step(10, None));
        set.add(user(2), step(10, None));
        set.add(user(2), step(10, Some(7)));
        let steps = |raw| set.change(user(raw)).steps;
        assert_eq!(steps(1), [step(20, Some(8)), step(10, None)], "the last one made counts");
        for raw in 2..=100 {
            assert_eq!(steps(raw), [step(20, Some(8)), step(10, Some(7))], "{raw}");
        }
    }

    /// However many there are, the memory is at most a quarter more than what is in use, but for the places of users, of
    /// which half may be free.
    #[test]
    fn the_room_for_more_counts() {
        for users in [1, 100, 1000, 1793, 10_000] {
            let mut set = Set::default();
            for at in 1..=20 {
                (1..=users).for_each(|raw| _ = set.add(user(raw), step(at, Some(7))));
            }
            let (nodes, places) = (20 * users as usize * size_of::<Node>(), users as usize * 17);
            let least = nodes + places + 20 * size_of::<Step>();
            let most = nodes + nodes / 4 + places * 5 / 2 + 36 * size_of::<Step>() + 1024;
            assert!((least..most).contains(&set.bytes()), "{users} users: {} of {least} to {most}", set.bytes());
            assert!(set.bytes() >= size_of::<Node>() * set.nodes.capacity() + 17 * set.last.capacity());
        }
    }

    #[test]
    fn memory_is_counted_and_given_back() {
        let arrivals = Arrivals::new(1 << 20);
        let users: Vec<_> = (1..=1000).map(user).collect();
        (1..=50).for_each(|at| arrivals.add(&users, step(at, Some(7))));
        arrivals.change(user(5), Change::of(Some(Cursor::OLDEST), vec![step(3, None)]));
        let nodes = 50_001 * size_of::<Node>();
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
}
