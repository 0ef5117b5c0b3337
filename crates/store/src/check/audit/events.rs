//! The log of events: times must not fall with rising numbers, as searches by time rely on that.

use super::Audit;
use super::names::one;
use crate::rows::tables::EVENTS;
use crate::rows::values::events::read_logged;
use model::error::Result;

impl Audit<'_> {
    pub(super) fn events(&mut self) -> Result<()> {
        let (mut logged, mut top) = (0, 0);
        self.each_batch(EVENTS, |audit, rows| {
            for row in rows {
                let found = one(&row.key).and_then(|number| read_logged(number, &row.value).ok());
                let Some(times) = found.map(|found| found.times()) else {
                    audit.unreadable(EVENTS, row);
                    continue;
                };
                if times.0 < logged || times.1 < top || times.1 < times.0 {
                    audit.has(EVENTS, &row.key, " with an earlier time than the row before it");
                }
                (logged, top) = (logged.max(times.0), top.max(times.1));
            }
            Ok(())
        })
    }
}
