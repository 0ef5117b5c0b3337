//! Whether the log is still the one that this node has applied.

use std::time::{Duration, Instant};

use super::super::log::Record;
use super::super::record::{Stamp, Token};
use super::{Applier, End};

/// Warnings of records that are passed over, and of nodes that have seen another log, come no more often.
const TELL_EVERY: Duration = Duration::from_secs(60);

impl Applier {
    /// Notes an entry that is no record of this log, but of another log or another program. All nodes pass over it alike,
    /// so that nobody who can write to the topic stops them. It may also be the first sign that the topic was made anew.
    pub(super) fn pass_over(&mut self, record: &Record) -> Result<(), End> {
        if !std::mem::replace(&mut self.checked[0], true) {
            self.check(true)?;
        }
        self.shared.passed_over.add(1);
        if is_due(&mut self.told[0]) {
            let (offset, bytes, passed_over) = (record.offset, record.bytes.len(), self.shared.passed_over.get());
            let log = Stamp::of(record).map(|stamp| String::from(stamp.log));
            let who = if log.is_some() { "another command log" } else { "another program" };
            tracing::warn!(offset, passed_over, bytes, log, "a record of {who} in the command log is passed over");
        }
        Ok(())
    }

    /// Compares the log as another node has seen it with the log as this node has applied it. If they differ, one of the
    /// two has applied records that the log has lost. Only that one stops, and the log alone tells which.
    pub(super) fn compare(&mut self, at: u64, seen: Option<(u64, Token)>) -> Result<(), End> {
        let Some((offset, hash)) = seen else { return Ok(()) };
        // The writer had applied a record at this offset before it wrote this one: so it had another log.
        let is_ahead = offset >= at;
        if !is_ahead && !self.log_tail.differs(offset, hash) {
            return Ok(());
        }
        if !is_ahead && !std::mem::replace(&mut self.checked[1], true) {
            self.check(false)?;
        }
        // So that it finds out, even if it is the only one that writes: this record tells it. An error: the node stops.
        let _ = self.writer.ask();
        if is_due(&mut self.told[1]) {
            tracing::warn!(
                offset = at,
                seen = offset,
                "another node has applied records that the command log has lost; it must be replaced"
            );
        }
        Ok(())
    }

    /// Stops this node if the log does not lead to its place; looks at the whole tail, or only at its `last` record.
    pub(super) fn check(&self, last: bool) -> Result<(), End> {
        self.log_tail.check(last, &*self.log, || self.shared.is_stopping()).map_err(|why| {
            End::Fault(format!(
                "this node has applied the command log up to offset {}, and {why}: the log was cut or made anew. Start \
                 this node from a backup of one that goes on",
                self.position().saturating_sub(1)
            ))
        })
    }
}

/// Whether it is time for another warning.
fn is_due(told: &mut Option<Instant>) -> bool {
    let is_due = told.is_none_or(|told| told.elapsed() >= TELL_EVERY);
    if is_due {
        *told = Some(Instant::now());
    }
    is_due
}
