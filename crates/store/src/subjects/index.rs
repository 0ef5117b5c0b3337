//! The rows of a live item outside of `content`: in lists and in counts. A publish puts all of them, a delete removes
//! them, in the same change as the item.

use super::archive::Floors;
use super::lists::{is_listed, unlisted_row, unlisted_rows};
use super::topics::TopicEndsChange;
use crate::Store;
use crate::memory::outbox_parts::OutboxPartsChange;
use crate::rows::batch::WriteBatch;
use crate::rows::keys;
use crate::rows::keys::Counter;
use crate::rows::tables::{ITEM_COUNTS, UNLISTED};
use crate::rows::values;
use crate::rows::values::ItemSteps;
use model::cache::CacheChange;
use model::error::Result;
use model::store::Tier;
use model::{Content, ContentId, ItemCounter, ItemCounts, UserId};

/// A change of the index rows of some items. Until it is written, their outboxes, their topics and the counts of the items that
/// they point at count as changing.
#[must_use = "the change ends when this is dropped"]
pub(crate) struct Indexing<'a> {
    pub(crate) changing: IndexChange,
    outboxes: Floors<'a>,
    lists: Floors<'a>,
}

/// The lists and counts of a change of index rows, which count as changing until it is written.
#[must_use = "the change ends when this is dropped"]
pub(crate) struct IndexChange {
    topics: TopicEndsChange,
    _parts: Vec<OutboxPartsChange>,
    _counts: Vec<CacheChange<ContentId, ItemCounts>>,
}

/// What an item becomes in a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Becomes {
    Live,
    Deleted,
}

impl Store {
    /// Announces to caches a change that makes items live, or removes them.
    pub(crate) fn indexing<'c>(&self, contents: impl IntoIterator<Item = &'c Content> + Clone) -> Result<Indexing<'_>> {
        let counted = contents.clone().into_iter().filter_map(counted_on);
        let counts = counted.map(|subject| self.item_counts.change(subject)).collect();
        let parts = self.outbox_parts.change(contents.clone());
        let topics = self.change_topics(contents)?;
        let changing = IndexChange { topics, _parts: parts, _counts: counts };
        Ok(Indexing { changing, outboxes: self.outboxes.floors(), lists: self.topic_lists.floors() })
    }

    /// Puts the index rows of an item that becomes live into a change, or removes those of an item that is deleted. The
    /// item is one of those given to [`Store::indexing`].
    pub(crate) fn change_index(
        &self,
        change: &mut WriteBatch,
        content: &Content,
        indexing: &Indexing<'_>,
        becomes: Becomes,
    ) -> Result<()> {
        let is_live = becomes == Becomes::Live;
        let (place, listed) = (content.cursor(), values::listed(&content.entry()));
        for topic in indexing.changing.topics.of(content) {
            indexing.lists.set(self, change, topic.get(), place, is_live.then_some(&listed))?;
        }
        for entry in content.entries() {
            let value = is_live.then(|| values::entry(&entry));
            indexing.outboxes.set(self, change, entry.source.get(), place, value.as_deref())?;
        }
        // A new item has no other rows.
        for row in unlisted_rows(content, !is_live) {
            change.put(UNLISTED, row, values::EMPTY);
        }
        let subject = self.subject(content)?;
        self.put_comment(change, content, subject, is_live);
        self.count_content(change, content, subject, if is_live { 1 } else { -1 })
    }

    /// Removes the outbox row of a live item on one of its paths in a change, and takes its part in the source's count back.
    pub(crate) fn leave_path(
        &self,
        change: &mut WriteBatch,
        content: &Content,
        indexing: &Indexing<'_>,
        source: UserId,
    ) -> Result<()> {
        indexing.outboxes.set(self, change, source.get(), content.cursor(), None)?;
        if !is_listed(&content.clone().without_path(source)) {
            change.put(UNLISTED, unlisted_row(content.author, content.cursor()), values::EMPTY);
        }
        self.add_to_count(change, source, Counter::Content, -1);
        Ok(())
    }

    /// The item under which `content` is listed and counted: the one that it points at, unless that is purged. A purge
    /// removes such rows, and none is added after it.
    pub(crate) fn subject(&self, content: &Content) -> Result<Option<ContentId>> {
        match counted_on(content) {
            Some(subject) if self.is_purged(subject, Tier::Disk)? => Ok(None),
            subject => Ok(subject),
        }
    }

    fn count_content(
        &self,
        change: &mut WriteBatch,
        content: &Content,
        subject: Option<ContentId>,
        step: i64,
    ) -> Result<()> {
        for source in content.paths() {
            self.add_to_count(change, source, Counter::Content, step);
        }
        let Some((subject, counter)) = subject.zip(ItemCounter::of_kind(&content.kind)) else { return Ok(()) };
        let mut steps = ItemSteps::default();
        steps.pointing[counter as usize] = step;
        self.count_item(change, subject, &steps);
        Ok(())
    }

    /// Adds steps of an item's counters to a change.
    pub(crate) fn count_item(&self, change: &mut WriteBatch, id: ContentId, steps: &ItemSteps) {
        if *steps != ItemSteps::default() {
            change.merge(ITEM_COUNTS, keys::id(id.get()), values::item_counts(steps));
        }
    }
}

/// The item that an item of a counted kind points at.
fn counted_on(content: &Content) -> Option<ContentId> {
    content.ref_id.filter(|_| ItemCounter::of_kind(&content.kind).is_some())
}
