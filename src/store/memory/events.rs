//! The log of events.

use super::{Memory, State};
use crate::error::Result;
use crate::model::{Content, Event, Stamp};

impl Memory {
    /// See [`Store::events`](crate::store::Store::events).
    pub fn events(&self, from: u64, limit: usize) -> Result<Vec<Event>> {
        Ok(self.state().events.range(from..).take(limit).map(|(_, event)| *event).collect())
    }

    /// See [`Store::newest_events`](crate::store::Store::newest_events).
    pub fn newest_events(&self, limit: usize) -> Result<Vec<Event>> {
        let mut events: Vec<_> = self.state().events.values().rev().take(limit).copied().collect();
        events.reverse();
        Ok(events)
    }

    /// See [`Store::trim_events`](crate::store::Store::trim_events).
    pub fn trim_events(&self, from: u64) -> Result<()> {
        self.state().events.retain(|number, _| *number >= from);
        Ok(())
    }

    /// See [`Store::is_set_back`](crate::store::Store::is_set_back).
    pub fn is_set_back(&self) -> bool {
        false
    }

    /// See [`Store::begin_run`](crate::store::Store::begin_run).
    pub fn begin_run(&self, gap: Option<Event>) -> Result<()> {
        self.state().events.extend(gap.map(|gap| (gap.number, gap)));
        Ok(())
    }

    /// See [`Store::has_content`](crate::store::Store::has_content).
    pub fn has_content(&self) -> Result<bool> {
        Ok(!self.state().content.is_empty())
    }
}

impl State {
    pub(super) fn put_event(&mut self, stamp: Option<Stamp>, content: &Content) {
        if let Some(stamp) = stamp {
            self.events.insert(stamp.number, stamp.event(content));
        }
    }
}
