//! Content and outboxes.

use super::{Memory, State, walk};
use crate::error::Result;
use crate::model::{
    Content, ContentId, Cursor, Edit, Entry, Job, Millis, Moment, Order, Publish, ReactionKind, Span, Stamp, UserId,
    Work,
};
use crate::store::types::{Batch, Fresh, Published, Restored, Tier, is_deleted_before};

impl Memory {
    /// See [`Store::publish`](crate::store::Store::publish).
    pub fn publish(&self, items: &[Publish], batch: Batch, fresh: &mut dyn FnMut(Fresh)) -> Result<Vec<Published>> {
        let mut state = self.state();
        let known: Vec<_> = items.iter().map(|item| state.published_before(item)).collect();
        let refused = batch == Batch::AllOrNone && known.contains(&Some(Published::Taken));
        let publish = |(item, known): (&Publish, Option<Published>)| match known {
            Some(known) => known,
            None if refused => Published::New(None),
            None => {
                state.put_event(item.stamp, &item.content);
                state.publish(&item.content)
            }
        };
        let published: Vec<_> = items.iter().zip(known).map(publish).collect();
        for (item, result) in items.iter().zip(&published).filter(|_| !refused) {
            if let Published::New(job) = result {
                fresh(Fresh { cursor: item.content.cursor(), job: *job });
            }
        }
        Ok(published)
    }

    /// See [`Store::edit`](crate::store::Store::edit).
    pub fn edit(&self, id: ContentId, edit: &Edit, moment: Moment) -> Result<Option<Content>> {
        let mut state = self.state();
        if state.deleted.contains_key(&id) {
            return Ok(None);
        }
        let Some(content) = state.content.get_mut(&id) else { return Ok(None) };
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
        let content = content.clone();
        state.put_event(moment.stamp, &content);
        Ok(Some(content))
    }

    /// See [`Store::delete`](crate::store::Store::delete).
    pub fn delete(&self, id: ContentId, moment: Moment) -> Result<bool> {
        Ok(self.state().delete(id, moment))
    }

    /// See [`Store::purge`](crate::store::Store::purge).
    pub fn purge(&self, id: ContentId, deleted_before: Millis) -> Result<bool> {
        let mut state = self.state();
        let reacted = ReactionKind::ALL.into_iter().any(|kind| state.reactors(id, kind).next().is_some());
        Ok(state.deleted_before(id, deleted_before) && !reacted && state.content.remove(&id).is_some())
    }

    /// See [`Store::restore`](crate::store::Store::restore).
    pub fn restore(
        &self,
        id: ContentId,
        deleted_since: Millis,
        stamp: Option<Stamp>,
        queue: &mut dyn FnMut(Job),
    ) -> Result<Restored> {
        let mut state = self.state();
        let Some(content) = state.content.get(&id).cloned() else { return Ok(Restored::Gone) };
        match state.deleted.get(&id) {
            None => return Ok(Restored::Live(content)),
            Some(deleted_at) if is_deleted_before(*deleted_at, deleted_since) => return Ok(Restored::Gone),
            Some(_) => state.deleted.remove(&id),
        };
        state.put_event(stamp, &content);
        let job = state.make_live(&content);
        job.into_iter().for_each(queue);
        Ok(Restored::Now(content, job))
    }

    /// See [`Store::contents`](crate::store::Store::contents).
    pub fn contents(&self, ids: &[ContentId], _: Tier) -> Result<Vec<Option<Content>>> {
        let state = self.state();
        Ok(ids.iter().map(|id| state.live(*id).cloned()).collect())
    }

    /// See [`Store::deleted`](crate::store::Store::deleted).
    pub fn deleted(&self, ids: &[ContentId], _: Tier) -> Result<Vec<bool>> {
        let state = self.state();
        Ok(ids.iter().map(|id| state.deleted.contains_key(id)).collect())
    }

    /// See [`Store::archive_outbox`](crate::store::Store::archive_outbox). All rows are alike here.
    pub fn archive_outbox(&self, _: UserId, _: Cursor, _: usize) -> Result<usize> {
        Ok(0)
    }

    /// See [`Store::outboxes`](crate::store::Store::outboxes).
    pub fn outboxes(
        &self,
        authors: &[UserId],
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        _: Tier,
    ) -> Result<Vec<Entry>> {
        let state = self.state();
        let rows = authors.iter().flat_map(|author| state.outbox_of(*author));
        Ok(walk(rows, |entry| entry.cursor, span, order, limit))
    }
}

impl State {
    /// The content with this id, unless it is deleted.
    pub(super) fn live(&self, id: ContentId) -> Option<&Content> {
        self.content.get(&id).filter(|_| !self.deleted.contains_key(&id))
    }

    fn delete(&mut self, id: ContentId, moment: Moment) -> bool {
        let Some(content) = self.live(id).cloned() else { return false };
        let row = (content.author, content.cursor());
        self.outbox.remove(&row);
        self.deleted.insert(id, moment.at);
        self.put_event(moment.stamp, &content);
        true
    }

    /// What a publish finds under its id; `None` if the id is free.
    fn published_before(&self, item: &Publish) -> Option<Published> {
        if self.is_purged(item.content.id) {
            return Some(Published::Taken);
        }
        let there = self.content.get(&item.content.id)?;
        let same = !self.deleted.contains_key(&there.id) && item.repeats(there);
        Some(if same { Published::Same(there.clone()) } else { Published::Taken })
    }

    fn publish(&mut self, content: &Content) -> Published {
        self.name_topics(content);
        self.content.insert(content.id, content.clone());
        Published::New(self.make_live(content))
    }

    /// Puts an item into its author's outbox, if it belongs there, and makes the fan-out job.
    fn make_live(&mut self, content: &Content) -> Option<Job> {
        if !content.broadcast {
            return None;
        }
        self.outbox.insert((content.author, content.cursor()));
        Some(self.add_job(Work::FanOut { entry: content.entry() }))
    }

    /// Whether an item is there, deleted before a time.
    pub(super) fn deleted_before(&self, id: ContentId, time: Millis) -> bool {
        self.content.contains_key(&id) && self.deleted.get(&id).is_some_and(|at| is_deleted_before(*at, time))
    }

    /// Whether an item was there and will never be again.
    pub(super) fn is_purged(&self, id: ContentId) -> bool {
        self.deleted.contains_key(&id) && !self.content.contains_key(&id)
    }

    /// An author's outbox, oldest first.
    pub(super) fn outbox_of(&self, author: UserId) -> impl DoubleEndedIterator<Item = Entry> {
        let rows = self.outbox.range((author, super::Cursor::OLDEST)..=(author, super::Cursor::NEWEST));
        rows.map(|(author, cursor)| Entry { cursor: *cursor, author: *author })
    }
}
