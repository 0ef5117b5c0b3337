//! What happened while a stream was away, from the log of events in memory and on disk.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::Feed;
use super::followees::List;
use crate::clock::now;
use crate::error::Result;
use crate::live::{Event, Kind};
use crate::model::{Cursor, UserId};

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
    /// Whether anything may be missed that is not among the events.
    lost: bool,
    events: Vec<Event>,
    looked_at: usize,
}

impl Feed {
    /// What happened for a user's stream between the item or place of `after` and the number `end` in the log of
    /// events, in order; `None` if it is too much, or cannot be told in full. Each item comes once; where it came back after
    /// that, there is a mark, with the place behind it.
    ///
    /// Where the log has `after`, that is what came after it. Otherwise, as far as the log goes back that far, it is
    /// what was logged since the time of `after`, or is newer, some of which the client may have: `after` is then the
    /// cursor of an item that was not broadcast, say, or of none.
    /// A time to come tells nothing then of what is missed.
    pub fn missed(&self, user: UserId, after: Cursor, end: u64) -> Result<Option<Vec<Event>>> {
        let authors = self.shown_to(user)?;
        let mut found = Found { authors, after, is_behind: false, lost: false, events: Vec::new(), looked_at: 0 };
        let from = match self.live.sequencer().place(after) {
            Some(place) => {
                found.is_behind = true;
                place + 1
            }
            None => self.look_for(after, end, &mut found)?,
        };
        // Not before the rows are found: what is taken away later than that is taken away from the other end first.
        let is_whole = self.each_event(from, end, |event| found.look(event))? && !self.is_trimmed(from);
        Ok(if is_whole { found.told() } else { None })
    }

    /// The number from which on the events on disk have the one to which `after` leads, if any has, and all that
    /// came later.
    fn look_for(&self, after: Cursor, end: u64, found: &mut Found) -> Result<u64> {
        if let Some(number) = Event::number_of(after)
            && let [event, ..] = self.store.events(number, 1)?[..]
            && event.place() == after
        {
            found.is_behind = true;
            return Ok(number + 1);
        }
        // Up to an event none speaks of a time as late as this one: so neither does any that is gone.
        let Some(first) = self.store.events(0, 1)?.pop() else { return Ok(FIRST) };
        let (mut low, mut high) = (first.number, end.max(first.number));
        if first.top >= after.at {
            found.lost = first.number > FIRST;
            return Ok(low);
        }
        // The first event at `low` or above speaks of earlier times only, unless it is at `high` or above.
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match self.store.events(middle, 1)?.pop() {
                Some(event) if event.number < high && event.top < after.at => low = event.number,
                _ => high = middle,
            }
        }
        Ok(high)
    }

    /// Visits the events from a number on up to and without `end`, those in memory from there and the others from
    /// the disk, until `visit` breaks. False if it did.
    fn each_event(&self, from: u64, end: u64, mut visit: impl FnMut(&Event) -> ControlFlow<()>) -> Result<bool> {
        let mut next = from;
        while next < end {
            let slice = self.live.sequencer().slice(next, end, SLICE);
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
        if event.publishes(self.after) {
            // What came before it the client has seen.
            self.events.clear();
            (self.is_behind, self.lost) = (true, false);
        } else if event.kind == Kind::Gap {
            self.lost = true;
        } else if self.counts(event) {
            self.events.push(*event);
        }
        // Behind the place there is nothing that makes up for it.
        let is_over = self.lost || self.events.len() > MOST_EVENTS;
        if !is_over {
            return ControlFlow::Continue(());
        }
        self.lost = true;
        self.events.clear();
        if self.is_behind { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn counts(&self, event: &Event) -> bool {
        event.broadcast
            && (self.is_behind || event.entry.cursor > self.after || event.logged >= self.after.at)
            && self.authors.binary_search(&event.entry.author).is_ok()
    }

    /// What there is to tell, unless it is too much.
    fn told(self) -> Option<Vec<Event>> {
        let Self { mut events, is_behind, lost, after, .. } = self;
        // Of a time to come, for it is an item's to which the host gave one: what was published meanwhile is older.
        if lost || (!is_behind && after.at > now()) {
            return None;
        }
        // An item that was deleted and restored comes once, as it is now; what is sent next leads on from the
        // place of the restore all the same.
        let mut came = HashSet::new();
        for event in events.iter_mut().filter(|event| matches!(event.kind, Kind::Publish | Kind::Restore)) {
            if !came.insert(event.entry.cursor) {
                event.kind = Kind::Mark;
            }
        }
        Some(events).filter(|_| came.len() <= MOST_MISSED)
    }
}
