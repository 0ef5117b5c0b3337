//! The queue of a writer: commands, and questions for the read index, that wait for its next record.

use std::collections::VecDeque;

use serde_json::value::RawValue;

use super::super::record::{Envelope, Note};
use super::in_flight::{Flight, Tell, told};
use crate::prelude::*;

/// Bytes of commands in one record, unless a single command has more.
const IN_RECORD: usize = 512 << 10;

/// A command that waits to be sent.
pub(super) struct Waiting {
    /// Rises from command to command.
    ticket: u64,
    /// When it is taken back, unless it was sent, and when its caller has an answer.
    pub(super) send_by: Instant,
    until: Instant,
    text: Box<RawValue>,
    pub(super) tell: Tell,
}

#[derive(Default)]
pub(super) struct Queue {
    pub(super) waiting: VecDeque<Waiting>,
    pub(super) bytes: usize,
    /// The next ticket.
    ticket: u64,
    /// Whether a read waits for the next record.
    pub(super) asks_read_index: bool,
    /// Messages of the next records, one each.
    pub(super) notes: VecDeque<Note>,
    /// The number of the last record that was taken out.
    pub(super) taken: u64,
    /// Since when something waits for the next one.
    pub(super) since: Option<Instant>,
    pub(super) closed: bool,
}

impl Queue {
    /// Lets a command wait that is taken back at the first time, unless it was sent, and whose caller has an answer at the
    /// second. Returns its ticket.
    pub(super) fn push(&mut self, text: Box<RawValue>, tell: Tell, [send_by, until]: [Instant; 2]) -> u64 {
        let ticket = self.ticket;
        self.ticket += 1;
        self.bytes += text.get().len();
        self.waiting.push_back(Waiting { ticket, send_by, until, text, tell });
        ticket
    }

    /// Whether anything waits for the next record.
    pub(super) fn wants_record(&self) -> bool {
        !self.waiting.is_empty() || self.asks_read_index || !self.notes.is_empty()
    }

    /// Takes back a command, if it waits.
    pub(super) fn withdraw(&mut self, ticket: u64) -> bool {
        let Ok(place) = self.waiting.binary_search_by_key(&ticket, |waiting| waiting.ticket) else { return false };
        self.bytes -= self.waiting.remove(place).map_or(0, |taken| taken.text.get().len());
        if !self.wants_record() {
            self.since = None;
        }
        true
    }

    /// Takes the next record out: fills it with what waits, as far as it fits. Commands that were to be taken back by now are
    /// refused: they were never sent. Returns the time of the first answer to one of its callers, too.
    pub(super) fn take_record(&mut self, record: &mut Envelope) -> (Flight, Option<Instant>) {
        let (mut tells, mut bytes, mut until) = (Vec::new(), 0, None::<Instant>);
        let now = Instant::now();
        while let Some(first) = self.waiting.front() {
            let is_over = first.send_by <= now;
            if !is_over && !tells.is_empty() && bytes + first.text.get().len() > IN_RECORD {
                break;
            }
            let Some(taken) = self.waiting.pop_front() else { break };
            self.bytes -= taken.text.get().len();
            if is_over {
                told(&taken.tell, Err(never_sent()));
                continue;
            }
            bytes += taken.text.get().len();
            until = Some(until.map_or(taken.until, |until| until.min(taken.until)));
            record.commands.push(taken.text);
            tells.push(taken.tell);
        }
        self.asks_read_index = false;
        self.taken += 1;
        (record.number, record.note) = (self.taken, self.notes.pop_front());
        let since = self.since.unwrap_or(now);
        self.since = self.since.filter(|_| self.wants_record());
        (Flight { sent: record.sent, since, tells, outcomes: None }, until)
    }
}

/// The answer to a command that is not in the log, and never will be.
pub(super) fn never_sent() -> Error {
    Error::refused(Code::LogUnavailable, "the command log takes no changes at present; nothing has changed")
}
