//! Records of the command log as bytes: JSON, so that any tool can read them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::log::Record;
use crate::prelude::*;
use config::{Agreed, NodeName};
use feed::Command;

/// The level of a new command log, and the lowest one that is read. CONTRIBUTING says when another version raises it.
pub(super) const FIRST_LEVEL: u32 = 5;
/// The highest level of a command log that this version reads. A log has one level in force, which never falls. Nodes write
/// it, so that nodes of the version before can read along until all of them are updated; then `tideline cluster upgrade`
/// brings the new level into force. Builds for tests read one more, so that this can be tried.
pub const LEVEL: u32 = if cfg!(feature = "failpoints") { FIRST_LEVEL + 1 } else { FIRST_LEVEL };
/// Most bytes of a record: the body of a batch, written anew as JSON, fits.
pub(super) const MOST_BYTES: usize = 32 << 20;
/// How far the log may be ahead of the clock of a writer. One broker whose clock is far ahead must not date all later
/// changes, and a writer whose clock is a little behind must not hold the time back.
const AHEAD: Millis = 60_000;

/// A record.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Envelope {
    /// See [`LEVEL`].
    pub(super) level: u32,
    /// The log to which it belongs; see [`log_id`]. In the first record of a log a random number, for no two are alike then.
    pub(super) log: Token,
    /// The node that wrote it; `None` for a command of an operator, which may run while the node of its settings runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) node: Option<Run>,
    /// The run of a node, or of such a command, that wrote it.
    pub(super) session: Token,
    /// Rises from record to record of a session, from 1. Of two records of a session with one number, or out of order,
    /// only the first counts.
    pub(super) number: u64,
    /// The clock of the writer when it made the record.
    pub(super) sent: Millis,
    /// If the log takes the record later than this, by its own clock, no node makes its commands: their callers have an
    /// answer, and may have made other changes since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) until: Option<Millis>,
    /// The last record that the writer had applied, and the hash of the log up to it. A node whose log was another up
    /// to there stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) seen: Option<(u64, Token)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<Note>,
    /// The changes, in their order. None in an empty record.
    #[serde(default)]
    pub(super) commands: Vec<Box<RawValue>>,
}

/// A message of a record to all nodes, beside its changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Note {
    /// The beginning of the log: only in its first record.
    Genesis(Genesis),
    /// Settings that all nodes take over at this place. They start again for that.
    Agreed(Agreed),
    /// Each node takes the digests of its store at this place of the log, for a comparison with this id.
    Compare(Token),
    /// The digests of the writer, for the other nodes to compare with their own.
    Digests(Digests),
}

/// A run of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    pub(super) name: NodeName,
    /// The offset of its first record: its *incarnation*. `None` as long as the run has not read that record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) since: Option<u64>,
}

/// The result of a node in a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Digests {
    pub(super) of: Token,
    /// The digest of each table, cut to 64 bits.
    pub(super) tables: BTreeMap<String, Token>,
}

/// The beginning of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Genesis {
    /// Whether the log goes on from the data of a directory. Then a node cannot begin with an empty one.
    pub(super) has_base: bool,
    /// The settings of all nodes.
    pub(super) agreed: Agreed,
}

/// A number of 64 bits as 16 hexadecimal digits: JSON readers lose bits of large numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(super) struct Token(pub(super) u64);

impl Token {
    /// One that no other node takes.
    pub(super) fn random() -> Result<Self> {
        let mut bytes = [0; 8];
        aws_lc_rs::rand::fill(&mut bytes).map_err(|_| Error::Setup("the system gives no random numbers".to_owned()))?;
        Ok(Self(u64::from_be_bytes(bytes)))
    }
}

impl From<Token> for String {
    fn from(Token(bits): Token) -> Self {
        format!("{bits:016x}")
    }
}

impl TryFrom<String> for Token {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, &'static str> {
        let token = u64::from_str_radix(&text, 16).map(Token).ok();
        // One spelling only.
        token.filter(|token| String::from(*token) == text).ok_or("expected 16 hexadecimal digits")
    }
}

/// Why bytes are not a record that this version can apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unread {
    /// A version wrote it whose level this one does not read.
    Level(Stamp),
    /// It is no record of a command log.
    Foreign(String),
}

/// The version that wrote records of a level which this one does not read, and the way out.
pub(super) fn unread_level(level: u32) -> (&'static str, &'static str) {
    match level > LEVEL {
        true => ("a later version of Tideline", "Update this node; its data is whole"),
        false => (
            "an earlier version of Tideline",
            "Its changes have another meaning now. \"tideline cluster recover\" begins another log with the data of a node",
        ),
    }
}

/// The only fields that every version has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) struct Stamp {
    pub(super) level: u32,
    pub(super) log: Token,
}

impl Stamp {
    /// Of a record of any version and of any log; `None` if it is no such record.
    pub(super) fn of(record: &Record) -> Option<Self> {
        let stamp: Self = serde_json::from_slice(&record.bytes).ok()?;
        Some(if record.offset == 0 { Self { log: log_id(record), ..stamp } } else { stamp })
    }
}

impl Envelope {
    /// Whether it is the empty record with which a session begins. No record of the session came before it, so it need not be
    /// remembered.
    pub(super) fn only_begins_a_session(&self) -> bool {
        self.number == 1 && self.note.is_none() && self.commands.is_empty()
    }

    /// The time of the record in the log, which took it at this time by its own clock. The time of the log never falls,
    /// so it is this or that of the record before.
    pub(super) fn time(&self, taken: Millis) -> Millis {
        taken.min(self.sent.saturating_add(AHEAD))
    }

    /// Whether it is too late for its commands.
    pub(super) fn is_late(&self, taken: Millis) -> bool {
        self.until.is_some_and(|until| taken > until)
    }

    /// A record without commands, made at this time.
    pub(super) fn empty(level: u32, log: Token, session: Token, number: u64, sent: Millis) -> Self {
        Self { level, log, session, number, sent, ..Self::default() }
    }

    /// As bytes.
    pub(super) fn bytes(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self).map_err(|e| Error::Corrupt(format!("a record cannot be written: {e}")))
    }

    /// From bytes.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Unread> {
        let foreign = |e: serde_json::Error| Unread::Foreign(e.to_string());
        let stamp: Stamp = serde_json::from_slice(bytes).map_err(foreign)?;
        if !(FIRST_LEVEL..=LEVEL).contains(&stamp.level) {
            return Err(Unread::Level(stamp));
        }
        serde_json::from_slice(bytes).map_err(foreign)
    }
}

/// A command as JSON.
pub(super) fn write_command(command: &Command) -> Result<Box<RawValue>> {
    let text = serde_json::value::to_raw_value(command)
        .map_err(|e| Error::Corrupt(format!("a command cannot be written: {e}")))?;
    // In the log, a command that cannot be read would stop all nodes.
    read_command(&text)?;
    Ok(text)
}

/// A command from JSON.
pub(super) fn read_command(text: &RawValue) -> Result<Command> {
    serde_json::from_str(text.get()).map_err(|e| Error::Corrupt(format!("a command of the log cannot be read: {e}")))
}

/// The hash of a log that has this as its next record; `before` is the hash up to there. The time at which the log took the
/// record counts: a record that is lost and sent again has the same bytes, and another time.
pub(super) fn chain(Token(before): Token, record: &Record) -> Token {
    Token(xxh3_64_with_seed(&record.bytes, xxh3_64_with_seed(&record.time.to_be_bytes(), before)))
}

/// The id of the log that begins with this record. The log makes it: neither a directory nor a copy of the record in another
/// topic can give it to a second log.
pub(super) fn log_id(first: &Record) -> Token {
    chain(Token(0), first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::Config;

    #[test]
    fn a_record_is_json_with_a_level_that_all_versions_read() {
        let empty =
            Envelope { seen: Some((3, Token(9))), ..Envelope::empty(FIRST_LEVEL, Token(0xA1), Token(u64::MAX), 7, 50) };
        let bytes = empty.bytes().expect("writes");
        let golden = r#"{"level":L,"log":"00000000000000a1","session":"ffffffffffffffff","number":7,"sent":50,"seen":[3,"0000000000000009"],"commands":[]}"#;
        let golden = golden.replace('L', &FIRST_LEVEL.to_string());
        assert_eq!(String::from_utf8_lossy(&bytes), golden);
        let read = Envelope::read(&bytes).expect("reads");
        assert_eq!((read.number, read.seen, read.commands.len()), (7, Some((3, Token(9))), 0));
        let whole = golden
            .replace("\"session", r#""node":{"name":"a","since":4},"session"#)
            .replace("50,", r#"50,"until":60,"#)
            .replace(
                "],\"commands",
                r#"],"note":{"digests":{"of":"0000000000000007","tables":{"t":"0000000000000006"}}},"commands"#,
            );
        let read = Envelope::read(whole.as_bytes()).expect("reads");
        assert!(read.until == Some(60) && matches!(read.note, Some(Note::Digests(_))));
        assert_eq!(String::from_utf8(read.bytes().expect("writes")), Ok(whole));
        for level in [1, 9] {
            let present = format!("\"level\":{FIRST_LEVEL}");
            let other = golden.replace(&present, &format!("\"level\":{level}")).replace("commands", "orders");
            assert_eq!(
                Envelope::read(other.as_bytes()).expect_err("another version's"),
                Unread::Level(Stamp { level, log: Token(0xA1) })
            );
        }
        for foreign in ["", "{}", "hello", r#"{"level":1}"#, &golden.replace("00a1", "00A1")] {
            assert!(matches!(Envelope::read(foreign.as_bytes()), Err(Unread::Foreign(_))), "{foreign}");
        }
    }

    #[test]
    fn the_clock_of_the_log_counts_unless_it_is_far_ahead_of_the_writer() {
        let sent = 1_700_000_000_000;
        let record = Envelope { until: Some(sent + 20_000), ..Envelope::empty(1, Token(1), Token(2), 3, sent) };
        for taken in [0, sent - 1, sent + 5000, sent + AHEAD] {
            assert_eq!(record.time(taken), taken);
        }
        assert_eq!(record.time(sent + 31_536_000_000), sent + AHEAD);
        assert_eq!(Envelope { sent: u64::MAX, ..record }.time(sent), sent);
    }

    #[test]
    fn a_record_is_late_after_its_deadline() {
        let record = Envelope { until: Some(70), ..Envelope::empty(1, Token(1), Token(2), 3, 50) };
        assert!(!record.is_late(0) && !record.is_late(70) && record.is_late(71));
        assert!(!Envelope { until: None, ..record }.is_late(u64::MAX));
    }

    #[test]
    fn the_first_record_has_the_settings() {
        let genesis = Genesis { has_base: true, agreed: Config::default().agreed() };
        let text = serde_json::to_string(&genesis).expect("writes");
        assert_eq!(serde_json::from_str::<Genesis>(&text).expect("reads"), genesis);
        let golden = r#"{"has_base":true,"agreed":{"include_own":false,"deleted_retention":"30d","max_ahead":"10m","accept":"any","server":0,"follow_limit":1000,"topic_limit":1000,"reaction_kinds":["like","favorite"],"notices_keep":"90d"}}"#;
        assert_eq!(text, golden);
        assert_eq!(serde_json::from_str::<Genesis>(golden).expect("reads"), genesis);
    }

    #[test]
    fn a_chain_depends_on_every_record_before_and_on_its_time() {
        let record = |offset, time, text: &str| Record { offset, time, bytes: text.into() };
        let chained = |records: [(u64, Millis, &str); 2]| {
            records.into_iter().fold(Token(0), |hash, (offset, time, text)| chain(hash, &record(offset, time, text)))
        };
        let one = chained([(1, 50, "a"), (2, 60, "b")]);
        assert_eq!(one, Token(GOLDEN), "marks on disk have such hashes");
        for other in [[(1, 50, "b"), (2, 60, "a")], [(1, 50, "a"), (2, 61, "b")], [(1, 51, "a"), (2, 60, "b")]] {
            assert_ne!(chained(other), one);
        }
        assert_ne!(chain(Token(0), &record(1, 50, "ab")), one);
    }

    #[test]
    fn a_log_is_named_by_its_first_record_and_the_time_at_which_it_took_it() {
        let bytes = Envelope::empty(FIRST_LEVEL, Token(1), Token(2), 1, 50).bytes().expect("writes");
        let record = |offset, time| Record { offset, time, bytes: bytes.clone() };
        let log = |record: &Record| Stamp::of(record).expect("a stamp").log;
        assert_eq!(log(&record(0, 50)), log_id(&record(0, 50)));
        assert_ne!(log(&record(0, 50)), log(&record(0, 51)), "a copy in another topic");
        assert_eq!(log(&record(1, 50)), Token(1));
    }

    const GOLDEN: u64 = 9_895_641_053_954_380_493;
}
