//! Lists of topics.

use super::tables;
use crate::pages;
use crate::read::Read;
use model::error::Result;
use model::{ContentId, ContentPage, PageRequest};

/// A page of a topic's content: the newest `topics.limit` items that name it. Empty if none does.
pub fn page(read: Read<'_>, name: &str, request: &PageRequest<ContentId>) -> Result<ContentPage> {
    let (store, depth) = (&read.feed.store, read.feed.config.topics.limit);
    let topic = tables::topic(store, name, read.tier)?;
    pages::list(read, request, |scan| match topic {
        Some(topic) => tables::topic_content(store, topic, scan, depth, read.tier),
        None => Ok(Vec::new()),
    })
}
