//! Digests of the tables that are equal on all nodes of a cluster.
//!
//! Nodes apply the same changes, but each archives, purges and compacts at its own times. So a digest does not depend on
//! the table in which a row stands, and leaves out the rows that a purge would remove.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use crate::check::{Digester, TableDigest, Watch, each_row};
use crate::items::tables::is_deleted_before;
use crate::memory::archived::NOBODY;
use crate::rows::keys;
use crate::rows::table::{AnyTable, Counted};
use crate::rows::tables::{ALL, DELETED};
use crate::rows::values::deletions::Deletion;
use crate::rows::values::{Value, read_floor};
use crate::store::Store;
use kv::{At, Rows, Scope, Tier};
use model::error::Result;
use model::{Cursor, Millis, Notice, NoticeCursor, UserId, priority};

/// Events that are compared; nodes keep more.
const NEWEST: u64 = 500_000;

/// The tables that are equal on all nodes, with the rows that count.
fn replicated() -> impl Iterator<Item = (AnyTable, Counted)> {
    ALL.iter().filter_map(|table| Some((*table, table.counted?)))
}

/// Whether a node with this store has data that a node which starts empty would lack: whether any of these tables,
/// the log of events left out, has a row that counts.
pub fn has_data(store: &Store) -> Result<bool> {
    let snapshot = store.kv().snapshot();
    let at = store.at(&snapshot, Tier::Disk);
    for (table, counted) in replicated().filter(|(_, counted)| *counted != Counted::Newest) {
        let mut rules = Rules::new(store, at, 0);
        let mut has = false;
        at.each_row(table, &[], |key, value| {
            has = rules.value((table, counted), key, value)?.is_some();
            Ok(if has { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        if has {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The digests of the tables that are equal on all nodes of a cluster, as of one instant. Nodes that have applied the
/// same commands have the same digests, whenever each of them archives, purges or compacts.
///
/// `taken` is called once, after that instant. Until then the caller holds all changes, so that no row is moved to an archive
/// either; later changes do not count. The rest takes time in proportion to the rows, and bounded memory. Lowers the priority of
/// the calling thread for good.
///
/// Notices count from the time of [`keep_notices`](crate::notices::tables::keep_notices) on: to be called before, with the same
/// time on each node.
///
/// Items deleted before `final_before` count only as deleted, because some nodes may have purged them. No item that
/// was deleted later may be purged yet. `watch` gets the rows looked at, and can end the walk.
pub fn digest(
    store: &Store,
    final_before: Millis,
    taken: &mut dyn FnMut(),
    watch: &mut dyn Watch,
) -> Result<Vec<TableDigest>> {
    let notices_since = store.memory.rules.notices_since.load(Ordering::Relaxed);
    let snapshot = store.kv().snapshot();
    let at = store.at(&snapshot, Tier::Disk);
    // They hold the files of the snapshot: a compaction drops rows that are moved later even if an older snapshot needs them.
    let walks = replicated().map(|(table, _)| at.rows(table, Scope::Once)).collect::<Result<Vec<_>>>()?;
    taken();
    priority::lower(priority::CHECKS);
    let mut digests: Vec<Digester> = Vec::new();
    for ((table, counted), rows) in replicated().zip(walks) {
        if counted != Counted::Archived {
            digests.push(Digester::new(table.name));
        }
        if let Some(digest) = digests.last_mut() {
            let rules = Rules { notices_since, ..Rules::new(store, at, final_before) };
            add_rows(table, counted, rows, rules, digest, watch)?;
        }
    }
    Ok(digests.into_iter().map(Digester::finish).collect())
}

/// Adds the rows of a table that count to a digest.
fn add_rows(
    table: AnyTable,
    counted: Counted,
    mut rows: Rows<'_>,
    mut rules: Rules<'_>,
    digest: &mut Digester,
    watch: &mut dyn Watch,
) -> Result<()> {
    let mut first = 0;
    if counted == Counted::Newest {
        rows.seek_to_last();
        first = rows.key().and_then(keys::number).unwrap_or_default().saturating_sub(NEWEST - 1);
    }
    if first == 0 {
        rows.seek_to_first();
    } else {
        rows.seek(keys::id(first));
    }
    each_row(table, rows, watch, |key, value| {
        if let Some(value) = rules.value((table, counted), key, value)? {
            digest.add(key, value);
        }
        Ok(())
    })
}

/// Tells which rows of a table count.
struct Rules<'a> {
    store: &'a Store,
    at: At<'a>,
    final_before: Millis,
    notices_since: Millis,
    /// The item that was looked up last, and whether its deletion is final.
    last: Option<(u64, bool)>,
    /// The floor of the partition of the last row.
    floor: Option<(u64, Cursor)>,
}

impl<'a> Rules<'a> {
    fn new(store: &'a Store, at: At<'a>, final_before: Millis) -> Self {
        Self { store, at, final_before, notices_since: 0, last: None, floor: None }
    }

    /// The value with which a row counts; `None` if it does not.
    fn value<'v>(
        &mut self,
        (table, counted): (AnyTable, Counted),
        key: &[u8],
        value: &'v [u8],
    ) -> Result<Option<&'v [u8]>> {
        if table.ends_with_item && self.is_final(keys::item(table.keys, key))? {
            return Ok(None);
        }
        let counts = match counted {
            Counted::All | Counted::Newest => true,
            Counted::Deletions if self.is_final_at(value) => return Ok(Some(&[])),
            // Who its author was is known where it is purged.
            Counted::Deletions => return Ok(Some(value.get(..keys::ID).unwrap_or(value))),
            Counted::Keys => return Ok(Some(&[])),
            Counted::NotZero => !is_zero(value),
            Counted::Hot => self.is_hot(key, value)?,
            Counted::Notices => self.is_notice(key, value)?,
            Counted::Archived => keys::number(key) != Some(NOBODY),
        };
        Ok(counts.then_some(value))
    }

    /// Whether a notice is of a time that is kept, and its items are not deleted before the bound.
    fn is_notice(&mut self, key: &[u8], value: &[u8]) -> Result<bool> {
        let Some((_, place)) = keys::read::<(UserId, NoticeCursor)>(key) else { return Ok(true) };
        if place.at < self.notices_since {
            return Ok(false);
        }
        // A row that cannot be read counts as it is.
        let on = Notice::read(key, value).ok().and_then(|notice| notice.on);
        for item in place.id.item.into_iter().chain(on) {
            if self.is_final(Some(item.get()))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether an item was deleted before the bound.
    fn is_final(&mut self, id: Option<u64>) -> Result<bool> {
        let Some(id) = id.filter(|id| self.store.memory.loaded.filter(&DELETED).may_have(*id)) else {
            return Ok(false);
        };
        if let Some((_, is_final)) = self.last.filter(|(last, _)| *last == id) {
            return Ok(is_final);
        }
        let row = self.at.get(&DELETED, &keys::id(id))?;
        let is_final = row.is_some_and(|row| self.is_final_at(&row));
        self.last = Some((id, is_final));
        Ok(is_final)
    }

    /// Whether a row of `deleted` has a time before the bound.
    fn is_final_at(&self, row: &[u8]) -> bool {
        Deletion::read(&[], row).is_ok_and(|deletion| is_deleted_before(deletion.at, self.final_before))
    }

    /// Whether a row is above the floor of its partition, whose head comes first.
    fn is_hot(&mut self, key: &[u8], value: &[u8]) -> Result<bool> {
        let Some((partition, place)) = keys::place(key) else { return Ok(true) };
        if keys::is_head(key) {
            self.floor = read_floor(Some(value))?.map(|floor| (partition, floor));
            return Ok(false);
        }
        let floor = self.floor.filter(|(of, _)| *of == partition).map(|(_, floor)| floor);
        Ok(Some(place) > floor)
    }
}

/// Whether all counters of a row are zero.
fn is_zero(counters: &[u8]) -> bool {
    counters.iter().all(|byte| *byte == 0)
}
