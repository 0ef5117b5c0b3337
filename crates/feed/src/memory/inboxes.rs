//! Rows of inboxes in memory, and their changes that are not written yet.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::activities::{self, Activities};
use super::arrival_set::Set;
use super::arrivals::{Arrivals, DEEP, Record};
use crate::rows::inbox::merge::Change;
use crate::rows::keys;
use crate::rows::tables::{INBOXES, JOBS};
use crate::waiting::Waiting;
use kv::{Database, WriteBatch};
use model::cache::ReadThrough;
use model::cache::memory::{CacheMemory, Share};
use model::error::Result;
use model::failpoint::Write;
use model::priority::Pace;
use model::stripes::Striped;
use model::{Count, JobId, UserId};

/// A usual row: 300 entries.
const ROW_BYTES: u64 = 1600;

/// Rows by user, as the engine merges them; empty for no row. A read of a row with many changes to merge takes ten times
/// as long as one without.
pub(crate) type Rows = ReadThrough<UserId, Arc<[u8]>>;

/// An empty cache of rows.
pub(crate) fn rows(memory: CacheMemory) -> Rows {
    ReadThrough::new(memory.of(Share::INBOXES), ROW_BYTES, |row| row.len() as u64)
}

/// Most inboxes or jobs that one write changes: a publish waits for the write before it.
const MOST_ROWS: usize = 256;

/// Most users noted at once. A later read notes the others.
const MOST_NOTED: usize = 65_536;

/// Inboxes in memory.
pub(crate) struct Inboxes {
    /// Changes that are not written yet.
    pub(crate) arrivals: Arrivals,
    pub(crate) rows: Rows,
    pub(crate) damaged: DamagedInboxes,
    /// The activities of their users.
    pub(crate) activities: Activities,
    /// For settles and rebuilds of one inbox, one after the other.
    turns: Striped<Mutex<()>>,
}

impl Inboxes {
    /// Empty ones. `arrivals` is the memory for changes, bytes.
    pub(crate) fn new(memory: CacheMemory, arrivals: usize) -> Self {
        let (damaged, turns) = Default::default();
        let activities = activities::activities(memory);
        Self { arrivals: Arrivals::new(arrivals), rows: rows(memory), damaged, activities, turns }
    }

    /// Lets an inbox be settled or rebuilt by one thread at a time, until the result is dropped.
    pub(crate) fn change(&self, user: UserId) -> MutexGuard<'_, ()> {
        self.turns.of(user.get()).lock()
    }

    /// Writes changes in memory, and the records of their jobs. After an error the next call, or a delivery, tries it again.
    pub(crate) fn write(&self, database: &Database) -> Result<()> {
        self.write_in_turn(database, &self.arrivals.turn())
    }

    /// Writes changes in memory if there are many. Waits if there is no room for more.
    pub(crate) fn make_room(&self, database: &Database) -> Result<()> {
        if !self.arrivals.should_leave() {
            return Ok(());
        }
        match self.arrivals.try_turn() {
            Some(turn) => self.write_in_turn(database, &turn),
            None if self.arrivals.is_full() => self.write(database),
            None => Ok(()),
        }
    }

    /// Adds a change of one inbox to the changes in memory; a large one it writes.
    pub(crate) fn add_change(&self, database: &Database, user: UserId, change: Change) -> Result<()> {
        if change.steps.len() >= DEEP as usize {
            self.write_alone(database, vec![(user, change)])
        } else if self.arrivals.change(user, change) {
            self.write_alone(database, vec![(user, Change::default())])
        } else {
            Ok(())
        }
    }

    /// Adds a change to each of some inboxes that have many, and writes them; those of other inboxes stay in memory. While
    /// others are being written these stay, too: the next change of such an inbox tries again.
    pub(crate) fn write_alone(&self, database: &Database, changes: Vec<(UserId, Change)>) -> Result<()> {
        let Some(turn) = self.arrivals.try_turn() else {
            let new = changes.into_iter().filter(|(_, change)| *change != Change::default());
            new.for_each(|(user, change)| _ = self.arrivals.change(user, change));
            return Ok(());
        };
        let written =
            self.arrivals.write_alone(&turn, changes, |set| self.write_set(database, set, &mut Pace::default()));
        match written {
            // They wait in memory for the next write of all, which says so if it is still so.
            Err(error) if error.is_unavailable() => Ok(()),
            written => written,
        }
    }

    fn write_in_turn(&self, database: &Database, turn: &MutexGuard<'_, ()>) -> Result<()> {
        let mut pace = Pace::default();
        self.arrivals.write(
            turn,
            |set| self.write_set(database, set, &mut pace),
            |records| self.write_records(database, records),
        )
    }

    fn write_set(&self, database: &Database, set: &Set, pace: &mut Pace) -> Result<()> {
        for users in set.users().chunks(MOST_ROWS) {
            let mut batch = WriteBatch::default();
            let mut announced = Vec::with_capacity(users.len());
            for user in users {
                batch.merge(&INBOXES, keys::id(user.get()), set.change(*user).pack());
                announced.push(self.rows.change(*user));
            }
            database.written().write(Some(Write::Deliver), batch, false)?;
            drop(announced);
            pace.step();
        }
        Ok(())
    }

    fn write_records(&self, database: &Database, records: &HashMap<JobId, Record>) -> Result<()> {
        let mut pace = Pace::default();
        let mut records = records.iter().peekable();
        while records.peek().is_some() {
            let mut batch = WriteBatch::default();
            for (job, record) in records.by_ref().take(MOST_ROWS) {
                batch.set(&JOBS, keys::of(*job), record.as_deref());
            }
            database.written().write(Some(Write::EndJobs), batch, false)?;
            pace.step();
        }
        Ok(())
    }
}

/// Users whose inboxes reads found damaged, until they are dropped.
#[derive(Debug)]
pub(crate) struct DamagedInboxes {
    /// Each with the cause, once for each read that found it.
    noted: Waiting<(UserId, String)>,
    pub(crate) dropped: Count,
}

impl Default for DamagedInboxes {
    fn default() -> Self {
        Self { noted: Waiting::new(MOST_NOTED), dropped: Count::default() }
    }
}

impl DamagedInboxes {
    pub(crate) fn note(&self, user: UserId, cause: &str) {
        // A later read notes it else.
        let _ = self.noted.push((user, cause.to_owned()));
    }

    /// One of those noted, which is noted no more.
    pub(crate) fn take(&self) -> Option<(UserId, String)> {
        self.noted.take(1).pop()
    }
}
