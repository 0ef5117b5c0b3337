//! The part of a node that appends to the log.
//!
//! All commands that wait go into one record, and one record is under way at a time: the more there is to do, the more
//! commands share an append. A read that must see all acknowledged changes asks for a *read index*: the next record that is
//! sent after the question, with commands or without. Once this node has applied it, it has applied all that came before
//! it in the log, and so all that any node acknowledged before the question.
//!
//! A command is answered when its record is applied here *and* kept by the log: a record that readers see may still be
//! lost until it is acknowledged. An acknowledged record vouches for all records before it.
//!
//! An append without an answer is sent again with the same number; nodes apply only one of them. After
//! `cluster.timeout` the writer gives it up and sends a record with the next number. If that is applied and the other
//! one was not, the other one never will be, because nodes ignore numbers that do not rise.
//!
//! A caller waits for twice the timeout, or less if its own request ends before. A command that waits for the first half of
//! this without being sent is taken back, and refused for certain. The record tells the end of the other half, by the clock
//! of the log: bytes may lie in a socket for minutes, and a command that comes after its caller's answer could undo a newer
//! one. A leader whose clock is set back meanwhile takes it all the same.

mod appending;
mod in_flight;
mod queue;

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};

use parking_lot::Condvar;

use self::in_flight::{Flights, told};
use self::queue::{Queue, never_sent};
use super::log::Log;
use super::record::{Digests, MOST_BYTES, Note, Token, write_command};
use super::shared_state::Shared;
use crate::prelude::*;
use config::NodeName;
use feed::{Command, Outcome, Propose, answer_due};
use model::Histogram;

/// The part of a record beside its commands, at most.
const ENVELOPE: usize = 1 << 10;
/// Commands and their bytes that may wait.
const MOST_WAITING: usize = 16_384;
const MOST_WAITING_BYTES: usize = 64 << 20;
/// A record that is not applied and kept within this time makes a node a slow one.
pub(super) const SLOW: Duration = Duration::from_secs(1);
/// Bounds of the classes in which waits for the read index are counted, nanoseconds: from 1 ms to 10 s.
const WAITS: [u64; 9] =
    [1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000, 200_000_000, 1_000_000_000, 10_000_000_000];

/// Appends commands, and empty records for the read index.
pub(super) struct Writer {
    log: Arc<dyn Log>,
    shared: Arc<Shared>,
    /// The id of the log.
    id: Token,
    /// See [`Envelope::node`](super::record::Envelope::node).
    name: Option<NodeName>,
    /// This run of the node.
    pub(super) session: u64,
    /// The offset of the first record of this run; 0 until it is applied.
    since: AtomicU64,
    timeout: Duration,
    state: Mutex<State>,
    filled: Condvar,
    /// Whether a record was kept at a place that this node has passed: then the log was cut, or made anew.
    pub(super) doubts: AtomicBool,
    /// Waits of reads for the read index.
    pub(super) read_index_waits: Histogram,
}

/// Commands on their way.
#[derive(Default)]
struct State {
    queue: Queue,
    flights: Flights,
}

/// A command that waits for its outcome.
struct Proposal {
    ticket: u64,
    outcome: Receiver<Result<Box<dyn Outcome>>>,
    since: Instant,
    /// For how long its caller waits.
    time_limit: Duration,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("session", &Token(self.session)).finish_non_exhaustive()
    }
}

impl Writer {
    /// The writer of a node with this name, or without one.
    pub(super) fn new(
        log: Arc<dyn Log>,
        shared: Arc<Shared>,
        name: Option<NodeName>,
        session: u64,
        timeout: Duration,
    ) -> Self {
        let id = shared.mark.borrow().log;
        Self {
            log,
            shared,
            id,
            name,
            session,
            since: AtomicU64::new(0),
            timeout,
            state: Mutex::default(),
            filled: Condvar::new(),
            doubts: AtomicBool::new(false),
            read_index_waits: Histogram::of_durations(&WAITS),
        }
    }

    /// The offset of the first record of this run, once it is applied.
    pub(super) fn since(&self) -> Option<u64> {
        Some(self.since.load(Ordering::Relaxed)).filter(|since| *since > 0)
    }

    /// An own record at an offset is applied. The first one is followed by another, which tells an older run of the node
    /// that this one is alive.
    pub(super) fn begins_at(&self, offset: u64) {
        if self.since().is_none() {
            self.since.store(offset, Ordering::Relaxed);
            // An error: the node stops.
            let _ = self.ask();
        }
    }

    /// For how long the oldest record that is not served waits; zero if none does.
    pub(super) fn oldest_wait(&self) -> Duration {
        let State { queue, flights } = &*self.state.lock();
        let sent = flights.by_number.first_key_value().map(|(_, flight)| flight.since);
        sent.or(queue.since).map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Whether records of this node are served slowly. To know whether that goes on, a slow node without a record under
    /// way asks for one.
    pub(super) fn is_slow(&self) -> bool {
        let is_slow = &self.shared.vitals.is_slow;
        match self.oldest_wait() {
            waits if waits >= SLOW => is_slow.store(true, Ordering::Relaxed),
            // An error: the writer is closed.
            Duration::ZERO if is_slow.load(Ordering::Relaxed) => _ = self.ask(),
            _ => {}
        }
        is_slow.load(Ordering::Relaxed)
    }

    /// Commands that wait, and are under way.
    pub(super) fn waiting(&self) -> usize {
        let State { queue, flights } = &*self.state.lock();
        queue.waiting.len() + flights.by_number.values().map(|flight| flight.tells.len()).sum::<usize>()
    }

    /// Waits until this node has applied all that any node acknowledged before the call; `log_unavailable` if that
    /// takes longer than `cluster.timeout`, or the log cannot be reached; `storage_unavailable` while this node cannot
    /// apply anything.
    pub(super) async fn read_index(&self) -> Result<()> {
        self.shared.vitals.health().can_wait()?;
        let began = Instant::now();
        let ticket = self.ask()?;
        let mut served = self.shared.vitals.served.subscribe();
        let reached = tokio::time::timeout(self.timeout, served.wait_for(|served| *served >= ticket)).await;
        self.read_index_waits.observe_duration(began.elapsed());
        match reached {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Code::LogUnavailable.into()),
        }
    }

    /// Asks for a record that is sent after this call, and returns its number.
    pub(super) fn ask(&self) -> Result<u64> {
        self.fill(|queue| {
            queue.asks_read_index = true;
            Ok(queue.taken + 1)
        })
    }

    /// Asks for a record that makes all nodes take their digests. Returns the id of the comparison: this one, or that of
    /// another question that waits for the same record.
    pub(super) fn ask_comparison(&self, id: Token) -> Result<Token> {
        self.shared.vitals.health().can_wait()?;
        self.fill(|queue| {
            let waiting =
                queue.notes.iter().find_map(|note| if let Note::Compare(id) = note { Some(*id) } else { None });
            if waiting.is_none() {
                queue.notes.push_back(Note::Compare(id));
            }
            Ok(waiting.unwrap_or(id))
        })
    }

    /// Tells the other nodes the digests of this one, with the next record.
    pub(super) fn report(&self, digests: Digests) {
        // An error: the node stops.
        let _ = self.fill(|queue| {
            queue.notes.push_back(Note::Digests(digests));
            Ok(())
        });
    }

    /// Puts something into the queue for the next record.
    fn fill<T>(&self, fill: impl FnOnce(&mut Queue) -> Result<T>) -> Result<T> {
        let queue = &mut self.state.lock().queue;
        if queue.closed {
            return Err(Code::Stopping.into());
        }
        let filled = fill(queue)?;
        queue.since.get_or_insert_with(Instant::now);
        self.filled.notify_one();
        Ok(filled)
    }

    /// The time by the clock of this node at which an own record was sent first. `None` once it is decided.
    pub(super) fn sent_at(&self, number: u64) -> Option<Millis> {
        self.state.lock().flights.by_number.get(&number).map(|flight| flight.sent)
    }

    /// An own record is applied. Called once for each number that is applied, ascending.
    pub(super) fn applied(&self, number: u64, outcomes: Vec<Result<Box<dyn Outcome>>>) {
        self.change(|flights| {
            flights.applied = number;
            if let Some(flight) = flights.by_number.get_mut(&number) {
                flight.outcomes = Some(outcomes);
            }
        });
    }

    /// Changes the flights, and answers the commands whose fate is known then.
    fn change(&self, change: impl FnOnce(&mut Flights)) {
        let (mut state, vitals) = (self.state.lock(), &self.shared.vitals);
        let flights = &mut state.flights;
        change(flights);
        let now_served = flights.served();
        // The first one has waited until the node had caught up.
        if let Some(waited) = flights.answer().filter(|_| vitals.has_served()) {
            vitals.is_slow.store(waited >= SLOW, Ordering::Relaxed);
        }
        drop(state);
        vitals.served.send_if_modified(|served| std::mem::replace(served, now_served) != now_served);
    }

    /// Ends [`Writer::run`]; commands that wait are refused.
    pub(super) fn close(&self) {
        let queue = &mut self.state.lock().queue;
        queue.closed = true;
        queue.waiting.drain(..).for_each(|waiting| told(&waiting.tell, Err(Code::Stopping.into())));
        self.filled.notify_all();
    }

    /// Lets a command wait for the next record. Its caller waits since an instant.
    fn begin(&self, command: &Command, since: Instant) -> Result<Proposal> {
        let longest = 2 * self.timeout;
        let time_limit = answer_due().map_or(longest, |due| longest.min(due.saturating_duration_since(since)));
        if time_limit.is_zero() {
            return Err(never_sent());
        }
        let text = write_command(command)?;
        let bytes = text.get().len();
        if bytes + ENVELOPE > MOST_BYTES {
            return Err(Error::refused(Code::BodyTooLarge, "the change is larger than a record of the command log"));
        }
        self.shared.vitals.health().can_wait()?;
        let (tell, outcome) = sync_channel(1);
        let ticket = self.fill(|queue| {
            if queue.waiting.len() >= MOST_WAITING || queue.bytes + bytes > MOST_WAITING_BYTES {
                return Err(Error::refused(
                    Code::Overloaded,
                    "too many changes wait for the command log. Send the request again later",
                ));
            }
            Ok(queue.push(text, tell, [since + time_limit / 2, since + time_limit]))
        })?;
        Ok(Proposal { ticket, outcome, since, time_limit })
    }

    /// Waits for the outcome of a command. One that is not sent for half of the time is taken back. The record is given up
    /// after the timeout, and its fate is known soon after that, if ever.
    fn outcome(&self, Proposal { ticket, outcome, since, time_limit }: Proposal) -> Result<Box<dyn Outcome>> {
        for part in [time_limit / 2, time_limit] {
            match outcome.recv_timeout(part.saturating_sub(since.elapsed())) {
                Ok(outcome) => return outcome,
                Err(RecvTimeoutError::Timeout) if self.state.lock().queue.withdraw(ticket) => return Err(never_sent()),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
        Err(Code::OutcomeUnknown.into())
    }
}

impl Propose for Writer {
    fn propose(&self, commands: Vec<Command>) -> Vec<Result<Box<dyn Outcome>>> {
        // They have one end, and none is sent after one that was refused.
        let (since, mut refusal) = (Instant::now(), None);
        let begun: Vec<_> = commands
            .iter()
            .map(|command| match &refusal {
                None => self.begin(command, since).inspect_err(|error| refusal = Some(error.clone())),
                Some(error) => Err(Error::clone(error)),
            })
            .collect();
        drop(commands);
        begun.into_iter().map(|begun| begun.and_then(|proposal| self.outcome(proposal))).collect()
    }
}

#[cfg(test)]
mod tests;
