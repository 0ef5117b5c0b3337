//! The log of events.

use std::sync::Arc;

use model::error::Result;
use model::store::{Contents, Events, Numbering, told};
use model::{Changed, Content, Effect, Event, Millis};

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
        let mut state = self.state();
        state.events.retain(|number, _| *number >= from);
        state.effects.retain(|number, _| *number >= from);
        Ok(())
    }

    fn number_effects(&self, numbering: Arc<dyn Numbering>, _writes: bool) {
        self.state().numbering = Some(numbering);
    }

    fn changes(&self, from: u64, end: u64, limit: usize) -> Result<Vec<Changed>> {
        let kinds = self.kind_names()?;
        let state = self.state();
        let events = state.events.values().filter_map(|event| told(event, &kinds));
        let mut changes: Vec<_> = state.effects.values().cloned().chain(events).collect();
        changes.retain(|changed| (from..end).contains(&changed.number));
        changes.sort_by_key(|changed| changed.number);
        changes.truncate(limit);
        Ok(changes)
    }

    fn newest_effect(&self) -> Result<Option<(u64, Millis)>> {
        Ok(self.state().effects.values().next_back().map(|changed| (changed.number, changed.at)))
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
    /// Numbers the effects of a change, and keeps them.
    pub(super) fn put_effects(&mut self, effects: impl IntoIterator<Item = Effect>) {
        let effects: Vec<_> = effects.into_iter().collect();
        let Some(numbering) = self.numbering.clone().filter(|_| !effects.is_empty()) else { return };
        let numbers = numbering.take_numbers(effects.len() as u64);
        let changed = |(number, effect)| (number, Changed { number, at: numbers.at, effect });
        self.effects.extend((numbers.first..).zip(effects).map(changed));
    }

    pub(super) fn put_event(&mut self, event: Option<Event>, content: &Content) {
        if let Some(event) = event {
            self.events.insert(event.number, event.of(content));
        }
    }
}
