//! For each level a log that never changes, and the digests to which it leads. Two versions apply one log: whatever
//! changes what a command does must come with a new level, and leave the levels below it as they are. Only a new format of
//! the data directory changes digests of a level: those of the tables that it makes anew.
//!
//! `TIDELINE_TEST_FREEZE=N` writes the log of the level N and its digests into this directory.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use cluster::{FIRST_LEVEL, LEVEL, Record};
use feed::Command;
use model::Millis;
use serde::{Deserialize, Serialize};

use super::fold::Fold;
use super::maker::Maker;
use super::run::{is_fair, judge};
use super::tape::Tape;
use crate::promises::names::Ids;
use crate::promises::system::temp_dir;

/// Commands of a log.
const COMMANDS: u64 = 600;
/// The first seed that is tried.
const SEED: u64 = 7;
const YEAR: Millis = 365 * 86_400_000;
/// The newest level of a release. Builds for tests read one more, which has no log yet.
const RELEASED: u32 = if cfg!(feature = "failpoints") { LEVEL - 1 } else { LEVEL };

/// One line of a log.
#[derive(Serialize, Deserialize)]
struct Line {
    time: Millis,
    /// As text, because its exact bytes count.
    record: String,
}

fn file(level: u32, what: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/recorded/level-{level}.{what}"))
}

/// The digests of all tables with rows, one a line. A table that came later has none.
fn digests(fold: &Fold) -> String {
    let mut text = String::new();
    for table in fold.digests().into_iter().filter(|table| table.rows > 0) {
        writeln!(text, "{} {} {:032x}", table.table, table.rows, table.digest).expect("writes");
    }
    text
}

pub(crate) fn every_level_has_its_digests() {
    if let Ok(level) = std::env::var("TIDELINE_TEST_FREEZE") {
        freeze(level.parse().expect("a level"));
    }
    for level in FIRST_LEVEL..=RELEASED {
        let name = file(level, "log");
        let text = std::fs::read_to_string(&name).unwrap_or_else(|e| panic!("{}: {e}", name.display()));
        let dir = temp_dir();
        let tape = Tape::new(&dir.path().join("log"));
        for line in text.lines() {
            let Line { time, record } = serde_json::from_str(line).expect("a line");
            tape.put(time, record.as_bytes());
        }
        let fold = Fold::of(&tape, u64::MAX, None);
        judge(&fold);
        let should_be = std::fs::read_to_string(file(level, "digests")).expect("digests");
        assert_eq!(digests(&fold), should_be, "level {level}: a command of this level does something else than before");
    }
}

/// Whether a log has what tells the time rules apart: a clock that jumps ahead, and commands that come too late.
fn is_telling(tape: &Tape) -> bool {
    #[derive(Deserialize)]
    struct Head {
        sent: Millis,
        until: Option<Millis>,
    }
    let heads = (1..tape.end()).map(|offset| {
        let Record { time, bytes, .. } = tape.get(offset);
        (time, serde_json::from_slice::<Head>(&bytes).expect("a record"))
    });
    let heads: Vec<_> = heads.collect();
    let jumps = heads.iter().any(|(time, head)| *time > head.sent + YEAR / 2);
    jumps && heads.iter().any(|(time, head)| head.until.is_some_and(|until| *time > until))
}

fn freeze(level: u32) {
    let dir = temp_dir();
    let record = |seed: u64| {
        let (tape, fold, _) = Maker::record(&dir.path().join(format!("log{seed}")), Ids::Mixed, seed, COMMANDS);
        (is_telling(&tape) && fold.kinds.len() == Command::KINDS && is_fair(&fold)).then_some((tape, fold))
    };
    let (tape, fold): (Arc<Tape>, _) = (SEED..).find_map(record).expect("a log");
    let mut text = String::new();
    for offset in 0..tape.end() {
        let Record { time, bytes, .. } = tape.get(offset);
        let record = String::from_utf8(bytes).expect("text");
        writeln!(text, "{}", serde_json::to_string(&Line { time, record }).expect("writes")).expect("writes");
    }
    std::fs::write(file(level, "log"), text).expect("writes");
    std::fs::write(file(level, "digests"), digests(&fold)).expect("writes");
}
