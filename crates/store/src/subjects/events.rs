//! The log of events: a row for each number, written in the change of the event.

use rocksdb::{ReadOptions, WriteBatch};

use crate::rows::tables::{CONTENT, EVENTS};
use crate::rows::walk::go_on;
use crate::rows::{keys, values};
use crate::{Rocks, storage};
use model::error::{Error, Result};
use model::store::Events;
use model::{Content, Event};

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
        let mut rows = self.db.raw_iterator_cf_opt(self.family(EVENTS)?, ReadOptions::default());
        let mut events = Vec::new();
        rows.seek_to_last();
        while events.len() < limit
            && let Some((key, value)) = rows.item()
        {
            events.push(read(key, value)?);
            rows.prev();
        }
        rows.status().map_err(storage)?;
        events.reverse();
        Ok(events)
    }

    fn trim_events(&self, from: u64) -> Result<()> {
        let mut change = WriteBatch::default();
        change.delete_range_cf(self.family(EVENTS)?, keys::id(0), keys::id(from));
        // No failpoint: with or without this change, a restart finds a log without holes after its first row.
        self.commit(change, false)
    }

    fn is_set_back(&self) -> bool {
        self.run.is_set_back()
    }

    fn begin_run(&self, gap: Option<Event>) -> Result<()> {
        if let Some(gap) = gap {
            let mut change = WriteBatch::default();
            change.put_cf(self.family(EVENTS)?, keys::id(gap.number), values::events::event(&gap));
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
    /// Adds the event of a change to it.
    pub(crate) fn put_event(&self, change: &mut WriteBatch, event: Option<&Event>, content: &Content) -> Result<()> {
        if let Some(event) = event {
            change.put_cf(self.family(EVENTS)?, keys::id(event.number), values::events::event(&event.of(content)));
        }
        Ok(())
    }
}

fn read(key: &[u8], value: &[u8]) -> Result<Event> {
    let number = keys::number(key).filter(|_| key.len() == keys::ID);
    values::events::read_event(number.ok_or_else(|| Error::Corrupt("a key in events".to_owned()))?, value)
}
