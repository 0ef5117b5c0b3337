//! Content and outboxes.

use super::{Memory, State, walk};
use crate::error::Result;
use crate::model::{Content, ContentId, Cursor, Edit, Entry, Job, Millis, Order, Publish, Span, UserId, Work};
use crate::store::types::{Batch, Published, Tier};

impl Memory {
    /// See [`Store::publish`](crate::store::Store::publish).
    pub fn publish(&self, items: &[Publish], batch: Batch, queue: &mut dyn FnMut(Job)) -> Result<Vec<Published>> {
        let mut state = self.state();
        let known: Vec<_> = items.iter().map(|item| state.published_before(item)).collect();
        let refused = batch == Batch::AllOrNone && known.contains(&Some(Published::Taken));
        let publish = |(item, known): (&Publish, Option<Published>)| match known {
            Some(known) => known,
            None if refused => Published::New(None),
            None => state.publish(&item.content),
        };
        let published: Vec<_> = items.iter().zip(known).map(publish).collect();
        for result in &published {
            if let Published::New(Some(job)) = result {
                queue(*job);
            }
        }
        Ok(published)
    }

    /// See [`Store::edit`](crate::store::Store::edit).
    pub fn edit(&self, id: ContentId, edit: &Edit, now: Millis) -> Result<Option<Content>> {
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
        content.edited_at = Some(now);
        Ok(Some(content.clone()))
    }

    /// See [`Store::delete`](crate::store::Store::delete).
    pub fn delete(&self, id: ContentId, now: Millis) -> Result<bool> {
        let mut state = self.state();
        let Some(content) = state.live(id) else { return Ok(false) };
        let row = (content.author, content.cursor());
        state.outbox.remove(&row);
        state.deleted.insert(id, now);
        Ok(true)
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

    /// What a publish finds under its id; `None` if the id is free.
    fn published_before(&self, item: &Publish) -> Option<Published> {
        let there = self.content.get(&item.content.id)?;
        let same = !item.id_made
            && !self.deleted.contains_key(&there.id)
            && there.fingerprint == item.content.fingerprint
            && (!item.time_given || there.published_at == item.content.published_at);
        Some(if same { Published::Same(there.clone()) } else { Published::Taken })
    }

    fn publish(&mut self, content: &Content) -> Published {
        self.name_topics(content);
        self.content.insert(content.id, content.clone());
        if !content.broadcast {
            return Published::New(None);
        }
        self.outbox.insert((content.author, content.cursor()));
        Published::New(Some(self.add_job(Work::FanOut { entry: content.entry() })))
    }

    /// An author's outbox, oldest first.
    pub(super) fn outbox_of(&self, author: UserId) -> impl DoubleEndedIterator<Item = Entry> {
        let rows = self.outbox.range((author, super::Cursor::OLDEST)..=(author, super::Cursor::NEWEST));
        rows.map(|(author, cursor)| Entry { cursor: *cursor, author: *author })
    }
}
