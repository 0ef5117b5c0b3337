//! The store: the rows of a directory, and all that is kept in memory of them. Most tables consist of partitions (a user, an item,
//! a lane) with ordered rows.

use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use crate::memory::{Memory, rebuild};
use crate::rows::table::Spec;
use crate::rows::tables::{ALL, NOTES};
use kv::{Copied, Database, Kv, Schema, Tier, WriteBatch};
use model::cache::memory::CacheMemory;
use model::error::Result;
use model::{CacheUsage, Fill};

pub use crate::kept_rows::KeptRows;
pub use crate::memory::key_filter::FilterUsage;
pub use crate::options::{InboxRoom, Listeners, Options};
pub use crate::rows::compaction_rules::Rules;
pub use crate::rows::schema::described;

/// The note with the number below which events were removed, in eight bytes, highest first.
pub const EVENTS_FROM: &str = "events_from";

/// The note with the mark of a node: its place in the command log, and all that later changes depend on. Only the store of a node
/// has it.
pub const MARK: &str = "mark";

/// A view of an open store. All views of one store share all but the changes that are not written yet.
pub struct Store(KeptRows);

impl Deref for Store {
    type Target = KeptRows;

    fn deref(&self) -> &KeptRows {
        &self.0
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
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
        Ok(Self(KeptRows::new(rows, memory)))
    }

    /// The same store for the thread that makes changes: see [`Database::grouping`].
    pub fn grouping(&self) -> Arc<Self> {
        Arc::new(Self(self.0.grouping()))
    }

    /// The same store as others see it, without the rows of a group.
    pub fn written(&self) -> Arc<Self> {
        Arc::new(Self(self.0.written()))
    }

    /// Makes a copy of the directory: see [`Disk::copy_to`](kv::Disk::copy_to).
    pub fn copy_to(&self, dir: &Path) -> Result<Copied> {
        // Without these the copy has more jobs instead.
        self.disk()?.copy_to(dir, || self.write_arrivals())
    }

    /// A note; `None` if there is none of this name.
    pub fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        NOTES.get(self.now(Tier::Disk), name)
    }

    /// Writes notes, or removes them (`None`), in one change. Durable no later than the next write that acknowledges.
    pub fn put_notes(&self, notes: &[(&str, Option<&[u8]>)]) -> Result<()> {
        let mut change = WriteBatch::default();
        for (name, note) in notes {
            change.set(&NOTES, *name, *note);
        }
        self.commit(change, false)
    }

    /// Writes a note with the group of changes that [`Database::write_group`] writes next, if it has any. The last one counts.
    pub fn note_group(&self, name: &str, note: &[u8]) -> Result<()> {
        let mut row = WriteBatch::default();
        row.put(&NOTES, name, note);
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

    /// The caches in figures, by their names.
    pub fn caches(&self) -> Vec<(&'static str, CacheUsage)> {
        self.memory.caches()
    }

    /// The filters in figures.
    pub fn filters(&self) -> Vec<FilterUsage> {
        self.memory.loaded.filters()
    }

    /// Memory for changes of inboxes that are not written yet, bytes. Above the limit fan-outs wait.
    pub fn arrivals(&self) -> Fill {
        self.memory.inboxes.arrivals.usage()
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
