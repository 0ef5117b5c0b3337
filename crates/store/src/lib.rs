//! The store: operations of the domain on rows in tables, each with its atomicity stated. Most tables consist of partitions (a
//! user, an item, a lane) with ordered rows.
//!
//! - A write is one atomic change: a reader, and a restart after a crash, sees all of it or none.
//! - Writes become durable in the order in which they were made; a crash loses only a tail of them. A method that
//!   *acknowledges* returns once its change is as durable as the settings ask; the others are durable no later than the next
//!   write that acknowledges.
//! - Reads see every write that had returned before they began. Of the store that [`Store::grouping`] makes, others see a change
//!   once [`Store::write_group`] has returned.
//! - A read with [`Tier::Memory`](model::store::Tier::Memory) fails with [`Error::NotCached`] instead of touching the disk.

mod access;
mod check;
mod engine;
pub mod kv;
mod memory;
mod options;
mod reader;
mod rows;
mod subjects;
mod writes;

use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rocksdb::ErrorKind;

use crate::engine::disk::Disk;
use crate::kv::Kv;
use crate::memory::highest::Highest;
use crate::memory::kinds::{Kinds, Sort};
use crate::memory::outbox_parts::OutboxParts;
use crate::rows::tables::{OUTBOX, OUTBOX_ARCHIVE, TOPIC_ARCHIVE, TOPIC_CONTENT};
use crate::subjects::archive::Archived;
use crate::subjects::erasures::Erasing;
use crate::subjects::inbox::{Arrivals, DamagedInboxes};
use crate::subjects::loading::{Loaded, Loader};
use crate::subjects::names::Names;
use crate::subjects::topics::Topics;
use crate::writes::Group;
use model::cache::ReadThrough;
use model::cache::memory::CacheMemory;
use model::error::{Error, Result};
use model::failpoint::Write;
use model::stripes::Striped;
use model::{Activity, JobId, UserId, Work};

pub use self::options::Options;
pub use crate::engine::backup::room_for;
pub use crate::engine::directory::is_file_of_engine;
pub use crate::engine::erased::known_erasures;
pub use crate::engine::log::LogReader;
pub use crate::engine::standby::{Origin, Standby, StandbyDirectory};
pub use crate::reader::{Marker, Reader, Ruled};
pub use crate::rows::inbox::InboxRoom;

/// The number of the format of the data directory.
pub const FORMAT: u32 = engine::directory::CURRENT;

/// An empty engine of ordered maps in memory, which takes the filters and the room of inboxes of these options.
pub fn in_memory(options: &Options) -> Arc<dyn Kv> {
    Arc::new(engine::in_memory::Memory::new(options))
}

/// A view of an open engine. All views of one engine share all but the changes that are not written yet.
pub struct Store {
    inner: Arc<Inner>,
    /// Of the store of the thread that makes changes: those that are not written yet.
    group: Option<Mutex<Group>>,
}

impl Deref for Store {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.inner
    }
}

/// All that the stores of one engine share.
pub struct Inner {
    kv: Arc<dyn Kv>,
    /// The engine, if it is one in a data directory.
    disk: Option<Arc<Disk>>,
    /// Whether each change is on the device before it is acknowledged.
    syncs: bool,
    next_seq: AtomicU64,
    /// The greatest ids of items, and of items with counts.
    highest: Highest,
    /// Filters and copies of whole tables, in memory.
    loaded: Arc<Loaded>,
    /// Users who are being erased.
    erasing: Arc<Erasing>,
    /// Numbers of names, and names of numbers.
    names: Arc<Names>,
    /// Names of topics, and the ends of their lists.
    topics: Topics,
    /// The kinds of content.
    content_kinds: Arc<Kinds>,
    /// The rows of outboxes, by author.
    outboxes: Archived,
    outbox_parts: OutboxParts,
    /// The rows of lists of topics, by topic.
    topic_lists: Archived,
    user_locks: Striped<Mutex<()>>,
    /// Never older than their rows. Reads take no activity lock.
    activities: ReadThrough<UserId, Activity>,
    item_counts: crate::memory::item_counts::ItemCountsCache,
    newest_reactions: crate::memory::newest_reactions::NewestReactionsCache,
    /// The names of kinds of reactions.
    kinds: Arc<Kinds>,
    /// Fills filters and mirrors of tables.
    loader: Mutex<Option<Loader>>,
    /// Changes of inboxes that are not written yet.
    arrivals: Arrivals,
    /// Rows of inboxes.
    inbox_rows: crate::subjects::inbox::Rows,
    damaged: DamagedInboxes,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("dir", &self.disk.as_ref().map(|disk| disk.path())).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens a data directory, or makes one. Fails with a clear message if another process holds it or its format is
    /// unknown.
    pub fn open(options: &Options) -> Result<Self> {
        let disk = Arc::new(Disk::open(options)?);
        Self::over(Arc::clone(&disk) as Arc<_>, Some(disk), options)
    }

    /// A store on an engine without a directory.
    pub fn on(engine: Arc<dyn Kv>, options: &Options) -> Result<Self> {
        Self::over(engine, None, options)
    }

    /// An empty store in memory, with options for small data.
    pub fn in_memory() -> Result<Self> {
        let cache_memory = CacheMemory::new(8 << 20);
        let options = Options { cache_memory, arrivals: 1 << 20, ..Options::new("") };
        Self::on(in_memory(&options), &options)
    }

    fn over(kv: Arc<dyn Kv>, disk: Option<Arc<Disk>>, options: &Options) -> Result<Self> {
        let inner = Inner {
            loaded: Arc::new(Loaded::new(&*kv)?),
            kv,
            disk,
            syncs: options.sync,
            next_seq: AtomicU64::new(1),
            highest: Highest::default(),
            erasing: Arc::default(),
            names: Arc::new(Names::new(options.cache_memory)),
            topics: Topics::new(options.cache_memory),
            content_kinds: Arc::new(Kinds::new(Sort::Content)),
            outboxes: Archived::new(OUTBOX, OUTBOX_ARCHIVE, Write::Archive),
            outbox_parts: OutboxParts::new(options.cache_memory),
            topic_lists: Archived::new(TOPIC_CONTENT, TOPIC_ARCHIVE, Write::ArchiveTopic),
            user_locks: Striped::default(),
            activities: crate::subjects::users::activities(options.cache_memory),
            item_counts: crate::memory::item_counts::cache(options.cache_memory),
            newest_reactions: crate::memory::newest_reactions::cache(options.cache_memory),
            kinds: Arc::new(Kinds::new(Sort::Reactions)),
            loader: Mutex::default(),
            arrivals: Arrivals::new(options.arrivals),
            inbox_rows: crate::subjects::inbox::rows(options.cache_memory),
            damaged: DamagedInboxes::default(),
        };
        let store = Self { inner: Arc::new(inner), group: None };
        if let Some(disk) = &store.disk {
            store.finish_rebuild(disk)?;
        }
        let newest = store.jobs()?.iter().map(|job| job.id.seq).max().unwrap_or_default();
        store.next_seq.store(newest + 1, Ordering::Relaxed);
        store.highest.load(|table| store.highest_id(table));
        store.load_names()?;
        store.kinds.load(&store)?;
        store.content_kinds.load(&store)?;
        store.load_topics()?;
        store.load_erasures()?;
        store.outboxes.look_for_floors(&store)?;
        store.topic_lists.look_for_floors(&store)?;
        if options.loads {
            let loader = Loader::start(&store)?;
            *store.loader.lock() = Some(loader);
        }
        Ok(store)
    }

    /// Fails unless a directory is, or may be, a data directory.
    pub fn must_be_there(dir: &Path) -> Result<()> {
        engine::directory::must_be_there(dir)
    }

    /// Fails unless a directory has data of the present format.
    pub fn must_be_readable(dir: &Path) -> Result<()> {
        engine::directory::Directory::look(dir).map(drop)
    }

    /// The engine in a data directory.
    fn disk(&self) -> Result<&Disk> {
        self.disk.as_deref().ok_or_else(|| Error::Storage("a store in memory has no files and no log".to_owned()))
    }

    /// A number for a new job.
    fn new_job(&self, work: &Work) -> JobId {
        JobId { lane: work.lane(), seq: self.next_seq.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Store {
    /// Writes all in memory to table files, so that the next start has nothing to replay.
    fn drop(&mut self) {
        // Only the last one of a directory.
        if Arc::strong_count(&self.inner) > 1 {
            return;
        }
        if let Some(loader) = &mut *self.loader.lock() {
            loader.stop();
        }
        if let Err(error) = self.write_arrivals() {
            tracing::warn!(%error, "the inboxes could not be written; the next start delivers their entries again");
        }
        if let Some(disk) = &self.disk {
            disk.stop();
        }
    }
}

/// Converts an error of the engine by its meaning.
fn storage(error: rocksdb::Error) -> Error {
    match error.kind() {
        ErrorKind::Incomplete => Error::NotCached,
        ErrorKind::Corruption => Error::Corrupt(error.into_string()),
        _ => Error::Storage(error.into_string()),
    }
}
