//! The store: the rows of a directory, and all that is kept in memory of them. Most tables consist of partitions (a user, an item,
//! a lane) with ordered rows.

use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::memory::announced::End;
use crate::memory::{Memory, announced, rebuild};
use crate::rows::table::Spec;
use crate::rows::tables::{ALL, REPLICA};
use kv::{Copied, Database, Kv, Schema, Tier, WriteBatch};
use model::Effect;
use model::cache::memory::CacheMemory;
use model::error::Result;
use model::failpoint::Write;
use model::versions::Thing;

pub use crate::memory::MemoryUsage;
pub use crate::memory::key_filter::FilterUsage;
pub use crate::options::{InboxRoom, Listeners, Options};
pub use crate::rows::filter::Rules;
pub use crate::rows::schema::described;

/// The note with the number below which events were removed, in eight bytes, highest first.
pub const EVENTS_FROM: &str = "events_from";

/// The note with the mark of a node: its place in the command log, and all that later changes depend on. Only the store of a node
/// has it.
pub const MARK: &str = "mark";

/// A view of an open store. All views of one store share all but the changes that are not written yet.
pub struct Store {
    /// Ends its threads before the engine is closed.
    pub(crate) memory: Arc<Memory>,
    rows: Database,
    /// Of the view of the thread that makes changes: what is left to do of those that are not written yet.
    rest: Option<Mutex<Rest>>,
}

/// What is left to do of changes that are not written yet.
#[derive(Default)]
struct Rest {
    /// Of the present change.
    effects: Vec<Effect>,
    /// The things that the rows concern.
    things: Vec<Thing>,
    ends: Vec<End>,
    /// How many of these are of changes that have ended.
    ended: usize,
}

impl Deref for Store {
    type Target = Database;

    fn deref(&self) -> &Database {
        &self.rows
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows.fmt(f)
    }
}

impl Store {
    /// Opens a data directory, or makes one. Fails with a clear message if another process holds it or its format is
    /// unknown.
    pub fn open(options: &Options) -> Result<Self> {
        let rules = Arc::new(Rules::new(options));
        let rows = Database::open(&options.engine, &(Arc::clone(&rules) as Arc<_>))?;
        Self::over(rows, rules, options)
    }

    /// A store on an engine without a directory, which has these rules.
    pub fn on(engine: Arc<dyn Kv>, rules: Arc<Rules>, options: &Options) -> Result<Self> {
        Self::over(Database::on(engine), rules, options)
    }

    /// Some tables of a directory that nothing changes: see [`kv::read_only`].
    pub(crate) fn read(options: &Options, has: impl Fn(&Spec) -> bool) -> Result<Self> {
        let rules = Arc::new(Rules::new(options));
        let schema: Arc<dyn Schema> = Arc::clone(&rules) as Arc<_>;
        let tables: Vec<_> = ALL.iter().filter(|table| has(table)).map(|table| &***table).collect();
        let engine = kv::read_only(&options.engine, &schema, &tables)?;
        Self::on(engine, rules, &Options { loads: false, ..options.clone() })
    }

    /// An empty store in memory, with options for small data.
    pub fn in_memory() -> Result<Self> {
        let options = Options { arrivals: 1 << 20, ..Options::new("") };
        let options = options.with(|engine| engine.cache_memory = CacheMemory::new(8 << 20));
        let rules = Arc::new(Rules::new(&options));
        let schema: Arc<dyn Schema> = Arc::clone(&rules) as Arc<_>;
        Self::on(kv::in_memory(&schema)?, rules, &options)
    }

    fn over(rows: Database, rules: Arc<Rules>, options: &Options) -> Result<Self> {
        rebuild::finish(&rows)?;
        let memory = Memory::load(&rows, rules, options)?;
        Ok(Self { rows, memory: Arc::new(memory), rest: None })
    }

    /// The same store for the thread that makes changes: see [`Database::grouping`].
    pub fn grouping(&self) -> Arc<Self> {
        Arc::new(Self { rows: self.rows.grouping(), memory: Arc::clone(&self.memory), rest: Some(Mutex::default()) })
    }

    /// The same store as others see it, without the rows of a group.
    pub fn written(&self) -> Arc<Self> {
        Arc::new(Self { rows: self.rows.written(), memory: Arc::clone(&self.memory), rest: None })
    }

    /// Writes the first rows of the present change, if there are any. Acknowledges.
    pub(crate) fn begin_change(&self, rows: WriteBatch) -> Result<()> {
        if rows.is_empty() { Ok(()) } else { self.announced(rows, |store, rows| store.acknowledge(None, rows)) }
    }

    /// Writes a change that acknowledges. [`Store::effects`] returns its effects.
    pub(crate) fn acknowledge(&self, what: Write, rows: WriteBatch, effects: Vec<Effect>) -> Result<()> {
        self.announced(rows, |store, rows| store.acknowledge(Some(what), rows))?;
        if let Some(rest) = &self.rest {
            rest.lock().effects.extend(effects);
        }
        Ok(())
    }

    /// As [`Database::follow`].
    pub(crate) fn follow(&self, what: Option<Write>, rows: WriteBatch) -> Result<()> {
        self.announced(rows, |store, rows| store.follow(what, rows))
    }

    /// As [`Database::follow_up`].
    pub(crate) fn follow_up(&self, what: Write, rows: WriteBatch) -> Result<()> {
        let ends = self.memory.announce(&rows);
        let written = self.rows.follow_up(what, rows);
        self.end(ends, written.is_ok());
        written
    }

    /// Announces rows to the memory, and writes them, or puts them into the group.
    fn announced(&self, rows: WriteBatch, write: impl FnOnce(&Database, WriteBatch) -> Result<()>) -> Result<()> {
        let ends = self.memory.announce(&rows);
        if let Some(rest) = &self.rest {
            rest.lock().things.extend(announced::things(&rows));
        }
        let written = write(&self.rows, rows);
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
        ends.into_iter().for_each(|end| end(&self.memory, is_written));
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

    /// Makes a copy of the directory: see [`Disk::copy_to`](kv::Disk::copy_to).
    pub fn copy_to(&self, dir: &Path) -> Result<Copied> {
        // Without these the copy has more jobs instead.
        self.disk()?.copy_to(dir, || self.write_arrivals())
    }

    /// A note; `None` if there is none of this name.
    pub fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        REPLICA.get(self.now(Tier::Disk), name)
    }

    /// Writes notes, or removes them (`None`), in one change. Durable no later than the next write that acknowledges.
    pub fn put_notes(&self, notes: &[(&str, Option<&[u8]>)]) -> Result<()> {
        let mut change = WriteBatch::default();
        for (name, note) in notes {
            change.set(&REPLICA, name, *note);
        }
        self.commit(change, false)
    }

    /// Writes a note with the group of changes that [`Database::write_group`] writes next, if it has any. The last one counts.
    pub fn note_group(&self, name: &str, note: &[u8]) -> Result<()> {
        let mut row = WriteBatch::default();
        row.put(&REPLICA, name, note);
        self.add_to_group(row)
    }

    /// Writes all changes of inboxes in memory, and the records of their jobs. After an error the next call, or a delivery, tries
    /// it again.
    pub fn write_arrivals(&self) -> Result<()> {
        self.memory.inboxes.write(self)
    }

    /// Makes every write so far durable, whatever the settings say.
    pub fn sync(&self) -> Result<()> {
        self.kv().sync()
    }

    /// Rewrites all tables, which drops rows that are deleted or below a floor, and removes log that was
    /// kept for standbys if none is to be kept.
    pub fn compact(&self) -> Result<()> {
        self.write_arrivals()?;
        self.kv().compact()
    }

    /// Memory that the store uses, besides that of the engine.
    pub fn memory_usage(&self) -> MemoryUsage {
        self.memory.usage()
    }
}

impl Drop for Store {
    /// Writes the changes of inboxes, so that the next start need not deliver their entries again.
    fn drop(&mut self) {
        // Only the last one of a directory.
        if Arc::strong_count(&self.memory) > 1 {
            return;
        }
        if let Err(error) = self.write_arrivals() {
            tracing::warn!(%error, "the inboxes could not be written; the next start delivers their entries again");
        }
    }
}
