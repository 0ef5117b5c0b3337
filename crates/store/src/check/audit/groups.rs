//! Rows counted by partition, in one walk over a table.

use crate::access::staged::Rows;
use crate::rows::{keys, values};
use model::error::Result;

/// Walks over a table and counts the rows of each partition above its floor; heads do not count.
pub(super) struct Groups<'a> {
    rows: Rows<'a>,
    /// The partition that comes next, and its rows.
    next: Option<(u64, u64)>,
    /// Partitions from here on are not counted.
    end: Option<u64>,
}

impl<'a> Groups<'a> {
    /// Counts from a partition on.
    pub(super) fn new(mut rows: Rows<'a>, start: u64, end: Option<u64>) -> Result<Self> {
        rows.seek(keys::id(start));
        let mut groups = Self { rows, next: None, end };
        groups.advance()?;
        Ok(groups)
    }

    /// The partition that comes next.
    pub(super) fn peek(&self) -> Option<u64> {
        self.next.map(|(partition, _)| partition)
    }

    /// The number of rows of a partition, which must not come after the next one.
    pub(super) fn take(&mut self, partition: u64) -> Result<u64> {
        match self.next {
            Some((next, rows)) if next == partition => {
                self.advance()?;
                Ok(rows)
            }
            _ => Ok(0),
        }
    }

    fn advance(&mut self) -> Result<()> {
        let (mut found, mut floor) = (None, None);
        while let Some((key, value)) = self.rows.item() {
            let Some(partition) = keys::number(key) else {
                // Too short to have an owner; the check of the rows reports it.
                self.rows.next();
                continue;
            };
            let (current, count) = found.get_or_insert((partition, 0_u64));
            if *current != partition {
                break;
            }
            if keys::is_head(key) {
                floor = values::read_cursor(value);
            } else {
                let place = keys::split_row(key).and_then(|(_, at, id)| keys::cursor(at, id));
                *count += u64::from(floor.is_none() || place > floor);
            }
            self.rows.next();
        }
        self.rows.status()?;
        self.next = found.filter(|(partition, _)| self.end.is_none_or(|end| *partition < end));
        Ok(())
    }
}
