//! Paths that items were taken off: a row for each, which hides the item's entries of this path in inboxes.

use crate::Store;
use crate::rows::batch::WriteBatch;
use crate::rows::tables::{EVENTS, TAKEN_OFF};
use crate::rows::values::Stored;
use crate::rows::{keys, values};
use model::error::Result;
use model::failpoint::Write;
use model::store::Tier;
use model::{ContentId, Event, Millis, UserId};

impl Store {
    /// Takes an item off one of its paths, at a time: the item loses the path, its outbox row there and its part in the
    /// source's count, in one change with the event. Entries in inboxes stay and are ignored. False, and nothing written, if
    /// the item is missing or deleted, or has no such path. Acknowledges.
    pub fn take_off(&self, id: ContentId, source: UserId, at: Millis, event: &Event) -> Result<bool> {
        let Some(stored) = self.live(id)?.filter(|stored| stored.content.paths().any(|path| path == source)) else {
            return Ok(false);
        };
        let indexing = self.indexing([&stored.content])?;
        let mut change = WriteBatch::default();
        let left = Stored { content: stored.content.clone().without_path(source), ..stored };
        self.change_item(&mut change, [Some(&stored), Some(&left)], &indexing)?;
        change.put(TAKEN_OFF, keys::pair(id, source), values::millis(at));
        change.put(EVENTS, keys::id(event.number), values::events::event(event));
        // Before the row is visible: who asks after the change finds the item here, and looks up the row.
        self.loaded.taken_off.add(id.get());
        let changing = indexing.changing;
        self.acknowledge(Write::Edit, change, Vec::new(), move |_| drop(changing))?;
        Ok(true)
    }

    /// Removes the rows of an item in a change.
    pub(crate) fn delete_paths_taken_off(&self, change: &mut WriteBatch, id: ContentId) -> Result<()> {
        for source in self.sources_taken_off(id)? {
            change.delete(TAKEN_OFF, keys::pair(id, source));
        }
        Ok(())
    }

    /// The sources of the paths that an item was taken off.
    pub(crate) fn sources_taken_off(&self, id: ContentId) -> Result<Vec<UserId>> {
        match self.loaded.taken_off.may_have(id.get()) {
            true => self.now(Tier::Disk).seconds(TAKEN_OFF, id, None, usize::MAX),
            false => Ok(Vec::new()),
        }
    }

    /// Those of some paths that their items were taken off. Costs next to nothing if none was.
    pub fn taken_off(
        &self,
        paths: &mut dyn Iterator<Item = (ContentId, UserId)>,
        tier: Tier,
    ) -> Result<Vec<(ContentId, UserId)>> {
        if self.loaded.taken_off.is_empty() {
            return Ok(Vec::new());
        }
        let mut asked: Vec<_> = paths.filter(|(id, _)| self.loaded.taken_off.may_have(id.get())).collect();
        let mut rows =
            self.get_many(TAKEN_OFF, asked.iter().map(|(id, source)| keys::pair(*id, *source)), tier)?.into_iter();
        asked.retain(|_| rows.next().flatten().is_some());
        Ok(asked)
    }
}
