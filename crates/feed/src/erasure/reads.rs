//! Erasures, as an operator sees them.

use std::cmp::Reverse;

use super::tables;
use crate::erasure::changes::ERASURES_LISTED;
use crate::read::Read;
use model::clock::now;
use model::error::Result;
use model::{ErasedUser, Erasure, ExternalId};

/// Most erasures that are over in a list.
const MOST_LISTED: usize = 10_000;

/// The erasures under way with the ids of their users, and those that are over.
pub type Erasures = (Vec<(ExternalId, Erasure)>, Vec<ErasedUser>);

/// The erasures under way, with the ids of their users, and those that are over, newest first.
pub fn erasures(read: Read<'_>) -> Result<Erasures> {
    read.needs_disk()?;
    let store = &read.feed.store;
    let mut under_way = Vec::new();
    for erasure in tables::erasures(store)? {
        match read.named(erasure.user) {
            Ok((user, ids)) => under_way.push((ids.of(user), erasure)),
            // It has ended meanwhile, with the name.
            Err(_) if !tables::is_erasing(store, erasure.user) => {}
            Err(error) => return Err(error),
        }
    }
    let mut over = tables::erased(store)?;
    // The rows of older ones go with the next erasure that ends.
    let forgotten = now().saturating_sub(ERASURES_LISTED);
    over.retain(|erased| erased.over >= forgotten);
    over.sort_unstable_by_key(|erased| Reverse(erased.over));
    over.truncate(MOST_LISTED);
    Ok((under_way, over))
}
