//! Topics in memory: their ids, and the ends of their lists.

use std::collections::{BTreeSet, HashMap};

use super::archived::Archived;
use super::numbers::Numbers;
use crate::rows::keys;
use crate::rows::tables::{TOPIC_ARCHIVE, TOPIC_CONTENT, TOPIC_IDS};
use crate::rows::values::Number;
use kv::{Database, Tier, WriteBatch};
use model::cache::ReadThrough;
use model::cache::memory::{CacheMemory, Share};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::{CacheUsage, Content, Cursor, TopicId};

/// The size of the end of a list, bytes.
const END_BYTES: u64 = 56;

/// The end of the list of a topic: a list shows its newest items only, so finding its end takes a walk over all of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    /// The most items of the list.
    pub(crate) depth: usize,
    /// The last item of a full list; `None` if the list is not full.
    pub(crate) last: Option<Cursor>,
}

/// The part of topics in memory.
pub(crate) struct Topics {
    /// Ids of names.
    pub(crate) ids: Numbers,
    /// Ends that were read recently and often. With an end, a page from the middle is read between that and its own bound.
    pub(crate) ends: ReadThrough<TopicId, End>,
    /// The rows of their lists, by topic.
    pub(crate) lists: Archived,
}

impl Topics {
    pub(crate) fn new(memory: CacheMemory) -> Self {
        let ends = ReadThrough::new(memory.of(Share::TOPIC_ENDS), END_BYTES, |_| END_BYTES);
        Self {
            ids: Numbers::new(&TOPIC_IDS, memory.of(Share::TOPIC_NAMES), 0, Some(keys::HIGHEST_TOPIC.as_bytes())),
            ends,
            lists: Archived::new(&TOPIC_CONTENT, &TOPIC_ARCHIVE, Write::ArchiveTopic),
        }
    }

    /// Continues after the highest id on disk.
    pub(crate) fn load(&self, database: &Database) -> Result<()> {
        if let Some(Number(highest)) = TOPIC_IDS.get(database.now(Tier::Disk), keys::HIGHEST_TOPIC)? {
            self.ids.go_on_from(highest);
        }
        self.lists.look_for_floors(database)
    }

    /// The ids of the topics of items, and the rows of those that have none so far: they get the next ones.
    pub(crate) fn give_ids<'c>(
        &self,
        database: &Database,
        items: impl IntoIterator<Item = &'c Content>,
    ) -> Result<(HashMap<String, TopicId>, WriteBatch)> {
        let names: BTreeSet<&str> = items.into_iter().flat_map(|item| &item.topics).map(String::as_str).collect();
        let names: Vec<_> = names.into_iter().collect();
        let (ids, rows) = self.ids.give(database, &names)?;
        let ids = names.into_iter().zip(ids).map(|(name, id)| Ok((name.to_owned(), topic_id(id)?)));
        Ok((ids.collect::<Result<_>>()?, rows))
    }

    /// The caches in figures: names, then ends.
    pub(crate) fn usage(&self) -> [CacheUsage; 2] {
        [self.ids.usage(), self.ends.usage()]
    }
}

pub(crate) fn topic_id(raw: u64) -> Result<TopicId> {
    TopicId::new(raw).map_err(|_| Error::Corrupt("topic ids".to_owned()))
}
