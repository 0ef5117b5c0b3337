//! The memory beside the rows: copies and filters of tables, caches, changes of inboxes that are not written yet.

pub(crate) mod activities;
pub(crate) mod announced;
pub(crate) mod archived;
pub(crate) mod arrival_set;
pub(crate) mod arrivals;
pub(crate) mod erasing;
pub(crate) mod inboxes;
pub(crate) mod item_counts;
pub(crate) mod jobs;
pub(crate) mod key_filter;
pub(crate) mod kinds;
pub(crate) mod loading;
pub(crate) mod mirror;
pub(crate) mod names;
pub(crate) mod newest_reactions;
pub(crate) mod numbers;
pub(crate) mod outbox_parts;
pub(crate) mod rebuild;
pub(crate) mod topics;
pub(crate) mod unpushed;

use std::sync::Arc;

use self::erasing::Erasing;
use self::inboxes::Inboxes;
use self::item_counts::ItemCountsCache;
use self::jobs::NextJob;
use self::key_filter::FilterUsage;
use self::kinds::AllKinds;
use self::loading::Loaded;
use self::names::Names;
use self::newest_reactions::NewestReactionsCache;
use self::outbox_parts::Outboxes;
use self::topics::Topics;
use crate::caches::{self, AuthorSummaries, ContentCache};
use crate::options::Options;
use crate::rows::filter::Rules;
use kv::Database;
use model::cache::memory::CacheMemory;
use model::error::Result;
use model::threads::Threads;
use model::{CacheUsage, Fill};

/// The memory of a store in figures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryUsage {
    /// Memory for changes of inboxes that are not written yet, bytes. Above the limit fan-outs wait.
    pub arrivals: Fill,
    /// Caches, by their names.
    pub caches: Vec<(&'static str, CacheUsage)>,
    /// Damaged inboxes that were dropped.
    pub damaged_inboxes: u64,
    /// Rows of `unpushed` in memory.
    pub unpushed: Fill,
    /// Rows of `unpushed` that did not fit into memory when they were written.
    pub unpushed_left_out: u64,
    /// Users who get partial pushes, in memory.
    pub partial_push_recipients: Fill,
    /// How often such a user did not fit into memory.
    pub partial_push_recipients_left_out: u64,
    /// Filters over the keys of tables.
    pub filters: Vec<FilterUsage>,
}

/// All that the views of one store keep in memory.
pub(crate) struct Memory {
    pub(crate) next_job: NextJob,
    pub(crate) rules: Arc<Rules>,
    /// Filters and copies of whole tables.
    pub(crate) loaded: Arc<Loaded>,
    /// Those that fill them.
    _threads: Threads,
    pub(crate) erasing: Erasing,
    pub(crate) names: Names,
    pub(crate) topics: Topics,
    pub(crate) kinds: AllKinds,
    pub(crate) shown: Shown,
    pub(crate) outboxes: Outboxes,
    pub(crate) inboxes: Inboxes,
}

/// Caches of what pages show.
pub(crate) struct Shown {
    pub(crate) contents: ContentCache,
    pub(crate) summaries: AuthorSummaries,
    pub(crate) item_counts: ItemCountsCache,
    pub(crate) newest_reactions: NewestReactionsCache,
}

impl Shown {
    fn new(memory: CacheMemory) -> Self {
        Self {
            contents: caches::contents(memory),
            summaries: caches::summaries(memory),
            item_counts: item_counts::cache(memory),
            newest_reactions: newest_reactions::cache(memory),
        }
    }
}

impl Memory {
    /// Begins with what a directory has.
    pub(crate) fn load(database: &Database, rules: Arc<Rules>, options: &Options) -> Result<Self> {
        let cache_memory = options.engine.cache_memory;
        let loaded = Arc::new(Loaded::new(&**database.kv())?);
        let threads = if options.loads { loading::load(database.kv(), &loaded)? } else { Threads::default() };
        let memory = Self {
            next_job: NextJob::load(database)?,
            rules,
            loaded,
            _threads: threads,
            erasing: Erasing::default(),
            names: Names::new(cache_memory),
            topics: Topics::new(cache_memory),
            kinds: AllKinds::default(),
            shown: Shown::new(cache_memory),
            outboxes: Outboxes::new(cache_memory),
            inboxes: Inboxes::new(cache_memory, options.arrivals),
        };
        memory.names.load(database)?;
        memory.kinds.load(database)?;
        memory.topics.load(database)?;
        memory.erasing.load(database)?;
        memory.outboxes.rows.look_for_floors(database)?;
        Ok(memory)
    }

    /// The memory now.
    pub(crate) fn usage(&self) -> MemoryUsage {
        let (unpushed, unpushed_left_out) = self.loaded.unpushed.rows.usage();
        let (partial_push_recipients, partial_push_recipients_left_out) = self.loaded.partial_push_recipients.usage();
        MemoryUsage {
            arrivals: self.inboxes.arrivals.usage(),
            caches: self.caches(),
            damaged_inboxes: self.inboxes.damaged.dropped.get(),
            unpushed,
            unpushed_left_out,
            partial_push_recipients,
            partial_push_recipients_left_out,
            filters: self.loaded.filters(),
        }
    }

    fn caches(&self) -> Vec<(&'static str, CacheUsage)> {
        let [numbers, names] = self.names.usage();
        let [topic_names, topic_ends] = self.topics.usage();
        vec![
            ("inboxes", self.inboxes.rows.usage()),
            ("activities", self.inboxes.activities.usage()),
            ("item_counts", self.shown.item_counts.usage()),
            ("reactions", self.shown.newest_reactions.usage()),
            ("outbox_parts", self.outboxes.parts.usage()),
            ("numbers", numbers),
            ("names", names),
            ("topic_names", topic_names),
            ("topic_ends", topic_ends),
        ]
    }
}
