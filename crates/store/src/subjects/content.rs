//! Content: publish, edit, delete, purge, restore, read.
//!
//! A deleted item keeps its row in `content`, marked, until it is purged. Its row in `deleted` hides its rows in
//! inboxes, and stays after the purge: the id is taken for ever.

use super::index::Indexing;
use crate::Store;
use crate::rows::batch::WriteBatch;
use crate::rows::keys;
use crate::rows::mirrors::unlisted_purged;
use crate::rows::tables::{COMMENTS, CONTENT, DELETED, ITEM_COUNTS, JOBS, UNLISTED};
use crate::rows::values;
use crate::rows::values::Stored;
use crate::rows::values::deletions::Purged;
use model::error::Result;
use model::failpoint::Write;
use model::priority::Pace;
use model::store::{Batch, FINAL, Kept, Published, Push, Restored, Tier, is_deleted_before};
use model::{Content, ContentId, Edit, Effect, EffectKind, Event, Job, KindId, Millis, Moment, Publish, Reach, Work};

impl Store {
    /// Publishes items, all new ones in one atomic change: the content, and for each path its row in the outbox of this
    /// source and a fan-out job, or instead of the jobs the record that it reaches no inbox, see [`Push`].
    /// If the host has named the id and it exists, the result is `Same` if the item is not deleted and has the same fingerprint
    /// (and time, if given); else `Taken`. With [`Batch::AllOrNone`] nothing is written if any item is `Taken`. Of two publishes
    /// of one id, at most one is new. Ids within one call must differ. Acknowledges.
    ///
    /// The event of a new item is written in the same change.
    pub fn publish(&self, items: &[Publish], batch: Batch, push: Push) -> Result<Vec<Published>> {
        // Ids that are made here are free.
        let named: Vec<_> = items.iter().filter(|item| !item.id_made).map(|item| item.content.id).collect();
        let mut stored = self.stored(&named, Tier::Disk)?.into_iter();
        let known = |item: &Publish| match item.id_made {
            true => Ok(None),
            false => self.known(item, stored.next().flatten()),
        };
        let known: Vec<_> = items.iter().map(known).collect::<Result<_>>()?;
        let refused = batch == Batch::AllOrNone && known.contains(&Some(Published::Taken));
        let new = items.iter().zip(&known).filter(|(_, known)| !refused && known.is_none());
        let new: Vec<_> = new.map(|(item, _)| &item.content).collect();
        let indexing = self.indexing(new.iter().copied())?;
        let mut results = Vec::with_capacity(items.len());
        let (mut change, mut effects) = (WriteBatch::default(), Vec::new());
        let mut pace = Pace::default();
        for (item, known) in items.iter().zip(known) {
            pace.step();
            results.push(match known {
                Some(known) => known,
                None if refused => Published::New(Vec::new()),
                None => {
                    let stored = Stored { content: item.content.clone(), deleted_at: None };
                    self.put_event(&mut change, item.event.as_ref(), &stored.content);
                    effects.extend(item.effect());
                    Published::New(self.put_live(&mut change, [None, Some(&stored)], &indexing, push)?)
                }
            });
        }
        if !refused && !change.is_empty() {
            self.leave_out(push, new.iter().copied())?;
            self.put_published_notices(&mut change, &new)?;
            let changing = indexing.changing;
            self.acknowledge(Write::Publish, change, effects, move |_| drop(changing))?;
        }
        Ok(results)
    }

    /// The numbers of kinds for a change, in their order. A kind without a number gets the next one, which stays if the change
    /// is made; see [`Store::end_change`]. `too_many_kinds` if none is left, and then none is
    /// given.
    pub fn give_kinds(&self, kinds: &[&str]) -> Result<Vec<KindId>> {
        let (numbers, new) = self.content_kinds.numbers(kinds);
        let numbers = numbers.into_iter().map(|number| number.map(KindId)).collect::<Result<_>>()?;
        self.content_kinds.give(self, &new)?;
        Ok(numbers)
    }

    /// The numbers of kinds, in their order; `None` for one without a number.
    pub fn known_kinds(&self, kinds: &[&str]) -> Result<Vec<Option<KindId>>> {
        let known = self.content_kinds.known();
        Ok(kinds.iter().map(|kind| known.number(kind).map(KindId)).collect())
    }

    /// The names of all kinds with a number, each at the place that is its number.
    pub fn kind_names(&self) -> Result<Vec<String>> {
        Ok(self.content_kinds.known().names().to_vec())
    }

    /// Changes an item and returns its new state; `None` if it is missing or deleted. Concurrent edits of one item
    /// apply one after the other. Acknowledges.
    pub fn edit(&self, id: ContentId, edit: &Edit, moment: Moment) -> Result<Option<Content>> {
        let Some(mut stored) = self.live(id)? else { return Ok(None) };
        let content = &mut stored.content;
        if let Some(text) = &edit.text {
            content.text.clone_from(text);
        }
        if let Some(media) = &edit.media {
            content.media.clone_from(media);
        }
        if let Some(extra) = &edit.extra {
            content.extra.clone_from(extra);
        }
        content.edited_at = Some(moment.at);
        let mut change = WriteBatch::default();
        self.put_event(&mut change, moment.event.as_ref(), content);
        change.put(CONTENT, keys::id(id.get()), values::content(&stored)?);
        self.acknowledge(Write::Edit, change, Vec::new(), |_| ())?;
        Ok(Some(stored.content))
    }

    /// Deletes an item: marks the content, records the deletion, and removes its outbox row, its rows in lists and its
    /// part in counts, in one change. Entries in inboxes stay and are ignored; items that point at it stay. False if it is
    /// missing or already deleted. Acknowledges.
    pub fn delete(&self, id: ContentId, moment: Moment) -> Result<bool> {
        let Some(stored) = self.live(id)? else { return Ok(false) };
        let deleted = Stored { deleted_at: Some(moment.at), ..stored.clone() };
        self.put_deletion([&stored, &deleted], moment.event.as_ref(), Vec::new())?;
        Ok(true)
    }

    /// Deletes an item for good: makes a deletion final, of a live item like [`Store::delete`], and takes the text, the
    /// media, `extra` and the topics out of the row, in one change with the event, if the item is live. What is left goes with
    /// [`Store::purge_reactions`] and [`Store::purge`]. False, and nothing written, if it is missing or was deleted
    /// before `deleted_since`: such a deletion is final already. Acknowledges.
    pub fn delete_for_good(&self, id: ContentId, deleted_since: Millis, event: Option<Event>) -> Result<bool> {
        let Some(stored) = self.stored(&[id], Tier::Disk)?.pop().flatten() else { return Ok(false) };
        if stored.deleted_at.is_some_and(|at| is_deleted_before(at, deleted_since)) {
            return Ok(false);
        }
        let effect = Effect::on(EffectKind::Purged, stored.content.author).item(id).named(stored.content.kind.as_str());
        let blank = Stored { content: stored.content.clone().blank(), deleted_at: Some(FINAL) };
        let event = event.filter(|_| stored.deleted_at.is_none());
        self.put_deletion([&stored, &blank], event.as_ref(), vec![effect])?;
        Ok(true)
    }

    /// Purges an item deleted before `deleted_before`: removes the content, its counts and the list of its comments, in
    /// one write. No change may be under way. The deletion stays recorded, so the id stays taken and its entries in inboxes
    /// stay hidden; and so do the author and the sources, until a purge while the author is being erased. False, and nothing
    /// changed, if there is nothing to purge, or the item still has reactions.
    pub fn purge(&self, id: ContentId, deleted_before: Millis) -> Result<bool> {
        let Some(stored) = self.stored(&[id], Tier::Disk)?.pop().flatten() else { return self.forget_purged(id) };
        let deleted_at = stored.deleted_at.filter(|at| is_deleted_before(*at, deleted_before));
        let Some(deleted_at) = deleted_at else { return Ok(false) };
        if self.has_reactions(id)? {
            return Ok(false);
        }
        let _counts = self.item_counts.change(id);
        let mut change = WriteBatch::default();
        let content = &stored.content;
        self.change_item(&mut change, [Some(&stored), None], &self.indexing([])?)?;
        // Notices on it, and entries in inboxes, name the author until their time is over.
        let purged = self.purged(content)?;
        let purged = (!self.erasing.has(content.author)).then_some(purged);
        for row in purged.iter().flat_map(|purged| unlisted_purged(id, purged)) {
            change.put(UNLISTED, row, values::EMPTY);
        }
        self.put_purged(&mut change, id, &values::deletions::deletion(deleted_at, purged.as_ref()))?;
        self.delete_paths_taken_off(&mut change, id)?;
        self.remove_published_notices(&mut change, content)?;
        self.follow_up(Write::Purge, change)?;
        Ok(true)
    }

    /// Makes an id without an item that of a purged one: records a deletion that is final, and removes its counts and the
    /// list of its comments, in one change. `Some(false)`, and nothing written, for the id of a purged item; `None` if there
    /// is an item, live or deleted. Acknowledges.
    pub fn take_id(&self, id: ContentId) -> Result<Option<bool>> {
        if let Some(stored) = self.stored(&[id], Tier::Disk)?.pop().flatten() {
            // One that is deleted for good is purged soon.
            return Ok((stored.deleted_at == Some(FINAL)).then_some(false));
        }
        if self.is_deleted(id, Tier::Disk)? {
            return Ok(Some(false));
        }
        let counts = self.item_counts.change(id);
        let mut change = WriteBatch::default();
        self.put_purged(&mut change, id, &values::deletions::deletion(FINAL, None))?;
        self.loaded.deleted.add(id.get());
        self.acknowledge(Write::Purge, change, Vec::new(), move |_| drop(counts))?;
        Ok(Some(true))
    }

    /// Restores an item that was deleted at `deleted_since` or later and of which nothing is purged: it is live again
    /// as it was, with new fan-out jobs or none, in one change. Acknowledges.
    pub fn restore(&self, id: ContentId, deleted_since: Millis, event: Option<Event>, push: Push) -> Result<Restored> {
        let Some(deleted) = self.stored(&[id], Tier::Disk)?.pop().flatten() else { return Ok(Restored::Gone) };
        let mut stored = deleted.clone();
        match stored.deleted_at {
            // An erasure that has passed the item would miss it.
            _ if self.is_erasing(stored.content.author) => return Ok(Restored::Gone),
            None => return Ok(Restored::Live(stored.content)),
            Some(deleted_at) if is_deleted_before(deleted_at, deleted_since) => return Ok(Restored::Gone),
            Some(_) => stored.deleted_at = None,
        }
        // An erasure that has passed the list of the path would miss it, too.
        for source in deleted.content.to.iter().filter(|source| self.is_erasing(**source)) {
            stored.content = stored.content.without_path(*source);
        }
        let indexing = self.indexing([&stored.content])?;
        let mut change = WriteBatch::default();
        self.put_event(&mut change, event.as_ref(), &stored.content);
        let jobs = self.put_live(&mut change, [Some(&deleted), Some(&stored)], &indexing, push)?;
        self.leave_out(push, [&stored.content])?;
        let changing = indexing.changing;
        self.acknowledge(Write::Restore, change, Vec::new(), move |_| drop(changing))?;
        Ok(Restored::Now(stored.content, jobs))
    }

    /// The live items among `ids`, in their order; `None` for missing and deleted ones.
    pub fn contents(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<Option<Content>>> {
        let stored = self.stored(ids, tier)?;
        Ok(stored.into_iter().map(|s| s.filter(|s| s.deleted_at.is_none()).map(|s| s.content)).collect())
    }

    /// The items among `ids` that are not purged, in their order, each with the time of its deletion if it is deleted.
    pub fn kept(&self, ids: &[ContentId]) -> Result<Vec<Option<Kept>>> {
        let stored = self.stored(ids, Tier::Disk)?.into_iter();
        Ok(stored.map(|stored| stored.map(|Stored { content, deleted_at }| (content, deleted_at))).collect())
    }

    /// Which of `ids` are deleted, in their order. Costs next to nothing if none is.
    pub fn deleted(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<bool>> {
        let mut deleted: Vec<_> = ids.iter().map(|id| self.loaded.deleted.may_have(id.get())).collect();
        if deleted.contains(&true) {
            let asked = ids.iter().zip(&deleted).filter(|(_, may)| **may).map(|(id, _)| keys::id(id.get()));
            let rows = self.get_many(DELETED, asked, tier)?;
            for (may, row) in deleted.iter_mut().filter(|may| **may).zip(rows) {
                *may = row.is_some();
            }
        }
        Ok(deleted)
    }
}

impl Store {
    /// The result of a publish whose id is known; `None` if the id is free.
    fn known(&self, item: &Publish, stored: Option<Stored>) -> Result<Option<Published>> {
        Ok(match stored {
            Some(present) if is_same(item, &present) => Some(Published::Same(present.content)),
            Some(_) => Some(Published::Taken),
            None => self.is_purged(item.content.id, Tier::Disk)?.then_some(Published::Taken),
        })
    }

    /// Adds all rows of an item that becomes live to a change, with its fan-out jobs unless they are left out.
    pub(crate) fn put_live(
        &self,
        change: &mut WriteBatch,
        items: [Option<&Stored>; 2],
        indexing: &Indexing<'_>,
        push: Push,
    ) -> Result<Vec<Job>> {
        self.change_item(change, items, indexing)?;
        let [_, live] = items;
        let entries = live.filter(|_| push == Push::Queued).into_iter().flat_map(|live| live.content.entries());
        entries.map(|entry| self.put_job(change, Work::FanOut { entry })).collect()
    }

    /// Writes an item that is deleted from now on, as it was and as it is then. Acknowledges.
    fn put_deletion(&self, items: [&Stored; 2], event: Option<&Event>, effects: Vec<Effect>) -> Result<()> {
        let [Stored { content, .. }, _] = items;
        let indexing = self.indexing([content])?;
        let mut change = WriteBatch::default();
        self.put_event(&mut change, event, content);
        self.change_item(&mut change, items.map(Some), &indexing)?;
        // Before the row is visible: who asks after the change finds the item here, and looks up the row.
        self.loaded.deleted.add(content.id.get());
        let changing = indexing.changing;
        self.acknowledge(Write::Delete, change, effects, move |_| drop(changing))
    }

    /// Writes that new items reach no inbox, if they are left out. Before the items, for which it is no fault: a read looks
    /// into the outbox for nothing.
    fn leave_out<'c>(&self, push: Push, new: impl IntoIterator<Item = &'c Content>) -> Result<()> {
        if push == Push::Queued {
            return Ok(());
        }
        let entries: Vec<_> = new.into_iter().flat_map(Content::entries).collect();
        let mut change = WriteBatch::default();
        let raise = self.put_unpushed(&mut change, &entries, Reach::Nobody)?;
        self.follow_up(Write::BeginFanOut, change)?;
        raise.written();
        Ok(())
    }

    /// Adds a new job to a change.
    pub(crate) fn put_job(&self, change: &mut WriteBatch, work: Work) -> Result<Job> {
        let job = Job { id: self.new_job(&work), work, progress: None };
        change.put(JOBS, keys::job(job.id), values::job(&work, None)?);
        Ok(job)
    }

    /// An item as it is stored, unless it is deleted.
    pub(crate) fn live(&self, id: ContentId) -> Result<Option<Stored>> {
        Ok(self.stored(&[id], Tier::Disk)?.pop().flatten().filter(|stored| stored.deleted_at.is_none()))
    }

    /// Items as they are stored.
    pub(crate) fn stored(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<Option<Stored>>> {
        let rows = self.get_many(CONTENT, ids.iter().map(|id| keys::id(id.get())), tier)?;
        ids.iter().zip(rows).map(|(id, row)| row.map(|bytes| values::read_content(*id, &bytes)).transpose()).collect()
    }

    /// What is kept of an item that is purged.
    fn purged(&self, content: &Content) -> Result<Purged> {
        let mut sources = content.to.clone();
        sources.extend(self.sources_taken_off(content.id)?);
        sources.retain(|source| *source != content.author);
        sources.sort_unstable();
        sources.dedup();
        Ok(Purged { author: content.author, published_at: content.published_at, sources })
    }

    /// What is left of items that are purged and have an author.
    pub(crate) fn purged_among(&self, ids: &[ContentId]) -> Result<Vec<(ContentId, Millis, Purged)>> {
        let rows = self.get_many(DELETED, ids.iter().map(|id| keys::id(id.get())), Tier::Disk)?;
        let mut found = Vec::new();
        for (id, row) in ids.iter().zip(rows) {
            if let Some((deleted_at, Some(purged))) =
                row.map(|row| values::deletions::read_deletion(&row)).transpose()?
            {
                found.push((*id, deleted_at, purged));
            }
        }
        Ok(found)
    }

    /// Forgets whose a purged item was, if the author is being erased; false if nothing is known of that.
    fn forget_purged(&self, id: ContentId) -> Result<bool> {
        let Some((_, deleted_at, purged)) = self.purged_among(&[id])?.pop() else { return Ok(false) };
        if !self.erasing.has(purged.author) {
            return Ok(false);
        }
        let mut change = WriteBatch::default();
        for row in unlisted_purged(id, &purged) {
            change.delete(UNLISTED, row);
        }
        change.put(DELETED, keys::id(id.get()), values::deletions::deletion(deleted_at, None));
        self.follow_up(Write::Purge, change)?;
        Ok(true)
    }

    /// Adds to a change that an id is that of a purged item, with its row of `deleted`: nobody can use it again, and nothing
    /// counts or lists what points at it.
    fn put_purged(&self, change: &mut WriteBatch, id: ContentId, row: &[u8]) -> Result<()> {
        change.put(DELETED, keys::id(id.get()), row);
        change.delete(ITEM_COUNTS, keys::id(id.get()));
        self.delete_partition(change, COMMENTS, id.get())
    }

    fn is_deleted(&self, id: ContentId, tier: Tier) -> Result<bool> {
        Ok(self.loaded.deleted.may_have(id.get()) && self.get(DELETED, &keys::id(id.get()), tier)?.is_some())
    }

    /// Whether an item is purged.
    pub(crate) fn is_purged(&self, id: ContentId, tier: Tier) -> Result<bool> {
        Ok(self.is_deleted(id, tier)? && self.get(CONTENT, &keys::id(id.get()), tier)?.is_none())
    }
}

/// Whether a publish repeats the one that made the stored item.
fn is_same(item: &Publish, present: &Stored) -> bool {
    present.deleted_at.is_none() && item.repeats(&present.content)
}
