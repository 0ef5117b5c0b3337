//! Records the log: commands of a seed in records of several sessions, with all that a log may have.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use cluster::{FIRST_LEVEL, LogMembership, Record};
use config::{Agreed, Config, Duration};
use fastrand::Rng;
use model::ReactionKinds;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::commands::{Commands, REACTIONS};
use super::fold::Fold;
use super::tape::{Tape, Way};
use crate::promises::names::Ids;
use crate::promises::seed::pick;

/// How far a time may jump back, milliseconds.
const BACK: u64 = 5000;
/// How far a clock of the log jumps ahead for one record, milliseconds.
const AHEAD: u64 = 365 * 86_400_000;
/// The time that a writer leaves for a record.
const LEFT: u64 = 20_000;
/// Records that may come once more.
const ECHOES: usize = 50;
/// Writers of the log at a time.
const SESSIONS: usize = 5;
/// Records of which a writer may name the last one that it has applied.
const SEEN: u64 = 3000;
/// Comparisons for which the log asks.
const COMPARISONS: u64 = 12;
/// Changes of the settings of all nodes.
const TAKEN_OVER: u64 = 3;

/// Makes the records.
pub(crate) struct Maker {
    commands: Commands,
    tape: Arc<Tape>,
    log: String,
    sessions: Vec<(u64, u64)>,
    /// The hash of the log up to each record.
    hashes: Vec<u64>,
    echoes: VecDeque<Vec<u8>>,
    /// Records that came twice or late.
    pub(crate) repeated: u64,
}

/// Settings of all nodes.
fn agreed(random: &mut Rng) -> Agreed {
    let mut config = Config::default();
    config.graph.follow_limit = pick(random, &[8, 20, 30]);
    config.content.max_ahead = Duration::from_millis(pick(random, &[300, 1000, 600_000]));
    config.content.deleted_retention = Duration::from_millis(pick(random, &[20_000, 60_000, 600_000]));
    config.topics.limit = pick(random, &[5, 40]);
    config.timeline.include_own = random.bool();
    let kinds = pick(random, &[&REACTIONS[..2], &REACTIONS[..3], &REACTIONS[1..], &["a b", "like"]]);
    config.reactions.kinds = ReactionKinds::new(kinds.iter().map(|name| (*name).to_owned()).collect()).expect("names");
    config.agreed()
}

/// The hash of a log with one more record (`crates/cluster/src/record.rs`).
fn chain(before: u64, time: u64, bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, xxh3_64_with_seed(&time.to_be_bytes(), before))
}

impl Maker {
    /// Records a log of so many commands, while the fold applies it.
    pub(crate) fn record(path: &Path, ids: Ids, seed: u64, wanted: u64) -> (Arc<Tape>, Fold, u64) {
        let mut random = Rng::with_seed(seed);
        let tape = Tape::new(path);
        let settings = agreed(&mut random);
        let founded = LogMembership::found(&*Way::new(&tape, 0, u64::MAX), None, settings.clone()).expect("begins");
        let first = tape.get(0);
        let mut fold = Fold::new(settings, first.time);
        let mut maker = Self {
            commands: Commands::new(ids, random.fork()),
            tape: Arc::clone(&tape),
            log: founded.log,
            sessions: (0..SESSIONS).map(|_| (random.u64(1..), 0)).collect(),
            hashes: vec![chain(0, first.time, &first.bytes)],
            echoes: VecDeque::new(),
            repeated: 0,
        };
        let (mut compared, mut taken_over) = (1, 1);
        while fold.commands() < wanted {
            let done = fold.commands();
            let mut extra = String::new();
            if done * (TAKEN_OVER + 1) > taken_over * wanted {
                taken_over += 1;
                let agreed = serde_json::to_string(&agreed(&mut random)).expect("writes");
                extra = format!(r#""agreed":{agreed},"#);
            } else if done * (COMPARISONS + 1) > compared * wanted {
                compared += 1;
                extra = format!(r#""compare":"{:016x}","#, random.u64(..));
            }
            let record = maker.next(&extra);
            fold.read(&record);
            if random.u32(..50) == 0 {
                maker.commands.learn(&fold.feed);
            }
            maker.commands.learn_erasure(&fold.feed);
            fold.rest();
        }
        let repeated = maker.repeated;
        (tape, fold, repeated)
    }

    fn next(&mut self, extra: &str) -> Record {
        let random = &mut self.commands.random;
        self.commands.now += match random.u32(..5000) {
            // The servers were off for a while.
            0 => random.u64(..600_000),
            1..200 => random.u64(..2000),
            _ => pick(random, &[0, 1, 1, 5, 40]),
        };
        let ahead = if random.u32(..1000) == 0 { AHEAD } else { 0 };
        let back = if random.u32(..100) < 6 { random.u64(..BACK) } else { 0 };
        let now = self.commands.now;
        let time = now - back.min(now - super::commands::BEGIN) + ahead;
        let sent = now - random.u64(..3000);
        let until = match random.u32(..100) {
            // It comes late.
            0..3 => time - 1,
            // The writer knows by how much the clock of the log is ahead.
            3..50 => sent + LEFT + ahead,
            _ => sent + LEFT,
        };
        let is_echo = extra.is_empty() && random.u32(..100) < 6;
        if is_echo && let Some(echo) = random.choice(&self.echoes) {
            let echo = echo.clone();
            self.repeated += 1;
            return self.put(time, echo);
        }
        let writer = random.usize(..SESSIONS);
        if random.u32(..2000) == 0 {
            // This node was started again.
            self.sessions[writer] = (random.u64(1..), 0);
        }
        // A record that never came leaves a gap.
        self.sessions[writer].1 += if random.u32(..50) == 0 { 2 } else { 1 };
        let (session, number) = self.sessions[writer];
        let seen = match random.u32(..4) {
            0 => {
                let last = self.hashes.len() as u64 - 1;
                let offset = random.u64(last.saturating_sub(SEEN)..=last);
                format!(r#""seen":[{offset},"{:016x}"],"#, self.hashes[offset as usize])
            }
            _ => String::new(),
        };
        let count = match random.u32(..20) {
            0 => 0,
            1..8 => 1,
            8..18 => random.usize(2..8),
            _ => random.usize(8..30),
        };
        let until = if count == 0 { String::new() } else { format!(r#""until":{until},"#) };
        let commands: Vec<_> =
            (0..count).map(|_| serde_json::to_string(&self.commands.next()).expect("writes")).collect();
        let bytes = format!(
            r#"{{"level":{FIRST_LEVEL},"log":"{}","node":{{"name":"w{writer}","since":1}},"session":"{session:016x}","number":{number},"sent":{sent},{until}{seen}{extra}"commands":[{}]}}"#,
            self.log,
            commands.join(",")
        );
        if self.echoes.len() == ECHOES {
            self.echoes.pop_front();
        }
        self.echoes.push_back(bytes.clone().into_bytes());
        self.put(time, bytes.into_bytes())
    }

    fn put(&mut self, time: u64, bytes: Vec<u8>) -> Record {
        let before = self.hashes.last().copied().unwrap_or_default();
        self.hashes.push(chain(before, time, &bytes));
        let offset = self.tape.put(time, &bytes);
        Record { offset, time, bytes }
    }
}
