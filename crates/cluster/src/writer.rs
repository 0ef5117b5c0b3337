//! The part of a node that appends to the log.
//!
//! All commands that wait go into one record, and one record is under way at a time: the more there is to do, the more
//! commands share an append. A read that must see all acknowledged changes asks for a *barrier*: the next record that is
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
//! one.

mod flights;
mod queue;

use std::fmt;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tokio::sync::watch;

use self::flights::{Flight, Flights};
use self::queue::{Next, Queue, never_sent, told};
use super::log::{Log, NotAppended};
use super::outage::Outage;
use super::record::{Digests, Envelope, MOST_BYTES, Run, Token, write_command};
use config::NodeName;
use feed::streaming::ChangeTime;
use feed::{Command, Outcome, Propose, answer_due};
use model::error::{Code, Error, Result};
use model::{Histogram, Millis};

/// The part of a record beside its commands, at most.
const ENVELOPE: usize = 1 << 10;
/// Commands and their bytes that may wait.
const MOST_WAITING: usize = 16_384;
const MOST_WAITING_BYTES: usize = 64 << 20;
/// Longest wait for the answer to one append of a small record. It is a microsecond longer for each byte, so that a large
/// record comes at its first attempt over 1 MB/s.
const ATTEMPT: Duration = Duration::from_secs(2);
/// A record that is not applied and kept within this time makes a node a slow one.
pub(super) const SLOW: Duration = Duration::from_secs(1);
/// Pause after an append without an answer, which may have failed at once.
const PAUSE: Duration = Duration::from_millis(50);
/// Bounds of the classes in which waits for barriers are counted, nanoseconds: from 1 ms to 10 s.
const WAITS: [u64; 9] =
    [1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000, 200_000_000, 1_000_000_000, 10_000_000_000];

/// The place of this node in the log.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// The offset of the last record that is applied, and the hash of the log up to it.
    pub(super) last: u64,
    pub(super) hash: u64,
    /// The level in force.
    pub(super) level: u32,
    /// How far the clock of the log is ahead of that of this node, milliseconds.
    pub(super) ahead: i64,
}

/// Tells the place.
pub(super) type Look = Box<dyn Fn() -> Seen + Send + Sync>;

/// Appends commands and barriers.
pub(super) struct Writer {
    log: Arc<dyn Log>,
    id: Token,
    /// See [`Envelope::node`].
    name: Option<NodeName>,
    /// This run of the node.
    pub(super) session: u64,
    /// The offset of the first record of this run; 0 until it is applied.
    since: AtomicU64,
    timeout: Duration,
    seen: Look,
    queue: Mutex<Queue>,
    filled: Condvar,
    flights: Mutex<Flights>,
    /// The number of the last own record that is applied and kept.
    served: watch::Sender<u64>,
    /// Whether the last append had no answer.
    pub(super) outage: Outage,
    /// Whether this node cannot apply a command at present, for lack of room on its device.
    pub(super) is_blocked: AtomicBool,
    /// Whether a record was kept at a place that this node has passed: then the log was cut, or made anew.
    pub(super) doubts: AtomicBool,
    /// Whether the last record that was served, or the oldest one that is not yet, took too long.
    is_slow: AtomicBool,
    pub(super) counts: Counts,
}

/// The work of a writer in figures, since the start.
#[derive(Debug)]
pub(super) struct Counts {
    /// Records that the log keeps, barriers included.
    pub(super) records: AtomicU64,
    /// Commands in them.
    pub(super) commands: AtomicU64,
    /// Waits of reads for a barrier.
    pub(super) barriers: Histogram,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("session", &Token(self.session)).finish_non_exhaustive()
    }
}

impl Writer {
    pub(super) fn new(
        log: Arc<dyn Log>,
        id: u64,
        node: (Option<NodeName>, u64),
        timeout: Duration,
        seen: Look,
    ) -> Self {
        let (name, session) = node;
        let counts = Counts {
            records: AtomicU64::new(0),
            commands: AtomicU64::new(0),
            barriers: Histogram::of_durations(&WAITS),
        };
        Self {
            log,
            id: Token(id),
            name,
            session,
            since: AtomicU64::new(0),
            timeout,
            seen,
            queue: Mutex::default(),
            filled: Condvar::new(),
            flights: Mutex::default(),
            served: watch::Sender::new(0),
            outage: Outage::default(),
            is_blocked: AtomicBool::new(false),
            doubts: AtomicBool::new(false),
            is_slow: AtomicBool::new(false),
            counts,
        }
    }

    /// Whether a barrier was ever applied: until then the node may lag far behind.
    pub(super) fn has_served(&self) -> bool {
        *self.served.borrow() > 0
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
        let queued = self.queue.lock().since;
        let sent = self.flights.lock().by_number.first_key_value().map(|(_, flight)| flight.since);
        sent.or(queued).map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Whether records of this node are served slowly. To know whether that goes on, a slow node without a record under
    /// way asks for one.
    pub(super) fn is_slow(&self) -> bool {
        match self.oldest_wait() {
            waits if waits >= SLOW => self.is_slow.store(true, Ordering::Relaxed),
            // An error: the writer is closed.
            Duration::ZERO if self.is_slow.load(Ordering::Relaxed) => _ = self.ask(),
            _ => {}
        }
        self.is_slow.load(Ordering::Relaxed)
    }

    /// Commands that wait, and are under way.
    pub(super) fn waiting(&self) -> usize {
        let waiting = self.queue.lock().waiting.len();
        waiting + self.flights.lock().by_number.values().map(|flight| flight.tells.len()).sum::<usize>()
    }

    /// Waits until this node has applied all that any node acknowledged before the call; `log_unavailable` if that
    /// takes longer than `cluster.timeout`, or the log cannot be reached; `storage_unavailable` while this node cannot
    /// apply anything.
    pub(super) async fn barrier(&self) -> Result<()> {
        if self.outage.lasts() {
            return Err(Code::LogUnavailable.into());
        }
        if self.is_blocked.load(Ordering::Relaxed) {
            return Err(Code::StorageUnavailable.into());
        }
        let began = Instant::now();
        let ticket = self.ask()?;
        let mut served = self.served.subscribe();
        let reached = tokio::time::timeout(self.timeout, served.wait_for(|served| *served >= ticket)).await;
        self.counts.barriers.observe_duration(began.elapsed());
        match reached {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Code::LogUnavailable.into()),
        }
    }

    /// Asks for a record that is sent after this call, and returns its number.
    pub(super) fn ask(&self) -> Result<u64> {
        let mut queue = self.queue.lock();
        if queue.closed {
            return Err(Code::Stopping.into());
        }
        queue.barrier = true;
        queue.begin();
        self.filled.notify_one();
        Ok(queue.next)
    }

    /// Asks for a record that makes all nodes take their digests. Returns the id of the comparison: this one, or that of
    /// another question that waits for the same record.
    pub(super) fn ask_comparison(&self, id: Token) -> Result<Token> {
        if self.outage.lasts() {
            return Err(Code::LogUnavailable.into());
        }
        let mut queue = self.queue.lock();
        if queue.closed {
            return Err(Code::Stopping.into());
        }
        let id = *queue.compare.get_or_insert(id);
        queue.begin();
        self.filled.notify_one();
        Ok(id)
    }

    /// Tells the other nodes the digests of this one, with the next record.
    pub(super) fn report(&self, digests: Digests) {
        let mut queue = self.queue.lock();
        queue.digests = Some(digests);
        queue.begin();
        self.filled.notify_one();
    }

    /// Appends records until [`Writer::close`].
    pub(super) fn run(&self) {
        while let Some(Next { number, since, commands, tells, until, compare, digests }) = self.next() {
            let count = commands.len() as u64;
            let Seen { last, hash, level, ahead } = (self.seen)();
            let sent = ChangeTime::Clock.now();
            let by_log = |until: Instant| {
                let left = until.saturating_duration_since(Instant::now()).as_millis();
                sent.saturating_add(u64::try_from(left).unwrap_or(u64::MAX)).saturating_add_signed(ahead)
            };
            let envelope = Envelope {
                node: self.name.clone().map(|name| Run { name, since: self.since() }),
                until: until.map(by_log),
                seen: Some((last, Token(hash))),
                compare,
                digests,
                commands,
                ..Envelope::empty(level, self.id, Token(self.session), number, sent)
            };
            let flight = Flight { sent, since, tells, outcomes: None };
            self.flights.lock().by_number.insert(number, flight);
            let kept = envelope.bytes().ok().and_then(|bytes| self.append(number, &bytes));
            if let Some(offset) = kept {
                if offset <= last {
                    self.doubts.store(true, Ordering::Relaxed);
                }
                self.counts.records.fetch_add(1, Ordering::Relaxed);
                self.counts.commands.fetch_add(count, Ordering::Relaxed);
                self.change(|flights| flights.kept = number);
            } else {
                // A later record decides the fate of this one.
                let mut queue = self.queue.lock();
                queue.barrier = true;
                queue.begin();
            }
        }
        self.change(|flights| flights.by_number.clear());
    }

    /// The next record. Waits for a reason to append one; `None` after [`Writer::close`].
    fn next(&self) -> Option<Next> {
        let mut queue = self.queue.lock();
        self.filled.wait_while(&mut queue, |queue| !queue.closed && !queue.wants_record());
        if queue.closed {
            return None;
        }
        Some(queue.next_record())
    }

    /// Appends one record, and returns its offset; `None` if its fate is unknown, or it is refused.
    fn append(&self, number: u64, bytes: &[u8]) -> Option<u64> {
        let (began, mut may_be_there) = (Instant::now(), false);
        loop {
            let why = match self.log.append(bytes, attempt(bytes.len()).min(self.timeout)) {
                Ok(offset) => {
                    if self.outage.end() {
                        tracing::info!("the command log takes records again");
                    }
                    return Some(offset);
                }
                Err(why) => why,
            };
            if self.outage.note() {
                tracing::warn!(cause = %why, "the command log does not take records");
            }
            match why {
                NotAppended::Refused(why) if !may_be_there => {
                    self.refuse(number, &why);
                    std::thread::sleep(PAUSE);
                    return None;
                }
                // A refusal says nothing of the attempts before it.
                NotAppended::Refused(_) => {}
                NotAppended::Unknown(_) => may_be_there = true,
            }
            if began.elapsed() >= self.timeout || self.queue.lock().closed {
                return None;
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Answers the commands of a record that is not in the log, and never will be.
    fn refuse(&self, number: u64, why: &str) {
        let flight = self.flights.lock().by_number.remove(&number);
        let detail = format!("the command log refused the change; nothing has changed: {why}");
        let error = || Error::refused(Code::LogUnavailable, &detail);
        flight.into_iter().flat_map(|flight| flight.tells).for_each(|tell| told(&tell, Err(error())));
    }

    /// The time by the clock of this node at which an own record was sent first. `None` once it is decided.
    pub(super) fn sent_at(&self, number: u64) -> Option<Millis> {
        self.flights.lock().by_number.get(&number).map(|flight| flight.sent)
    }

    /// An own record is applied. Called once for each number that is applied, ascending.
    pub(super) fn applied(&self, number: u64, outcomes: Vec<Result<Outcome>>) {
        self.change(|flights| {
            flights.applied = number;
            if let Some(flight) = flights.by_number.get_mut(&number) {
                flight.outcomes = Some(outcomes);
            }
        });
    }

    /// Changes the flights, and answers the commands whose fate is known then.
    fn change(&self, change: impl FnOnce(&mut Flights)) {
        let mut flights = self.flights.lock();
        change(&mut flights);
        let served = flights.served();
        // The first one has waited until the node had caught up.
        if let Some(waited) = flights.answer().filter(|_| self.has_served()) {
            self.is_slow.store(waited >= SLOW, Ordering::Relaxed);
        }
        drop(flights);
        self.served.send_if_modified(|present| mem::replace(present, served) != served);
    }

    /// Ends [`Writer::run`]; commands that wait are refused.
    pub(super) fn close(&self) {
        let mut queue = self.queue.lock();
        queue.closed = true;
        queue.waiting.drain(..).for_each(|waiting| told(&waiting.tell, Err(Code::Stopping.into())));
        self.filled.notify_all();
    }
}

impl Propose for Writer {
    fn propose(&self, command: Command) -> Result<Outcome> {
        let (needed, level) = (command.level(), (self.seen)().level);
        if needed > level {
            let detail = format!(
                "this change needs level {needed} of the command log, and level {level} is in force. Once all nodes are \
                 updated, run \"tideline cluster upgrade\""
            );
            return Err(Error::refused(Code::LogUnavailable, detail));
        }
        let since = Instant::now();
        let longest = 2 * self.timeout;
        let patience = answer_due().map_or(longest, |due| longest.min(due.saturating_duration_since(since)));
        if patience.is_zero() {
            return Err(never_sent());
        }
        let text = write_command(&command)?;
        drop(command);
        let (tell, outcome) = sync_channel(1);
        let bytes = text.get().len();
        if bytes + ENVELOPE > MOST_BYTES {
            return Err(Error::refused(Code::BodyTooLarge, "the change is larger than a record of the command log"));
        }
        if self.is_blocked.load(Ordering::Relaxed) {
            return Err(Code::StorageUnavailable.into());
        }
        if self.outage.lasts() {
            return Err(Code::LogUnavailable.into());
        }
        let mut queue = self.queue.lock();
        if queue.closed {
            return Err(Code::Stopping.into());
        }
        if queue.waiting.len() >= MOST_WAITING || queue.bytes + bytes > MOST_WAITING_BYTES {
            return Err(Error::refused(
                Code::Overloaded,
                "too many changes wait for the command log. Send the request again later",
            ));
        }
        let ticket = queue.push(text, tell, [since + patience / 2, since + patience]);
        self.filled.notify_one();
        drop(queue);
        match outcome.recv_timeout((patience / 2).saturating_sub(since.elapsed())) {
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Timeout) if self.queue.lock().withdraw(ticket) => return Err(never_sent()),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        // The record is given up after the timeout, and its fate is known soon after that, if ever.
        match outcome.recv_timeout(patience.saturating_sub(since.elapsed())) {
            Ok(outcome) => outcome,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Err(Code::OutcomeUnknown.into()),
        }
    }
}

/// The answer to the commands of a record that the log took too late.
pub(super) fn too_late() -> Error {
    Error::refused(Code::LogUnavailable, "the command log took the change too late; nothing has changed")
}

/// Longest wait for the answer to one append of a record of so many bytes.
fn attempt(bytes: usize) -> Duration {
    ATTEMPT + Duration::from_micros(u64::try_from(bytes).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
