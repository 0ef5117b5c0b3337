//! Makes the commands of the log.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::thread;

use serde_json::value::RawValue;

use super::super::mark::Mark;
use super::super::record::read_command;
use super::{AGAIN, Applier, End, WAIT};
use config::Refusal;
use feed::streaming::{ChangeTime, FIRST_LEVEL};
use feed::{Command, Outcome};
use model::error::{Code, Error, Result};

impl Applier {
    /// Applies a command at a place of the log; `after` is the mark that is written with it. A store that takes no changes at
    /// present only delays it.
    pub(super) fn make(&self, place: &Refusal, text: &RawValue, after: &Mark) -> Result<Result<Box<dyn Outcome>>, End> {
        let fault = |error: &Error| {
            let at = place.offset;
            End::Fault(format!("a command of the record at offset {at} cannot be applied: {error} (\"{place}\")"))
        };
        let (vitals, sequencer) = (&self.shared.vitals, self.feed.streaming().sequencer());
        let level = u32::try_from(after.level).unwrap_or(FIRST_LEVEL);
        let (time, course) = (ChangeTime::Log { time: after.time, level }, sequencer.course());
        loop {
            let command = read_command(text).map_err(|error| fault(&error))?;
            self.wait_for_room(&command)?;
            let before = mem::replace(&mut *self.shared.mark.lock(), after.clone());
            let error = match catch_unwind(AssertUnwindSafe(|| self.feed.apply(command, time))) {
                Ok(Ok(outcome)) => {
                    vitals.is_blocked.store(false, Ordering::Relaxed);
                    return Ok(Ok(outcome));
                }
                Ok(Err(error)) => error,
                Err(_) => return Err(fault(&Error::Panicked("in a command".to_owned()))),
            };
            match error.code() {
                // The store of this node alone: all others go on, so this one must follow.
                Some(Code::StorageUnavailable) => {}
                Some(code) if code.status() < 500 || code == Code::Overloaded => {
                    vitals.is_blocked.store(false, Ordering::Relaxed);
                    return Ok(Err(error));
                }
                _ => return Err(fault(&error)),
            }
            // Nothing was written. The next attempt gets the times, ids and numbers of this one, as at the other nodes.
            *self.shared.mark.lock() = before;
            sequencer.take_course(&course);
            if !vitals.is_blocked.swap(true, Ordering::Relaxed) {
                let offset = place.offset;
                tracing::warn!(%error, offset, "a command of the log waits until the storage takes changes");
            }
            thread::sleep(AGAIN);
            if self.shared.is_stopping() {
                return Err(End::Told);
            }
        }
    }

    /// Waits until there is room for the settle jobs of a command. Before the node has caught up nobody waits for it, so it
    /// also waits for room for the fan-outs, rather than leave out items. An import has time, too.
    fn wait_for_room(&self, command: &Command) -> Result<(), End> {
        let has_time = !self.shared.vitals.has_served() || command.waits();
        let jobs = if has_time { command.jobs() } else { command.settles() };
        while jobs > 0 && !self.feed.backlog().wait_for_room(jobs, WAIT) {
            if self.shared.is_stopping() {
                return Err(End::Told);
            }
        }
        Ok(())
    }
}
