//! Content and outboxes.

use crate::error::Result;
use crate::model::{
    Content, ContentId, Cursor, Edit, Entry, ItemCounts, Job, Millis, Moment, Order, Publish, Span, Stamp, UserId,
};
use crate::store::{Batch, Fresh, Published, Restored, Store, Tier};

/// Content.
impl Store {
    /// Publishes items. For each new one: its content, its outbox row and its fan-out job in one
    /// change (the last two only if it is broadcast). An item whose id exists is `Same` when it
    /// was published with the same fingerprint (and time, if given) and is not deleted, and the id was
    /// not made just now; else `Taken`. With [`Batch::AllOrNone`] nothing is written if any is `Taken`.
    /// All new items of a call are one atomic change. Two publishes of one id never both win.
    /// Ids within one call must differ. Acknowledges.
    ///
    /// The event of a new item's stamp is written in the same change. `fresh` is told of each new item once all
    /// are on disk, before another call can answer `Same` for one of them or change it: who does so may rely
    /// on it that the item and its job are known.
    pub fn publish(&self, items: &[Publish], batch: Batch, fresh: &mut dyn FnMut(Fresh)) -> Result<Vec<Published>> {
        dispatch!(self, s => s.publish(items, batch, fresh))
    }

    /// Changes an item and returns its new state; `None` if it is not there or deleted.
    /// Concurrent edits of one item apply one after the other. Acknowledges.
    pub fn edit(&self, id: ContentId, edit: &Edit, moment: impl Into<Moment>) -> Result<Option<Content>> {
        dispatch!(self, s => s.edit(id, edit, moment.into()))
    }

    /// Deletes an item: marks the content, records the deletion, and takes away its outbox row, its rows
    /// in lists and what it counts for, in one change. Inbox rows stay and are ignored, and so does what
    /// points at it. False if it is not there or deleted already. Acknowledges.
    pub fn delete(&self, id: ContentId, moment: impl Into<Moment>) -> Result<bool> {
        dispatch!(self, s => s.delete(id, moment.into()))
    }

    /// Makes a deletion final that was made before `deleted_before`: ends the content and what hangs on it
    /// (counts, the list of its comments; its reactions must be purged already), in one change. The
    /// deletion itself stays known, so the id stays taken and what inboxes have of it hidden. False, and
    /// nothing changed, if there is no such deletion, or there are reactions.
    pub fn purge(&self, id: ContentId, deleted_before: Millis) -> Result<bool> {
        dispatch!(self, s => s.purge(id, deleted_before))
    }

    /// Takes the deletion of an item back that was deleted at `deleted_since` or later and of which nothing
    /// is purged yet: it is published
    /// again as it was, with a new fan-out job, in one change. `queue` gets the job as in
    /// [`Store::publish`]. Acknowledges.
    pub fn restore(
        &self,
        id: ContentId,
        deleted_since: Millis,
        stamp: Option<Stamp>,
        queue: &mut dyn FnMut(Job),
    ) -> Result<Restored> {
        dispatch!(self, s => s.restore(id, deleted_since, stamp, queue))
    }

    /// The live items among `ids`, in their order; `None` for missing and deleted ones.
    pub fn contents(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<Option<Content>>> {
        dispatch!(self, s => s.contents(ids, tier))
    }

    /// Which of `ids` are deleted, in their order. Nearly free where none is.
    pub fn deleted(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<bool>> {
        dispatch!(self, s => s.deleted(ids, tier))
    }

    /// The counts of items, in the order of `ids`, of missing and deleted ones too: comments and reposts
    /// count whether or not the item that they point at is there; only on a purged one nothing counts.
    pub fn item_counts(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<ItemCounts>> {
        dispatch!(self, s => s.item_counts(ids, tier))
    }

    /// Moves entries of an outbox to where many of them take little room, oldest first, up to and
    /// including `newest`, at most `most` in one call and one change. Returns how many were moved;
    /// none where there is nothing to gain. No answer depends on it.
    pub fn archive_outbox(&self, author: UserId, newest: Cursor, most: usize) -> Result<usize> {
        dispatch!(self, s => s.archive_outbox(author, newest, most))
    }

    /// The first `limit` entries in the outboxes of `authors` taken together, in `order`.
    /// Costs one seek an author and then only entries that are among the first so far.
    pub fn outboxes(
        &self,
        authors: &[UserId],
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        tier: Tier,
    ) -> Result<Vec<Entry>> {
        dispatch!(self, s => s.outboxes(authors, span, order, limit, tier))
    }
}
