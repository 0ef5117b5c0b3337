//! Rows with what is kept of them in memory, which each change of rows updates.

use std::ops::Deref;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::memory::Memory;
use crate::memory::announced::{End, things};
use kv::{Database, WriteBatch};
use model::Effect;
use model::error::Result;
use model::failpoint::Write;
use model::versions::Thing;

/// A view of the rows of an engine, with what is kept of them.
pub struct KeptRows {
    /// Ends its threads before the engine is closed.
    pub(crate) memory: Arc<Memory>,
    rows: Database,
    /// Only in the view of the thread that makes changes.
    rest: Option<Mutex<Rest>>,
}

/// The effects, things and ends of changes that are not written yet.
#[derive(Default)]
struct Rest {
    /// Of the present change.
    effects: Vec<Effect>,
    /// The things that the rows concern.
    things: Vec<Thing>,
    ends: Vec<End>,
    /// The number of these that are of changes that have ended.
    ended: usize,
}

impl Deref for KeptRows {
    type Target = Database;

    fn deref(&self) -> &Database {
        &self.rows
    }
}

impl KeptRows {
    pub(crate) fn new(rows: Database, memory: Memory) -> Self {
        Self { rows, memory: Arc::new(memory), rest: None }
    }

    /// See [`Database::grouping`].
    pub(crate) fn grouping(&self) -> Self {
        Self { rows: self.rows.grouping(), memory: Arc::clone(&self.memory), rest: Some(Mutex::default()) }
    }

    /// See [`Database::written`].
    pub(crate) fn written(&self) -> Self {
        Self { rows: self.rows.written(), memory: Arc::clone(&self.memory), rest: None }
    }

    /// Writes the first rows of the present change, if there are any. Acknowledges.
    pub(crate) fn begin_change(&self, rows: WriteBatch) -> Result<()> {
        if rows.is_empty() { Ok(()) } else { self.write(None, rows, true) }
    }

    /// Writes a change that acknowledges. [`KeptRows::effects`] returns its effects.
    pub(crate) fn acknowledge(&self, what: Write, rows: WriteBatch, effects: Vec<Effect>) -> Result<()> {
        self.write(Some(what), rows, true)?;
        if let Some(rest) = &self.rest {
            rest.lock().effects.extend(effects);
        }
        Ok(())
    }

    /// Writes rows that each server has for itself, beside a group. They are durable no later than the next change that
    /// acknowledges.
    pub(crate) fn follow_up(&self, what: Write, rows: WriteBatch) -> Result<()> {
        self.written().write(Some(what), rows, false)
    }

    /// Writes rows, or puts them into the group: see [`Database::write`].
    pub(crate) fn write(&self, what: Option<Write>, rows: WriteBatch, acknowledges: bool) -> Result<()> {
        let ends = self.memory.announce(&rows);
        if let Some(rest) = &self.rest {
            rest.lock().things.extend(things(what, &rows));
        }
        let written = self.rows.write(what, rows, acknowledges);
        match self.rest.as_ref().filter(|_| written.is_ok()) {
            Some(rest) => rest.lock().ends.extend(ends),
            None => self.end(ends, written.is_ok()),
        }
        written
    }

    /// Ends changes of rows. Of those that are not written the last one comes first, so that each leaves what was there before it.
    fn end(&self, mut ends: Vec<End>, is_written: bool) {
        if !is_written {
            ends.reverse();
        }
        for end in ends {
            match end {
                End::Changing(changing) => drop(changing),
                End::Step(step) => step(&self.memory, is_written),
            }
        }
    }

    /// The effects of the present change, in their order, once. Changes of items have events instead, but for
    /// imported items.
    pub fn effects(&self) -> Vec<Effect> {
        self.rest.as_ref().map_or_else(Vec::new, |rest| std::mem::take(&mut rest.lock().effects))
    }

    /// The things that the rows of a group concern, also of changes that were refused, once.
    pub(crate) fn things(&self) -> Vec<Thing> {
        self.rest.as_ref().map_or_else(Vec::new, |rest| std::mem::take(&mut rest.lock().things))
    }

    /// Ends a change of a group. Nothing stays of one that fails: a later one may get the numbers that it gave.
    pub fn end_change(&self, is_made: bool) {
        self.rows.end_change(is_made);
        let Some(rest) = &self.rest else { return };
        let mut rest = rest.lock();
        if is_made {
            rest.ended = rest.ends.len();
            return;
        }
        rest.effects.clear();
        let ended = rest.ended;
        let ends = rest.ends.split_off(ended);
        drop(rest);
        self.end(ends, false);
    }

    /// Writes the changes of a group: see [`Database::write_group`].
    pub fn write_group(&self) -> Result<()> {
        let ends = self.rest.as_ref().map(|rest| {
            let mut rest = rest.lock();
            rest.ended = 0;
            std::mem::take(&mut rest.ends)
        });
        let written = self.rows.write_group();
        self.end(ends.unwrap_or_default(), written.is_ok());
        written
    }
}
