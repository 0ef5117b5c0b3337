//! The part of a node that applies the log: one thread, one record after another.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::value::RawValue;
use tokio::sync::watch;

use super::clock_drift::ClockDrift;
use super::comparison::{Asked, Comparer, Comparisons};
use super::log::{Log, NotRead, Record};
use super::mark::Mark;
use super::membership::LogMembership;
use super::outage::Outage;
use super::record::{Envelope, Stamp, Token, Unread, chain, read_command};
use super::runs::Runs;
use super::trail::{ANCHOR, Trail};
use super::writer::{Writer, too_late};
use config::{Agreed, Refusal};
use feed::streaming::{ChangeTime, FIRST_LEVEL};
use feed::{Command, Feed, Outcome};
use model::error::{Code, Error, Result};
use model::store::MARK;

/// Longest wait for a record before the thread looks whether it is to stop.
const WAIT: Duration = Duration::from_millis(200);
/// Pause before a command that the store could not write is tried again.
const AGAIN: Duration = Duration::from_millis(200);
/// How often the mark is written without a change.
const MARK_EVERY: Duration = Duration::from_secs(1);
/// Warnings of records that are passed over, and of nodes that have seen another log, come no more often.
const TELL_EVERY: Duration = Duration::from_secs(60);

/// The state that the applier shares with the rest of the node.
#[derive(Debug)]
pub(super) struct Shared {
    /// The mark as it is when the command under way has been applied.
    pub(super) mark: Mutex<Mark>,
    /// Whether it is that before the command instead, with the course and the names of then.
    pub(super) is_before: AtomicBool,
    /// The offset after the last record that is applied as a whole.
    pub(super) position: watch::Sender<u64>,
    /// Why the node has stopped itself.
    pub(super) fault: watch::Sender<Option<String>>,
    /// Told to stop.
    pub(super) stop: watch::Sender<bool>,
    /// Commands applied since the start.
    pub(super) commands: AtomicU64,
    /// Entries of the log that are no records of it, since the start.
    pub(super) passed_over: AtomicU64,
    /// The digests of this node.
    pub(super) comparisons: Arc<Comparisons>,
    /// Whether the last read of the log had no answer.
    pub(super) outage: Outage,
    /// The clock of the log beside the clock of this node.
    pub(super) clock_drift: ClockDrift,
}

/// Applies records.
pub(super) struct Applier {
    pub(super) feed: Arc<Feed>,
    pub(super) log: Arc<dyn Log>,
    pub(super) writer: Arc<Writer>,
    pub(super) shared: Arc<Shared>,
    /// The settings of all nodes.
    pub(super) agreed: Agreed,
    pub(super) trail: Trail,
    /// Commands that all nodes refuse, by their settings.
    pub(super) refused: Vec<Refusal>,
    /// Whether the log was read again since the records under way came: its last record, and all that the trail has.
    pub(super) checked: [bool; 2],
    /// The last warning of a record that is not applied, and of a writer that has seen another log.
    pub(super) told: [Option<Instant>; 2],
    pub(super) comparer: Comparer,
    pub(super) runs: Runs,
    /// Whether a command could not be made. The node then stops, and the mark is that before the command.
    pub(super) went_back: AtomicBool,
}

/// The node cannot go on: the reason.
struct Fault(String);

impl Applier {
    /// Applies records until told to stop, or until one cannot be applied.
    pub(super) fn run(mut self) {
        let ended = catch_unwind(AssertUnwindSafe(|| self.follow()))
            .unwrap_or_else(|_| Err(Fault("its thread panicked; the server log has the cause".to_owned())));
        let is_told = *self.shared.stop.borrow();
        if let Err(Fault(why)) = ended
            && !is_told
        {
            tracing::error!(cause = why, "this node has stopped: it cannot apply the command log");
            self.shared.fault.send_replace(Some(why));
        }
        self.write_mark();
        self.writer.close();
        self.comparer.end();
    }

    fn follow(&mut self) -> Result<(), Fault> {
        let (mut written, mut looked) = (self.position(), Instant::now());
        while !*self.shared.stop.borrow() {
            if self.writer.doubts.swap(false, Ordering::Relaxed) {
                self.check(Trail::check)?;
            }
            let read = self.log.read(self.position(), WAIT);
            self.checked = [false; 2];
            match &read {
                Err(NotRead::Unreachable(_)) => self.shared.outage.note(),
                _ => self.shared.outage.end(),
            };
            match read {
                Ok(records) => {
                    for record in records {
                        if *self.shared.stop.borrow() {
                            break;
                        }
                        if let Some(asked) = self.apply(&record)? {
                            let (stop, writer) = (self.shared.stop.subscribe(), Arc::clone(&self.writer));
                            let tell = move |digests| writer.report(digests);
                            self.comparer.begin(asked, &self.feed, &self.shared.comparisons, stop, tell);
                        }
                    }
                }
                Err(NotRead::Unreachable(why)) => {
                    tracing::debug!(cause = why, "the command log cannot be read");
                    std::thread::sleep(AGAIN);
                }
                Err(NotRead::Gone(why)) => {
                    return Err(Fault(format!(
                        "the record at offset {} of the command log is not there: {why}. If the topic was made anew or \
                         cut, or keeps records for too short a time, start this node from a backup of another one",
                        self.position()
                    )));
                }
            }
            if looked.elapsed() >= MARK_EVERY {
                looked = Instant::now();
                if self.writer.has_served() && self.shared.comparisons.is_due() {
                    // Without an answer of the log, the next look asks again.
                    let _ = Token::random().and_then(|id| self.writer.ask_comparison(id));
                }
                if written != self.position() {
                    written = self.position();
                    self.write_mark();
                }
            }
        }
        Ok(())
    }

    /// The offset of the next record.
    fn position(&self) -> u64 {
        *self.shared.position.borrow()
    }

    /// Writes the mark without a change. If that fails, the next start applies some commands again.
    fn write_mark(&self) {
        let store = self.feed.store();
        let mark = self.shared.mark.lock().clone();
        let (name, course) = (store.highest_name(), self.feed.streaming().sequencer().course());
        // A command that was not made may have left a name in the store that no other node has given.
        let is_whole = self.went_back.load(Ordering::Relaxed);
        let anchor = self.trail.anchor(mark.log);
        let bytes = if is_whole { mark.bytes() } else { Mark { name, course, ..mark }.bytes() };
        if let Err(error) = store.put_notes(&[(MARK, Some(&bytes)), (ANCHOR, Some(&anchor))]) {
            tracing::debug!(%error, "the place in the command log could not be written");
        }
    }

    /// Applies a record. Returns the comparison for which it asks.
    fn apply(&mut self, record: &Record) -> Result<Option<Asked>, Fault> {
        let present = self.shared.mark.lock().clone();
        let at = record.offset;
        if at <= present.last {
            return Ok(None);
        }
        let hash = chain(present.hash, record);
        let envelope = match Envelope::read(&record.bytes) {
            _ if Stamp::of(&record.bytes).is_none_or(|stamp| stamp.log != Token(present.log)) => None,
            Ok(envelope) => Some(envelope),
            Err(Unread::Newer(level)) => {
                return Err(Fault(format!(
                    "a later version of Tideline wrote the record at offset {at} (level {level}). Update this node; its \
                     data is whole"
                )));
            }
            Err(Unread::Foreign(_)) => None,
        };
        let Some(mut envelope) = envelope else {
            self.pass_over(record)?;
            self.go_on(Mark { last: at, before: present.hash, hash, done: 0, ..present });
            return Ok(None);
        };
        self.compare(at, envelope.seen)?;
        self.runs.note(at, &envelope, (self.writer.session, self.writer.since())).map_err(Fault)?;
        let is_new = present.sessions.is_new(envelope.session.0, envelope.number);
        let mut whole = Mark {
            last: at,
            before: present.hash,
            hash,
            done: 0,
            time: present.time.max(envelope.time(record.time)),
            level: present.level.max(envelope.level.into()),
            ..present.clone()
        };
        let mut outcomes = Vec::new();
        if is_new {
            if !envelope.only_begins_a_session() {
                whole.sessions.note(envelope.session.0, envelope.number, whole.time);
            }
            if envelope.is_late(record.time) {
                outcomes.extend(envelope.commands.drain(..).map(|_| Err(too_late())));
                tracing::warn!(
                    offset = at,
                    changes = outcomes.len(),
                    "a record came too late; its changes are not made"
                );
            }
            let late = outcomes.len();
            let last = envelope.commands.len();
            for (command, done) in envelope.commands.iter().zip(1..).skip(present.done as usize) {
                let refusal = Refusal { offset: at, command: done, hash };
                if self.refused.contains(&refusal) {
                    tracing::warn!(%refusal, "a command of the log is refused, as cluster.refuse says");
                    outcomes.push(Err(Error::refused(Code::LogUnavailable, "the operators of the cluster refused it")));
                    continue;
                }
                let before = Mark { done: done - 1, time: whole.time, level: whole.level, ..present.clone() };
                let after = if done as usize == last { whole.clone() } else { Mark { done, ..before.clone() } };
                let made = self.make(at, command, before, after);
                outcomes.push(made.map_err(|Fault(why)| Fault(format!("{why} (\"{refusal}\")")))?);
            }
            self.shared.commands.fetch_add((outcomes.len() - late) as u64, Ordering::Relaxed);
        }
        if let Some(agreed) = envelope.agreed.filter(|agreed| is_new && *agreed != self.agreed) {
            return Err(self.take_over(whole, agreed));
        }
        let time = whole.time;
        let is_own = is_new && envelope.session.0 == self.writer.session;
        let sent = is_own.then(|| self.writer.sent_at(envelope.number)).flatten();
        self.shared.clock_drift.note(at, record.time, sent, ChangeTime::Clock.now());
        self.feed.streaming().set_log_time(time);
        self.go_on(whole);
        if is_own {
            self.writer.begins_at(at);
            self.writer.applied(envelope.number, outcomes);
        }
        if let Some((run, digests)) = envelope.node.zip(envelope.digests).filter(|_| is_new && !is_own) {
            self.shared.comparisons.reported(run.name, digests);
        }
        Ok(envelope.compare.filter(|_| is_new).map(|id| Asked { id, position: at + 1, time }))
    }

    /// Takes over new settings, which are in force from the next start on.
    fn take_over(&self, mut mark: Mark, agreed: Agreed) -> Fault {
        mark.final_before = self.agreed.final_before(mark.time, mark.final_before);
        let (store, log) = (self.feed.store(), Token(mark.log));
        let (name, course) = (store.highest_name(), self.feed.streaming().sequencer().course());
        let written = LogMembership { log, agreed }.write(&**store, &Mark { name, course, ..mark.clone() });
        match written {
            Ok(()) => {
                // The thread writes the mark once more when it ends.
                *self.shared.mark.lock() = mark;
                Fault("the cluster has agreed on other settings. Start it again: it uses them then".to_owned())
            }
            Err(error) => Fault(format!("new settings of the cluster cannot be written: {error}")),
        }
    }

    /// The record after the present one is applied, or passed over.
    fn go_on(&mut self, mark: Mark) {
        let (last, hash) = (mark.last, mark.hash);
        *self.shared.mark.lock() = mark;
        self.trail.push(last, hash);
        self.shared.position.send_replace(last + 1);
    }

    /// Notes an entry that is no record of this log, but of another log or another program. All nodes pass over it alike,
    /// so that nobody who can write to the topic stops them. It may also be the first sign that the topic was made anew.
    fn pass_over(&mut self, record: &Record) -> Result<(), Fault> {
        if !std::mem::replace(&mut self.checked[0], true) {
            self.check(Trail::check_last)?;
        }
        let passed_over = 1 + self.shared.passed_over.fetch_add(1, Ordering::Relaxed);
        let is_news = is_due(&mut self.told[0]);
        if is_news && let Some(stamp) = Stamp::of(&record.bytes) {
            let log = String::from(stamp.log);
            tracing::warn!(offset = record.offset, passed_over, log, "a record of another command log is passed over");
        } else if is_news {
            let (offset, bytes) = (record.offset, record.bytes.len());
            tracing::warn!(
                offset,
                passed_over,
                bytes,
                "another program has written to the command log; this is passed over"
            );
        }
        Ok(())
    }

    /// Compares the log as another node has seen it with the log as this node has applied it. If they differ, one of the
    /// two has applied records that the log has lost. Only that one stops, and the log alone tells which.
    fn compare(&mut self, at: u64, seen: Option<(u64, Token)>) -> Result<(), Fault> {
        let Some((offset, Token(hash))) = seen else { return Ok(()) };
        // The writer had applied a record at this offset before it wrote this one: so it had another log.
        let is_ahead = offset >= at;
        if !is_ahead && !self.trail.differs(offset, hash) {
            return Ok(());
        }
        if !is_ahead && !std::mem::replace(&mut self.checked[1], true) {
            self.check(Trail::check)?;
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

    /// Stops this node if the log does not lead to its place.
    fn check(&self, check: impl Fn(&Trail, &dyn Log, &dyn Fn() -> bool) -> Result<(), String>) -> Result<(), Fault> {
        let stop = self.shared.stop.subscribe();
        check(&self.trail, &*self.log, &|| *stop.borrow()).map_err(|why| {
            Fault(format!(
                "this node has applied the command log up to offset {}, and {why}: the log was cut or made anew. Start \
                 this node from a backup of one that goes on",
                self.position().saturating_sub(1)
            ))
        })
    }

    /// Applies one command. A store that takes no changes at present only delays it. If it cannot be applied, the mark is
    /// again that before the command, so that the next start does not pass it over.
    fn make(&self, at: u64, text: &RawValue, before: Mark, after: Mark) -> Result<Result<Outcome>, Fault> {
        let (store, sequencer) = (self.feed.store(), self.feed.streaming().sequencer());
        let before = Mark { name: store.highest_name(), course: sequencer.course(), ..before };
        let made = self.try_to_make(at, text, &before, &after);
        if made.is_err() {
            self.went_back.store(true, Ordering::Relaxed);
            self.go_back(&before);
        }
        {
            // Together, as an answer meanwhile looks at both.
            let mut mark = self.shared.mark.lock();
            if made.is_ok() {
                *mark = after;
            }
            self.shared.is_before.store(false, Ordering::Relaxed);
        }
        self.writer.is_blocked.store(false, Ordering::Relaxed);
        made
    }

    /// Lets times, ids and names go on from a mark.
    fn go_back(&self, before: &Mark) {
        self.feed.streaming().sequencer().take_course(&before.course);
        self.feed.store().continue_names(before.name);
        *self.shared.mark.lock() = before.clone();
    }

    /// Waits until there is room for the settle jobs of a command. Before the node has caught up nobody waits for it, so it
    /// also waits for room for the fan-outs, rather than leave out items. An import has time, too.
    fn wait_for_room(&self, command: &Command) -> Result<(), Fault> {
        let has_time = !self.writer.has_served() || command.waits();
        let jobs = if has_time { command.jobs() } else { command.settles() };
        while jobs > 0 && !self.feed.backlog().wait_for_room(jobs, WAIT) {
            if *self.shared.stop.borrow() {
                return Err(Fault("it was stopped while it had no room for jobs".to_owned()));
            }
        }
        Ok(())
    }

    fn try_to_make(&self, at: u64, text: &RawValue, before: &Mark, after: &Mark) -> Result<Result<Outcome>, Fault> {
        let fault = |error: &Error| Fault(format!("a command of the record at offset {at} cannot be applied: {error}"));
        let mut told = false;
        loop {
            let command = read_command(text).map_err(|error| fault(&error))?;
            self.wait_for_room(&command)?;
            // A crash between two writes of a command must not pass over the second one. To make all of it again is safe.
            let is_before = !command.is_one_write();
            {
                let mut mark = self.shared.mark.lock();
                *mark = if is_before { before.clone() } else { after.clone() };
                self.shared.is_before.store(is_before, Ordering::Relaxed);
            }
            let level = u32::try_from(after.level).unwrap_or(FIRST_LEVEL);
            let time = ChangeTime::Log { time: after.time, level };
            let error = match catch_unwind(AssertUnwindSafe(|| self.feed.apply(command, time))) {
                Ok(Ok(outcome)) => return Ok(Ok(outcome)),
                Ok(Err(error)) => error,
                Err(_) => return Err(fault(&Error::Panicked("in a command".to_owned()))),
            };
            match error.code() {
                // The store of this node alone: all others go on, so this one must follow.
                Some(Code::StorageUnavailable) => {}
                Some(code) if code.status() < 500 || code == Code::Overloaded => return Ok(Err(error)),
                _ => return Err(fault(&error)),
            }
            self.writer.is_blocked.store(true, Ordering::Relaxed);
            if !std::mem::replace(&mut told, true) {
                tracing::warn!(%error, offset = at, "a command of the log waits until the storage takes changes");
            }
            self.go_back(before);
            std::thread::sleep(AGAIN);
            if *self.shared.stop.borrow() {
                return Err(Fault("it was stopped while its storage took no changes".to_owned()));
            }
        }
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
