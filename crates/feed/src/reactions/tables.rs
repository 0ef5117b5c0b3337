//! Reactions: one row by item and user, one in the item's list, and one in the user's list.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use crate::memory::kinds::Known;
use crate::memory::newest_reactions;
use crate::rows::mirrors::Given;
use crate::rows::tables::{REACTIONS, REACTIONS_BY_TIME, REACTIONS_BY_USER};
use crate::rows::values;
use crate::rows::values::ItemSteps;
use crate::rows::walk::Walk;
use crate::store::Store;
use crate::{items, notices};
use kv::{Tier, WriteBatch};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::{
    ContentId, Cursor, Effect, EffectKind, Entry, ItemCounts, Millis, Notice, NoticeCursor, NoticeId, NoticeKind,
    Reacted, Reaction, ReactionKind, ReactionKinds, Reactions, Scan, UserCursor, UserId,
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

/// What a change of a reaction is to the feed of changes; another time of a present one is none.
fn effect_of(before: Option<Millis>, after: Option<Millis>) -> Option<EffectKind> {
    match (before, after) {
        (None, Some(_)) => Some(EffectKind::ReactionCreated),
        (Some(_), None) => Some(EffectKind::ReactionRemoved),
        _ => None,
    }
}

/// The reactions in a change: the state before, and after.
type Pairs = BTreeMap<(ReactionKind, UserId), (Option<Millis>, Option<Millis>)>;

/// Gives the kinds of reactions their names from now on, and returns those that are used: on disk a byte stands for a
/// name that was ever used, so a name may find no room. To be called before any other method, if the names are not
/// the default ones.
pub fn name_reactions(store: &Store, kinds: &ReactionKinds) -> ReactionKinds {
    store.memory.kinds.reactions.name(kinds)
}

/// Gives kinds that were never used the next numbers, in this order: notices of one time are in the order of these numbers.
/// Returns for each whether it was never used; `too_many_kinds` if there is no room for it. Acknowledges.
pub fn number_reactions(store: &Store, kinds: &[String]) -> Result<Vec<Result<bool>>> {
    let kinds: Vec<_> = kinds.iter().map(String::as_str).collect();
    let (numbers, new) = store.memory.kinds.reactions.numbers(&kinds);
    store.begin_change(store.memory.kinds.reactions.give(&new)?)?;
    let mut new = HashSet::<&str>::from_iter(new);
    Ok(kinds.iter().zip(numbers).map(|(kind, number)| number.map(|_| new.remove(kind))).collect())
}

/// Applies the requests of any users about one item, in their order and in one change, with one step of the item's
/// counts. Returns for each request the state right after it. A request that is already fulfilled changes nothing: a
/// present reaction keeps its `since`. A user may occur more than once. `content_not_found`, and nothing written,
/// if the item is missing or deleted. Acknowledges.
pub fn react(store: &Store, id: ContentId, requests: &[Reaction]) -> Result<Vec<Reacted>> {
    let stored = items::tables::live(store, id)?.ok_or_else(Error::content_not_found)?;
    let mut counts = items::tables::item_counts(store, &[id], Tier::Disk)?.pop().unwrap_or_default();
    let kinds = store.memory.kinds.reactions.known();
    let mut pairs = present(store, &kinds, id, requests)?;
    let reacted = requests.iter().map(|request| apply(request, &mut pairs, &mut counts)).collect();
    let mut change = WriteBatch::default();
    let (mut steps, mut effects) = (ItemSteps::default(), Vec::new());
    for ((kind, user), (before, after)) in pairs.into_iter().filter(|(_, (before, after))| before != after) {
        let byte = byte_of(store, kind)?;
        if let Some(since) = before {
            put_reaction(store, &mut change, stored.content.entry(), (user, byte, since), false)?;
        }
        if let Some(since) = after {
            put_reaction(store, &mut change, stored.content.entry(), (user, byte, since), true)?;
        }
        if let Some(effect) = effect_of(before, after) {
            let name = kinds.name_of(kind).unwrap_or_default().to_owned();
            effects.push(Effect::on(effect, user).target(stored.content.author).item(id).named(name));
        }
        *steps.reactions.entry(byte).or_default() += i64::from(after.is_some()) - i64::from(before.is_some());
    }
    if !change.is_empty() {
        items::tables::count_item(&mut change, id, &steps);
        store.acknowledge(Write::React, change, effects)?;
    }
    Ok(reacted)
}

/// Users who reacted to an item, deleted or not, by `since`.
pub fn reactors(
    store: &Store,
    id: ContentId,
    kind: ReactionKind,
    scan: Scan<UserId>,
    tier: Tier,
) -> Result<Vec<UserCursor>> {
    let Some(byte) = store.memory.kinds.reactions.known().byte(kind) else { return Ok(Vec::new()) };
    REACTIONS_BY_TIME.places(store.now(tier), (id, byte), scan)
}

/// Live items that a user reacted to, by their publishing.
pub fn reacted_by(
    store: &Store,
    user: UserId,
    kind: ReactionKind,
    scan: Scan<ContentId>,
    tier: Tier,
) -> Result<Vec<Entry>> {
    let Scan { span, order, limit } = scan;
    let Some(byte) = store.memory.kinds.reactions.known().byte(kind) else { return Ok(Vec::new()) };
    let mut live = Live { found: Vec::new(), limit, passed: 0, group: Vec::new(), full: limit.max(1) };
    let mut walk = Walk::new(store.now(tier), &REACTIONS_BY_USER)?;
    walk.rows((user.get(), byte), span, order, &mut |cursor: Cursor, item| {
        if live.found.len() == limit {
            return Ok(ControlFlow::Break(()));
        }
        live.group.push(values::read_listed(cursor, item)?);
        if live.group.len() == live.full {
            take_live(store, &mut live, tier)?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    take_live(store, &mut live, tier)?;
    Ok(live.found)
}

/// The reactions of each of `users` to an item, in their order; also to a deleted item.
pub fn reacted_to(store: &Store, id: ContentId, users: &[UserId], tier: Tier) -> Result<Vec<Reactions>> {
    let mut reactions = vec![Reactions::default(); users.len()];
    let used: Vec<_> = store.memory.kinds.reactions.known().used().collect();
    for (kind, byte) in used {
        let rows = REACTIONS.have(store.now(tier), users.iter().map(|user| (id, byte, *user)))?;
        let found = reactions.iter_mut().zip(rows).filter(|(_, has)| *has);
        found.for_each(|(reactions, _)| reactions.add(kind));
    }
    Ok(reactions)
}

/// The byte of a kind, which gets one if it has none.
fn byte_of(store: &Store, kind: ReactionKind) -> Result<u8> {
    let known = store.memory.kinds.reactions.known();
    if let Some(byte) = known.byte(kind) {
        return Ok(byte);
    }
    let name = known.name_of(kind).ok_or_else(|| Error::Corrupt("a kind of reactions without a name".to_owned()))?;
    let byte = known.names().len() as u8;
    store.begin_change(store.memory.kinds.reactions.give(&[name])?)?;
    Ok(byte)
}

/// The present state of the reactions in `requests`.
fn present(store: &Store, kinds: &Known, id: ContentId, requests: &[Reaction]) -> Result<Pairs> {
    let mut pairs: Pairs = requests.iter().map(|request| ((request.kind, request.user), (None, None))).collect();
    // No row has the byte of a kind that was never used.
    let key = |kind, user| Some((id, kinds.byte(kind)?, user));
    let used = pairs.iter_mut().filter_map(|((kind, user), pair)| Some((key(*kind, *user)?, pair)));
    let used: Vec<_> = used.collect();
    let times = REACTIONS.get_many(store.now(Tier::Disk), used.iter().map(|(key, _)| key))?;
    used.into_iter().zip(times).for_each(|((_, pair), since)| *pair = (since, since));
    Ok(pairs)
}

/// Puts the rows of a reaction since a time into a change, or removes them.
pub(crate) fn put_reaction(
    store: &Store,
    change: &mut WriteBatch,
    item: Entry,
    (user, kind, since): (UserId, u8, Millis),
    stands: bool,
) -> Result<()> {
    let id = item.cursor.id;
    let given = Given { entry: Some(item), ..Given::default() };
    let values = if stands { [None, Some(&since)] } else { [Some(&since), None] };
    REACTIONS.change(change, (id, kind, user), values, &given)?;
    let notice = NoticeId { kind: NoticeKind::Reaction, reaction: kind, actor: user, item: Some(id) };
    let notice = Notice::plain(NoticeCursor { at: since, id: notice });
    notices::tables::set_notice(store, change, item.author, &notice, stands)
}

/// Takes the live items of a group. The next group is larger: after many deleted items, more may follow.
fn take_live(store: &Store, live: &mut Live, tier: Tier) -> Result<()> {
    let ids: Vec<_> = live.group.iter().map(|entry| entry.cursor.id).collect();
    let deleted = items::tables::deleted(store, &ids, tier)?;
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

/// Applies a request, and returns the state after it.
fn apply(request: &Reaction, pairs: &mut Pairs, counts: &mut ItemCounts) -> Reacted {
    let (_, present) = pairs.entry((request.kind, request.user)).or_default();
    let changed = present.is_some() != request.since.is_some();
    if changed {
        *present = request.since;
        let count = counts.reactions.get(request.kind);
        counts.reactions.set(request.kind, if present.is_some() { count + 1 } else { count.saturating_sub(1) });
    }
    Reacted { since: *present, changed, counts: counts.clone() }
}

/// The reactions of a user to each of `items`, in their order; also to deleted items. A place that is not that of an
/// item may have any answer. Never older than the last acknowledged change.
pub fn reacted(store: &Store, user: UserId, items: &[Cursor], tier: Tier) -> Result<Vec<Reactions>> {
    newest_reactions::reacted(
        store,
        (&store.memory.shown.newest_reactions, &store.memory.kinds.reactions),
        user,
        items,
        tier,
    )
}
