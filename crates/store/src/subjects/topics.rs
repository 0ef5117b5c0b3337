//! Topics: an id for each name, and the items of each id, newest first.
//!
//! The older items of a list may be in the archive.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::archive::Walks;
use crate::Store;
use crate::access::walk::go_on;
use crate::memory::numbers::Numbers;
use crate::rows::tables::TOPIC_IDS;
use crate::rows::{keys, values};
use model::cache::memory::{CacheMemory, Share};
use model::cache::{CacheChange, ReadThrough};
use model::error::{Error, Result};
use model::store::Tier;
use model::{CacheUsage, Content, ContentId, Cursor, Entry, Order, Scan, Span, TopicId};

/// The size of the end of a list, bytes.
const END_BYTES: u64 = 56;

/// The end of the list of a topic: a list shows its newest items only, so finding its end takes a walk over all of them.
#[derive(Debug, Clone, Copy)]
struct End {
    /// The most items of the list.
    depth: usize,
    /// The last item of a full list; `None` if the list is not full.
    last: Option<Cursor>,
}

/// The part of topics in memory.
pub(crate) struct Topics {
    /// Ids of names.
    ids: Arc<Numbers>,
    /// Ends that were read recently and often. With an end, a page from the middle is read between that and its own bound.
    ends: ReadThrough<TopicId, End>,
}

impl Topics {
    pub(crate) fn new(memory: CacheMemory) -> Self {
        let ends = ReadThrough::new(memory.of(Share::TOPIC_ENDS), END_BYTES, |_| END_BYTES);
        Self {
            ids: Arc::new(Numbers::new(TOPIC_IDS, memory.of(Share::TOPIC_NAMES), 0, Some(keys::HIGHEST_TOPIC))),
            ends,
        }
    }

    /// The caches in figures: names, then ends.
    pub(crate) fn usage(&self) -> [CacheUsage; 2] {
        [self.ids.usage(), self.ends.usage()]
    }
}

/// The topics of items that a change puts or removes. Drop it after the change is written.
#[must_use = "the change ends when this is dropped"]
pub(crate) struct TopicEndsChange {
    ids: HashMap<String, TopicId>,
    _changes: Vec<CacheChange<TopicId, End>>,
}

impl TopicEndsChange {
    /// The id of a topic.
    pub(crate) fn id(&self, name: &str) -> Option<u64> {
        self.ids.get(name).map(|id| id.get())
    }
}

impl Store {
    /// The id of a topic; `None` if no published item has named it.
    pub fn topic(&self, name: &str, tier: Tier) -> Result<Option<TopicId>> {
        self.topics.ids.find(self, &[name], tier)?.pop().flatten().map(topic_id).transpose()
    }

    /// Items among the topic's `depth` newest items. The answer is of one instant. Walks over `depth` rows at most, or twice as many if it needs the archive.
    pub fn topic_content(&self, topic: TopicId, scan: Scan<ContentId>, depth: usize, tier: Tier) -> Result<Vec<Entry>> {
        let Scan { span, order, limit } = scan;
        if depth == 0 || scan.is_empty() {
            return Ok(Vec::new());
        }
        if order == Order::NewestFirst && span.before.is_none() {
            // From the top, the number of rows read gives the depth.
            return self.topic_rows(topic, span.newest(limit.min(depth)), tier);
        }
        let ends = &self.topics.ends;
        let version = ends.version(topic);
        if let Some(end) = ends.cached(topic).filter(|end| version.is_some() && end.depth == depth) {
            let listed = span.newer_than(end.last.and_then(Cursor::next_older));
            let found = self.topic_rows(topic, listed.scan(order, limit), tier)?;
            if ends.version(topic) == version {
                return Ok(found);
            }
        }
        let mut listed = self.topic_rows(topic, Span::ALL.newest(depth), tier)?;
        ends.keep(topic, &End { depth, last: listed.get(depth - 1).map(|entry| entry.cursor) }, version);
        listed.retain(|entry| span.contains(entry.cursor));
        if order == Order::OldestFirst {
            listed.reverse();
        }
        listed.truncate(limit);
        Ok(listed)
    }

    /// Moves items of a list to the archive, oldest first, up to and including `newest`, at most `most` in one write.
    /// Returns how many were moved; 0 if there is nothing to gain. No answer depends on it. No change may be under way.
    pub fn archive_topic(&self, topic: TopicId, newest: Cursor, most: usize) -> Result<usize> {
        self.topic_lists.move_rows(self, topic.get(), newest, most)
    }
}

impl Store {
    /// Announces a change of rows of items. Gives ids to their topics that have none.
    pub(crate) fn change_topics<'c>(&self, items: impl IntoIterator<Item = &'c Content>) -> Result<TopicEndsChange> {
        let names: BTreeSet<&str> = items.into_iter().flat_map(|item| &item.topics).map(String::as_str).collect();
        let names: Vec<_> = names.into_iter().collect();
        let ids = self.topics.ids.give(self, &names, |_| ())?;
        let ids = names.into_iter().zip(ids).map(|(name, id)| Ok((name.to_owned(), topic_id(id)?)));
        let ids = ids.collect::<Result<HashMap<_, _>>>()?;
        let changes = ids.values().map(|id| self.topics.ends.change(*id)).collect();
        Ok(TopicEndsChange { ids, _changes: changes })
    }

    /// Continues after the highest id on disk.
    pub(crate) fn load_topics(&self) -> Result<()> {
        if let Some(highest) = self.read(TOPIC_IDS, keys::HIGHEST_TOPIC, Tier::Disk, values::read_given)? {
            self.topics.ids.go_on_from(highest);
        }
        Ok(())
    }

    /// Rows of a list, of one instant.
    fn topic_rows(&self, topic: TopicId, scan: Scan<ContentId>, tier: Tier) -> Result<Vec<Entry>> {
        let Scan { span, order, limit } = scan;
        let (mut found, partition) = (Vec::new(), topic.get());
        loop {
            let snapshot = self.kv.snapshot();
            let at = self.at(&*snapshot, tier);
            let mut walks = Walks::new(&self.topic_lists, at)?;
            // A compaction drops rows that were moved since, although the snapshot needs them.
            if self.topic_lists.floor(self.now(tier), partition)? != self.topic_lists.floor(at, partition)? {
                continue;
            }
            walks.rows(partition, span, order, &mut |cursor, value| {
                found.push(values::read_listed(cursor, value)?);
                go_on(found.len() < limit)
            })?;
            return Ok(found);
        }
    }
}

fn topic_id(raw: u64) -> Result<TopicId> {
    TopicId::new(raw).map_err(|_| Error::Corrupt("topic ids".to_owned()))
}
