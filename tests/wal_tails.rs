//! A log that is damaged after `kill -9`: the server starts with all that it acknowledged, or refuses with a clear message.
//! The tests of `crates/kv/src/engine/log/examine.rs` try more kinds of damage to a log, and `tests/power_cuts.py` tries power
//! cuts with the real program.

use std::fs;
use std::path::Path;

use crate::process::history::{Outcome, outcome, scroll, send};
use crate::process::home::{Home, engine_logs};
use crate::process::model::{Change, Item};
use crate::server::{Server, wait_until};

fn says_why(home: &Home, words: &[&str]) {
    let said = home.log();
    let line = said.lines().last().expect("a line");
    let known = words.iter().any(|word| line.contains(word));
    assert!(line.starts_with("tideline: data directory ") && known, "{said}");
    assert!(line.contains(&home.data.display().to_string()), "{said}");
}

fn length(log: &Path) -> u64 {
    log.metadata().expect("there").len()
}

const ITEMS: u64 = 1000;

/// Publishes items one by one, lets the server rest, and kills it. Every item was acknowledged.
fn killed_with_items(dir: &Path) -> Home {
    let home = Home::new(dir.join("data"), dir.join("log"), &[]);
    let server = home.start();
    for id in 1..=ITEMS {
        let item = Item { id, author: 1, at: 1000 + id, text: format!("{id} {}", "x".repeat((id % 50 * 20) as usize)) };
        let change = Change::Publish(vec![item]);
        assert_eq!(outcome(&change, send(&server, &change)), Outcome::Made, "{change:?}");
    }
    assert!(server.drain());
    wait_until("the log is not vouched for", || ends_with_a_note(&home.data));
    server.end("KILL");
    home
}

/// Whether the last record of the log is a batch without rows that says what has been flushed: a head of 7 bytes,
/// the row's number in 8, no rows in 4, and then 11 bytes.
fn ends_with_a_note(data: &Path) -> bool {
    let log = fs::read(engine_logs(data).pop().expect("a log")).expect("reads");
    log.last_chunk::<30>().is_some_and(|end| end[4..7] == [23, 0, 1] && end[15..22] == [0, 0, 0, 0, 3, 9, b'F'])
}

fn copy(home: &Home, to: &Path) -> Home {
    fs::create_dir_all(to.join("db")).expect("makes");
    for part in ["", "db"] {
        for entry in fs::read_dir(home.data.join(part)).expect("listed") {
            let path = entry.expect("listed").path();
            // The room kept for a start is no data.
            if path.is_file() && !path.ends_with("RESERVE") {
                fs::copy(&path, to.join(part).join(path.file_name().expect("name"))).expect("copies");
            }
        }
    }
    home.with_data(to)
}

fn flip(log: &Path, at: usize) {
    let mut bytes = fs::read(log).expect("reads");
    bytes[at] ^= 1 << (at % 8);
    fs::write(log, bytes).expect("writes");
}

fn items(server: &Server) -> u64 {
    scroll(server, "/v1/users/1/content?view=ids&", "content_id").len() as u64
}

#[test]
fn a_flipped_bit_takes_nothing_away_in_silence() {
    let dir = tempfile::tempdir().expect("temp dir");
    let home = killed_with_items(dir.path());
    let log = engine_logs(&home.data).pop().expect("a log");
    let length = length(&log) as usize;
    let mut refused = 0;
    // All over the log, and at its end.
    for part in [0, 3, 97, 211, 389, 402, 500, 640, 777, 901, 998, 999, 1000] {
        let at = (length * part / 1000 + 13 * part % 500).min(length - 1);
        let home = copy(&home, &dir.path().join(format!("flip-{part}")));
        flip(&home.data.join("db").join(log.file_name().expect("name")), at);
        home.clear_log();
        match home.try_start("") {
            Ok(server) => assert_eq!(items(&server), ITEMS, "a flip at {at} of {length}"),
            Err(status) => {
                refused += 1;
                assert_eq!(status.code(), Some(1));
                says_why(&home, &["--accept-log-loss"]);
                assert!(
                    home.log().contains("is damaged at byte") && home.log().contains("would be lost"),
                    "{}",
                    home.log()
                );
            }
        }
    }
    // The three at the end may be in batches that no note vouches for, and one in the middle in a note without rows, which
    // a slow machine has more of.
    assert!(refused >= 9, "{refused}");

    // Every command says so. One start is told to go on, and the next has nothing to report.
    let home = copy(&home, &dir.path().join("accepted"));
    flip(&home.data.join("db").join(log.file_name().expect("name")), length / 2);
    home.clear_log();
    for command in ["check", "compact", "stats"] {
        assert_eq!(home.run(command, "").code(), Some(1), "{command}");
        says_why(&home, &["is damaged at byte"]);
    }
    let server = home.try_start_with(&["--accept-log-loss"], "").expect("starts");
    let left = items(&server);
    assert!((1..ITEMS).contains(&left), "{left} items are left");
    assert_eq!(home.logged("acknowledged changes are lost, as --accept-log-loss allows"), 1, "{}", home.log());
    server.end("KILL");
    home.check();
    let server = home.start();
    assert_eq!(items(&server), left);
}
