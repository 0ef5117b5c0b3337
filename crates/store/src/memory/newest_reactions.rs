//! The reactions of users to the newest items that they reacted to, in memory.
//!
//! A page shows the viewer's reactions to each item. Most of its items are newer than the oldest one kept here, and need
//! no look-up.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::Rocks;
use crate::rows::keys;
use crate::rows::reaction_tables::of_kind;
use crate::rows::walk::Walk;
use model::cache::ReadThrough;
use model::error::Result;
use model::store::Tier;
use model::{ContentId, Cursor, Order, ReactionKind, Reactions, Span, UserId};

/// Memory for cached reactions, bytes.
const CAPACITY: u64 = 16 << 20;
/// Most items of a user and a kind.
const MOST: usize = 64;
/// Approximate bytes of the reactions of a user without the ids of items.
const FIELDS: u64 = 16 + size_of::<NewestReactions>() as u64;
const USUAL: u64 = FIELDS + 128;

/// The newest items to which a user reacted, by kind.
#[derive(Debug)]
pub(crate) struct NewestReactions([Newest; ReactionKind::ALL.len()]);

/// The newest items of a kind.
#[derive(Debug)]
struct Newest {
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
pub(crate) fn cache() -> NewestReactionsCache {
    ReadThrough::new(CAPACITY, USUAL, |newest| {
        FIELDS + newest.0.iter().map(|kind| size_of_val(&*kind.ids) as u64).sum::<u64>()
    })
}

impl Rocks {
    /// The reactions of a user to items, in their order. Never older than the last acknowledged change.
    pub(crate) fn reactions_of(&self, user: UserId, items: &[Cursor], tier: Tier) -> Result<Vec<Reactions>> {
        if items.is_empty() {
            return Ok(Vec::new());
        }
        let newest = self.newest_reactions.get(user, || {
            let [likes, favorites] = ReactionKind::ALL.map(|kind| self.newest(user, kind, tier));
            Ok(Arc::new(NewestReactions([likes?, favorites?])))
        })?;
        let [likes, favorites] = &newest.0;
        let known = |item: &Cursor| Some(Reactions { liked: likes.has(*item)?, favorited: favorites.has(*item)? });
        let mut reactions: Vec<_> = items.iter().map(known).collect();
        if reactions.contains(&None) {
            let unknown = items.iter().zip(&reactions).filter(|(_, known)| known.is_none());
            let keys: Vec<_> = unknown.map(|(item, _)| keys::pair(item.id, user)).collect();
            let older = self.both_kinds(&keys, tier)?;
            reactions.iter_mut().filter(|known| known.is_none()).zip(older).for_each(|(known, row)| *known = Some(row));
        }
        Ok(reactions.into_iter().map(Option::unwrap_or_default).collect())
    }

    fn newest(&self, user: UserId, kind: ReactionKind, tier: Tier) -> Result<Newest> {
        let (mut ids, mut oldest) = (Vec::new(), None);
        let mut walk = Walk::new(self, of_kind(kind).by_user, tier)?;
        walk.rows(user.get(), Span::ALL, Order::NewestFirst, &mut |place: Cursor, _| {
            ids.push(place.id);
            if ids.len() < MOST {
                return Ok(ControlFlow::Continue(()));
            }
            oldest = Some(place);
            Ok(ControlFlow::Break(()))
        })?;
        ids.sort_unstable();
        Ok(Newest { ids: ids.into(), oldest })
    }
}
