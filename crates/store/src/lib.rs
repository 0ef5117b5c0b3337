//! The store on RocksDB: one directory, one column family a table.

mod check;
mod engine;
mod memory;
mod options;
mod reader;
mod rows;
mod subjects;
mod writes;

use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rocksdb::{DB, ErrorKind, ReadOptions, ReadTier};

use crate::engine::directory::Directory;
use crate::engine::health::Health;
use crate::engine::log::{Flushed, Keeper};
use crate::engine::rebuild::{Opening, Rebuild};
use crate::engine::reserve::Reserve;
use crate::engine::run::Run;
use crate::memory::highest::Highest;
use crate::memory::key_filter::KeyFilter;
use crate::memory::kinds::{Kinds, Sort};
use crate::memory::outbox_parts::OutboxParts;
use crate::rows::tables::{
    ACTIVITY, DELETED, OUTBOX, OUTBOX_ARCHIVE, SETTINGS, SUSPENDED, TAKEN_OFF, TOPIC_ARCHIVE, TOPIC_CONTENT, Table,
};
use crate::subjects::archive::Archived;
use crate::subjects::erasures::Erasing;
use crate::subjects::inbox::{Arrivals, DamagedInboxes};
use crate::subjects::loading::Loader;
use crate::subjects::names::Names;
use crate::subjects::topics::Topics;
use crate::subjects::unpushed::UnpushedRows;
use crate::subjects::users::{MOST_RECIPIENTS, PartialPushRecipients};
use crate::writes::Group;
use model::cache::ReadThrough;
use model::error::{Error, Result};
use model::failpoint;
use model::failpoint::{Failpoint, Write};
use model::private;
use model::store::{Inboxes, MakeMark, Store, Tier};
use model::stripes::Striped;
use model::{Activity, Effect, JobId, UserId, Work};

pub use self::options::Options;
pub use crate::engine::backup::room_for;
pub use crate::engine::erased::known_erasures;
pub use crate::engine::standby::{Copying, Origin, Standby, StandbyDirectory};
pub use crate::reader::{Marker, Reader, Ruled};
pub use crate::rows::inbox::InboxRoom;

/// The number of the format of the data directory.
pub const FORMAT: u32 = engine::directory::CURRENT;

/// An open data directory.
pub struct Rocks {
    inner: Arc<Inner>,
    /// Of the store of the thread that makes changes: those that are not written yet.
    group: Option<Mutex<Group>>,
}

impl Deref for Rocks {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.inner
    }
}

/// All that the stores of one directory share.
pub struct Inner {
    db: Arc<DB>,
    sync: bool,
    health: Arc<Health>,
    /// The place up to which the log is on the device.
    flushed: Arc<Flushed>,
    keeper: Mutex<Keeper>,
    /// The end of the last run, and of this one.
    run: Run,
    next_seq: AtomicU64,
    /// The greatest ids of items, and of items with counts.
    highest: Highest,
    /// Ids with a row in `deleted`.
    deleted: Arc<KeyFilter>,
    /// Users who are or were suspended.
    suspended: Arc<KeyFilter>,
    /// Users who are being erased.
    erasing: Arc<Erasing>,
    /// Users with settings.
    with_settings: Arc<KeyFilter>,
    /// Items that were taken off a path.
    taken_off: Arc<KeyFilter>,
    /// Users who are or were evicted.
    evicted: Arc<KeyFilter>,
    /// The rows of `unpushed`.
    unpushed: Arc<UnpushedRows>,
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
    /// For changes of an activity, one after the other. Reads take no lock.
    activity_locks: Arc<Striped<Mutex<()>>>,
    /// Never older than their rows. Reads take no activity lock.
    activities: ReadThrough<UserId, Activity>,
    item_counts: crate::memory::item_counts::ItemCountsCache,
    newest_reactions: crate::memory::newest_reactions::NewestReactionsCache,
    /// The names of kinds of reactions.
    kinds: Arc<Kinds>,
    /// Users who get partial pushes.
    partial_push_recipients: Arc<PartialPushRecipients>,
    /// Fills filters and mirrors of tables.
    loader: Mutex<Option<Loader>>,
    /// Changes of inboxes that are not written yet.
    arrivals: Arrivals,
    /// Rows of inboxes.
    inbox_rows: crate::subjects::inbox::Rows,
    damaged: DamagedInboxes,
    /// Whether the next start makes a table anew.
    rebuild: Rebuild,
    /// Makes the mark of each group, if this is the store of a node.
    mark: OnceLock<MakeMark>,
    /// Bytes of log to keep for a standby.
    kept_log: Arc<AtomicU64>,
    /// Notices before this time are neither written nor kept.
    notices_since: Arc<AtomicU64>,
    /// See [`Options::write_buffer`].
    write_buffer: usize,
    /// Released last: fields drop in order.
    _directory: Directory,
}

impl fmt::Debug for Rocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rocks").field("dir", &self.db.path()).finish_non_exhaustive()
    }
}

impl Rocks {
    /// Opens a data directory, or makes one. Fails with a clear message if another process holds it or its format is
    /// unknown.
    pub fn open(options: &Options) -> Result<Self> {
        let directory = Directory::claim(&options.dir)?;
        failpoint::pass(Failpoint::StartClaimed);
        let is_fresh = directory.is_fresh()?;
        if options.whole_log {
            engine::log::must_be_whole(&options.dir)?;
        }
        let loses = !is_fresh && engine::log::prepare(&options.dir, options.accept_log_loss)?;
        let run = Run::look(&options.dir, is_fresh, loses);
        let cache = crate::rows::tables::cache(options.cache_memory);
        let notices_since = Arc::default();
        let open = |opening: Opening| {
            let compacts = options.compacts && opening == Opening::Usual;
            let families = engine::open::families(&cache, options, compacts, &notices_since);
            let mut engine = engine::open::options(options, is_fresh, loses);
            engine.set_paranoid_checks(opening != Opening::Lenient);
            engine::open::open(&engine, &directory.engine(), families)
        };
        let health = Arc::new(Health::new(&options.dir, options.min_free));
        let log_limit = engine::open::log_limit(options.write_buffer);
        let keep = || Reserve::for_start(&options.dir, log_limit, options.min_free, &health);
        let mut reserve = options.keep_room.then(keep);
        let mut rebuild = Rebuild::look(&options.dir, !options.whole_log && health.takes_writes());
        let db = rebuild.open(open)?.map_err(|error| engine::advice::cannot_open(&options.dir, &error))?;
        directory.created()?;
        if is_fresh {
            tracing::info!(data_dir = %options.dir.display(), "a new data directory was made");
        } else if private::admits_all(&options.dir) && private::admits_all(&directory.engine()) {
            tracing::warn!(data_dir = %options.dir.display(),
                "every user of this machine may read the data; chmod o= the data directory");
        }
        let db = Arc::new(db);
        if let Some(reserve) = &mut reserve {
            reserve.look(&health);
            if let Some(why) = health.owed() {
                tracing::warn!(cause = why, "changes are refused for lack of space");
            }
        }
        let flushed = Arc::new(Flushed::new(db.latest_sequence_number()));
        let kept_log = Arc::new(AtomicU64::new(if options.keeps_log { u64::MAX } else { 0 }));
        let archive = options.keeps_log.then(|| Arc::clone(&kept_log));
        let keeper = Keeper::start(&db, &flushed, &health, (reserve, archive), options.sync)?;
        let inner = Inner {
            db,
            sync: options.sync,
            health,
            flushed,
            keeper: Mutex::new(keeper),
            run,
            next_seq: AtomicU64::new(1),
            highest: Highest::default(),
            deleted: Arc::default(),
            suspended: Arc::default(),
            erasing: Arc::default(),
            with_settings: Arc::default(),
            taken_off: Arc::default(),
            evicted: Arc::default(),
            unpushed: Arc::default(),
            names: Arc::new(Names::new(options.cache_memory)),
            topics: Topics::new(options.cache_memory),
            content_kinds: Arc::new(Kinds::new(Sort::Content)),
            outboxes: Archived::new(OUTBOX, OUTBOX_ARCHIVE, Write::Archive),
            outbox_parts: OutboxParts::new(options.cache_memory),
            topic_lists: Archived::new(TOPIC_CONTENT, TOPIC_ARCHIVE, Write::ArchiveTopic),
            user_locks: Striped::default(),
            activity_locks: Arc::default(),
            activities: crate::subjects::users::activities(options.cache_memory),
            item_counts: crate::memory::item_counts::cache(options.cache_memory),
            newest_reactions: crate::memory::newest_reactions::cache(options.cache_memory),
            kinds: Arc::new(Kinds::new(Sort::Reactions)),
            partial_push_recipients: Arc::new(PartialPushRecipients::new(MOST_RECIPIENTS)),
            loader: Mutex::default(),
            write_buffer: options.write_buffer,
            arrivals: Arrivals::new(options.arrivals),
            inbox_rows: crate::subjects::inbox::rows(options.cache_memory),
            damaged: DamagedInboxes::default(),
            rebuild,
            mark: OnceLock::new(),
            kept_log,
            notices_since: Arc::clone(&notices_since),
            _directory: directory,
        };
        let mut store = Self { inner: Arc::new(inner), group: None };
        store.finish_rebuild()?;
        let newest = store.jobs()?.iter().map(|job| job.id.seq).max().unwrap_or_default();
        store.next_seq.store(newest + 1, Ordering::Relaxed);
        let filters = [DELETED, SUSPENDED, SETTINGS, TAKEN_OFF, ACTIVITY].map(|table| store.filter_to_load(table));
        let [deleted, suspended, with_settings, taken_off, evicted] = filters;
        let inner = store.alone()?;
        (inner.deleted, inner.suspended, inner.with_settings) = (deleted?, suspended?, with_settings?);
        (inner.taken_off, inner.evicted) = (taken_off?, evicted?);
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

    fn family(&self, table: Table) -> Result<&rocksdb::ColumnFamily> {
        self.db.cf_handle(table.name).ok_or_else(|| Error::Storage(format!("no table {table}")))
    }

    /// The shared part, while this is the only store of the directory.
    fn alone(&mut self) -> Result<&mut Inner> {
        Arc::get_mut(&mut self.inner).ok_or_else(|| Error::Storage("the directory is in use already".to_owned()))
    }

    /// A number for a new job.
    fn new_job(&self, work: &Work) -> JobId {
        JobId { lane: work.lane(), seq: self.next_seq.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Store for Rocks {
    fn grouping(self: Arc<Self>) -> Arc<dyn Store> {
        Arc::new(Self { inner: Arc::clone(&self.inner), group: Some(Mutex::default()) })
    }

    fn written(self: Arc<Self>) -> Arc<dyn Store> {
        Arc::new(Self { inner: Arc::clone(&self.inner), group: None })
    }

    fn effects(&self) -> Vec<Effect> {
        self.group.as_ref().map_or_else(Vec::new, |group| std::mem::take(&mut group.lock().effects))
    }

    fn end_change(&self, is_made: bool) {
        self.end_in_group(is_made);
    }

    fn fail_group(&self, why: Error) {
        if let Some(group) = &self.group {
            group.lock().failed = Some(why);
        }
    }

    fn write_group(&self) -> Result<()> {
        self.write_staged()
    }
}

impl Drop for Rocks {
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
        self.keeper.lock().stop();
        match self.flush() {
            Ok(()) => self.run.stop(),
            Err(error) => {
                tracing::warn!(%error,
                    "the write buffers could not be written to table files; the next start replays the write-ahead \
                     log");
            }
        }
        failpoint::pass(Failpoint::StopFlushed);
    }
}

fn reading(tier: Tier) -> ReadOptions {
    let mut options = ReadOptions::default();
    if tier == Tier::Memory {
        options.set_read_tier(ReadTier::BlockCache);
    }
    options
}

/// Converts an error of the engine by its meaning.
fn storage(error: rocksdb::Error) -> Error {
    match error.kind() {
        ErrorKind::Incomplete => Error::NotCached,
        ErrorKind::Corruption => Error::Corrupt(error.into_string()),
        _ => Error::Storage(error.into_string()),
    }
}
