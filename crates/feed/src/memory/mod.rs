//! The memory beside the rows: copies and membership filters of tables, caches, changes of inboxes that are not written yet.

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
pub(crate) mod names;
pub(crate) mod newest_reactions;
pub(crate) mod numbers;
pub(crate) mod outbox_parts;
pub(crate) mod rebuild;
pub(crate) mod topics;
pub(crate) mod user_rows;

use std::sync::Arc;

use self::erasing::Erasing;
use self::inboxes::Inboxes;
use self::item_counts::ItemCountsCache;
use self::jobs::NextJob;
use self::kinds::AllKinds;
use self::loading::Loaded;
use self::names::Names;
use self::newest_reactions::NewestReactionsCache;
use self::outbox_parts::Outboxes;
use self::topics::Topics;
use crate::caches::{self, AuthorSummaries, ContentCache};
use crate::options::Options;
use crate::rows::compaction_rules::Rules;
use kv::Database;
use model::cache::memory::CacheMemory;
use model::error::Result;
use model::metrics::{Page, by};
use model::threads::Threads;
use model::{CacheUsage, figures};

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

    /// Writes the figures to a page.
    pub(crate) fn write_figures(&self, page: &mut Page) {
        let (unpushed, unpushed_left_out) = self.loaded.unpushed.usage();
        let (recipients, recipients_left_out) = self.loaded.partial_push_recipients.usage();
        let all = self.loaded.filters();
        let filters = || all.iter();
        figures! { page =>
            /// Memory used by changes of inboxes that are not written yet.
            tideline_arrivals_bytes = self.inboxes.arrivals.usage();
            /// Inboxes that could not be read and were dropped. The next read of their user rebuilds them.
            tideline_damaged_inboxes_total = self.inboxes.damaged.dropped.get();
            /// Authors with unpushed items, kept in memory.
            tideline_unpushed_rows = unpushed;
            /// Times that an author with unpushed items did not fit in memory; reads look up such authors in the table.
            tideline_unpushed_rows_left_out_total = unpushed_left_out;
            /// Users who get partial pushes, kept in memory.
            tideline_partial_push_recipients = recipients;
            /// Times that a user who gets partial pushes did not fit in memory; fan-outs look up such users in the table.
            tideline_partial_push_recipients_left_out_total = recipients_left_out;
            /// Keys in a filter.
            tideline_filter_keys = by("filter", filters().map(|filter| (filter.name, filter.keys.used)));
            /// Keys for which a filter is sized; more keys cause more look-ups, but no wrong answer.
            tideline_filter_keys_limit = by("filter", filters().map(|filter| (filter.name, filter.keys.limit)));
            /// Memory used by a filter.
            tideline_filter_bytes = by("filter", filters().map(|filter| (filter.name, filter.bytes)));
            /// 1 if a filter has all keys of its table; 0 while a start loads it, or if it could not.
            tideline_filter_loaded = by("filter", filters().map(|filter| (filter.name, u64::from(filter.is_loaded))));
        }
    }

    /// The caches in figures, by their names.
    pub(crate) fn caches(&self) -> Vec<(&'static str, CacheUsage)> {
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
