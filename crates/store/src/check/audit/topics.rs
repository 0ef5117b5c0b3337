//! Topics: an id for each name, and a row for each live item that names it: above the floor in the list, at or
//! below it in the archive.

use std::collections::{BTreeSet, HashMap};

use super::content::below;
use super::window::{MOST, Window};
use super::{Audit, Row, Wanted, Way};
use crate::rows::keys;
use crate::rows::tables::{CONTENT, TOPIC_ARCHIVE, TOPIC_CONTENT, TOPIC_IDS, Table};
use crate::rows::values;
use crate::rows::values::Stored;
use crate::subjects::archive::NOBODY;
use model::error::Result;
use model::store::Tier;
use model::{Content, Cursor};

impl Audit<'_> {
    pub(super) fn topics(&mut self) -> Result<()> {
        self.lists_of_topics(TOPIC_CONTENT)?;
        self.lists_of_topics(TOPIC_ARCHIVE)?;
        self.names_of_topics()
    }

    /// Each valid row of a list belongs to a live item that names the topic.
    fn lists_of_topics(&mut self, table: Table) -> Result<()> {
        self.each_batch(table, |audit, rows| {
            // Rows of nobody in the archive are marks.
            let is_mark = |row: &Row| table == TOPIC_ARCHIVE && keys::number(&row.key) == Some(NOBODY);
            let mut places = audit.places(table, &rows[rows.partition_point(is_mark)..]);
            let floors = audit.topic_floors(places.iter().map(|(_, topic, _)| *topic))?;
            places.retain(|(row, topic, cursor)| {
                let archived = below(&floors, *topic, *cursor);
                if table == TOPIC_ARCHIVE && !archived {
                    audit.has(table, &row.key, " above the floor of topic_content");
                }
                // Moved rows stay in `topic_content` until a compaction.
                archived == (table == TOPIC_ARCHIVE)
            });
            let items = audit.contents(places.iter().map(|(_, _, cursor)| Some(cursor.id)))?;
            let ids = audit.topic_ids(items.iter().flatten().map(|stored| &stored.content))?;
            for ((row, topic, cursor), item) in places.into_iter().zip(items) {
                let is_right = item.is_some_and(|Stored { content, deleted_at }| {
                    let names_it = content.topics.iter().any(|name| ids.get(name) == Some(&topic));
                    let same = content.cursor() == cursor && row.value[..] == values::author(content.author);
                    names_it && same && deleted_at.is_none()
                });
                if !is_right {
                    audit.has(table, &row.key, ", but there is no such live item with the topic");
                }
            }
            Ok(())
        })
    }

    fn topic_floors(&self, topics: impl Iterator<Item = u64>) -> Result<HashMap<u64, Cursor>> {
        if self.store.topic_lists.has_floors() { self.floors(TOPIC_CONTENT, topics) } else { Ok(HashMap::new()) }
    }

    /// No id belongs to two names, and none is above the highest.
    fn names_of_topics(&mut self) -> Result<()> {
        let highest = self.store.get(TOPIC_IDS, keys::HIGHEST_TOPIC, Tier::Disk)?;
        let highest = highest.and_then(|row| values::read_given(&row).ok()).unwrap_or_default();
        let mut from = Some(0);
        while let Some(start) = from {
            let mut window = Window::new(start, MOST);
            self.each_batch(TOPIC_IDS, |audit, rows| {
                for row in rows.iter().filter(|row| *row.key != *keys::HIGHEST_TOPIC) {
                    match (std::str::from_utf8(&row.key), values::read_given(&row.value)) {
                        (Ok(_), Ok(id)) => {
                            let names: &mut u64 = match window.at(id) {
                                Some(names) => names,
                                None => continue,
                            };
                            *names += 1;
                            if *names > 1 {
                                audit.has(TOPIC_IDS, &row.key, &format!(" with id {id} of another topic"));
                            }
                            if id > highest {
                                audit.has(TOPIC_IDS, &row.key, &format!(" with id {id}, above the highest id"));
                            }
                        }
                        _ if start == 0 => audit.unreadable(TOPIC_IDS, row),
                        _ => {}
                    }
                }
                Ok(())
            })?;
            from = window.end();
        }
        Ok(())
    }

    /// The rows of live items in the lists of their topics.
    pub(super) fn topic_rows(&mut self, live: &[(&Row, Stored)]) -> Result<()> {
        let ids = self.topic_ids(live.iter().map(|(_, stored)| &stored.content))?;
        let floors = self.topic_floors(ids.values().copied())?;
        let mut wanted = Vec::new();
        for (row, Stored { content, .. }) in live {
            for name in content.topics.iter().collect::<BTreeSet<_>>() {
                match ids.get(name) {
                    None => {
                        let id = self.id(content.id.get());
                        self.find(format!("content {id}: topic_ids lacks its topic {name:?}"));
                    }
                    Some(topic) => {
                        let archived = below(&floors, *topic, content.cursor());
                        let table = if archived { TOPIC_ARCHIVE } else { TOPIC_CONTENT };
                        let key = keys::row(*topic, content.published_at, content.id.get());
                        wanted.push((*row, Wanted::new(table, key, values::author(content.author))));
                    }
                }
            }
        }
        self.look_up(CONTENT, Way::Out, &wanted)
    }

    /// The ids of the topics that some items name.
    fn topic_ids<'c>(&self, items: impl Iterator<Item = &'c Content>) -> Result<HashMap<String, u64>> {
        let names: BTreeSet<&str> = items.flat_map(|content| &content.topics).map(String::as_str).collect();
        let rows = self.store.get_many(TOPIC_IDS, names.iter().map(|name| name.as_bytes()), Tier::Disk)?;
        let id = |(name, row): (&str, Option<_>)| {
            let row: rocksdb::DBPinnableSlice<'_> = row?;
            Some((name.to_owned(), values::read_given(&row).ok()?))
        };
        Ok(names.into_iter().zip(rows).filter_map(id).collect())
    }
}
