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

    /// The first `limit` of the topic's items within `span`, in `order`; only of those above the floor
    /// that fewer than `depth` others are newer than. All of it is of one instant. Costs a walk of
    /// `depth` rows at most.
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

    /// Raises the floor of a topic; a lower floor than the present one changes nothing. Items at or
    /// below it are not in the list any more, and never come back into it.
    pub fn raise_topic_floor(&self, topic: TopicId, floor: Cursor) -> Result<()> {
        dispatch!(self, s => s.raise_topic_floor(topic, floor))
    }
}
