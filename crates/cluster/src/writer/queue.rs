//! The queue of a writer: commands, and questions for a barrier, that wait for its next record.

use std::collections::VecDeque;
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use serde_json::value::RawValue;

use super::super::record::{Digests, Token};
use feed::Outcome;
use model::error::{Code, Error, Result};

/// Bytes of commands in one record, unless a single command has more.
const IN_RECORD: usize = 512 << 10;

/// Receives the outcome of one command. The receiver may be gone.
pub(super) type Tell = SyncSender<Result<Outcome>>;

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

pub(super) struct Queue {
    pub(super) waiting: VecDeque<Waiting>,
    pub(super) bytes: usize,
    /// The next ticket.
    ticket: u64,
    /// Whether a read waits for the next record.
    pub(super) barrier: bool,
    /// The comparison for which the next record asks.
    pub(super) compare: Option<Token>,
    /// The digests that the next record tells.
    pub(super) digests: Option<Digests>,
    /// The number of the next record.
    pub(super) next: u64,
    /// Since when something waits for it.
    pub(super) since: Option<Instant>,
    pub(super) closed: bool,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            bytes: 0,
            ticket: 0,
            barrier: false,
            compare: None,
            digests: None,
            next: 1,
            since: None,
            closed: false,
        }
    }
}

impl Queue {
    /// Something waits from now on, if nothing did before.
    pub(super) fn begin(&mut self) {
        self.since.get_or_insert_with(Instant::now);
    }

    /// Lets a command wait that is taken back at the first time, unless it was sent, and whose caller has an answer at the
    /// second. Returns its ticket.
    pub(super) fn push(&mut self, text: Box<RawValue>, tell: Tell, [send_by, until]: [Instant; 2]) -> u64 {
        self.begin();
        let ticket = self.ticket;
        self.ticket += 1;
        self.bytes += text.get().len();
        self.waiting.push_back(Waiting { ticket, send_by, until, text, tell });
        ticket
    }

    /// Whether anything waits for the next record.
    pub(super) fn wants_record(&self) -> bool {
        !self.waiting.is_empty() || self.barrier || self.compare.is_some() || self.digests.is_some()
    }

    /// Takes back the oldest command.
    fn take(&mut self) -> Option<Waiting> {
        let first = self.waiting.pop_front()?;
        self.bytes -= first.text.get().len();
        Some(first)
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

    /// Takes the next record out. Commands that were to be taken back by now are refused: they were never sent.
    pub(super) fn next_record(&mut self) -> Next {
        let (mut commands, mut tells, mut bytes, mut until) = (Vec::new(), Vec::new(), 0, None::<Instant>);
        let now = Instant::now();
        while let Some(first) = self.waiting.front() {
            let is_over = first.send_by <= now;
            if !is_over && !commands.is_empty() && bytes + first.text.get().len() > IN_RECORD {
                break;
            }
            let Some(taken) = self.take() else { break };
            if is_over {
                told(&taken.tell, Err(never_sent()));
                continue;
            }
            bytes += taken.text.get().len();
            until = Some(until.map_or(taken.until, |until| until.min(taken.until)));
            commands.push(taken.text);
            tells.push(taken.tell);
        }
        self.barrier = false;
        self.next += 1;
        let (compare, digests) = (self.compare.take(), self.digests.take());
        let since = self.since.unwrap_or_else(Instant::now);
        self.since = self.since.filter(|_| !self.waiting.is_empty());
        Next { number: self.next - 1, since, commands, tells, until, compare, digests }
    }
}

/// The next record: its number, since when something waits for it, its commands with the receivers of their outcomes, the
/// time of the first answer to one of these, a comparison, and the result of one.
pub(super) struct Next {
    pub(super) number: u64,
    pub(super) since: Instant,
    pub(super) commands: Vec<Box<RawValue>>,
    pub(super) tells: Vec<Tell>,
    pub(super) until: Option<Instant>,
    pub(super) compare: Option<Token>,
    pub(super) digests: Option<Digests>,
}

/// The answer to a command that is not in the log, and never will be.
pub(super) fn never_sent() -> Error {
    Error::refused(Code::LogUnavailable, "the command log takes no changes at present; nothing has changed")
}

/// A caller that is gone needs no outcome.
pub(super) fn told(tell: &Tell, outcome: Result<Outcome>) {
    let _ = tell.send(outcome);
}
