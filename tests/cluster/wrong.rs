//! Faults of a node that the machine must notice, made from outside of it.

use std::collections::HashMap;

use cluster::{Log, Record};
use fastrand::Rng;
use feed::streaming::{ChangeTime, SequenceState};
use feed::{Command, Feed};
use model::Millis;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::nodes::reach;
use crate::promises::replay::made;
use crate::promises::system::System;

/// A rule that is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// A read takes an earlier read index for its own.
    ReadIndexReused,
    /// A read waits for the end of the log, as the log tells it.
    EndAsReadIndex,
    /// A change is answered before it is applied.
    AnsweredEarly,
    /// The place in the log is written apart from the changes.
    MarkOutside,
    /// The record of a session is noted apart from its changes.
    NotedLate,
    /// A record that comes twice is made twice.
    NoDuplicates,
    /// The time of the log is that of the clock of its leader, whatever the writer's clock says.
    LeaderClock,
    /// A record that comes after its callers have gone is made.
    NoDeadline,
    /// Of two runs of a node both go on.
    NoRuns,
}

/// How far the log may be ahead of the clock of a writer, milliseconds.
pub(crate) const AHEAD: Millis = 60_000;
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);

/// Waits for the end of the log.
pub(crate) fn end_as_read_index(log: &dyn Log, system: &System) -> Result<(), String> {
    match log.bounds(PATIENCE) {
        Ok(bounds) => reach(system, bounds.end),
        Err(_) => Ok(()),
    }
}

/// A mark that does not know one of its sessions, and the session (`crates/cluster/src/checkpoint.rs`).
pub(crate) fn without_a_session(mark: &[u8], random: &mut Rng) -> Option<(Vec<u8>, u64)> {
    let mut mark: Value = serde_json::from_slice(mark).expect("JSON");
    let sessions = mark["sessions"].as_array_mut().expect("a list");
    if sessions.is_empty() {
        return None;
    }
    let gone = sessions.remove(random.usize(..sessions.len()));
    let session = u64::from_str_radix(gone[0].as_str().expect("a token"), 16).expect("a token");
    Some((serde_json::to_vec(&mark).expect("writes"), session))
}

/// Whether a record has commands, and is of this session.
pub(crate) fn has_commands_of(bytes: &[u8], session: u64) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.contains(&format!("\"session\":\"{session:016x}\"")) && !text.ends_with("\"commands\":[]}")
}

/// Applies all records of the log with this id, at the times that `at` makes of theirs.
pub(crate) fn follow(log: &str, records: &[Record], feed: &Feed, at: impl Fn(Millis) -> ChangeTime) {
    #[derive(Deserialize)]
    struct Parts {
        log: String,
        session: String,
        number: u64,
        sent: Millis,
        until: Option<Millis>,
        commands: Vec<Box<RawValue>>,
    }
    let read = |record: &Record| serde_json::from_slice::<Parts>(&record.bytes).ok();
    let (mut time, mut sessions) = (records[0].time, HashMap::new());
    feed.streaming().sequencer().go_on_from(&SequenceState::new(time));
    for record in &records[1..] {
        let Some(parts) = read(record).filter(|parts| parts.log == log) else { continue };
        time = time.max(record.time.min(parts.sent + AHEAD));
        let last = sessions.entry(parts.session).or_insert(0);
        if *last < parts.number {
            *last = parts.number;
            if parts.until.is_some_and(|until| record.time > until) {
                continue;
            }
            for command in parts.commands {
                let command: Command = serde_json::from_str(command.get()).expect("a command");
                // Refusals are the same everywhere.
                drop(made(feed, command, at(time)));
                feed.streaming().set_log_time(time);
            }
        }
    }
}
