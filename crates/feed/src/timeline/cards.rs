//! Cached cards.

use std::sync::Arc;

use model::cache::ReadThrough;
use model::{Card, MOST_KEPT, UserId};

/// Memory for cached cards, bytes.
const CAPACITY: u64 = 16 << 20;
/// Approximate bytes of a card without its texts: the fields, and the reference counts.
const FIELDS: u64 = 16 + size_of::<Card>() as u64;
const USUAL: u64 = 2 * (FIELDS + 64);

/// Cards that were read recently and often; also of users without a profile.
pub(crate) type Cards = ReadThrough<UserId, Arc<Card>>;

/// An empty cache of cards.
pub(crate) fn cache() -> Cards {
    ReadThrough::new(CAPACITY, USUAL, |card| {
        let bytes = bytes(card);
        // The kept text is about as long.
        bytes + if bytes <= MOST_KEPT as u64 { bytes } else { 0 }
    })
}

/// Approximate bytes of a card in memory without its kept text.
pub(crate) fn bytes(card: &Card) -> u64 {
    let optional = |text: &Option<String>| text.as_ref().map_or(0, String::capacity) as u64;
    let name = card.user.name().map_or(0, |name| name.len()) as u64;
    FIELDS + name + optional(&card.nickname) + optional(&card.avatar)
}
