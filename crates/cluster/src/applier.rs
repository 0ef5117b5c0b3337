//! The part of a node that applies the log: one thread, one record after another.

mod checks;
mod make_commands;

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::checkpoint::Mark;
use super::comparison::Comparer;
use super::log::{Log, NotRead, Record};
use super::log_tail::LogTail;
use super::membership::LogMembership;
use super::record::{Envelope, Note, Stamp, Token, Unread, chain, unread_level};
use super::runs::Runs;
use super::shared_state::Shared;
use super::writer::Writer;
use crate::prelude::*;
use config::{Agreed, Refusal};
use feed::Core;
use feed::store::MARK;
use feed::streaming::ChangeTime;

/// Longest wait for a record, or for room for jobs, before the thread looks whether it is to stop.
const WAIT: Duration = Duration::from_millis(200);
/// Pause before a log that does not answer is read again, or a command that the store could not write is tried again.
const AGAIN: Duration = Duration::from_millis(200);
/// How often the mark is written without a change.
const MARK_EVERY: Duration = Duration::from_secs(1);

/// Applies records.
pub(super) struct Applier {
    pub(super) feed: Arc<Feed>,
    /// The same service for the changes.
    pub(super) making: Core,
    pub(super) log: Arc<dyn Log>,
    pub(super) writer: Arc<Writer>,
    pub(super) shared: Arc<Shared>,
    /// The settings of all nodes.
    pub(super) agreed: Agreed,
    pub(super) log_tail: LogTail,
    /// Commands that all nodes refuse, by their settings.
    pub(super) refused: Vec<Refusal>,
    /// Whether the log was read again since the records under way came: its last record, and all that the tail has.
    pub(super) checked: [bool; 2],
    /// The last warning of a record that is not applied, and of a writer that has seen another log.
    pub(super) told: [Option<Instant>; 2],
    pub(super) comparer: Comparer,
    pub(super) runs: Runs,
}

/// Why the thread ends.
enum End {
    /// It is told to stop.
    Stopped,
    /// The node cannot go on.
    Fault(String),
}

impl Applier {
    /// Applies records until told to stop, or until one cannot be applied.
    pub(super) fn run(mut self) {
        let ended = catch_unwind(AssertUnwindSafe(|| self.follow()))
            .unwrap_or_else(|_| Err(End::Fault("its thread panicked; the server log has the cause".to_owned())));
        match ended {
            // The mark on the disk is that of the last change; the next start goes on from there.
            Err(End::Fault(why)) if !self.shared.is_stopping() => {
                tracing::error!(cause = why, "this node has stopped: it cannot apply the command log");
                self.shared.vitals.fault.send_replace(Some(why));
            }
            Err(End::Fault(_)) => {}
            Ok(()) | Err(End::Stopped) => self.write_mark(),
        }
        self.writer.close();
        self.comparer.end();
    }

    fn follow(&mut self) -> Result<(), End> {
        let (mut written, mut looked) = (self.position(), Instant::now());
        while !self.shared.is_stopping() {
            if self.writer.doubts.swap(false, Ordering::Relaxed) {
                self.check(false)?;
            }
            let read = self.log.read(self.position(), WAIT);
            self.checked = [false; 2];
            match &read {
                Err(NotRead::Unreachable(_)) => self.shared.vitals.reads.note(),
                _ => self.shared.vitals.reads.end(),
            };
            match read {
                Ok(records) => {
                    for record in records {
                        if self.shared.is_stopping() {
                            break;
                        }
                        self.apply(&record)?;
                    }
                }
                Err(NotRead::Unreachable(why)) => {
                    tracing::debug!(cause = why, "the command log cannot be read");
                    std::thread::sleep(AGAIN);
                }
                Err(NotRead::Gone(why)) => {
                    return Err(End::Fault(format!(
                        "the record at offset {} of the command log is not there: {why}. If the topic was made anew or \
                         cut, or keeps records for too short a time, start this node from a backup of another one",
                        self.position()
                    )));
                }
            }
            if looked.elapsed() >= MARK_EVERY {
                looked = Instant::now();
                if self.shared.vitals.has_served() && self.shared.comparisons.is_due() {
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
        let mark = self.mark_now(self.shared.mark.borrow().clone());
        if let Err(error) = mark.bytes().and_then(|mark| self.feed.store().put_notes(&[(MARK, Some(&mark))])) {
            tracing::debug!(%error, "the place in the command log could not be written");
        }
    }

    /// A mark with the state of the sequence and the tail of the log of now.
    fn mark_now(&self, mark: Mark) -> Mark {
        Mark { sequence: self.feed.streaming().sequencer().sequence(), anchor: self.log_tail.anchor(), ..mark }
    }

    /// Applies a record, and begins the comparison for which it asks.
    fn apply(&mut self, record: &Record) -> Result<(), End> {
        let present = self.shared.mark.borrow().clone();
        let at = record.offset;
        if at <= present.last {
            return Ok(());
        }
        let hash = chain(present.hash, record);
        let envelope = match Envelope::read(&record.bytes) {
            Ok(envelope) if envelope.log == present.log => Some(envelope),
            Err(Unread::Level(Stamp { level, log })) if log == present.log => {
                let (who, way_out) = unread_level(level);
                return Err(End::Fault(format!("{who} wrote the record at offset {at} (level {level}). {way_out}")));
            }
            Ok(_) | Err(_) => None,
        };
        let Some(mut envelope) = envelope else {
            self.pass_over(record)?;
            self.go_on(Mark { last: at, before: present.hash, hash, done: 0, ..present });
            return Ok(());
        };
        self.compare(at, envelope.seen)?;
        self.runs.note(at, &envelope, (self.writer.session, self.writer.since())).map_err(End::Fault)?;
        let is_new = present.sessions.is_new(envelope.session, envelope.number);
        let mut whole = Mark {
            last: at,
            before: present.hash,
            hash,
            done: 0,
            time: present.time.max(envelope.time(record.time)),
            level: present.level.max(envelope.level),
            ..present.clone()
        };
        let mut outcomes = Vec::new();
        if is_new {
            if !envelope.only_begins_a_session() {
                whole.sessions.note(envelope.session, envelope.number, whole.time);
            }
            if envelope.is_late(record.time) {
                outcomes.extend(envelope.commands.drain(..).map(|_| Err(too_late())));
                tracing::warn!(
                    offset = at,
                    changes = outcomes.len(),
                    "a record came too late; its changes are not made"
                );
            }
            let last = envelope.commands.len() as u64;
            let after = |done| match done == last {
                true => whole.clone(),
                false => Mark { done, time: whole.time, level: whole.level, ..present.clone() },
            };
            let record = Refusal { offset: at, command: 0, hash: hash.0 };
            outcomes.extend(self.make(record, &envelope.commands, present.done, after)?);
            self.shared.commands.add(last.saturating_sub(present.done) as usize);
        }
        let note = envelope.note.filter(|_| is_new);
        if let Some(Note::Agreed(agreed)) = &note
            && *agreed != self.agreed
        {
            return Err(self.take_over(whole, agreed.clone()));
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
        match (note, envelope.node) {
            (Some(Note::Compare(id)), _) => {
                let (stop, writer) = (self.shared.stop.subscribe(), Arc::clone(&self.writer));
                let tell = move |digests| writer.report(digests);
                self.comparer.begin((id, at + 1, time), &self.feed, &self.shared.comparisons, stop, tell);
            }
            (Some(Note::Digests(digests)), Some(run)) if !is_own => self.shared.comparisons.reported(run.name, digests),
            _ => {}
        }
        Ok(())
    }

    /// Takes over new settings, which are in force from the next start on.
    fn take_over(&self, mut mark: Mark, agreed: Agreed) -> End {
        mark.final_before = self.agreed.final_before(mark.time, mark.final_before);
        let membership = LogMembership { log: mark.log, agreed };
        End::Fault(match membership.write(self.feed.store(), &self.mark_now(mark)) {
            Ok(()) => "the cluster has agreed on other settings. Start it again: it uses them then".to_owned(),
            Err(error) => format!("new settings of the cluster cannot be written: {error}"),
        })
    }

    /// The record after the present one is applied, or passed over.
    fn go_on(&mut self, mark: Mark) {
        let (last, hash) = (mark.last, mark.hash);
        self.shared.mark.send_replace(mark);
        self.log_tail.push(last, hash);
        self.shared.position.send_replace(last + 1);
    }
}

/// The answer to the commands of a record that the log took too late.
fn too_late() -> Error {
    Error::refused(Code::LogUnavailable, "the command log took the change too late; nothing has changed")
}
