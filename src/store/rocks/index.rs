//! What stands for a live item outside of `content`: the rows by which lists find it, and what it
//! counts for. A publish puts all of it, a delete takes it away, in the same change as the item.

use std::sync::{RwLockReadGuard, RwLockWriteGuard};

use rocksdb::WriteBatch;

use super::keys::{self, Counter};
use super::tables::{COMMENTS, COUNTS, ITEM_COUNTS};
use super::{Rocks, values};
use crate::error::Result;
use crate::model::{Content, ContentId, ItemCounter};
use crate::store::Tier;

/// What keeps the indices of some items as they are found, until the change that goes by it is written:
/// no item that they point at is purged, no outbox of their authors moved.
pub(super) struct IndexLocks<'a> {
    _items: Vec<RwLockReadGuard<'a, ()>>,
    _outboxes: Vec<RwLockReadGuard<'a, ()>>,
}

impl Rocks {
    /// For changes that make items live, or end that. Comes after the locks of the items themselves.
    pub(super) fn index_locks<'c>(&self, contents: impl IntoIterator<Item = &'c Content> + Clone) -> IndexLocks<'_> {
        let subjects = contents.clone().into_iter().filter_map(|content| content.ref_id);
        IndexLocks {
            _items: self.item_locks.shared(subjects.map(ContentId::get)),
            _outboxes: self.outbox_locks.shared(contents.into_iter().map(|content| content.author.get())),
        }
    }

    /// For the change that purges an item: no change of the other kind that points at it is under way.
    pub(super) fn purge_lock(&self, id: ContentId) -> Vec<RwLockWriteGuard<'_, ()>> {
        self.item_locks.exclusive([id.get()])
    }

    /// Adds to a change all that stands for an item that becomes live. The caller holds the item's
    /// [`IndexLocks`] until the change is written.
    pub(super) fn put_index(&self, change: &mut WriteBatch, content: &Content) -> Result<()> {
        if content.broadcast {
            let outbox = self.family(self.outbox_table(content.entry())?)?;
            change.put_cf(outbox, keys::entry(content.author, content.cursor()), []);
        }
        let subject = self.subject(content)?;
        self.put_comment(change, content, subject)?;
        self.count_content(change, content, subject, 1)
    }

    /// Takes it all away again; under the same locks.
    pub(super) fn remove_index(&self, change: &mut WriteBatch, content: &Content) -> Result<()> {
        if content.broadcast {
            self.delete_outbox_row(change, content.entry())?;
        }
        let subject = self.subject(content)?;
        self.remove_comment(change, content, subject)?;
        self.count_content(change, content, subject, -1)
    }

    /// The item that one is listed and counted on: the one it points at, unless that is purged. A purge takes
    /// away what hangs on an item, and nothing comes after it.
    fn subject(&self, content: &Content) -> Result<Option<ContentId>> {
        match content.ref_id.filter(|_| ItemCounter::of_kind(&content.kind).is_some()) {
            Some(subject) if self.is_purged(subject, Tier::Disk)? => Ok(None),
            subject => Ok(subject),
        }
    }

    /// Adds to a change the end of all that hangs on an item which will not be there again, but for
    /// reactions. The caller holds its [`Rocks::purge_lock`] until the change is written.
    pub(super) fn remove_attached(&self, change: &mut WriteBatch, id: ContentId) -> Result<()> {
        change.delete_cf(self.family(ITEM_COUNTS)?, keys::id(id.get()));
        self.delete_partition(change, COMMENTS, id.get())
    }

    fn count_content(
        &self,
        change: &mut WriteBatch,
        content: &Content,
        subject: Option<ContentId>,
        step: i64,
    ) -> Result<()> {
        if content.broadcast {
            let key = keys::count(content.author, Counter::Content);
            change.merge_cf(self.family(COUNTS)?, key, values::count(step));
        }
        match subject.zip(ItemCounter::of_kind(&content.kind)) {
            Some((subject, counter)) => self.count_item(change, subject, counter, step),
            None => Ok(()),
        }
    }

    /// Adds a step of one of an item's counters to a change.
    pub(super) fn count_item(
        &self,
        change: &mut WriteBatch,
        id: ContentId,
        counter: ItemCounter,
        step: i64,
    ) -> Result<()> {
        let mut steps = [0; 4];
        steps[counter as usize] = step;
        change.merge_cf(self.family(ITEM_COUNTS)?, keys::id(id.get()), values::item_counts(steps));
        Ok(())
    }
}
