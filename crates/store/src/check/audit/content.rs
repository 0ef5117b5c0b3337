//! Items: each live item has its rows in other tables, and each such row has a live item.

use super::names::one;
use super::{Audit, Row, Wanted, Way};
use crate::rows::keys;
use crate::rows::tables::{CONTENT, DELETED, MENTIONED_IN, Table, UNLISTED};
use crate::rows::values;
use crate::rows::values::Stored;
use crate::subjects::lists::{purged_rows, unlisted_rows};
use model::error::Result;
use model::store::Tier;
use model::{ContentId, Entry};

impl Audit<'_> {
    pub(super) fn content(&mut self) -> Result<()> {
        self.each_batch(CONTENT, |audit, rows| {
            let mut items = Vec::with_capacity(rows.len());
            for row in rows {
                match read(row) {
                    Some(stored) => items.push((row, stored)),
                    None => audit.unreadable(CONTENT, row),
                }
            }
            audit.deletions(&items)?;
            audit.kinds_of_items(&items);
            let unlisted = items
                .iter()
                .flat_map(|(row, stored)| rows_of(stored).map(move |key| (*row, Wanted::any(UNLISTED, key))));
            let mentioned = items
                .iter()
                .flat_map(|(row, stored)| mentions_of(stored).map(move |key| (*row, Wanted::any(MENTIONED_IN, key))));
            audit.look_up(CONTENT, Way::Out, &unlisted.chain(mentioned).collect::<Vec<_>>())?;
            let live: Vec<_> = items.into_iter().filter(|(_, stored)| stored.deleted_at.is_none()).collect();
            let mut listed = Vec::new();
            for (row, Stored { content, .. }) in &live {
                let on_path = |entry: Entry| (*row, entry.source.get(), entry.cursor, values::entry(&entry));
                listed.extend(content.entries().map(on_path));
            }
            audit.listed(&audit.store.outboxes, listed)?;
            audit.topic_rows(&live)?;
            audit.comment_rows(&live)
        })?;
        self.mirror(DELETED, Way::Back, |row| {
            // A purged item is still deleted, and the walk over items finds a live one.
            let (_, purged) = values::deletions::read_deletion(&row.value).ok()?;
            let id = ContentId::new(one(&row.key)?).ok()?;
            Some(
                purged
                    .iter()
                    .flat_map(|purged| purged_rows(id, purged))
                    .map(|key| Wanted::any(UNLISTED, key))
                    .collect(),
            )
        })?;
        self.agree_with_content(UNLISTED, |stored, key| rows_of(stored).any(|row| row[..] == *key))?;
        self.agree_with_content(MENTIONED_IN, |stored, key| mentions_of(stored).any(|row| row[..] == *key))?;
        self.archived(&self.store.outboxes, "item", |_, row, source, content| {
            let mut entries = content.entries().filter(|entry| entry.source.get() == source);
            Ok(entries.any(|entry| row.value[..] == values::entry(&entry)))
        })
    }

    /// Each row of a table is one of its item, or in `unlisted` of one that is purged.
    fn agree_with_content(&mut self, table: Table, is_of: impl Fn(&Stored, &[u8]) -> bool) -> Result<()> {
        self.each_batch(table, |audit, rows| {
            let item = |row: &Row| ContentId::new(keys::last_id(&row.key)?).ok();
            let contents = audit.contents(rows.iter().map(item))?;
            let deleted = rows.iter().map(|row| keys::id(keys::last_id(&row.key).unwrap_or_default()));
            let deleted = audit.store.get_many(DELETED, deleted, Tier::Disk)?;
            for ((row, stored), deleted) in rows.iter().zip(contents).zip(deleted) {
                let purged = || {
                    let (_, purged) = values::deletions::read_deletion(&deleted?).ok()?;
                    let (id, purged) = (item(row)?, purged.filter(|_| table == UNLISTED)?);
                    Some(purged_rows(id, &purged).any(|key| key[..] == *row.key))
                };
                let agrees = match &stored {
                    Some(stored) => is_of(stored, &row.key),
                    None => purged() == Some(true),
                };
                if !agrees {
                    audit.has(table, &row.key, ", which does not agree with content");
                }
            }
            Ok(())
        })
    }

    /// The number of an item's kind is that of its name.
    fn kinds_of_items(&mut self, items: &[(&Row, Stored)]) {
        let known = self.store.content_kinds.known();
        for (row, stored) in items {
            if known.number(&stored.content.kind) != Some(stored.content.kind_id.0) {
                self.has(CONTENT, &row.key, ", whose kind does not agree with kinds");
            }
        }
    }

    /// Exactly the items marked as deleted have a row in `deleted`.
    fn deletions(&mut self, items: &[(&Row, Stored)]) -> Result<()> {
        let keys = items.iter().map(|(row, _)| &row.key[..]);
        let present = self.store.get_many(DELETED, keys, Tier::Disk)?;
        for ((row, stored), present) in items.iter().zip(present) {
            let marked = stored.deleted_at.map(values::millis);
            match (marked, present) {
                (None, Some(_)) => self.has(DELETED, &row.key, ", but the item is live"),
                (Some(_), None) => self.lacks(DELETED, &row.key),
                (Some(at), Some(value)) if at[..] != value[..] => {
                    self.has(DELETED, &row.key, " with another value than content");
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The items with these ids, in their order; also deleted items.
    pub(super) fn contents(&self, ids: impl Iterator<Item = Option<ContentId>>) -> Result<Vec<Option<Stored>>> {
        let ids: Vec<_> = ids.collect();
        // No item has the number 0.
        let keys = ids.iter().map(|id| keys::id(id.map_or(0, ContentId::get)));
        let rows = self.store.get_many(CONTENT, keys, Tier::Disk)?;
        Ok(ids.into_iter().zip(rows).map(|(id, row)| values::read_content(id?, &row?).ok()).collect())
    }
}

/// The rows of an item in `unlisted`.
fn rows_of(stored: &Stored) -> impl Iterator<Item = [u8; keys::ROW]> {
    unlisted_rows(&stored.content, stored.deleted_at.is_some())
}

/// The rows of an item in `mentioned_in`.
fn mentions_of(stored: &Stored) -> impl Iterator<Item = [u8; keys::ROW]> {
    stored.content.mentions.iter().map(|user| keys::entry(*user, stored.content.cursor()))
}

/// An item as it is stored.
pub(super) fn read(row: &Row) -> Option<Stored> {
    let id = ContentId::new(one(&row.key)?).ok()?;
    values::read_content(id, &row.value).ok()
}
