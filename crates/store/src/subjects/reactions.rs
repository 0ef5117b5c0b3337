//! Likes and favorites: one row by item and user, one in the item's list, and one in the user's list.

use crate::rows::reaction_tables::of_kind;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use rocksdb::WriteBatch;

use crate::Rocks;
use crate::rows::keys;
use crate::rows::values;
use crate::rows::values::Stored;
use crate::rows::walk::Walk;
use model::error::{Error, Result};
use model::failpoint::Write;
use model::store::{Contents, FINAL, Reacting, Tier, is_deleted_before};
use model::{
    ContentId, Cursor, Entry, ItemCounts, Millis, Position, Reacted, Reaction, ReactionKind, ReactionPlace, Reactions,
    Scan, Span, UserCursor, UserId,
};

/// Most deleted items that a read from memory passes over. A read of more goes to a thread that may block.
const MOST_PASSED: usize = 1000;

/// Rows of a list that are looked up at once, from the second time on: at least,
const FEWEST: usize = 32;
/// and at most.
const MOST: usize = 1024;

/// The live items of a list, collected during a walk.
struct Live {
    found: Vec<Entry>,
    limit: usize,
    /// The number of deleted items so far.
    passed: usize,
    /// Rows not yet looked up.
    group: Vec<Entry>,
    /// The size of a full group.
    full: usize,
}

/// The reactions in a change: the state before, and after.
type Pairs = BTreeMap<(ReactionKind, UserId), (Option<Millis>, Option<Millis>)>;

impl Reacting for Rocks {
    fn react(&self, id: ContentId, wishes: &[Reaction]) -> Result<Vec<Reacted>> {
        // Against a delete, and so that no other call changes these rows between read and write.
        let _lock = self.content_locks.of(id.get()).lock();
        let stored = self.live(id)?.ok_or_else(Error::content_not_found)?;
        let mut counts = self.item_counts(&[id], Tier::Disk)?.pop().unwrap_or_default();
        let mut pairs = self.present(id, wishes)?;
        let reacted = wishes.iter().map(|wish| apply(wish, &mut pairs, &mut counts)).collect();
        let mut change = WriteBatch::default();
        let (mut steps, mut changing) = ([0; 4], Vec::new());
        for ((kind, user), (before, after)) in pairs.into_iter().filter(|(_, (before, after))| before != after) {
            if let Some(since) = before {
                self.put_reaction(&mut change, stored.content.entry(), (user, kind, since), false)?;
            }
            if let Some(since) = after {
                self.put_reaction(&mut change, stored.content.entry(), (user, kind, since), true)?;
            }
            steps[kind.counter() as usize] += i64::from(after.is_some()) - i64::from(before.is_some());
            changing.push(self.newest_reactions.change(user));
        }
        if !change.is_empty() {
            self.count_item(&mut change, id, steps)?;
            let _counts = self.item_counts.change(id);
            self.acknowledge(Write::React, change, wishes)?;
        }
        Ok(reacted)
    }

    fn reactors(&self, id: ContentId, kind: ReactionKind, scan: Scan<UserId>, tier: Tier) -> Result<Vec<UserCursor>> {
        self.listed((of_kind(kind).by_time, id.get()), scan, tier, |place, _| Ok(place))
    }

    fn reacted_by(&self, user: UserId, kind: ReactionKind, scan: Scan<ContentId>, tier: Tier) -> Result<Vec<Entry>> {
        let Scan { span, order, limit } = scan;
        let mut live = Live { found: Vec::new(), limit, passed: 0, group: Vec::new(), full: limit.max(1) };
        let mut walk = Walk::new(self, of_kind(kind).by_user, tier)?;
        walk.rows(user.get(), span, order, &mut |cursor: Cursor, author| {
            if live.found.len() == limit {
                return Ok(ControlFlow::Break(()));
            }
            live.group.push(Entry { cursor, author: values::read_author(author)? });
            if live.group.len() == live.full {
                self.take_live(&mut live, tier)?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        self.take_live(&mut live, tier)?;
        Ok(live.found)
    }

    fn reacted(&self, user: UserId, items: &[Cursor], tier: Tier) -> Result<Vec<Reactions>> {
        self.reactions_of(user, items, tier)
    }

    fn reacted_to(&self, id: ContentId, users: &[UserId], tier: Tier) -> Result<Vec<Reactions>> {
        self.both_kinds(&users.iter().map(|user| keys::pair(id, *user)).collect::<Vec<_>>(), tier)
    }

    fn purge_reactions(
        &self,
        id: ContentId,
        deleted_before: Millis,
        most: usize,
        after: Option<ReactionPlace>,
    ) -> Result<Vec<ReactionPlace>> {
        let _lock = self.content_locks.of(id.get()).lock();
        let stored = self.stored(&[id], Tier::Disk)?.pop().flatten();
        let too_late = |stored: &Stored| stored.deleted_at.is_some_and(|at| is_deleted_before(at, deleted_before));
        let Some(mut stored) = stored.filter(too_late) else { return Ok(Vec::new()) };
        let item = stored.content.entry();
        let (mut change, mut steps, mut purged) = (WriteBatch::default(), [0; 4], Vec::new());
        for kind in ReactionKind::ALL.into_iter().filter(|kind| after.is_none_or(|(last, _)| last <= *kind)) {
            let before = after.filter(|(last, _)| *last == kind).map(|(_, place)| place);
            let span = Span { before, after: None };
            let rows = self.reactors(id, kind, span.newest(most - purged.len()), Tier::Disk)?;
            for UserCursor { at, id: user } in &rows {
                self.put_reaction(&mut change, item, (*user, kind, *at), false)?;
                steps[kind.counter() as usize] -= 1;
            }
            purged.extend(rows.into_iter().map(|place| (kind, place)));
        }
        if !purged.is_empty() {
            // An item with part of its reactions must not be restored, whatever the settings at the next start.
            if stored.deleted_at != Some(FINAL) {
                stored.deleted_at = Some(FINAL);
                self.put_deleted(&mut change, &stored, FINAL)?;
            }
            self.count_item(&mut change, id, steps)?;
            let _changing: Vec<_> = purged.iter().map(|(_, place)| self.newest_reactions.change(place.id)).collect();
            let _counts = self.item_counts.change(id);
            self.follow_up(Write::React, change)?;
        }
        Ok(purged)
    }
}

impl Rocks {
    /// The present state of the reactions in `wishes`.
    fn present(&self, id: ContentId, wishes: &[Reaction]) -> Result<Pairs> {
        let mut pairs: Pairs = wishes.iter().map(|wish| ((wish.kind, wish.user), (None, None))).collect();
        for kind in ReactionKind::ALL {
            let mut matching: Vec<_> = pairs.iter_mut().filter(|((of, _), _)| *of == kind).collect();
            let keys = matching.iter().map(|((_, user), _)| keys::pair(id, *user));
            let times = self.read_many(of_kind(kind).rows, keys, Tier::Disk, values::read_millis)?;
            for ((_, pair), since) in matching.iter_mut().zip(times) {
                **pair = (since, since);
            }
        }
        Ok(pairs)
    }

    /// Puts the rows of a reaction since a time into a change, or removes them.
    fn put_reaction(
        &self,
        change: &mut WriteBatch,
        Entry { cursor, author }: Entry,
        (user, kind, since): (UserId, ReactionKind, Millis),
        stands: bool,
    ) -> Result<()> {
        let (tables, id) = (of_kind(kind), cursor.id);
        self.set(change, tables.rows, keys::pair(id, user), stands.then(|| values::millis(since)))?;
        let place = Position { at: since, id: user };
        self.set(change, tables.by_time, keys::entry(id, place), stands.then_some(values::EMPTY))?;
        self.set(change, tables.by_user, keys::entry(user, cursor), stands.then(|| values::author(author)))
    }

    /// Takes the live items of a group. The next group is larger: after many deleted items, more may follow.
    fn take_live(&self, live: &mut Live, tier: Tier) -> Result<()> {
        let ids: Vec<_> = live.group.iter().map(|entry| entry.cursor.id).collect();
        let deleted = self.deleted(&ids, tier)?;
        live.passed += deleted.iter().filter(|deleted| **deleted).count();
        if tier == Tier::Memory && live.passed > MOST_PASSED {
            return Err(Error::NotCached);
        }
        let rest = live.limit - live.found.len();
        let group = live.group.drain(..).zip(deleted);
        live.found.extend(group.filter_map(|(entry, deleted)| (!deleted).then_some(entry)).take(rest));
        live.full = (2 * live.full).clamp(FEWEST, MOST);
        Ok(())
    }

    /// Reactions of both kinds by their keys.
    pub(crate) fn both_kinds(&self, keys: &[[u8; 16]], tier: Tier) -> Result<Vec<Reactions>> {
        let rows = |kind| self.get_many(of_kind(kind).rows, keys, tier);
        let (likes, favorites) = (rows(ReactionKind::Like)?, rows(ReactionKind::Favorite)?);
        let both = likes.iter().zip(&favorites);
        Ok(both.map(|(like, favorite)| Reactions { liked: like.is_some(), favorited: favorite.is_some() }).collect())
    }

    /// Whether an item has a reaction.
    pub(crate) fn has_reactions(&self, id: ContentId) -> Result<bool> {
        for kind in ReactionKind::ALL {
            if !self.reactors(id, kind, Span::ALL.newest(1), Tier::Disk)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Applies a wish, and returns the state after it.
fn apply(wish: &Reaction, pairs: &mut Pairs, counts: &mut ItemCounts) -> Reacted {
    let (_, present) = pairs.entry((wish.kind, wish.user)).or_default();
    let changed = present.is_some() != wish.since.is_some();
    if changed {
        *present = wish.since;
        let count = match wish.kind {
            ReactionKind::Like => &mut counts.likes,
            ReactionKind::Favorite => &mut counts.favorites,
        };
        *count = if present.is_some() { *count + 1 } else { count.saturating_sub(1) };
    }
    Reacted { since: *present, changed, counts: *counts }
}
