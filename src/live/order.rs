//! What is under way, and what has come of it: the state of the [`Sequencer`](super::Sequencer).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::ids::IdMaker;
use super::log::{Event, Kind, Log};
use crate::clock::now;
use crate::model::{ContentId, Cursor, Entry, Millis};

/// How far given times may run ahead of the clock, milliseconds, so that ids that fall, named by the
/// host within one millisecond, get cursors that rise.
pub(super) const MOST_AHEAD: Millis = 1000;

/// Locked as a whole.
#[derive(Debug)]
pub(super) struct State {
    /// The greatest cursor given so far.
    pub(super) last: Cursor,
    /// Cursors given to items that are being written. Bounded by the backlog, which has room for each.
    pub(super) in_flight: BTreeSet<Cursor>,
    /// Cursors of the host's making that are being written, and by how many.
    pub(super) late: HashMap<Cursor, usize>,
    /// What is on disk and waits for a smaller cursor, with what happened to it since.
    pub(super) ready: BTreeMap<Cursor, Vec<(Kind, Entry)>>,
    pub(super) log: Log,
    pub(super) ids: IdMaker,
}

impl State {
    /// A time for an item with this id, and whether its cursor is then the greatest of all.
    pub(super) fn next_time(&mut self, id: ContentId) -> (Millis, bool) {
        let clock = now();
        let mut cursor = Cursor { at: clock.max(self.last.at), id };
        if cursor <= self.last && self.last.at < clock.saturating_add(MOST_AHEAD) {
            cursor.at += 1;
        }
        let in_order = cursor > self.last;
        self.last = self.last.max(cursor);
        (cursor.at, in_order)
    }

    pub(super) fn enter(&mut self, cursor: Cursor, in_order: bool) {
        if in_order {
            self.in_flight.insert(cursor);
        } else {
            *self.late.entry(cursor).or_default() += 1;
        }
    }

    pub(super) fn leave(&mut self, cursor: Cursor, late: bool) {
        if !late {
            self.in_flight.remove(&cursor);
        } else if let Some(writers) = self.late.get_mut(&cursor) {
            *writers -= 1;
            if *writers == 0 {
                self.late.remove(&cursor);
            }
        }
    }

    /// A cursor for a place in the log that no item has. Below all that is on its way: once the log has
    /// forgotten the place, all that is newer than the cursor is taken for missed.
    pub(super) fn own_cursor(&mut self) -> Cursor {
        let id = self.ids.next();
        let first = self.in_flight.first().into_iter().chain(self.ready.keys().next()).min();
        match first {
            Some(first) => Cursor { at: first.at.saturating_sub(1), id },
            None => Cursor { at: self.next_time(id).0, id },
        }
    }

    pub(super) fn log(&mut self, kind: Kind, entry: Entry) {
        let place = if kind == Kind::Restore { self.own_cursor() } else { entry.cursor };
        self.log.push(Event { kind, entry, logged: now(), place });
    }

    /// Logs what no smaller cursor in flight holds up.
    pub(super) fn release(&mut self) {
        while let Some(first) = self.ready.first_entry() {
            if self.in_flight.first().is_some_and(|flying| flying < first.key()) {
                return;
            }
            for (kind, entry) in first.remove() {
                self.log(kind, entry);
            }
        }
    }
}
