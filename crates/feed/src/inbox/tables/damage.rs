//! Damaged inboxes. An inbox only makes reads fast: one that cannot be read counts as empty, with its floor at the top,
//! so its timeline comes from outboxes. It is dropped, and its user evicted, so that the next read rebuilds it.
//!
//! A merge that meets damage leaves such a floor too. No other change raises a floor to the top.

use super::activity::write_activity;
use super::rows::read_inbox;
use crate::ids::tables::shown;
use crate::rows::inbox::packed::pack;
use crate::rows::keys;
use crate::rows::tables::INBOXES;
use crate::store::Store;
use kv::{Tier, WriteBatch};
use model::error::Result;
use model::failpoint::Write;
use model::{Activity, UserId};

/// Drops the inboxes that reads found damaged, and evicts their users, so that their next reads rebuild the inboxes.
/// After an error the next call, or another read, goes on.
pub fn drop_damaged_inboxes(store: &Store) -> Result<()> {
    while let Some((user, cause)) = store.memory.inboxes.damaged.take() {
        let _user = store.memory.inboxes.change(user);
        drop_if_damaged(store, user, Some(&cause)).inspect_err(|error| {
            if error.is_unavailable() {
                store.memory.inboxes.damaged.note(user, &cause);
            }
        })?;
    }
    Ok(())
}

/// Drops the inbox of a user if it is damaged, for a cause that is logged if it is known. The caller holds the user's lock, so
/// no settle or rebuild comes between.
pub(crate) fn drop_if_damaged(store: &Store, user: UserId, cause: Option<&str>) -> Result<()> {
    if !read_inbox(store, user, Tier::Disk)?.is_damaged() {
        return Ok(());
    }
    let _lock = store.memory.loaded.change_activity(user);
    let mut batch = WriteBatch::default();
    INBOXES.delete(&mut batch, user);
    write_activity(store, Write::Evict, batch, user, Activity::Evicted)?;
    store.memory.inboxes.damaged.dropped.add(1);
    tracing::warn!(
        user = %shown(store, user.get()),
        cause,
        "a damaged inbox was dropped; pages stay right, and the user's next read rebuilds it"
    );
    Ok(())
}

/// Damages an inbox, for tests: its row (0), a change of it (1), or the row behind so many entries less one.
#[doc(hidden)]
pub fn damage_inbox(store: &Store, user: UserId, way: usize) -> Result<()> {
    store.write_arrivals()?;
    let (family, key, mut batch) = (&INBOXES, keys::id(user.get()), WriteBatch::default());
    let inbox = read_inbox(store, user, Tier::Disk)?;
    let (floor, entries) = inbox.contents();
    let mut entries: Vec<_> = entries.map_while(Result::ok).take(way.saturating_sub(1)).collect();
    match entries.last().copied() {
        // One place twice.
        Some(last) => {
            entries.push(last);
            batch.put(family, key, pack(floor, &entries, &[]));
        }
        None if way == 1 => batch.merge(family, key, [0xFF; 5]),
        None => batch.put(family, key, [0xFF; 5]),
    }
    let _announced = store.memory.inboxes.rows.change(user);
    store.commit(batch, true)
}
