//! Caches for pages: content, the summaries of authors, and the followees of readers.

pub(crate) mod followees;

use std::sync::Arc;

use model::cache::ReadThrough;
use model::cache::memory::{CacheMemory, Share};
use model::{AuthorSummary, Content, ContentId, MOST_KEPT, SharedContent, UserId};

/// Most rows of contents and profiles that all threads together read from the disk at once. Each may be as large as the
/// body of a change.
pub(crate) const ROWS_AT_ONCE: usize = 512;
/// Most rows of one call. Bytes are counted after each call.
pub(crate) const PART: usize = 16;

/// Approximate bytes of an item and of a summary without their texts: the fields, and the reference counts.
const CONTENT_FIELDS: u64 = 16 + size_of::<SharedContent>() as u64;
const CARD_FIELDS: u64 = 16 + size_of::<AuthorSummary>() as u64;

/// Items that were read recently and often.
pub(crate) type ContentCache = ReadThrough<ContentId, Arc<SharedContent>>;

/// AuthorSummaries that were read recently and often; also of users without a profile.
pub(crate) type AuthorSummaries = ReadThrough<UserId, Arc<AuthorSummary>>;

/// An empty cache of content.
pub(crate) fn contents(memory: CacheMemory) -> ContentCache {
    ReadThrough::new(memory.of(Share::CONTENTS), 2 * (CONTENT_FIELDS + 256), |content| {
        with_kept(content_bytes(content))
    })
}

/// An empty cache of summaries.
pub(crate) fn summaries(memory: CacheMemory) -> AuthorSummaries {
    ReadThrough::new(memory.of(Share::CARDS), 2 * (CARD_FIELDS + 64), |summary| with_kept(card_bytes(summary)))
}

/// Bytes with the kept text, which is about as long as the rest.
fn with_kept(bytes: u64) -> u64 {
    bytes + if bytes <= MOST_KEPT as u64 { bytes } else { 0 }
}

/// Approximate bytes of an item in memory without its kept text.
pub(crate) fn content_bytes(content: &Content) -> u64 {
    let users = (content.to.len() + content.mentions.len()) * size_of::<UserId>();
    CONTENT_FIELDS + (content.kind.len() + users + content.bytes()) as u64
}

/// Approximate bytes of a summary in memory without its kept text.
pub(crate) fn card_bytes(summary: &AuthorSummary) -> u64 {
    let name = summary.user.name().map_or(0, |name| name.len()) as u64;
    CARD_FIELDS + name + optional(&summary.nickname) + optional(&summary.avatar)
}

fn optional(text: &Option<String>) -> u64 {
    text.as_ref().map_or(0, String::capacity) as u64
}
