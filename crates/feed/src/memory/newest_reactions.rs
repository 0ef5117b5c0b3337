//! The reactions of users to the newest items that they reacted to, in memory.
//!
//! A page shows the viewer's reactions to each item. Most of its items are newer than the oldest one kept here, and need
//! no look-up.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::kinds::Kinds;
use crate::rows::tables::{REACTIONS, REACTIONS_BY_USER};
use crate::rows::walk::Walk;
use kv::{Database, Tier};
use model::cache::ReadThrough;
use model::cache::memory::{CacheMemory, Share};
use model::error::Result;
use model::{ContentId, Cursor, Order, ReactionKind, Reactions, Span, UserId};

/// Most items of a user and a kind.
const MOST: usize = 64;
/// Approximate bytes of the reactions of a user without the ids of items.
const FIELDS: u64 = 16 + size_of::<NewestReactions>() as u64;
const USUAL: u64 = FIELDS + 128;

/// The newest items to which a user reacted, for each kind of the user's reactions.
#[derive(Debug)]
pub(crate) struct NewestReactions(Box<[Newest]>);

/// The newest items of a kind.
#[derive(Debug)]
struct Newest {
    kind: ReactionKind,
    /// The byte of the kind in rows.
    byte: u8,
    /// Ascending.
    ids: Box<[ContentId]>,
    /// The oldest of them, if there may be older ones.
    oldest: Option<Cursor>,
}

impl Newest {
    /// Whether the user reacted to an item; `None` if only the table has the answer.
    fn has(&self, item: Cursor) -> Option<bool> {
        let is_covered = self.oldest.is_none_or(|oldest| item >= oldest);
        is_covered.then(|| self.ids.binary_search(&item.id).is_ok())
    }
}

/// Reactions that were read recently and often; also of users without any.
pub(crate) type NewestReactionsCache = ReadThrough<UserId, Arc<NewestReactions>>;

/// An empty cache of reactions.
pub(crate) fn cache(memory: CacheMemory) -> NewestReactionsCache {
    ReadThrough::new(memory.of(Share::REACTIONS), USUAL, |newest| {
        let of_kind = |kind: &Newest| (size_of::<Newest>() + size_of_val(&*kind.ids)) as u64;
        FIELDS + newest.0.iter().map(of_kind).sum::<u64>()
    })
}

/// The reactions of a user to each of `items`, in their order.
pub(crate) fn reacted(
    database: &Database,
    (cache, kinds): (&NewestReactionsCache, &Kinds),
    user: UserId,
    items: &[Cursor],
    tier: Tier,
) -> Result<Vec<Reactions>> {
    if items.is_empty() {
        return Ok(Vec::new());
    }
    let newest = cache.get(user, || newest_of(database, kinds, user, tier).map(Arc::new))?;
    let mut reactions = vec![Reactions::default(); items.len()];
    for newest in &newest.0 {
        let mut unknown = Vec::new();
        for (place, item) in items.iter().enumerate() {
            match newest.has(*item) {
                Some(true) => reactions[place].add(newest.kind),
                Some(false) => {}
                None => unknown.push(place),
            }
        }
        if !unknown.is_empty() {
            let keys = unknown.iter().map(|place| (items[*place].id, newest.byte, user));
            let rows = REACTIONS.have(database.now(tier), keys)?;
            let found = unknown.iter().zip(rows).filter(|(_, has)| *has);
            found.for_each(|(place, _)| reactions[*place].add(newest.kind));
        }
    }
    Ok(reactions)
}

fn newest_of(database: &Database, kinds: &Kinds, user: UserId, tier: Tier) -> Result<NewestReactions> {
    let used: Vec<_> = kinds.known().used().collect();
    let (mut walk, mut found) = (Walk::new(database.now(tier), &REACTIONS_BY_USER)?, Vec::new());
    for (kind, byte) in used {
        let (mut ids, mut oldest) = (Vec::new(), None);
        walk.rows((user.get(), byte), Span::ALL, Order::NewestFirst, &mut |place: Cursor, _| {
            ids.push(place.id);
            if ids.len() < MOST {
                return Ok(ControlFlow::Continue(()));
            }
            oldest = Some(place);
            Ok(ControlFlow::Break(()))
        })?;
        ids.sort_unstable();
        if !ids.is_empty() {
            found.push(Newest { kind, byte, ids: ids.into(), oldest });
        }
    }
    Ok(NewestReactions(found.into()))
}
