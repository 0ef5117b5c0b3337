//! The logs of events and of effects: times must not fall with rising numbers, as searches by time rely on that.

use super::Audit;
use super::names::one;
use crate::rows::tables::{EFFECTS, EVENTS};
use crate::rows::values::effects::read_effect;
use crate::rows::values::events::read_event;
use model::error::Result;

impl Audit<'_> {
    pub(super) fn events(&mut self) -> Result<()> {
        let (mut logged, mut top) = (0, 0);
        self.each_batch(EVENTS, |audit, rows| {
            for row in rows {
                let event = one(&row.key).and_then(|number| read_event(number, &row.value).ok());
                let Some(event) = event else {
                    audit.unreadable(EVENTS, row);
                    continue;
                };
                if event.logged < logged || event.top < top || event.top < event.logged {
                    audit.has(EVENTS, &row.key, " with an earlier time than the event before it");
                }
                (logged, top) = (logged.max(event.logged), top.max(event.top));
            }
            Ok(())
        })?;
        let mut at = 0;
        self.each_batch(EFFECTS, |audit, rows| {
            for row in rows {
                let changed = one(&row.key).and_then(|number| read_effect(number, &row.value).ok());
                let Some(changed) = changed else {
                    audit.unreadable(EFFECTS, row);
                    continue;
                };
                if changed.at < at {
                    audit.has(EFFECTS, &row.key, " with an earlier time than the effect before it");
                }
                at = at.max(changed.at);
            }
            Ok(())
        })
    }
}
