//! What stands for a live item outside of `content`: the rows by which lists find it, and what it
//! counts for. A publish puts all of it, a delete takes it away, in the same change as the item.

use rocksdb::WriteBatch;

use super::keys::{self, Counter};
use super::tables::{COUNTS, ITEM_COUNTS, TOPIC_CONTENT};
use super::topics::Changing;
use super::{Rocks, values};
use crate::error::Result;
use crate::model::{Content, ContentId, ItemCounter};

impl Rocks {
    /// Adds to a change all that stands for an item that becomes live. The caller holds the author's
    /// outbox lock, shared, until the change is written, and `topics` have been announced as changing.
    pub(super) fn put_index(&self, change: &mut WriteBatch, content: &Content, topics: &Changing<'_>) -> Result<()> {
        let topic_content = self.family(TOPIC_CONTENT)?;
        for topic in topics.of(content) {
            change.put_cf(topic_content, keys::topic_entry(topic, content.cursor()), values::author(content.author));
        }
        if content.broadcast {
            let outbox = self.family(self.outbox_table(content.entry())?)?;
            change.put_cf(outbox, keys::entry(content.author, content.cursor()), []);
        }
        self.count_content(change, content, 1)
    }

    /// Takes it all away again; on the same conditions.
    pub(super) fn remove_index(&self, change: &mut WriteBatch, content: &Content, topics: &Changing<'_>) -> Result<()> {
        let topic_content = self.family(TOPIC_CONTENT)?;
        for topic in topics.of(content) {
            change.delete_cf(topic_content, keys::topic_entry(topic, content.cursor()));
        }
        if content.broadcast {
            self.delete_outbox_row(change, content.entry())?;
        }
        self.count_content(change, content, -1)
    }

    fn count_content(&self, change: &mut WriteBatch, content: &Content, step: i64) -> Result<()> {
        if content.broadcast {
            let key = keys::count(content.author, Counter::Content);
            change.merge_cf(self.family(COUNTS)?, key, values::count(step));
        }
        match content.ref_id.zip(ItemCounter::of_kind(&content.kind)) {
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
