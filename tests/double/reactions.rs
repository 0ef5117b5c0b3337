//! Reactions, and the counts of items, which are counted at each read.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::error::{Error, Result};
use model::store::{FINAL, Reacting, Tier};
use model::{
    Content, ContentId, Cursor, Effect, EffectKind, Entry, ItemCounter, ItemCounts, Millis, Position, Reacted,
    Reaction, ReactionKind, ReactionKinds, ReactionPlace, Reactions, Scan, UserCursor, UserId,
};

use super::{Double, State, walk};

impl Reacting for Double {
    fn name_reactions(&self, kinds: &ReactionKinds) -> ReactionKinds {
        self.state().kinds = kinds.clone();
        kinds.clone()
    }

    fn number_reactions(&self, kinds: &[String]) -> Result<Vec<Result<bool>>> {
        let mut state = self.state();
        let give = |kind: &String| {
            let is_new = !state.used_kinds.contains(kind);
            state.used_kinds.extend(is_new.then(|| kind.clone()));
            Ok(is_new)
        };
        Ok(kinds.iter().map(give).collect())
    }

    fn react(&self, id: ContentId, wishes: &[Reaction]) -> Result<Vec<Reacted>> {
        let mut state = self.state();
        if state.live(id).is_none() {
            return Err(Error::content_not_found());
        }
        let present = |state: &State| -> BTreeMap<_, _> {
            let keys = wishes.iter().map(|wish| (wish.kind, state.key(id, wish.kind, wish.user)));
            keys.map(|key| (key.clone(), state.reactions.get(&key.1).copied())).collect()
        };
        let before = present(&state);
        let reacted = wishes.iter().map(|wish| state.react(id, wish)).collect();
        let after = present(&state);
        let author = state.live(id).map(|item| item.author);
        let mut effects = Vec::new();
        for ((kind, (.., user)), since) in after.iter().filter(|(key, since)| before.get(key) != Some(since)) {
            let name = state.kinds.name(*kind).to_owned();
            let was = before.get(&(*kind, state.key(id, *kind, *user))).is_some_and(Option::is_some);
            let what = match (was, since.is_some()) {
                (false, true) => Some(EffectKind::ReactionCreated),
                (true, false) => Some(EffectKind::ReactionRemoved),
                _ => None,
            };
            let effect = |what| Effect { target: author, ..Effect::on(what, *user).item(id).named(name.as_str()) };
            effects.extend(what.map(effect));
            if !state.used_kinds.contains(&name) {
                state.used_kinds.push(name);
            }
        }
        if after != before {
            state.put_effects(effects);
        }
        Ok(reacted)
    }

    fn reactors(&self, id: ContentId, kind: ReactionKind, scan: Scan<UserId>, _: Tier) -> Result<Vec<UserCursor>> {
        let state = self.state();
        Ok(walk(state.reactors(id, state.kinds.name(kind)), |place| *place, scan))
    }

    fn reacted_by(&self, user: UserId, kind: ReactionKind, scan: Scan<ContentId>, _: Tier) -> Result<Vec<Entry>> {
        let state = self.state();
        let name = state.kinds.name(kind);
        let mine = state.reactions.keys().filter(|(_, k, u)| (k.as_str(), *u) == (name, user));
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
        let names = state.used_kinds.clone();
        let mut found = Vec::new();
        for (byte, name) in (0..).zip(&names) {
            found.extend(state.reactors(id, name).map(|place| (byte, place)));
        }
        found.sort_unstable_by_key(order);
        found.retain(|place| after.is_none_or(|after| order(place) > order(&after)));
        found.truncate(most);
        for (byte, place) in &found {
            state.reactions.remove(&(id, names[usize::from(*byte)].clone(), place.id));
            state.deleted.insert(id, FINAL);
        }
        Ok(found)
    }
}

impl State {
    fn key(&self, id: ContentId, kind: ReactionKind, user: UserId) -> (ContentId, String, UserId) {
        (id, self.kinds.name(kind).to_owned(), user)
    }

    fn react(&mut self, id: ContentId, wish: &Reaction) -> Reacted {
        let key = self.key(id, wish.kind, wish.user);
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
        let kinds = self.kinds.iter().map(|(kind, _)| kind);
        kinds.filter(|kind| self.reactions.contains_key(&self.key(id, *kind, user))).collect()
    }

    /// The users who reacted to an item, with the times.
    pub(super) fn reactors(&self, id: ContentId, kind: &str) -> impl Iterator<Item = UserCursor> {
        let rows = self.reactions.range((id, kind.to_owned(), UserId::MIN)..=(id, kind.to_owned(), UserId::MAX));
        rows.map(|((_, _, user), since)| Position { at: *since, id: *user })
    }

    /// The number of users with each reaction to an item, by the byte in rows.
    pub(super) fn reaction_counts(&self, id: ContentId) -> impl Iterator<Item = (u8, u64)> {
        let counts =
            (0..).zip(&self.used_kinds).map(move |(byte, name)| (byte, self.reactors(id, name).count() as u64));
        counts.filter(|(_, count)| *count > 0)
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
            comments: pointing(ItemCounter::Comments),
            reposts: pointing(ItemCounter::Reposts),
            reactions: self.kinds.iter().map(|(kind, name)| (kind, self.reactors(id, name).count() as u64)).collect(),
        }
    }
}
