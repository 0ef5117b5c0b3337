//! The log of events: a row for each number, written in its change.

use std::ops::ControlFlow;

use crate::rows::keys::{self, EventNumber};
use crate::rows::tables::{EVENTS, NOTES};
use crate::rows::values::Value;
use crate::store::{EVENTS_FROM, Store};
use kv::{Scope, Tier, WriteBatch};
use model::error::{Error, Result};
use model::{Content, Event, Logged};

/// The note with the histories of a directory.
pub(crate) const HISTORIES: &str = "histories";

/// The first `limit` rows with this number or a higher one, ascending.
pub fn logged(store: &Store, from: u64, limit: usize) -> Result<Vec<Logged>> {
    store.now(Tier::Disk).beginning((&EVENTS, Scope::Table), &[], &keys::id(from), limit, Logged::read)
}

/// The newest rows, from the last one on, until `visit` breaks.
pub fn newest_logged(store: &Store, visit: &mut dyn FnMut(Logged) -> ControlFlow<()>) -> Result<()> {
    let mut rows = store.now(Tier::Disk).rows(&EVENTS, Scope::Table)?;
    rows.seek_to_last();
    while let Some((key, value)) = rows.item() {
        if visit(Logged::read(key, value)?).is_break() {
            return Ok(());
        }
        rows.prev();
    }
    rows.status()
}

/// Writes the rows of the effects of a change, in its group.
pub fn log_effects(store: &Store, rows: &[Logged]) -> Result<()> {
    let mut change = WriteBatch::default();
    for row in rows {
        EVENTS.put(&mut change, EventNumber(row.number()), row)?;
    }
    // The change that it belongs to has one.
    store.begin_change(change)
}

/// Forgets the rows below this number, and notes it as [`EVENTS_FROM`].
pub fn trim_events(store: &Store, from: u64) -> Result<()> {
    let mut change = WriteBatch::default();
    change.delete_range(&EVENTS, keys::id(0), keys::id(from));
    change.put(&NOTES, EVENTS_FROM, from.to_be_bytes());
    // No failpoint: a start finds both, or neither.
    store.commit(change, false)
}

/// Whether changes that streams have announced may be lost: after a power cut, after a start that gave up part of
/// the log, or because the directory is a copy.
pub fn is_set_back(store: &Store) -> bool {
    store.disk().is_ok_and(|disk| disk.run.is_set_back())
}

/// Records that streams announce changes from now on; until then the record of the last run is kept. First the `gap` of a
/// store that was set back, and the note with the `histories`, if it changes, are written as one change, which is durable if
/// there is a gap. Returns whether they are written.
pub fn begin_run(store: &Store, gap: Option<Event>, histories: Option<&[u8]>) -> Result<bool> {
    let mut change = WriteBatch::default();
    let is_set_back = gap.is_some();
    if let Some(gap) = gap {
        put(&mut change, gap)?;
    }
    if let Some(histories) = histories {
        change.put(&NOTES, HISTORIES, histories);
    }
    // No failpoint: until the gap is written, each start finds that it is missing.
    let warn =
        |error: &Error| tracing::warn!(%error, "the beginning of this run could not be written; it is tried again");
    let is_written = change.is_empty() || store.commit(change, is_set_back).inspect_err(warn).is_ok();
    if let Ok(disk) = store.disk()
        && (is_written || !is_set_back)
    {
        disk.run.begin();
    }
    Ok(is_written)
}

/// Adds the event of a change of an item to the change.
pub(crate) fn put_event(change: &mut WriteBatch, of: Option<&Event>, content: &Content) -> Result<()> {
    of.map_or(Ok(()), |of| put(change, of.of(content)))
}

/// Adds an event to its change.
pub(crate) fn put(change: &mut WriteBatch, event: Event) -> Result<()> {
    EVENTS.put(change, EventNumber(event.number), &Logged::Event(event))
}
