//! The thread that appends: one record after another, each until its fate is known.

use super::super::checkpoint::Mark;
use super::super::log::NotAppended;
use super::super::record::{Envelope, Run, Token};
use super::in_flight::told;
use super::{State, Writer};
use crate::prelude::*;
use feed::streaming::ChangeTime;

/// Longest wait for the answer to one append of a small record. It is a microsecond longer for each byte, so that a large
/// record comes at its first attempt over 1 MB/s.
pub(super) const ATTEMPT: Duration = Duration::from_secs(2);
/// Pause after an append without an answer, which may have failed at once.
const PAUSE: Duration = Duration::from_millis(50);

/// A record under way.
struct Sending {
    number: u64,
    bytes: Vec<u8>,
    commands: usize,
    /// The last record that the node had applied before it wrote this one.
    last: u64,
    began: Instant,
    /// Whether an attempt had no answer: the log may have the record.
    may_be_there: bool,
}

impl Writer {
    /// Appends records until [`Writer::close`].
    pub(in super::super) fn run(&self) {
        let mut next = self.next();
        while let Some(mut sending) = next {
            next = match self.log.append(&sending.bytes, attempt(sending.bytes.len()).min(self.timeout)) {
                Ok(offset) => {
                    self.kept(&sending, offset);
                    self.next()
                }
                Err(why) => {
                    if self.shared.vitals.appends.note() {
                        tracing::warn!(cause = %why, "the command log does not take records");
                    }
                    // A refusal says nothing of the attempts before it.
                    let is_refused = matches!(why, NotAppended::Refused(_)) && !sending.may_be_there;
                    sending.may_be_there |= matches!(why, NotAppended::Unknown(_));
                    thread::sleep(PAUSE);
                    if is_refused {
                        let detail = format!("the command log refused the change; nothing has changed: {why}");
                        self.refuse(sending.number, &Error::refused(Code::LogUnavailable, detail));
                        self.next()
                    } else if sending.began.elapsed() >= self.timeout {
                        // A later record decides the fate of this one. An error: the writer is closed.
                        let _ = self.ask();
                        self.next()
                    } else {
                        Some(sending).filter(|_| !self.state.lock().queue.closed)
                    }
                }
            };
        }
        self.change(|flights| flights.by_number.clear());
    }

    /// The next record that can be written. Waits for a reason to append one; `None` after [`Writer::close`].
    fn next(&self) -> Option<Sending> {
        loop {
            let mut state = self.state.lock();
            self.filled.wait_while(&mut state, |State { queue, .. }| !queue.closed && !queue.wants_record());
            if state.queue.closed {
                return None;
            }
            let began = Instant::now();
            let Mark { last, hash, level, .. } = *self.shared.mark.borrow();
            let mut record = Envelope {
                node: self.name.clone().map(|name| Run { name, since: self.since() }),
                seen: Some((last, hash)),
                ..Envelope::empty(level, self.id, Token(self.session), 0, ChangeTime::Clock.now())
            };
            let (flight, until) = state.queue.take_record(&mut record);
            state.flights.by_number.insert(record.number, flight);
            drop(state);
            record.until = until.map(|until| {
                let left = u64::try_from(until.saturating_duration_since(began).as_millis()).unwrap_or(u64::MAX);
                record.sent.saturating_add(left).saturating_add_signed(self.shared.clock_drift.ahead())
            });
            let (number, commands) = (record.number, record.commands.len());
            match record.bytes() {
                Ok(bytes) => return Some(Sending { number, bytes, commands, last, began, may_be_there: false }),
                Err(error) => {
                    tracing::error!(%error, number, commands, "a record for the command log cannot be written");
                    thread::sleep(PAUSE);
                    self.refuse(number, &error);
                }
            }
        }
    }

    /// The log keeps a record at an offset.
    fn kept(&self, sending: &Sending, offset: u64) {
        if self.shared.vitals.appends.end() {
            tracing::info!("the command log takes records again");
        }
        if offset <= sending.last {
            self.doubts.store(true, Ordering::Relaxed);
        }
        self.shared.appended_records.add(1);
        self.shared.appended_commands.add(sending.commands);
        self.change(|flights| flights.kept = sending.number);
    }

    /// Answers the commands of a record that is not in the log, and never will be. Asks for another one, for the reads that wait
    /// for this one.
    pub(super) fn refuse(&self, number: u64, error: &Error) {
        let flight = self.state.lock().flights.by_number.remove(&number);
        flight.into_iter().flat_map(|flight| flight.tells).for_each(|tell| told(&tell, Err(error.clone())));
        // An error: the writer is closed.
        let _ = self.ask();
    }
}

/// Longest wait for the answer to one append of a record of so many bytes.
pub(super) fn attempt(bytes: usize) -> Duration {
    ATTEMPT + Duration::from_micros(u64::try_from(bytes).unwrap_or(u64::MAX))
}
