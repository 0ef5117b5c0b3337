//! Authors' unpushed items: those that did not reach all followers. The table is in memory as a whole.

use std::collections::hash_map::Entry as Slot;

use foldhash::HashMap;
use parking_lot::{Mutex, MutexGuard};

use crate::memory::user_rows::Known;
use crate::rows::tables::UNPUSHED;
use crate::store::Store;
use kv::{MOST_KEYS, Tier, WriteBatch};
use model::error::{Error, Result};
use model::{Cursor, Entry, Reach, Unpushed, UserId};

/// Adds rows to a change that mark these items as unpushed, unless their reach is all followers. No other change of their authors' rows may come
/// before it is written, for which the result is held.
pub(crate) fn put_unpushed<'s>(
    store: &'s Store,
    change: &mut WriteBatch,
    items: &[Entry],
    reach: Reach,
) -> Result<Vec<MutexGuard<'s, ()>>> {
    let items = if reach == Reach::All { &[] } else { items };
    let turns = store.memory.loaded.unpushed_turns.many(items.iter().map(|item| item.source.get()), Mutex::lock);
    let mut raised = HashMap::<UserId, Unpushed>::default();
    for Entry { cursor, source, .. } in items {
        let unpushed = match raised.entry(*source) {
            Slot::Occupied(slot) => slot.into_mut(),
            Slot::Vacant(slot) => slot.insert(unpushed(store, *source, Tier::Disk)?),
        };
        let place = if reach == Reach::Nobody { &mut unpushed.to_nobody } else { &mut unpushed.to_active };
        *place = (*place).max(Some(*cursor));
    }
    for (author, unpushed) in &raised {
        UNPUSHED.put(change, author, unpushed)?;
    }
    Ok(turns)
}

/// An author's row that is not in memory.
pub(crate) fn stored_unpushed(store: &Store, author: UserId, tier: Tier) -> Result<Unpushed> {
    Ok(UNPUSHED.get(store.now(tier), author)?.unwrap_or_default())
}

/// The author's newest items that did not reach every follower.
pub fn unpushed(store: &Store, author: UserId, tier: Tier) -> Result<Unpushed> {
    let mut row = Known::Unknown;
    store.memory.loaded.unpushed.look(&[author], |_, known| row = known);
    match row {
        Known::Unknown => stored_unpushed(store, author, tier),
        known => Ok(known.row().unwrap_or_default()),
    }
}

/// A number that differs once an author may have unpushed items who was not one of [`may_have_unpushed`]
/// before.
pub fn unpushed_version(store: &Store) -> u64 {
    store.memory.loaded.unpushed.version()
}

/// Those of `authors` who may have unpushed items, in their order. It is all of them while
/// [`unpushed_version`] is the number returned.
pub fn may_have_unpushed(store: &Store, authors: &[UserId]) -> (u64, Vec<UserId>) {
    let (version, mut found) = (store.memory.loaded.unpushed.version(), Vec::new());
    store.memory.loaded.unpushed.look(authors, |author, known| found.extend((known != Known::NoRow).then_some(author)));
    (version, found)
}

/// Those of `authors` of whom an inbox with this floor may lack entries above it; see [`Unpushed::leaves_gaps`]. In
/// any order. Costs next to nothing for authors without unpushed items.
pub fn authors_with_unpushed(
    store: &Store,
    authors: &[UserId],
    floor: Option<Cursor>,
    active: bool,
    tier: Tier,
) -> Result<Vec<UserId>> {
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    store.memory.loaded.unpushed.look(authors, |author, known| match known {
        Known::Row(unpushed) if unpushed.leaves_gaps(floor, active) => found.push(author),
        Known::Row(_) | Known::NoRow => {}
        Known::Unknown => unknown.push(author),
    });
    if tier == Tier::Memory && unknown.len() > MOST_KEYS {
        return Err(Error::NotCached);
    }
    for author in unknown {
        if stored_unpushed(store, author, tier)?.leaves_gaps(floor, active) {
            found.push(author);
        }
    }
    Ok(found)
}
