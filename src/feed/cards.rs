//! What is shown of users beside their content, cached.

use std::sync::Arc;

use crate::cache::ReadThrough;
use crate::model::{Card, UserId};

/// Memory for cached cards, bytes.
const CAPACITY: u64 = 16 << 20;
/// About what a card costs beside its texts: the fields, and what counts the card's users.
const FIELDS: u64 = 16 + size_of::<Card>() as u64;
const USUAL: u64 = FIELDS + 64;

/// The cards that were read lately and often; also of users who have set nothing.
pub(super) type Cards = ReadThrough<UserId, Arc<Card>>;

/// An empty cache of cards.
pub(super) fn cache() -> Cards {
    ReadThrough::new(CAPACITY, USUAL, |card| bytes(card))
}

/// About what a card takes in memory, bytes.
pub(super) fn bytes(card: &Card) -> u64 {
    let optional = |text: &Option<String>| text.as_ref().map_or(0, String::capacity) as u64;
    FIELDS + optional(&card.nickname) + optional(&card.avatar)
}
