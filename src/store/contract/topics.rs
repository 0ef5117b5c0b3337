//! Topics and their items.

use crate::error::Result;
use crate::model::{ContentId, Cursor, Entry, Order, Span, TopicId};
use crate::store::{Store, Tier};

/// Topics and their items. An item is in the list of each topic that it names, broadcast or not, from
/// its publish to its delete, and once however often it names the topic.
impl Store {
    /// The number of a topic. `None`: no item that was published names it.
    pub fn topic(&self, name: &str, tier: Tier) -> Result<Option<TopicId>> {
        dispatch!(self, s => s.topic(name, tier))
    }

    /// The first `limit` of the topic's items within `span`, in `order`; only of those that fewer than
    /// `depth` others are newer than. All of it is of one instant. Costs a walk of `depth` rows at most,
    /// or twice that where it goes on in the archive.
    pub fn topic_content(
        &self,
        topic: TopicId,
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        depth: usize,
        tier: Tier,
    ) -> Result<Vec<Entry>> {
        dispatch!(self, s => s.topic_content(topic, span, order, limit, depth, tier))
    }

    /// Moves items of a list to where many of them take little room, oldest first, up to and including
    /// `newest`, at most `most` in one call and one change. Returns how many were moved; none where
    /// there is nothing to gain. No answer depends on it.
    pub fn archive_topic(&self, topic: TopicId, newest: Cursor, most: usize) -> Result<usize> {
        dispatch!(self, s => s.archive_topic(topic, newest, most))
    }
}
