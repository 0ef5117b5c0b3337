//! The log of events: a row for each number, written in the change of the event.

use std::sync::Arc;

use rocksdb::ReadOptions;

use crate::Rocks;
use crate::rows::batch::WriteBatch;
use crate::rows::tables::{CONTENT, EFFECTS, EVENTS};
use crate::rows::walk::go_on;
use crate::rows::{keys, values};
use model::error::{Error, Result};
use model::store::{Events, Numbering, Numbers, told};
use model::{Changed, Content, Effect, Event, Millis};

impl Events for Rocks {
    fn events(&self, from: u64, limit: usize) -> Result<Vec<Event>> {
        let mut events = Vec::new();
        self.each_row(EVENTS, &keys::id(from), |key, value| {
            if events.len() < limit {
                events.push(read(key, value)?);
            }
            go_on(events.len() < limit)
        })?;
        Ok(events)
    }

    fn newest_events(&self, limit: usize) -> Result<Vec<Event>> {
        let mut rows = self.rows(EVENTS, ReadOptions::default())?;
        let mut events = Vec::new();
        rows.seek_to_last();
        while events.len() < limit
            && let Some((key, value)) = rows.item()
        {
            events.push(read(key, value)?);
            rows.prev();
        }
        rows.status()?;
        events.reverse();
        Ok(events)
    }

    fn trim_events(&self, from: u64) -> Result<()> {
        let mut change = WriteBatch::default();
        for table in [EVENTS, EFFECTS] {
            change.delete_range(table, keys::id(0), keys::id(from));
        }
        // No failpoint: with or without this change, a restart finds a log without holes after its first row.
        self.commit(change, false)
    }

    fn number_effects(&self, numbering: Arc<dyn Numbering>, writes: bool) {
        // A second one would be a fault of the caller; the first stays.
        let _ = self.numbering.set((numbering, writes));
    }

    fn changes(&self, from: u64, end: u64, limit: usize) -> Result<Vec<Changed>> {
        let mut changes = Vec::new();
        self.each_row(EFFECTS, &keys::id(from), |key, value| {
            let changed = values::effects::read_effect(number(key)?, value)?;
            let is_before = changed.number < end && changes.len() < limit;
            if is_before {
                changes.push(changed);
            }
            go_on(is_before)
        })?;
        let kinds = self.names_of_kinds();
        let mut found = 0;
        self.each_row(EVENTS, &keys::id(from), |key, value| {
            let event = read(key, value)?;
            let is_before = event.number < end && found < limit;
            if is_before && let Some(changed) = told(&event, &kinds) {
                changes.push(changed);
                found += 1;
            }
            go_on(is_before)
        })?;
        changes.sort_by_key(|changed| changed.number);
        changes.truncate(limit);
        Ok(changes)
    }

    fn newest_effect(&self) -> Result<Option<(u64, Millis)>> {
        let mut rows = self.rows(EFFECTS, ReadOptions::default())?;
        rows.seek_to_last();
        let newest = rows.item().map(|(key, value)| values::effects::read_effect(number(key)?, value)).transpose()?;
        rows.status()?;
        Ok(newest.map(|changed| (changed.number, changed.at)))
    }

    fn is_set_back(&self) -> bool {
        self.run.is_set_back()
    }

    fn begin_run(&self, gap: Option<Event>) -> Result<()> {
        if let Some(gap) = gap {
            let mut change = WriteBatch::default();
            change.put(EVENTS, keys::id(gap.number), values::events::event(&gap));
            // No failpoint: until the gap is written, each start finds that it is missing.
            if let Err(error) = self.commit(change, true) {
                tracing::warn!(%error, "the gap in the log of events could not be written; the next start tries again");
                return Ok(());
            }
        }
        self.run.begin(self.sync);
        Ok(())
    }

    fn has_content(&self) -> Result<bool> {
        let mut has_content = false;
        self.each_row(CONTENT, &[], |_, _| {
            has_content = true;
            go_on(false)
        })?;
        Ok(has_content)
    }
}

impl Rocks {
    /// Takes numbers for the effects of a change, and adds their rows to it.
    pub(crate) fn add_effects(&self, change: &mut WriteBatch, effects: &[Effect]) {
        let Some((numbering, writes)) = self.numbering.get().filter(|_| !effects.is_empty()) else { return };
        let Numbers { first, at } = numbering.take_numbers(effects.len() as u64);
        if *writes {
            for (number, effect) in (first..).zip(effects) {
                change.put(EFFECTS, keys::id(number), values::effects::effect(effect, at));
            }
        }
    }

    /// Adds the event of a change to it.
    pub(crate) fn put_event(&self, change: &mut WriteBatch, event: Option<&Event>, content: &Content) {
        if let Some(event) = event {
            change.put(EVENTS, keys::id(event.number), values::events::event(&event.of(content)));
        }
    }
}

fn read(key: &[u8], value: &[u8]) -> Result<Event> {
    values::events::read_event(number(key)?, value)
}

fn number(key: &[u8]) -> Result<u64> {
    let number = keys::number(key).filter(|_| key.len() == keys::ID);
    number.ok_or_else(|| Error::Corrupt("a key in a log".to_owned()))
}
