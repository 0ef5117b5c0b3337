//! Topics: an id for each name, and a row for each live item that names it: above the floor in the list, at or
//! below it in the archive.

use std::collections::BTreeSet;

use super::window::{MOST, Window};
use super::{Audit, Row};
use crate::rows::keys;
use crate::rows::tables::TOPIC_IDS;
use crate::rows::values;
use crate::rows::values::Stored;
use model::error::Result;
use model::store::Tier;

impl Audit<'_> {
    pub(super) fn topics(&mut self) -> Result<()> {
        self.archived(&self.store.topic_lists, "item with the topic", |audit, row, topic, content| {
            for name in &content.topics {
                if audit.topic_id(name)? == Some(topic) {
                    return Ok(row.value[..] == values::listed(&content.entry()));
                }
            }
            Ok(false)
        })?;
        self.names_of_topics()
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
        let mut listed = Vec::new();
        for (row, Stored { content, .. }) in live {
            for name in content.topics.iter().collect::<BTreeSet<_>>() {
                match self.topic_id(name)? {
                    None => {
                        let id = self.id(content.id.get());
                        self.find(format!("content {id}: topic_ids lacks its topic {name:?}"));
                    }
                    Some(topic) => listed.push((*row, topic, content.cursor(), values::listed(&content.entry()))),
                }
            }
        }
        self.listed(&self.store.topic_lists, listed)
    }

    /// The id of a topic, if its row is there and can be read. A failure of the engine is no such answer.
    fn topic_id(&self, name: &str) -> Result<Option<u64>> {
        let row = self.store.get(TOPIC_IDS, name.as_bytes(), Tier::Disk)?;
        Ok(row.and_then(|row| values::read_given(&row).ok()))
    }
}
