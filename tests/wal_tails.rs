//! A log that is damaged after `kill -9`: all commands refuse it with a clear message. That no flip of a bit takes
//! acknowledged rows away, and other kinds of damage, are tried by the tests of `crates/kv/src/engine/log/examine.rs`, power
//! cuts by `tests/power_cuts.py`.

use std::fs;
use std::path::Path;

use crate::process::history::{Outcome, outcome, scroll, send};
use crate::process::home::{Home, engine_logs};
use crate::process::model::{Change, Item};
use crate::server::Server;

fn says_why(home: &Home, words: &[&str]) {
    let said = home.log();
    let line = said.lines().last().expect("a line");
    let known = words.iter().all(|word| line.contains(word));
    assert!(line.starts_with("tideline: data directory ") && known, "{said}");
    assert!(line.contains(&home.data.display().to_string()), "{said}");
}

const ITEMS: u64 = 200;

/// Publishes items one by one, and kills the server. Every item was acknowledged.
fn killed_with_items(dir: &Path) -> Home {
    let home = Home::new(dir.join("data"), dir.join("log"), &[]);
    let server = home.start();
    for id in 1..=ITEMS {
        let item = Item { id, author: 1, at: 1000 + id, text: format!("{id} {}", "x".repeat((id % 50 * 20) as usize)) };
        let change = Change::Publish(vec![item]);
        assert_eq!(outcome(&change, send(&server, &change)), Outcome::Made, "{change:?}");
    }
    server.end("KILL");
    home
}

fn items(server: &Server) -> u64 {
    scroll(server, "/v1/users/1/content?view=ids&", "content_id").len() as u64
}

#[test]
fn a_damaged_log_is_refused_by_every_command_until_its_loss_is_accepted() {
    let dir = tempfile::tempdir().expect("temp dir");
    let home = killed_with_items(dir.path());
    let log = engine_logs(&home.data).pop().expect("a log");
    let mut bytes = fs::read(&log).expect("reads");
    // In the text of an item, not in a record without rows.
    let half = bytes.len() / 2;
    let text = bytes[half..].windows(9).position(|window| window == b"xxxxxxxxx").expect("a text");
    bytes[half + text] ^= 1;
    fs::write(&log, bytes).expect("writes");
    home.clear_log();
    assert_eq!(home.try_start("").map(|_| ()).expect_err("damaged").code(), Some(1));
    says_why(&home, &["is damaged at byte", "would be lost", "--accept-log-loss"]);
    for command in ["check", "compact", "stats"] {
        home.clear_log();
        assert_eq!(home.run(command, "").code(), Some(1), "{command}");
        says_why(&home, &["is damaged at byte"]);
    }
    let server = home.try_start_with(&["--accept-log-loss"], "").expect("starts");
    let left = items(&server);
    assert!((1..ITEMS).contains(&left), "{left} items are left");
    assert_eq!(home.logged("acknowledged changes are lost, as --accept-log-loss allows"), 1, "{}", home.log());
    server.end("KILL");
    home.check();
    // The next start has nothing to report.
    let server = home.start();
    assert_eq!(items(&server), left);
}
