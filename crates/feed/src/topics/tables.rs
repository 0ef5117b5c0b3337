//! Topics: an id for each name, and the items of each id, newest first.
//!
//! The older items of a list may be in the archive.

use crate::memory::archived::Walks;
use crate::memory::topics::{End, topic_id};
use crate::rows::values;
use crate::rows::walk::go_on;
use crate::store::Store;
use kv::Tier;
use model::error::Result;
use model::{ContentId, Cursor, Entry, Order, Scan, Span, TopicId};

/// The id of a topic; `None` if no published item has named it.
pub fn topic(store: &Store, name: &str, tier: Tier) -> Result<Option<TopicId>> {
    store.memory.topics.ids.find(store, &[name], tier)?.pop().flatten().map(topic_id).transpose()
}

/// Items among the topic's `depth` newest items. The answer is of one instant. Walks over `depth` rows at most, or twice as
/// many if it needs the archive.
pub fn topic_content(
    store: &Store,
    topic: TopicId,
    scan: Scan<ContentId>,
    depth: usize,
    tier: Tier,
) -> Result<Vec<Entry>> {
    let Scan { span, order, limit } = scan;
    if depth == 0 || scan.is_empty() {
        return Ok(Vec::new());
    }
    if order == Order::NewestFirst && span.before.is_none() {
        // From the top, the number of rows read gives the depth.
        return topic_rows(store, topic, span.newest(limit.min(depth)), tier);
    }
    let ends = &store.memory.topics.ends;
    let version = ends.version(topic);
    if let Some(end) = ends.cached(topic).filter(|end| version.is_some() && end.depth == depth) {
        let listed = span.newer_than(end.last.and_then(Cursor::next_older));
        let found = topic_rows(store, topic, listed.scan(order, limit), tier)?;
        if ends.version(topic) == version {
            return Ok(found);
        }
    }
    let mut listed = topic_rows(store, topic, Span::ALL.newest(depth), tier)?;
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
pub fn archive_topic(store: &Store, topic: TopicId, newest: Cursor, most: usize) -> Result<usize> {
    store.memory.topics.lists.move_rows(store, topic.get(), newest, most)
}

/// Rows of the list of a topic, all from one snapshot.
fn topic_rows(store: &Store, topic: TopicId, scan: Scan<ContentId>, tier: Tier) -> Result<Vec<Entry>> {
    let Scan { span, order, limit } = scan;
    let (mut found, partition) = (Vec::new(), topic.get());
    loop {
        let snapshot = store.kv().snapshot();
        let at = store.at(&snapshot, tier);
        let mut walks = Walks::new(&store.memory.topics.lists, at)?;
        // A compaction drops rows that were moved since, although the snapshot needs them.
        if store.memory.topics.lists.floor(store.now(tier), partition)?
            != store.memory.topics.lists.floor(at, partition)?
        {
            continue;
        }
        walks.rows(partition, span, order, &mut |cursor, value| {
            found.push(values::read_listed(cursor, value)?);
            go_on(found.len() < limit)
        })?;
        return Ok(found);
    }
}
