//! The log of events.

use std::ops::ControlFlow;

use model::error::Result;
use model::store::Events;
use model::{Content, Effect, Event, Logged};

use super::{Double, State};

impl Events for Double {
    fn logged(&self, from: u64, limit: usize) -> Result<Vec<Logged>> {
        Ok(self.state().logged.range(from..).take(limit).map(|(_, row)| row.clone()).collect())
    }

    fn newest_logged(&self, visit: &mut dyn FnMut(Logged) -> ControlFlow<()>) -> Result<()> {
        let rows: Vec<_> = self.state().logged.values().rev().cloned().collect();
        let _ = rows.into_iter().try_for_each(visit);
        Ok(())
    }

    fn log_effects(&self, rows: &[Logged]) -> Result<()> {
        self.state().logged.extend(rows.iter().map(|row| (row.number(), row.clone())));
        Ok(())
    }

    fn trim_events(&self, from: u64) -> Result<()> {
        self.state().logged.retain(|number, _| *number >= from);
        Ok(())
    }

    fn is_set_back(&self) -> bool {
        false
    }

    fn begin_run(&self, gap: Option<Event>) -> Result<()> {
        gap.into_iter().for_each(|gap| self.state().log(gap));
        Ok(())
    }

    fn has_content(&self) -> Result<bool> {
        Ok(!self.state().content.is_empty())
    }
}

impl State {
    /// Keeps the effects of a change until it ends.
    pub(super) fn put_effects(&mut self, effects: impl IntoIterator<Item = Effect>) {
        self.effects.extend(effects);
    }

    pub(super) fn log(&mut self, event: Event) {
        self.logged.insert(event.number, Logged::Event(event));
    }

    pub(super) fn put_event(&mut self, event: Option<Event>, content: &Content) {
        event.into_iter().for_each(|event| self.log(event.of(content)));
    }
}
