//! Content, cached.

use std::sync::Arc;

use crate::cache::ReadThrough;
use crate::model::{Content, ContentId};

/// Memory for cached content, bytes.
const CAPACITY: u64 = 64 << 20;
/// Approximate bytes of an item without its texts: the fields, and the reference counts.
const FIELDS: u64 = 16 + size_of::<Content>() as u64;
const USUAL: u64 = FIELDS + 256;

/// Items that were read recently and often.
pub(super) type ContentCache = ReadThrough<ContentId, Arc<Content>>;

/// An empty cache of content.
pub(super) fn cache() -> ContentCache {
    ReadThrough::new(CAPACITY, USUAL, |content| bytes(content))
}

/// Approximate bytes of an item in memory.
pub(super) fn bytes(content: &Content) -> u64 {
    let optional = |text: &Option<String>| text.as_ref().map_or(0, String::capacity);
    let topics = content.topics.iter().map(|topic| size_of::<String>() + topic.capacity());
    let texts = content.kind.capacity() + content.media.capacity() + optional(&content.text) + optional(&content.extra);
    FIELDS + (texts + topics.sum::<usize>()) as u64
}
