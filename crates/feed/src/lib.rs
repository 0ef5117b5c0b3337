//! The rules of the service: publishes, follows and reads.
//!
//! The HTTP layer and the program's commands use only [`Feed`]. Every method blocks as long as the store does. Reads are the
//! methods of a [`Read`]: a caller that must not block can ask for an answer from memory first.

pub mod backlog;
pub mod backup;
mod changes;
mod eraser;
mod events;
mod patience;
pub mod standbys;
pub mod streaming;
mod timeline;
pub mod worker;
mod writer;

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::backlog::{Backlog, JobReservation};
use crate::streaming::{ChangeTime, LEVEL, Streaming};
use config::Config;
use model::error::Result;
use model::store::Push;
use model::sync::atomic::{AtomicU64, Ordering};
use model::versions::{Dependencies, Versions};
use model::{CacheUsage, Histogram, Members, Millis, ReactionKinds, UserId};
use store::Store;

pub use crate::changes::command::*;
pub use crate::changes::erasures::{ERASURES_LISTED, Erasures, erasure_hash};
pub use crate::changes::group::Group;
pub use crate::changes::line::Line;
pub use crate::changes::publishes::PublishedItem;
pub use crate::changes::txn::Txn;
pub use crate::events::changes::{ChangePosition, ChangesAfter, ChangesPage, ReceiverStart, begin_history};
pub use crate::events::streaming::Happened;
pub use crate::timeline::explain::{Explanation, PathExplanation};
pub use crate::timeline::export::{Export, Exported};
pub use crate::timeline::home::MOST_UNREAD;
pub use crate::timeline::notices::{NoticeGroup, NoticePage};
pub use crate::timeline::people::{FoundUser, Late};
pub use crate::timeline::read::{Count, Read};
pub use crate::timeline::sight::Visibility;
pub use crate::timeline::verify::Verification;
pub use crate::writer::ChangesUsage;
pub use eraser::Eraser;
pub use patience::{answer_due, answered_at};

/// The service, for HTTP and for commands.
#[derive(Debug)]
pub struct Feed {
    shared: Arc<Shared>,
    /// That of the thread that makes changes groups them.
    store: Arc<Store>,
    makes_changes: bool,
}

impl Deref for Feed {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        if !self.makes_changes {
            self.writer.stop();
        }
    }
}

/// All but the store.
#[derive(Debug)]
pub struct Shared {
    backlog: Arc<Backlog>,
    streaming: Arc<Streaming>,
    config: Config,
    /// Takes changes to the command log, on a node of a cluster.
    proposer: OnceLock<Arc<dyn Propose>>,
    /// The members of the cluster, on a node of one.
    members: Option<Members>,
    followees: crate::timeline::followees::Followees,
    /// Versions of all that home timelines show.
    versions: Versions,
    contents: crate::timeline::caches::ContentCache,
    cards: crate::timeline::caches::Cards,
    writer: crate::writer::Writer,
    reaction_kinds: ReactionKinds,
    rows_at_once: crate::timeline::read::RowsAtOnce,
    events_on_disk: crate::events::on_disk::OnDisk,
    /// Items published, repeats not counted.
    published: AtomicU64,
    /// Publishes refused because they got no time.
    times_refused: AtomicU64,
    /// Outboxes read, by reads of home timelines.
    pulls: Histogram,
}

impl Feed {
    /// A feed over a store and its backlog, which must have been filled from the store's jobs. Its log of events
    /// continues that of the store.
    pub fn new(store: Arc<Store>, backlog: Arc<Backlog>, streaming: Arc<Streaming>, config: &Config) -> Result<Self> {
        let reaction_kinds = store.name_reactions(&config.reactions.kinds);
        for (_, name) in config.reactions.kinds.iter().filter(|(_, name)| reaction_kinds.named(name).is_none()) {
            tracing::warn!(
                name,
                "reactions.kinds: so many names were used in this directory that this one has no room"
            );
        }
        let events_on_disk =
            crate::events::on_disk::OnDisk::open(&store, &streaming, config.changes.keep.as_millis() > 0)?;
        let memory = config.storage.cache_memory();
        let shared = Arc::new(Shared {
            backlog,
            config: config.clone(),
            proposer: OnceLock::new(),
            members: config.cluster.members(),
            followees: crate::timeline::followees::Followees::new(memory, Arc::clone(&streaming)),
            versions: Versions::default(),
            contents: crate::timeline::caches::contents(memory),
            cards: crate::timeline::caches::cards(memory),
            streaming,
            writer: crate::writer::Writer::default(),
            reaction_kinds,
            rows_at_once: crate::timeline::read::RowsAtOnce::default(),
            events_on_disk,
            published: AtomicU64::new(0),
            times_refused: AtomicU64::new(0),
            pulls: Histogram::of_numbers(&crate::timeline::home::PULLS),
        });
        let feed = Self { shared, store, makes_changes: false };
        // On a node, the thread that applies the log makes the changes.
        if !config.cluster.is_on() {
            feed.writer.start(feed.for_changes())?;
        }
        feed.end_notices();
        Ok(feed)
    }

    /// The service for the one thread that makes changes: see [`Group`].
    pub fn for_changes(&self) -> Self {
        let store = Arc::clone(&self.store).grouping();
        Self { shared: Arc::clone(&self.shared), store, makes_changes: true }
    }

    /// The settings.
    #[inline]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The store, for maintenance commands.
    #[inline]
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Whether a command log makes the changes of this server.
    #[inline]
    pub fn is_node(&self) -> bool {
        self.proposer.get().is_some()
    }

    /// Changes in figures; not those of a command log.
    pub fn changes_usage(&self) -> ChangesUsage {
        self.writer.usage()
    }

    /// The kinds of reactions that are taken and shown.
    #[inline]
    pub fn reaction_kinds(&self) -> &ReactionKinds {
        &self.reaction_kinds
    }

    /// The jobs under way.
    #[inline]
    pub fn backlog(&self) -> &Arc<Backlog> {
        &self.backlog
    }

    /// The order of events, streams and presence.
    #[inline]
    pub fn streaming(&self) -> &Arc<Streaming> {
        &self.streaming
    }

    /// How many items were published since the start; repeats are not counted.
    #[inline]
    pub fn published(&self) -> u64 {
        self.published.load(Ordering::Relaxed)
    }

    /// How many publishes were refused because the times given were too far ahead of the clock.
    #[inline]
    pub fn times_refused(&self) -> u64 {
        self.times_refused.load(Ordering::Relaxed)
    }

    /// How many outboxes each read of a home timeline looked into.
    #[inline]
    pub fn pulls(&self) -> &Histogram {
        &self.pulls
    }

    /// From now on [`Feed::submit`] proposes changes here, and the caller makes them in the order of the log, on one thread. To
    /// be called once, before the first change.
    #[inline]
    pub fn propose_to(&self, proposer: Arc<dyn Propose>) {
        // A second one would be a fault of the caller; the first stays.
        let _ = self.proposer.set(proposer);
    }

    /// The time of a change that would be made now. On a node, the clock decides nothing that all nodes must agree on.
    fn now_of_changes(&self) -> ChangeTime {
        match self.proposer.get() {
            None => ChangeTime::Clock,
            Some(_) => ChangeTime::Log { time: self.streaming.time_of_changes(), level: LEVEL },
        }
    }

    /// Ends the notices whose time is over: on a node not before it knows the time of its log, by which all nodes end them.
    pub(crate) fn end_notices(&self) {
        let is_known = !self.config.cluster.is_on() || self.streaming.has_log_time();
        let time = if is_known { self.streaming.time_of_changes() } else { 0 };
        self.store.keep_notices(self.notices_since(time));
    }

    /// The time from which on notices are kept, at a time; [`Millis::MAX`] without any.
    pub fn notices_since(&self, time: Millis) -> Millis {
        match self.config.notices.keep.as_millis() {
            0 => Millis::MAX,
            keep => time.saturating_sub(keep),
        }
    }

    /// Whether nothing has changed in an answer with these dependencies: then it is still right.
    #[inline]
    pub fn is_unchanged(&self, since: &Dependencies) -> bool {
        self.versions.are_unchanged(since)
    }

    /// Whether the inbox of a user is kept here: always, but on a node of a cluster.
    #[inline]
    pub fn keeps_inbox_of(&self, user: UserId) -> bool {
        self.members.as_ref().is_none_or(|members| members.owns(user))
    }

    /// The place of this node among those that go on with the work of a user for all nodes, one if the others before it do
    /// not. 0 without a cluster.
    pub(crate) fn rank_for(&self, user: UserId) -> u32 {
        self.members.as_ref().map_or(0, |members| u32::try_from(members.rank(user)).unwrap_or(u32::MAX))
    }

    /// Room for settle jobs of a change; `overloaded` if there is none. A change from a command log is made everywhere,
    /// so it waits instead.
    fn room(&self, jobs: usize, at: ChangeTime) -> Result<JobReservation<'_>> {
        match at {
            ChangeTime::Clock => self.backlog.reserve(jobs),
            ChangeTime::Log { .. } => Ok(self.backlog.reserve_waiting(jobs)),
        }
    }

    /// Room for settle jobs of an import, which has waited for it.
    fn room_of_import(&self, jobs: usize, at: ChangeTime) -> JobReservation<'_> {
        match at {
            ChangeTime::Clock => self.backlog.reserve_in_any_case(jobs),
            ChangeTime::Log { .. } => self.backlog.reserve_waiting(jobs),
        }
    }

    /// Room for the fan-outs of items that become live; `overloaded` if there is none. Items from a command log are
    /// live everywhere, so without room they are left out of the fan-out, and reads take them from the outbox.
    fn room_to_push(&self, items: usize, at: ChangeTime) -> Result<(JobReservation<'_>, Push)> {
        match at {
            ChangeTime::Clock => Ok((self.backlog.reserve(items)?, Push::Queued)),
            ChangeTime::Log { .. } => Ok(self.room_in_log(items)),
        }
    }

    fn room_in_log(&self, items: usize) -> (JobReservation<'_>, Push) {
        match self.backlog.reserve_or_leave_out(items) {
            Some(room) => (room, Push::Queued),
            None => (self.backlog.reserve_in_any_case(0), Push::LeftOut),
        }
    }

    /// The caches in figures, with their names.
    #[inline]
    pub fn caches(&self) -> [(&'static str, CacheUsage); 3] {
        let Shared { followees, contents, cards, .. } = &**self;
        [("followees", followees.lists.usage()), ("contents", contents.usage()), ("cards", cards.usage())]
    }
}
