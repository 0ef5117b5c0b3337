//! Events that a stream missed while it was away, from the log in memory and on disk.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::Feed;
use super::followees::List;
use crate::error::Result;
use crate::model::{Cursor, UserId};
use crate::streaming::{Event, Kind};

/// Most items that a stream is sent to catch up.
const MOST_MISSED: usize = 1000;
/// Most events of all kinds; what a client that catches up slowly holds in memory, of 72 bytes each.
const MOST_EVENTS: usize = 4 * MOST_MISSED;
/// Most events that are looked at for that, of all authors.
const MOST_LOOKED_AT: usize = 1 << 18;
/// Events that are taken out of the log at once.
const SLICE: usize = 1024;
/// The number of the first event of all.
const FIRST: u64 = 1;

/// Events that a stream has missed, as they are found.
struct Found {
    authors: List,
    /// The place from which the client goes on.
    after: Cursor,
    /// Whether that place has been met: all that came later is missed.
    is_behind: bool,
    events: Vec<Event>,
    looked_at: usize,
}

impl Feed {
    /// What happened for a user's stream between the item or place of `after` and the number `end` in the log of
    /// events, in order; `None` if it is too much, or cannot be told in full. Each item comes once; where it came back after
    /// that, there is a mark, with the place behind it.
    ///
    /// Nothing can be told to a client whose place the log does not have: it may be the cursor of an item that was taken
    /// back, with other changes of which the client was told, or of another server.
    pub fn missed(&self, user: UserId, after: Cursor, end: u64) -> Result<Option<Vec<Event>>> {
        let authors = self.shown_to(user)?;
        let (from, is_behind) = match self.streaming.sequencer().place(after) {
            Some(place) => (place + 1, true),
            None => self.look_for(after, end)?,
        };
        let mut found = Found { authors, after, is_behind, events: Vec::new(), looked_at: 0 };
        // Not before the rows are found: what is taken away later than that is taken away from the other end first.
        let is_whole = self.each_event(from, end, |event| found.look(event))? && !self.is_trimmed(from);
        Ok(if is_whole { found.told() } else { None })
    }

    /// The number from which on the events on disk have the one to which `after` leads, if any has, and all that
    /// came later; and whether `after` is known to lie before all of these.
    fn look_for(&self, after: Cursor, end: u64) -> Result<(u64, bool)> {
        if let Some(number) = Event::number_of(after) {
            let event = self.store.events(number, 1)?.pop();
            if event.is_some_and(|event| event.place() == after) {
                return Ok((number + 1, true));
            }
            // The place at which a log begins is no row.
            if number < FIRST && event.is_none_or(|event| event.number == FIRST && event.logged > after.at) {
                return Ok((FIRST, true));
            }
        }
        // Up to an event none speaks of a time as late as this one: so neither does any that is gone.
        let Some(first) = self.store.events(0, 1)?.pop() else { return Ok((FIRST, false)) };
        let (mut low, mut high) = (first.number, end.max(first.number));
        if first.top >= after.at {
            return Ok((low, false));
        }
        // The first event at `low` or above speaks of earlier times only, unless it is at `high` or above.
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match self.store.events(middle, 1)?.pop() {
                Some(event) if event.number < high && event.top < after.at => low = event.number,
                _ => high = middle,
            }
        }
        Ok((high, false))
    }

    /// Visits the events from a number on up to and without `end`, those in memory from there and the others from
    /// the disk, until `visit` breaks. False if it did.
    fn each_event(&self, from: u64, end: u64, mut visit: impl FnMut(&Event) -> ControlFlow<()>) -> Result<bool> {
        let mut next = from;
        while next < end {
            let slice = self.streaming.sequencer().slice(next, end, SLICE);
            let events = if slice.lost {
                // All of them are over: what is on disk with a smaller number than `end` was written before.
                let mut events = self.store.events(next, SLICE)?;
                events.retain(|event| event.number < end);
                events
            } else {
                slice.events
            };
            let Some(last) = events.last() else { break };
            next = last.number + 1;
            if events.iter().try_for_each(&mut visit).is_break() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Found {
    fn look(&mut self, event: &Event) -> ControlFlow<()> {
        self.looked_at += 1;
        if self.looked_at > MOST_LOOKED_AT {
            return ControlFlow::Break(());
        }
        if !self.is_behind {
            // What came before it the client has seen.
            self.is_behind = event.publishes(self.after);
            return ControlFlow::Continue(());
        }
        if self.counts(event) {
            self.events.push(*event);
        }
        // Behind the place there is nothing that makes up for it.
        let is_over = event.kind == Kind::Gap || self.events.len() > MOST_EVENTS;
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn counts(&self, event: &Event) -> bool {
        event.broadcast && self.authors.binary_search(&event.entry.author).is_ok()
    }

    /// What there is to tell, unless it is too much.
    fn told(self) -> Option<Vec<Event>> {
        let Self { mut events, is_behind, .. } = self;
        // An item that was deleted and restored comes once, as it is now; what is sent next leads on from the
        // place of the restore all the same.
        let mut came = HashSet::new();
        for event in events.iter_mut().filter(|event| matches!(event.kind, Kind::Publish | Kind::Restore)) {
            if !came.insert(event.entry.cursor) {
                event.kind = Kind::Mark;
            }
        }
        Some(events).filter(|_| is_behind && came.len() <= MOST_MISSED)
    }
}
