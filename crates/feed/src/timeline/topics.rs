//! Lists of topics.

use crate::Feed;
use model::error::Result;
use model::store::Tier;
use model::{ContentId, Entry, Order, Page, PageRequest, Span};

impl Feed {
    /// A page of a topic's content: the newest `topics.limit` items that name it. Empty if none does.
    pub fn topic(&self, name: &str, request: &PageRequest<ContentId>, tier: Tier) -> Result<Page<Entry, ContentId>> {
        let topic = self.store.topic(name, tier)?;
        let read = |span: Span<ContentId>, order: Order, limit: usize| match topic {
            Some(topic) => self.store.topic_content(topic, span, order, limit, self.config.topics.limit, tier),
            None => Ok(Vec::new()),
        };
        self.list_page(request, read)
    }
}
