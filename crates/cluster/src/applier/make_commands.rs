//! Makes the commands of the log.

use serde_json::value::RawValue;

use super::super::checkpoint::Mark;
use super::super::record::read_command;
use super::{AGAIN, Applier, End, WAIT};
use crate::prelude::*;
use config::Refusal;
use feed::store::MARK;
use feed::streaming::ChangeTime;
use feed::{Command, Group, Made};

impl Applier {
    /// Makes the commands of a record behind the first `done`, in groups; `after` is the mark behind each. Returns their outcomes.
    /// A store that takes no changes at present only delays them.
    pub(super) fn make(
        &self,
        record: Refusal,
        commands: &[Box<RawValue>],
        done: u64,
        after: impl Fn(u64) -> Mark,
    ) -> Result<Vec<Made>, End> {
        let (vitals, sequencer) = (&self.shared.vitals, self.feed.streaming().sequencer());
        let mut outcomes = Vec::new();
        loop {
            let begin = done + outcomes.len() as u64;
            if begin >= commands.len() as u64 {
                return Ok(outcomes);
            }
            let sequence = sequencer.sequence();
            match self.make_group(&Refusal { command: begin, ..record }, commands, &after)? {
                Ok(made) => {
                    vitals.is_blocked.store(false, Ordering::Relaxed);
                    outcomes.extend(made);
                }
                Err(error) => {
                    // Nothing was written. The next attempt gets the times and ids of this one, as at the other nodes.
                    sequencer.go_on_from(&sequence);
                    if !vitals.is_blocked.swap(true, Ordering::Relaxed) {
                        let offset = record.offset;
                        tracing::warn!(%error, offset, "commands of the log wait until the storage takes changes");
                    }
                    thread::sleep(AGAIN);
                    if self.shared.is_stopping() {
                        return Err(End::Stopped);
                    }
                }
            }
        }
    }

    /// Makes the commands behind a place as one group, as many as a group takes. An error in place of outcomes tells that the store
    /// of this node alone takes no changes at present: all others go on, so this one must follow.
    fn make_group(
        &self,
        place: &Refusal,
        commands: &[Box<RawValue>],
        after: impl Fn(u64) -> Mark,
    ) -> Result<Result<Vec<Made>>, End> {
        let (mut made, mut group): (Vec<Made>, Option<Group<'_>>) = Default::default();
        let time = ChangeTime::Log(after(place.command + 1).time);
        for (text, done) in commands.iter().zip(1..).skip(place.command as usize) {
            let place = Refusal { command: done, ..*place };
            if self.refused.contains(&place) {
                tracing::warn!(refusal = %place, "a command of the log is refused, as cluster.refuse says");
                made.push(Err(Error::refused(Code::LogUnavailable, "the operators of the cluster refused it")));
                continue;
            }
            let command = read_command(text).map_err(|error| fault(&place, &error))?;
            let jobs = self.jobs(&command);
            match &group {
                None => self.wait_for_room(jobs)?,
                // Jobs of the group have their room until its end.
                Some(group) if !group.takes(&command) || !self.feed.backlog().wait_for_room(jobs, Duration::ZERO) => {
                    break;
                }
                Some(_) => {}
            }
            if matches!(command, Command::EndErasure(_)) {
                // It writes the group itself, and is alone in it.
                self.note(&self.mark_now(after(done))).map_err(|error| fault(&place, &error))?;
            }
            match group.get_or_insert_with(|| Group::begin(&self.making, time)).make(command) {
                Err(error) if error.code() == Some(Code::StorageUnavailable) => return Ok(Err(error)),
                Err(error) if !is_refusal(&error) => return Err(fault(&place, &error)),
                outcome => made.push(outcome),
            }
        }
        let written = group.map_or(Ok(()), |group| self.write(group, after(place.command + made.len() as u64)));
        match written {
            Err(error) if error.code() != Some(Code::StorageUnavailable) => {
                Err(End::Fault(format!("the record at offset {} cannot be applied: {error}", place.offset)))
            }
            written => Ok(written.map(|()| made)),
        }
    }

    /// Writes a group with the mark behind it. Others see its changes no earlier than its mark.
    fn write(&self, group: Group<'_>, after: Mark) -> Result<()> {
        let after = self.mark_now(after);
        self.note(&after)?;
        let before = self.shared.mark.send_replace(after);
        group.end().inspect_err(|_| _ = self.shared.mark.send_replace(before))
    }

    fn note(&self, mark: &Mark) -> Result<()> {
        self.making.store().note_group(MARK, &mark.bytes()?)
    }

    /// The jobs of a command for which there must be room: its settles. Before the node has caught up nobody waits for it, so
    /// also the fan-outs, rather than leave out items. An import has time, too.
    fn jobs(&self, command: &Command) -> usize {
        let has_time = !self.shared.vitals.has_served() || command.waits();
        if has_time { command.jobs() } else { command.settles() }
    }

    fn wait_for_room(&self, jobs: usize) -> Result<(), End> {
        while jobs > 0 && !self.feed.backlog().wait_for_room(jobs, WAIT) {
            if self.shared.is_stopping() {
                return Err(End::Stopped);
            }
        }
        Ok(())
    }
}

/// Whether all nodes refuse the command.
fn is_refusal(error: &Error) -> bool {
    error.code().is_some_and(|code| code.status() < 500 || code == Code::Overloaded)
}

fn fault(place: &Refusal, error: &Error) -> End {
    let at = place.offset;
    End::Fault(format!("a command of the record at offset {at} cannot be applied: {error} (\"{place}\")"))
}
