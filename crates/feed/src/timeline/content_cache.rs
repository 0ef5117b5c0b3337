//! Content, cached.

use std::sync::Arc;

use model::cache::ReadThrough;
use model::{Content, ContentId, MOST_KEPT, SharedContent};

/// Memory for cached content, bytes.
const CAPACITY: u64 = 64 << 20;
/// Approximate bytes of an item without its texts: the fields, and the reference counts.
const FIELDS: u64 = 16 + size_of::<SharedContent>() as u64;
const USUAL: u64 = 2 * (FIELDS + 256);

/// Items that were read recently and often.
pub(crate) type ContentCache = ReadThrough<ContentId, Arc<SharedContent>>;

/// An empty cache of content.
pub(crate) fn cache() -> ContentCache {
    ReadThrough::new(CAPACITY, USUAL, |content| {
        let bytes = bytes(content);
        // The kept text is about as long as the texts and names of the fields together.
        bytes + if bytes <= MOST_KEPT as u64 { bytes } else { 0 }
    })
}

/// Approximate bytes of an item in memory without its kept text.
pub(crate) fn bytes(content: &Content) -> u64 {
    let optional = |text: &Option<String>| text.as_ref().map_or(0, String::capacity);
    let topics = content.topics.iter().map(|topic| size_of::<String>() + topic.capacity());
    let texts = content.kind.capacity() + content.media.capacity() + optional(&content.text) + optional(&content.extra);
    FIELDS + (texts + topics.sum::<usize>()) as u64
}
