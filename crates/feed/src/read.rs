//! A read of the feed: how far it may go, and who counts the memory of its answer.

use std::cell::RefCell;
use std::hash::Hash;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::caches::PART;
use crate::core::Core;
use crate::items;
use crate::streaming::ReadPlace;
use kv::Tier;
use model::cache::ReadThrough;
use model::error::{Error, Result};
use model::versions::{Dependencies, Thing};
use model::{ExternalId, KindId, NamedRule, ReactionKinds, Rule, UserId};

/// Called while the content of an answer is read, each time with the number of further bytes that the answer takes in
/// memory. An error ends the read.
pub type Count<'r> = dyn Fn(usize) -> Result<()> + 'r;

/// One read. Its methods answer as of now; they block as long as the store does. With [`Tier::Memory`] they do not touch
/// the disk, and fail with [`Error::NotCached`] where they would have to. The only ones that write are
/// [`timeline::mark_seen`](crate::timeline::mark_seen), which a read of the home timeline begins with, and
/// [`events::set_presence`](crate::events::set_presence).
#[derive(Clone, Copy)]
pub struct Read<'r> {
    pub(crate) feed: &'r Core,
    pub(crate) tier: Tier,
    /// The user who sees the answer; `None` for the application, which sees all that is live.
    pub(crate) viewer: Option<UserId>,
    count: &'r Count<'r>,
    /// The kinds of items that lists show; `None` for all.
    kinds: Option<Rule>,
    /// Whether a read of the home timeline leaves its user unseen.
    pub(crate) peeks: bool,
    /// The place at which the read begins, if it has begun.
    pub(crate) place: Option<ReadPlace>,
    /// Collects all that the answer depends on, for a caller that keeps the answer.
    dependencies: Option<&'r RefCell<Dependencies>>,
}

impl Core {
    /// A read that may go to the disk, of content whose memory nobody counts.
    #[inline]
    pub fn read(&self) -> Read<'_> {
        Read {
            feed: self,
            tier: Tier::Disk,
            viewer: None,
            count: &|_| Ok(()),
            kinds: None,
            peeks: false,
            place: None,
            dependencies: None,
        }
    }
}

impl<'r> Read<'r> {
    /// This read, going no further than a tier.
    pub fn within(self, tier: Tier) -> Self {
        Self { tier, ..self }
    }

    /// This read, as a viewer sees it: items that are not for the viewer do not exist, nor do names that no change has
    /// mentioned get an error of their own. `None` is the application. The home timeline and those of lists are always as
    /// their user sees them.
    pub fn seen_by(self, viewer: Option<&ExternalId>) -> Result<Self> {
        let application = self.viewed_by(None);
        Ok(self.viewed_by(viewer.map(|viewer| application.find(viewer)).transpose()?))
    }

    /// [`Read::seen_by`], with the id in the store.
    pub(crate) fn viewed_by(self, viewer: Option<UserId>) -> Self {
        Self { viewer, ..self }
    }

    /// This read, which does not mark the user of a home timeline as active if `peeks` is set.
    pub fn peeking(self, peeks: bool) -> Self {
        Self { peeks, ..self }
    }

    /// This read, with its content counted.
    pub fn counted(self, count: &'r Count<'r>) -> Self {
        Self { count, ..self }
    }

    /// This read, which collects all that its page of the home timeline depends on, and what of it a
    /// [`visibility::hydrate`](crate::visibility::hydrate) shows.
    #[inline]
    pub fn noting(self, dependencies: Option<&'r RefCell<Dependencies>>) -> Self {
        let read = Self { dependencies, ..self };
        // Before any name is looked up: an erasure may free it for another user.
        read.depends([Thing::Everything]);
        read
    }

    /// Whether it collects what the answer depends on.
    pub(crate) fn notes(&self) -> bool {
        self.dependencies.is_some()
    }

    /// Notes that the answer cannot be kept.
    pub(crate) fn keeps_nothing(&self) {
        self.depends([Thing::User(UserId::UNKNOWN)]);
    }

    /// Notes things that the answer depends on, before they are read.
    #[inline]
    pub(crate) fn depends(&self, things: impl IntoIterator<Item = Thing>) {
        if let Some(dependencies) = self.dependencies {
            let mut on = dependencies.borrow_mut();
            things.into_iter().for_each(|thing| self.feed.versions.depend(&mut on, thing));
        }
    }

    /// This read, with lists and counts of unread items of some kinds only. Nothing has a kind that the server does not know.
    pub fn of_kinds(self, kinds: &NamedRule) -> Result<Self> {
        if *kinds == NamedRule::All {
            return Ok(self);
        }
        // Before the names are read: so each item of the read has a kind that is known then.
        let place = Some(self.feed.streaming.sequencer().read_place());
        let (is_only, names) = kinds.names();
        let known: Vec<_> = items::tables::known_kinds(&self.feed.store, &names)?.into_iter().flatten().collect();
        let all = known.is_empty() && !is_only;
        Ok(Self { kinds: Rule::new(is_only, &known).filter(|_| !all), place, ..self })
    }

    /// Whether lists show items of a kind.
    pub(crate) fn takes(&self, kind: KindId) -> bool {
        self.kinds.is_none_or(|kinds| kinds.admits(kind))
    }

    /// The kinds of reactions that answers show.
    pub fn reaction_kinds(&self) -> &'r ReactionKinds {
        self.feed.reaction_kinds()
    }

    /// `NotCached` if the read must not go to the disk.
    pub fn needs_disk(&self) -> Result<()> {
        if self.tier == Tier::Memory { Err(Error::NotCached) } else { Ok(()) }
    }

    /// Counts bytes of content, see [`Count`].
    pub fn count(&self, bytes: usize) -> Result<()> {
        (self.count)(bytes)
    }

    /// The values of `keys`, in their order, without missing ones: cached ones, and others made of rows. Rows are read in
    /// parts, and the bytes of each part are counted before the next is read. Reads from memory do not wait: they run on
    /// one of few threads, and their rows are there already.
    pub(crate) fn cached<K: Copy + Eq + Hash + Into<u64>, V>(
        &self,
        cache: &ReadThrough<K, Arc<V>>,
        keys: &[K],
        bytes: impl Fn(&V) -> u64,
        rows: impl Fn(&[K]) -> Result<Vec<Option<Arc<V>>>>,
    ) -> Result<Vec<Arc<V>>> {
        let mut cached = 0;
        let in_parts = |missing: &[K]| {
            let mut found = Vec::with_capacity(missing.len());
            for part in missing.chunks(PART) {
                let taken = (self.tier == Tier::Disk).then(|| self.feed.rows_at_once.take(part.len()));
                let part = rows(part)?;
                self.count(part.iter().flatten().map(|value| bytes(value) as usize).sum())?;
                drop(taken);
                found.extend(part);
            }
            Ok(found)
        };
        let values = cache.get_many(keys, |value| cached += bytes(value), in_parts)?;
        // The answer keeps them in memory, even if the cache drops them.
        self.count(cached as usize)?;
        Ok(values.into_iter().flatten().collect())
    }
}

/// The items that exist for the caller of a change, and the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Visibility {
    /// All live items: the application calls, which shows its users more than timelines.
    #[serde(rename = "all")]
    Application,
    /// The items that the user sees: the user calls.
    #[serde(rename = "own")]
    User,
}
