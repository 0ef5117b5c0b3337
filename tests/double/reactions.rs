//! Likes and favorites, and the counts of items, which are counted at each read.

use std::cmp::Reverse;

use model::error::{Error, Result};
use model::store::{FINAL, Reacting, Tier};
use model::{
    Content, ContentId, Cursor, Entry, ItemCounter, ItemCounts, Millis, Position, Reacted, Reaction, ReactionKind,
    ReactionPlace, Reactions, Scan, UserCursor, UserId,
};

use super::{Double, State, walk};

impl Reacting for Double {
    fn react(&self, id: ContentId, wishes: &[Reaction]) -> Result<Vec<Reacted>> {
        let mut state = self.state();
        if state.live(id).is_none() {
            return Err(Error::content_not_found());
        }
        let present = |state: &State| -> Vec<_> {
            wishes.iter().map(|wish| state.reactions.get(&(id, wish.kind, wish.user)).copied()).collect()
        };
        let before = present(&state);
        let reacted = wishes.iter().map(|wish| state.react(id, wish)).collect();
        if present(&state) != before {
            state.write_names();
        }
        Ok(reacted)
    }

    fn reactors(&self, id: ContentId, kind: ReactionKind, scan: Scan<UserId>, _: Tier) -> Result<Vec<UserCursor>> {
        let state = self.state();
        Ok(walk(state.reactors(id, kind), |place| *place, scan))
    }

    fn reacted_by(&self, user: UserId, kind: ReactionKind, scan: Scan<ContentId>, _: Tier) -> Result<Vec<Entry>> {
        let state = self.state();
        let mine = state.reactions.keys().filter(|(_, k, u)| (*k, *u) == (kind, user));
        let entries = mine.filter_map(|(id, ..)| Some(state.live(*id)?.entry()));
        Ok(walk(entries, |entry| entry.cursor, scan))
    }

    fn reacted(&self, user: UserId, items: &[Cursor], _: Tier) -> Result<Vec<Reactions>> {
        let state = self.state();
        Ok(items.iter().map(|item| state.reactions_of(item.id, user)).collect())
    }

    fn reacted_to(&self, id: ContentId, users: &[UserId], _: Tier) -> Result<Vec<Reactions>> {
        let state = self.state();
        Ok(users.iter().map(|user| state.reactions_of(id, *user)).collect())
    }

    fn purge_reactions(
        &self,
        id: ContentId,
        deleted_before: Millis,
        most: usize,
        after: Option<ReactionPlace>,
    ) -> Result<Vec<ReactionPlace>> {
        let mut state = self.state();
        if !state.deleted_before(id, deleted_before) {
            return Ok(Vec::new());
        }
        let order = |(kind, place): &ReactionPlace| (*kind, Reverse(*place));
        let of_kind = |kind| state.reactors(id, kind).map(move |place| (kind, place));
        let mut found: Vec<_> = ReactionKind::ALL.into_iter().flat_map(of_kind).collect();
        found.sort_unstable_by_key(order);
        found.retain(|place| after.is_none_or(|after| order(place) > order(&after)));
        found.truncate(most);
        for (kind, place) in &found {
            state.reactions.remove(&(id, *kind, place.id));
            state.deleted.insert(id, FINAL);
        }
        Ok(found)
    }
}

impl State {
    fn react(&mut self, id: ContentId, wish: &Reaction) -> Reacted {
        let key = (id, wish.kind, wish.user);
        let before = self.reactions.get(&key).copied();
        let since = wish.since.map(|since| before.unwrap_or(since));
        match since {
            Some(since) => self.reactions.insert(key, since),
            None => self.reactions.remove(&key),
        };
        Reacted { since, changed: since != before, counts: self.counts_of(id) }
    }

    /// The reactions of a user to an item.
    fn reactions_of(&self, id: ContentId, user: UserId) -> Reactions {
        let has = |kind| self.reactions.contains_key(&(id, kind, user));
        Reactions { liked: has(ReactionKind::Like), favorited: has(ReactionKind::Favorite) }
    }

    /// The users who reacted to an item, with the times.
    pub(super) fn reactors(&self, id: ContentId, kind: ReactionKind) -> impl Iterator<Item = UserCursor> {
        let rows = self.reactions.range((id, kind, UserId::MIN)..=(id, kind, UserId::MAX));
        rows.map(|((_, _, user), since)| Position { at: *since, id: *user })
    }
}

impl State {
    pub(super) fn counts_of(&self, id: ContentId) -> ItemCounts {
        let referring = || self.referring.range((id, ContentId::MIN)..=(id, ContentId::MAX));
        let pointing = |counter: ItemCounter| {
            let live = referring().filter_map(|(_, other)| self.live(*other));
            let counts = |content: &&Content| ItemCounter::of_kind(&content.kind) == Some(counter);
            live.filter(|_| !self.is_purged(id)).filter(counts).count() as u64
        };
        ItemCounts {
            likes: self.reactors(id, ReactionKind::Like).count() as u64,
            favorites: self.reactors(id, ReactionKind::Favorite).count() as u64,
            comments: pointing(ItemCounter::Comments),
            reposts: pointing(ItemCounter::Reposts),
        }
    }
}
