//! The core of the service: the store, with the state that reads and changes share.

use std::ops::Deref;
use std::sync::Arc;

use crate::caches::ROWS_AT_ONCE;
use crate::caches::followees::{Followees, followees};
use crate::capacity::Capacity;
use crate::inbox::backlog::Backlog;
use crate::memory::Shown;
use crate::store::Store;
use crate::streaming::on_disk::OnDisk;
use crate::streaming::{ChangeTime, Streaming};
use crate::{notices, reactions};
use config::Config;
use model::error::Result;
use model::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use model::versions::{Dependencies, Versions};
use model::{CacheUsage, Histogram, Members, Millis, ReactionKinds, UserId};

/// Bounds of the numbers of outboxes that a read looks into.
const PULLS: [u64; 8] = [0, 1, 4, 16, 64, 256, 1000, 4000];

/// A store, with all that reads and changes of it share.
#[derive(Debug)]
pub struct Core {
    shared: Arc<Shared>,
    /// That of the thread that makes changes groups them.
    pub(crate) store: Arc<Store>,
    pub(crate) makes_changes: bool,
}

impl Deref for Core {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

/// All but the store.
#[derive(Debug)]
pub struct Shared {
    pub(crate) backlog: Arc<Backlog>,
    pub(crate) streaming: Arc<Streaming>,
    pub(crate) config: Config,
    /// Whether a command log makes the changes.
    is_node: AtomicBool,
    /// The members of the cluster, on a node of one.
    members: Option<Members>,
    pub(crate) followees: Followees,
    /// Versions of all that home timelines show.
    pub(crate) versions: Versions,
    reaction_kinds: ReactionKinds,
    /// For the rows of contents and profiles that all threads together read from the disk, before anybody counts their bytes.
    pub(crate) rows_at_once: Capacity,
    pub(crate) events_on_disk: OnDisk,
    figures: Figures,
}

#[derive(Debug)]
pub(crate) struct Figures {
    /// Items published, repeats not counted.
    pub(crate) published: AtomicU64,
    /// Publishes refused because they got no time.
    pub(crate) times_refused: AtomicU64,
    /// Outboxes read, by reads of home timelines.
    pub(crate) pulls: Histogram,
}

impl Core {
    /// See [`Feed::new`](crate::feed::Feed::new).
    pub(crate) fn new(
        store: Arc<Store>,
        backlog: Arc<Backlog>,
        streaming: Arc<Streaming>,
        config: &Config,
    ) -> Result<Self> {
        let reaction_kinds = reactions::tables::name_reactions(&store, &config.reactions.kinds);
        for (_, name) in config.reactions.kinds.iter().filter(|(_, name)| reaction_kinds.named(name).is_none()) {
            tracing::warn!(
                name,
                "reactions.kinds: so many names were used in this directory that this one has no room"
            );
        }
        let events_on_disk = OnDisk::open(&store, &streaming, config.changes.keep.as_millis() > 0)?;
        let figures = Figures {
            published: AtomicU64::new(0),
            times_refused: AtomicU64::new(0),
            pulls: Histogram::of_numbers(&PULLS),
        };
        let shared = Arc::new(Shared {
            backlog,
            config: config.clone(),
            is_node: AtomicBool::new(false),
            members: config.cluster.members(),
            followees: followees(config.storage.cache_memory()),
            versions: Versions::default(),
            streaming,
            reaction_kinds,
            rows_at_once: Capacity::new(ROWS_AT_ONCE, 1),
            events_on_disk,
            figures,
        });
        let core = Self { shared, store, makes_changes: false };
        core.end_notices();
        Ok(core)
    }

    /// The core for the one thread that makes changes: see [`Group`](crate::Group).
    pub fn for_changes(&self) -> Self {
        let store = Arc::clone(&self.store).grouping();
        Self { shared: Arc::clone(&self.shared), store, makes_changes: true }
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The store, for maintenance commands.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Whether a command log makes the changes of this server.
    pub fn is_node(&self) -> bool {
        self.is_node.load(Ordering::SeqCst)
    }

    pub(crate) fn become_node(&self) {
        self.is_node.store(true, Ordering::SeqCst);
    }

    /// The kinds of reactions that are taken and shown.
    pub fn reaction_kinds(&self) -> &ReactionKinds {
        &self.reaction_kinds
    }

    /// The jobs under way.
    pub fn backlog(&self) -> &Arc<Backlog> {
        &self.backlog
    }

    /// The order of events, streams and presence.
    pub fn streaming(&self) -> &Arc<Streaming> {
        &self.streaming
    }

    pub(crate) fn figures(&self) -> &Figures {
        &self.figures
    }

    /// The time of a change that would be made now. On a node, the clock decides nothing that all nodes must agree on.
    pub(crate) fn now_of_changes(&self) -> ChangeTime {
        match self.is_node() {
            false => ChangeTime::Clock,
            true => ChangeTime::Log(self.streaming.time_of_changes()),
        }
    }

    /// Ends the notices whose time is over: on a node not before it knows the time of its log, by which all nodes end them.
    pub(crate) fn end_notices(&self) {
        let is_known = !self.config.cluster.is_on() || self.streaming.has_log_time();
        let time = if is_known { self.streaming.time_of_changes() } else { 0 };
        notices::tables::keep_notices(&self.store, self.notices_since(time));
    }

    /// The time from which on notices are kept, at a time; [`Millis::MAX`] without any.
    pub fn notices_since(&self, time: Millis) -> Millis {
        match self.config.notices.keep.as_millis() {
            0 => Millis::MAX,
            keep => time.saturating_sub(keep),
        }
    }

    /// Whether nothing has changed in an answer with these dependencies: then it is still right.
    pub fn is_unchanged(&self, since: &Dependencies) -> bool {
        self.versions.are_unchanged(since)
    }

    /// Whether the inbox of a user is kept here: always, but on a node of a cluster.
    pub fn keeps_inbox_of(&self, user: UserId) -> bool {
        self.members.as_ref().is_none_or(|members| members.owns(user))
    }

    /// The place of this node among those that go on with the work of a user for all nodes, one if the others before it do
    /// not. 0 without a cluster.
    pub(crate) fn rank_for(&self, user: UserId) -> u32 {
        self.members.as_ref().map_or(0, |members| u32::try_from(members.rank(user)).unwrap_or(u32::MAX))
    }

    /// The caches in figures, with their names.
    #[inline]
    pub fn caches(&self) -> [(&'static str, CacheUsage); 3] {
        let Shown { contents, summaries, .. } = &self.store.memory.shown;
        [("followees", self.followees.usage()), ("contents", contents.usage()), ("summaries", summaries.usage())]
    }
}
