//! Damaged inboxes. An inbox only makes reads fast: one that cannot be read counts as empty, with its floor at the top,
//! so its timeline comes from outboxes. It is dropped, and its user evicted, so that the next read rebuilds it.
//!
//! A merge that meets damage leaves such a floor too. No other change raises a floor to the top.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::{Inbox, TOP};
use crate::Store;
use crate::engine::advice;
use crate::engine::disk::Disk;
use crate::kv::Kv;
use crate::rows::batch::WriteBatch;
use crate::rows::inbox::packed::pack;
use crate::rows::tables::{ACTIVITY, FOLLOWING, INBOXES};
use crate::rows::{keys, values};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::store::Tier;
use model::{Activity, UserId};

/// Users in one change of a start that dropped the table.
const USERS: usize = 1000;

/// Most users noted at once. A later read notes the others.
const MOST_NOTED: usize = 65_536;

/// Users whose inboxes reads found damaged, until they are dropped.
#[derive(Debug, Default)]
pub(crate) struct DamagedInboxes {
    /// With the cause, if the engine told one.
    noted: Mutex<HashMap<UserId, String>>,
    dropped: AtomicU64,
}

impl DamagedInboxes {
    fn note(&self, user: UserId, cause: &str) {
        let mut noted = self.noted.lock();
        let is_full = noted.len() >= MOST_NOTED;
        if let Slot::Vacant(slot) = noted.entry(user)
            && !is_full
        {
            slot.insert(cause.to_owned());
        }
    }

    /// How many inboxes were dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Inbox {
    /// Whether it claims nothing for good, because something of it cannot be read.
    fn is_damaged(&self) -> bool {
        let (floor, mut entries) = self.read();
        floor == Some(TOP) || entries.any(|entry| entry.is_err())
    }
}

impl Store {
    /// Notes that a read found the inbox of a user damaged.
    pub(super) fn note_damaged(&self, user: UserId) {
        self.damaged.note(user, "its row, or a change of it, cannot be decoded");
    }

    /// Notes an inbox that the engine cannot read.
    pub(super) fn note_unreadable(&self, user: UserId, error: &Error) {
        self.damaged.note(user, &error.to_string());
        let rebuild = self.disk.as_ref().and_then(|disk| disk.rebuild.as_ref());
        if let Some((rebuild, cause)) = rebuild.zip(advice::damage(error)) {
            rebuild.tell_once(cause);
        }
    }

    /// Drops the inboxes that reads found damaged, and evicts their users, so that their next reads rebuild the inboxes.
    /// After an error the next call, or another read, goes on.
    pub fn drop_damaged_inboxes(&self) -> Result<()> {
        let noted: Vec<_> = self.damaged.noted.lock().keys().copied().collect();
        for user in noted {
            let dropped = {
                let _user = self.user_locks.of(user.get()).lock();
                self.drop_if_damaged(user)
            };
            if !dropped.as_ref().is_err_and(Error::is_unavailable) {
                self.damaged.noted.lock().remove(&user);
            }
            dropped?;
        }
        Ok(())
    }

    /// Drops the inbox of a user if it is damaged. The caller holds the user's lock, so no settle or rebuild comes
    /// between.
    pub(crate) fn drop_if_damaged(&self, user: UserId) -> Result<()> {
        if !self.read_inbox(user, Tier::Disk)?.is_damaged() {
            return Ok(());
        }
        let _lock = self.loaded.activity_locks.of(user.get()).lock();
        let mut batch = WriteBatch::default();
        batch.delete(INBOXES, keys::id(user.get()));
        let _announced = self.inbox_rows.change(user);
        self.write_activity(Write::Evict, batch, user, Activity::Evicted)?;
        self.damaged.dropped.fetch_add(1, Ordering::Relaxed);
        let cause = self.damaged.noted.lock().remove(&user);
        tracing::warn!(
            user = %self.shown(user.get()),
            cause,
            "a damaged inbox was dropped; pages stay right, and the user's next read rebuilds it"
        );
        Ok(())
    }

    /// After a start that dropped the table of inboxes: evicts all users who follow somebody. The inboxes of all others
    /// are rightly empty.
    pub(crate) fn finish_rebuild(&self, disk: &Disk) -> Result<()> {
        let Some(rebuild) = disk.rebuild.as_ref().filter(|rebuild| rebuild.is_due) else { return Ok(()) };
        tracing::warn!(
            "the table inboxes had a damaged file and was dropped; pages stay right, and the next read of each \
            user rebuilds the inbox"
        );
        let (mut after, mut evicted) = (None, 0);
        loop {
            let users = self.partitions_after(FOLLOWING, after, USERS)?;
            let Some(last) = users.last() else { break };
            after = Some(*last);
            let (mut batch, mut announced) = (WriteBatch::default(), Vec::new());
            for user in users {
                if self.activity(user, Tier::Disk)?.has_inbox() {
                    announced.push(self.activities.change(user));
                    batch.put(ACTIVITY, keys::id(user.get()), values::activity(Activity::Evicted));
                }
            }
            evicted += announced.len();
            self.follow_up(Write::Evict, batch)?;
        }
        disk.sync()?;
        rebuild.end().map_err(|e| rebuild.failed(&e))?;
        tracing::info!(users = evicted, "all inboxes are dropped");
        Ok(())
    }

    /// Damages an inbox, for tests: its row (0), a change of it (1), or the row behind so many entries less one.
    #[doc(hidden)]
    pub fn damage_inbox(&self, user: UserId, way: usize) -> Result<()> {
        self.write_arrivals()?;
        let (family, key, mut batch) = (INBOXES, keys::id(user.get()), WriteBatch::default());
        let inbox = self.read_inbox(user, Tier::Disk)?;
        let (floor, entries) = inbox.read();
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
        let _announced = self.inbox_rows.change(user);
        self.commit(batch, true)
    }
}
