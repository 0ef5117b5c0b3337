//! Completes the archive of topics in a directory of an earlier version.
//!
//! That version had no archive: compaction dropped the items below a raised floor of a list, and later items with older
//! times were not listed. This repair finds them in `content`. It runs once, before anything is read or written. A mark
//! in the archive tells that it is done, or its place: after a crash it continues there.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rocksdb::{DBRawIterator, ReadOptions, WriteBatch, properties};

use super::archive::NOBODY;
use super::inbox::read_floor;
use super::tables::{CONTENT, TOPIC_ARCHIVE, TOPIC_CONTENT};
use super::{Rocks, keys, storage, values};
use crate::error::{Error, Result};
use crate::failpoint::Write;
use crate::model::{Content, ContentId, Cursor, TopicId};
use crate::store::Tier;

/// Most items in a part.
const ITEMS: usize = 1000;
/// A part ends at this many bytes.
const BYTES: usize = 1 << 20;
/// The interval of log messages about the progress.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// Some consecutive items.
#[derive(Default)]
struct Part {
    /// Those that are live and name a topic.
    live: Vec<Content>,
    looked_at: u64,
    /// The id of the last.
    last: u64,
}

impl Rocks {
    /// Puts the items that an earlier version dropped into the archive of topics, unless that is done.
    pub(super) fn complete_topic_archive(&self, dir: &Path) -> Result<()> {
        let mark = self.get(TOPIC_ARCHIVE, &keys::ARCHIVE_IS_COMPLETE, Tier::Disk)?;
        let start = match mark.as_deref() {
            Some([]) => {
                self.topics.complete.store(true, Ordering::Relaxed);
                return Ok(());
            }
            Some(reached) => {
                keys::number(reached).ok_or_else(|| Error::Corrupt("mark of the archive of topics".to_owned()))?
            }
            // The first name is written with the mark.
            None if !self.has_topics() => return Ok(()),
            None if !self.has_topic_floors()? => {
                if let Err(error) = self.mark_topic_archive() {
                    tracing::debug!(%error,
                        "the archive of topics could not be marked as complete; the next start checks it again");
                }
                return Ok(());
            }
            None => 0,
        };
        self.repair_topics(start).map_err(|error| {
            let dir = dir.display();
            Error::Setup(format!(
                "data directory {dir}: an earlier version truncated the lists of topics, and the repair failed: \
                 {error}. The next start continues the repair"
            ))
        })
    }

    fn repair_topics(&self, start: u64) -> Result<()> {
        let content = self.family(CONTENT)?;
        let about = self.db.property_int_value_cf(content, properties::ESTIMATE_NUM_KEYS).map_err(storage)?;
        let about = about.unwrap_or_default();
        tracing::info!(
            items_estimate = about,
            "an earlier version truncated lists of topics; all items are checked once"
        );
        let mut rows = self.db.raw_iterator_cf_opt(content, scanning());
        rows.seek(keys::id(start));
        let (mut looked_at, mut put, mut told) = (0, 0, Instant::now());
        loop {
            let part = next_part(&mut rows)?;
            if part.looked_at == 0 {
                break;
            }
            looked_at += part.looked_at;
            put += self.repair_part(&part)?;
            if told.elapsed() >= TELL_EVERY {
                told = Instant::now();
                tracing::info!(checked = looked_at, restored = put, "the repair of lists of topics continues");
            }
        }
        self.mark_topic_archive()?;
        tracing::info!(checked = looked_at, restored = put, "the lists of topics are complete");
        Ok(())
    }

    /// Puts a part's rows at or below floors into the archive; returns their number.
    fn repair_part(&self, part: &Part) -> Result<usize> {
        let names: BTreeSet<&str> = part.live.iter().flat_map(|item| &item.topics).map(String::as_str).collect();
        // A name without an id has no list; an audit reports it.
        let ids = self.known_topics(names.into_iter().collect())?;
        let floors = self.topic_floors(ids.values().copied().collect())?;
        let archive = self.family(TOPIC_ARCHIVE)?;
        let (mut change, mut put) = (WriteBatch::default(), 0);
        for item in &part.live {
            for topic in item.topics.iter().filter_map(|name| ids.get(name)).collect::<BTreeSet<_>>() {
                if floors.get(topic).is_some_and(|floor| item.cursor() <= *floor) {
                    change.put_cf(archive, keys::topic_entry(*topic, item.cursor()), values::author(item.author));
                    put += 1;
                }
            }
        }
        if put > 0 {
            change.put_cf(archive, keys::head(NOBODY), []);
            change.put_cf(archive, keys::ARCHIVE_IS_COMPLETE, keys::id(part.last + 1));
            self.follow_up(Write::RepairTopics, change)?;
        }
        Ok(put)
    }

    fn topic_floors(&self, topics: BTreeSet<TopicId>) -> Result<HashMap<TopicId, Cursor>> {
        let heads: Vec<_> = topics.iter().map(|topic| keys::head(topic.get())).collect();
        let rows = self.get_many(TOPIC_CONTENT, heads.iter().map(<[u8; keys::ROW]>::as_slice), Tier::Disk)?;
        let mut floors = HashMap::new();
        for (topic, row) in topics.into_iter().zip(rows) {
            if let Some(floor) = read_floor(row.as_deref())? {
                floors.insert(topic, floor);
            }
        }
        Ok(floors)
    }

    fn mark_topic_archive(&self) -> Result<()> {
        let mut change = WriteBatch::default();
        let archive = self.family(TOPIC_ARCHIVE)?;
        if self.has_topic_floors()? {
            change.put_cf(archive, keys::head(NOBODY), []);
        }
        change.put_cf(archive, keys::ARCHIVE_IS_COMPLETE, []);
        self.follow_up(Write::RepairTopics, change)?;
        self.topics.complete.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Whether the list of any topic has a floor: one seek for each topic.
    fn has_topic_floors(&self) -> Result<bool> {
        let mut rows = self.db.raw_iterator_cf_opt(self.family(TOPIC_CONTENT)?, scanning());
        rows.seek_to_first();
        while let Some(key) = rows.key() {
            if keys::is_head(key) {
                return Ok(true);
            }
            let Some(partition) = keys::number(key) else { return Err(Error::Corrupt("a key in topics".to_owned())) };
            rows.seek(keys::id(partition.saturating_add(1)));
        }
        rows.status().map_err(storage)?;
        Ok(false)
    }
}

/// Options for a walk over a whole table without filling the cache.
pub(super) fn scanning() -> ReadOptions {
    let mut options = ReadOptions::default();
    options.set_total_order_seek(true);
    options.fill_cache(false);
    options
}

/// The next items; empty at the end.
fn next_part(rows: &mut DBRawIterator<'_>) -> Result<Part> {
    let (mut part, mut bytes) = (Part::default(), 0);
    while let Some((key, value)) = rows.item() {
        part.looked_at += 1;
        bytes += value.len();
        if let Some(raw) = keys::number(key) {
            part.last = raw;
            match ContentId::new(raw).ok().map(|id| values::read_content(id, value)) {
                Some(Ok(stored)) if stored.deleted_at.is_none() && !stored.content.topics.is_empty() => {
                    part.live.push(stored.content);
                }
                Some(Ok(_)) => {}
                // No readable list has it; an audit reports it.
                _ => tracing::warn!(content_id = raw, "an item cannot be read; it is not restored to lists of topics"),
            }
        }
        rows.next();
        if part.looked_at == ITEMS as u64 || bytes >= BYTES {
            break;
        }
    }
    rows.status().map_err(storage)?;
    Ok(part)
}
