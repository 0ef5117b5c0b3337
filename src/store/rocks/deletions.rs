//! Deletions: made, taken back, made final.
//!
//! A deleted item keeps its row in `content`, marked, until it is purged. Its row in `deleted` hides what
//! inboxes still have of it, and stays when the content is purged: the id is taken for ever.

use rocksdb::WriteBatch;

use super::tables::{CONTENT, DELETED};
use super::values::{self, Stored};
use super::{Rocks, keys};
use crate::error::Result;
use crate::failpoint::Write;
use crate::model::{ContentId, Job, Millis, Moment, Stamp};
use crate::store::types::{Restored, Tier, is_deleted_before};

impl Rocks {
    /// See [`Store::delete`](crate::store::Store::delete).
    pub fn delete(&self, id: ContentId, moment: Moment) -> Result<bool> {
        let _lock = self.content_locks.one(id.get());
        let Some(mut stored) = self.live(id)? else { return Ok(false) };
        let indexing = self.indexing([&stored.content])?;
        stored.deleted_at = Some(moment.at);
        let mut change = WriteBatch::default();
        self.put_deleted(&mut change, &stored, moment.at)?;
        self.put_event(&mut change, moment.stamp, &stored.content)?;
        self.remove_index(&mut change, &stored.content, &indexing)?;
        self.acknowledge(Write::Delete, change)?;
        self.deleted.add(id.get());
        Ok(true)
    }

    /// Adds to a change the marks of a deletion.
    pub(super) fn put_deleted(&self, change: &mut WriteBatch, stored: &Stored, deleted_at: Millis) -> Result<()> {
        let key = keys::id(stored.content.id.get());
        change.put_cf(self.family(CONTENT)?, key, values::content(stored)?);
        change.put_cf(self.family(DELETED)?, key, values::millis(deleted_at));
        Ok(())
    }

    /// See [`Store::restore`](crate::store::Store::restore).
    pub fn restore(
        &self,
        id: ContentId,
        deleted_since: Millis,
        stamp: Option<Stamp>,
        queue: &mut dyn FnMut(Job),
    ) -> Result<Restored> {
        let _lock = self.content_locks.one(id.get());
        let Some(mut stored) = self.stored(&[id], Tier::Disk)?.pop().flatten() else { return Ok(Restored::Gone) };
        match stored.deleted_at {
            None => return Ok(Restored::Live(stored.content)),
            Some(deleted_at) if is_deleted_before(deleted_at, deleted_since) => return Ok(Restored::Gone),
            Some(_) => stored.deleted_at = None,
        }
        let indexing = self.indexing([&stored.content])?;
        let mut change = WriteBatch::default();
        change.delete_cf(self.family(DELETED)?, keys::id(id.get()));
        self.put_event(&mut change, stamp, &stored.content)?;
        let job = self.put_live(&mut change, &stored, &indexing)?;
        self.acknowledge(Write::Restore, change)?;
        // Under the locks still, for which a repeat of this waits.
        job.into_iter().for_each(queue);
        Ok(Restored::Now(stored.content, job))
    }

    /// See [`Store::deleted`](crate::store::Store::deleted).
    pub fn deleted(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<bool>> {
        let mut deleted: Vec<_> = ids.iter().map(|id| self.deleted.may_have(id.get())).collect();
        let asked: Vec<_> =
            ids.iter().zip(&deleted).filter(|(_, may)| **may).map(|(id, _)| keys::id(id.get())).collect();
        if !asked.is_empty() {
            let rows = self.get_many(DELETED, asked.iter().map(<[u8; 8]>::as_slice), tier)?;
            for (may, row) in deleted.iter_mut().filter(|may| **may).zip(rows) {
                *may = row.is_some();
            }
        }
        Ok(deleted)
    }

    fn is_deleted(&self, id: ContentId, tier: Tier) -> Result<bool> {
        Ok(self.deleted.may_have(id.get()) && self.get(DELETED, &keys::id(id.get()), tier)?.is_some())
    }

    /// Whether an item was there and will never be again. Holds for as long as the caller has a lock of
    /// the item of any kind.
    pub(super) fn is_purged(&self, id: ContentId, tier: Tier) -> Result<bool> {
        Ok(self.is_deleted(id, tier)? && self.get(CONTENT, &keys::id(id.get()), tier)?.is_none())
    }

    /// See [`Store::purge`](crate::store::Store::purge).
    pub fn purge(&self, id: ContentId, deleted_before: Millis) -> Result<bool> {
        let _lock = self.content_locks.one(id.get());
        let stored = self.stored(&[id], Tier::Disk)?.pop().flatten();
        let deleted_at = stored.and_then(|stored| stored.deleted_at);
        if deleted_at.is_none_or(|at| !is_deleted_before(at, deleted_before)) || self.has_reactions(id)? {
            return Ok(false);
        }
        let _index = self.purge_lock(id);
        let mut change = WriteBatch::default();
        change.delete_cf(self.family(CONTENT)?, keys::id(id.get()));
        self.remove_attached(&mut change, id)?;
        self.follow_up(Write::Purge, change)?;
        Ok(true)
    }
}
