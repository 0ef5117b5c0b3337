//! Topics, each list worked out from the live content.

use super::{Memory, State, walk};
use crate::error::Result;
use crate::model::{Content, ContentId, Cursor, Entry, Order, Span, TopicId};
use crate::store::types::Tier;

impl Memory {
    /// See [`Store::topic`](crate::store::Store::topic).
    pub fn topic(&self, name: &str, _: Tier) -> Result<Option<TopicId>> {
        Ok(self.state().topics.get(name).copied())
    }

    /// See [`Store::topic_content`](crate::store::Store::topic_content).
    pub fn topic_content(
        &self,
        topic: TopicId,
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        depth: usize,
        _: Tier,
    ) -> Result<Vec<Entry>> {
        let state = self.state();
        let newest = walk(state.items_of(topic), |entry| entry.cursor, Span::ALL, Order::NewestFirst, depth);
        Ok(walk(newest.into_iter(), |entry| entry.cursor, span, order, limit))
    }

    /// See [`Store::archive_topic`](crate::store::Store::archive_topic). All rows are alike here.
    pub fn archive_topic(&self, _: TopicId, _: Cursor, _: usize) -> Result<usize> {
        Ok(0)
    }
}

impl State {
    /// Numbers the topics of a new item that have no number yet.
    pub(super) fn name_topics(&mut self, content: &Content) {
        for name in &content.topics {
            let next = TopicId::new(self.topics.len() as u64 + 1).unwrap_or(TopicId::MAX);
            self.topics.entry(name.clone()).or_insert(next);
        }
    }

    /// A topic's live items, in any order.
    fn items_of(&self, topic: TopicId) -> impl Iterator<Item = Entry> {
        let name = self.topics.iter().find(|(_, id)| **id == topic).map(|(name, _)| name);
        let names_it = move |content: &&Content| content.topics.iter().any(|other| Some(other) == name);
        let live = self.content.values().filter(|content| !self.deleted.contains_key(&content.id));
        live.filter(names_it).map(Content::entry)
    }

    /// Rows that the lists of all topics take.
    pub(super) fn topic_rows(&self) -> usize {
        let live = self.content.values().filter(|content| !self.deleted.contains_key(&content.id));
        live.map(|content| content.topics.iter().collect::<std::collections::BTreeSet<_>>().len()).sum()
    }
}
