//! Events that a stream missed while it was away, from the log in memory and on disk.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::tables;
use crate::core::Core;
use crate::streaming::on_disk::FIRST;
use crate::streaming::{Event, Kind};
use crate::{events, timeline};
use model::error::Result;
use model::{Cursor, Logged, ShownSources, UserId};

/// Most items that a stream is sent to catch up.
const MOST_MISSED: usize = 1000;
/// Most events of all kinds, 72 bytes each. A client that catches up slowly holds them in memory.
const MOST_EVENTS: usize = 4 * MOST_MISSED;
/// Most rows of the log that are read to find them, of all authors and of changes that are no events.
const MOST_LOOKED_AT: usize = 1 << 19;
/// Rows read from the log at once.
const SLICE: usize = 1024;

/// Events that a stream has missed, as they are found.
struct Found {
    authors: ShownSources,
    /// The place after which the client resumes.
    after: Cursor,
    /// Whether that place was found: all later events are missed.
    is_behind: bool,
    events: Vec<Event>,
}

/// The events of a user's stream between the item or place of `after` and the number `end` in the log, in order.
/// `None` if they are too many, or not all are known. Each item comes once: the event of a later restore becomes a
/// mark, which keeps the place of the restore.
///
/// `None` also if the log lacks the client's place. It may be the cursor of an item of another server, or of one
/// that was undone together with other changes that the client knows.
pub fn missed(feed: &Core, user: UserId, after: Cursor, end: u64) -> Result<Option<Vec<Event>>> {
    let authors = timeline::authors(feed.read(), user)?;
    let (from, is_behind) = match feed.streaming.sequencer().place(after) {
        Some(place) => (place + 1, true),
        None => look_for(feed, after, end)?,
    };
    let mut found = Found { authors, after, is_behind, events: Vec::new() };
    // After the rows are read: a trim raises the trimmed number before it removes rows.
    let is_whole = each_event(feed, from, end, |event| found.look(event))? && !feed.events_on_disk.is_trimmed(from);
    Ok(if is_whole { found.told() } else { None })
}

/// The number of the first event to read from the disk, and whether `after` is known to lie before this event. If
/// that is not known, the event of `after`, if it is on disk, has that number or a higher one.
fn look_for(feed: &Core, after: Cursor, end: u64) -> Result<(u64, bool)> {
    let row_at = |number| -> Result<_> { Ok(tables::logged(&feed.store, number, 1)?.pop()) };
    if let Some(number) = Event::number_of(after) {
        let row = row_at(number)?;
        if row.as_ref().is_some_and(|row| row.replaced_by(Kind::Mark).place() == after) {
            return Ok((number + 1, true));
        }
        // The place at which a log begins has no row.
        if number < FIRST && row.is_none_or(|row| !feed.events_on_disk.is_trimmed(FIRST) && row.times().0 > after.at) {
            return Ok((FIRST, true));
        }
    }
    // No event up to a row, removed events included, has a later time than the row's latest.
    let Some(first) = row_at(0)? else { return Ok((FIRST, false)) };
    if first.times().1 >= after.at {
        return Ok((first.number(), false));
    }
    let within = (first.number(), end.max(first.number()));
    let (_, high) = events::border(feed, within, 1, |row| row.times().1 < after.at)?;
    Ok((high, false))
}

/// Visits the events from a number on, up to and without `end`, until `visit` breaks. Events not in memory come
/// from the disk. False if `visit` broke, or after [`MOST_LOOKED_AT`] rows.
fn each_event(feed: &Core, from: u64, end: u64, mut visit: impl FnMut(&Event) -> ControlFlow<()>) -> Result<bool> {
    let (mut next, mut looked_at) = (from, 0);
    while next < end {
        let slice = feed.streaming.sequencer().slice(next, end, SLICE);
        let events = if slice.lost {
            // None is in flight: the rows below `end` on disk were written before.
            let mut rows = tables::logged(&feed.store, next, SLICE)?;
            rows.retain(|row| row.number() < end);
            let Some(last) = rows.last() else { break };
            (next, looked_at) = (last.number() + 1, looked_at + rows.len());
            rows.into_iter().filter_map(Logged::event).collect()
        } else {
            let Some(last) = slice.events.last() else { break };
            (next, looked_at) = (last.number + 1, looked_at + slice.events.len());
            slice.events
        };
        if looked_at > MOST_LOOKED_AT || events.iter().try_for_each(&mut visit).is_break() {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Found {
    fn look(&mut self, event: &Event) -> ControlFlow<()> {
        if !self.is_behind {
            // The client has seen the events before it.
            self.is_behind = event.publishes(self.after);
            return ControlFlow::Continue(());
        }
        if self.counts(event) {
            self.events.push(event.clone());
        }
        // No later event makes up for a gap. A suspension is one: the user's items may have come through any source.
        let is_gap = matches!(event.kind, Kind::Gap | Kind::Suspension);
        let is_over = is_gap || self.events.len() > MOST_EVENTS;
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn counts(&self, event: &Event) -> bool {
        event.paths().any(|path| self.authors.admits(path, event.entry.kind))
    }

    /// The events to send, unless they are too many or the place was not found.
    fn told(self) -> Option<Vec<Event>> {
        let Self { mut events, is_behind, .. } = self;
        // A deleted and restored item comes once, as it is now. The mark keeps the place of the restore, so that the
        // client resumes after it.
        let mut came = HashSet::new();
        for event in events.iter_mut().filter(|event| matches!(event.kind, Kind::Publish | Kind::Restore)) {
            if !came.insert(event.entry.cursor) {
                event.kind = Kind::Mark;
            }
        }
        Some(events).filter(|_| is_behind && came.len() <= MOST_MISSED)
    }
}
