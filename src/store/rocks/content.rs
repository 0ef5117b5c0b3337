//! Content and deletions.

use rocksdb::WriteBatch;

use super::tables::{CONTENT, DELETED, JOBS};
use super::topics::Changing;
use super::values::{self, Stored};
use super::{Rocks, keys};
use crate::error::Result;
use crate::failpoint::Write;
use crate::model::{Content, ContentId, Edit, Job, Millis, Publish, Work};
use crate::store::{Batch, Published, Tier};

impl Rocks {
    /// See [`Store::publish`](crate::store::Store::publish).
    pub fn publish(&self, items: &[Publish], batch: Batch, queue: &mut dyn FnMut(Job)) -> Result<Vec<Published>> {
        let _locks = self.content_locks.many(items.iter().map(|item| item.content.id.get()));
        let _outboxes = self.outbox_locks.shared(items.iter().map(|item| item.content.author.get()));
        let ids: Vec<_> = items.iter().map(|item| item.content.id).collect();
        let stored = self.stored(&ids, Tier::Disk)?;
        let is_taken =
            |(item, present): (&Publish, &Option<Stored>)| present.as_ref().is_some_and(|p| !is_same(item, p));
        let refused = batch == Batch::AllOrNone && items.iter().zip(&stored).any(is_taken);
        let new = items.iter().zip(&stored).filter(|(_, present)| !refused && present.is_none());
        let topics = self.change_topics(new.map(|(item, _)| &item.content))?;
        let mut results = Vec::with_capacity(items.len());
        let mut change = WriteBatch::default();
        for (item, present) in items.iter().zip(stored) {
            results.push(match present {
                None => Published::New(self.put_new(&mut change, &item.content, &topics)?),
                Some(present) if is_same(item, &present) => Published::Same(present.content),
                Some(_) => Published::Taken,
            });
        }
        if !refused && !change.is_empty() {
            self.acknowledge(Write::Publish, change)?;
            // Under the locks still, for which a repeat of one of the items waits.
            queue_new(&results, queue);
        }
        Ok(results)
    }

    fn put_new(&self, change: &mut WriteBatch, content: &Content, topics: &Changing<'_>) -> Result<Option<Job>> {
        let row = values::content(&Stored { content: content.clone(), deleted_at: None })?;
        change.put_cf(self.family(CONTENT)?, keys::id(content.id.get()), row);
        self.put_index(change, content, topics)?;
        if !content.broadcast {
            return Ok(None);
        }
        let work = Work::FanOut { entry: content.entry() };
        self.put_job(change, work).map(Some)
    }

    /// Adds a new job to a change.
    pub(super) fn put_job(&self, change: &mut WriteBatch, work: Work) -> Result<Job> {
        let job = Job { id: self.new_job(&work), work, progress: None };
        change.put_cf(self.family(JOBS)?, keys::job(job.id), values::job(&work, None)?);
        Ok(job)
    }

    /// See [`Store::edit`](crate::store::Store::edit).
    pub fn edit(&self, id: ContentId, edit: &Edit, now: Millis) -> Result<Option<Content>> {
        let _lock = self.content_locks.one(id.get());
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
        content.edited_at = Some(now);
        let mut change = WriteBatch::default();
        change.put_cf(self.family(CONTENT)?, keys::id(id.get()), values::content(&stored)?);
        self.acknowledge(Write::Edit, change)?;
        Ok(Some(stored.content))
    }

    /// See [`Store::delete`](crate::store::Store::delete).
    pub fn delete(&self, id: ContentId, now: Millis) -> Result<bool> {
        let _lock = self.content_locks.one(id.get());
        let Some(mut stored) = self.live(id)? else { return Ok(false) };
        let _outbox = self.outbox_locks.shared([stored.content.author.get()]);
        let topics = self.change_topics([&stored.content])?;
        stored.deleted_at = Some(now);
        let mut change = WriteBatch::default();
        change.put_cf(self.family(CONTENT)?, keys::id(id.get()), values::content(&stored)?);
        change.put_cf(self.family(DELETED)?, keys::id(id.get()), values::millis(now));
        self.remove_index(&mut change, &stored.content, &topics)?;
        self.acknowledge(Write::Delete, change)?;
        self.deleted.add(id.get());
        Ok(true)
    }

    pub(super) fn live(&self, id: ContentId) -> Result<Option<Stored>> {
        Ok(self.stored(&[id], Tier::Disk)?.pop().flatten().filter(|stored| stored.deleted_at.is_none()))
    }

    pub(super) fn stored(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<Option<Stored>>> {
        let keys: Vec<_> = ids.iter().map(|id| keys::id(id.get())).collect();
        let rows = self.get_many(CONTENT, keys.iter().map(<[u8; 8]>::as_slice), tier)?;
        ids.iter().zip(rows).map(|(id, row)| row.map(|bytes| values::read_content(*id, &bytes)).transpose()).collect()
    }

    /// See [`Store::contents`](crate::store::Store::contents).
    pub fn contents(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<Option<Content>>> {
        let stored = self.stored(ids, tier)?;
        Ok(stored.into_iter().map(|s| s.filter(|s| s.deleted_at.is_none()).map(|s| s.content)).collect())
    }

    /// See [`Store::deleted`](crate::store::Store::deleted).
    pub fn deleted(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<bool>> {
        let look_up = |id: &ContentId| {
            Ok(self.deleted.may_have(id.get()) && self.get(DELETED, &keys::id(id.get()), tier)?.is_some())
        };
        ids.iter().map(look_up).collect()
    }
}

fn queue_new(results: &[Published], queue: &mut dyn FnMut(Job)) {
    for result in results {
        if let Published::New(Some(job)) = result {
            queue(*job);
        }
    }
}

/// Whether a publish repeats the one that made the stored item.
fn is_same(item: &Publish, present: &Stored) -> bool {
    !item.id_made
        && present.deleted_at.is_none()
        && present.content.fingerprint == item.content.fingerprint
        && (!item.time_given || present.content.published_at == item.content.published_at)
}
