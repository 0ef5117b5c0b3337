//! The log of events.

use model::error::Result;
use model::store::Events;
use model::{Content, Event};

use super::{Double, State};

impl Events for Double {
    fn events(&self, from: u64, limit: usize) -> Result<Vec<Event>> {
        Ok(self.state().events.range(from..).take(limit).map(|(_, event)| event.clone()).collect())
    }

    fn newest_events(&self, limit: usize) -> Result<Vec<Event>> {
        let mut events: Vec<_> = self.state().events.values().rev().take(limit).cloned().collect();
        events.reverse();
        Ok(events)
    }

    fn trim_events(&self, from: u64) -> Result<()> {
        self.state().events.retain(|number, _| *number >= from);
        Ok(())
    }

    fn is_set_back(&self) -> bool {
        false
    }

    fn begin_run(&self, gap: Option<Event>) -> Result<()> {
        self.state().events.extend(gap.map(|gap| (gap.number, gap)));
        Ok(())
    }

    fn has_content(&self) -> Result<bool> {
        Ok(!self.state().content.is_empty())
    }
}

impl State {
    pub(super) fn put_event(&mut self, event: Option<Event>, content: &Content) {
        if let Some(event) = event {
            self.events.insert(event.number, event.of(content));
        }
    }
}
