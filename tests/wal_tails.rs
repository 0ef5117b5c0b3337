//! A log that is torn, damaged or gone after `kill -9`: the server starts with the state of some instant, or refuses
//! with a clear message.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::plain::Model;
use crate::process::history::{Outcome, compare, following, outcome, scroll, send};
use crate::process::home::{Home, engine_logs};
use crate::process::model::{Change, Item, ids, members, user};
use crate::server::{Server, wait_until};
use model::Side;
use tempfile::TempDir;

/// Bytes a text, so that only the table of content is flushed, once. The engine then takes up a new log, and other
/// tables still need the old one.
const TEXT: usize = 60_000;
const CHANGES: u64 = 700;
const AUTHORS: u64 = 4;
const USERS: std::ops::RangeInclusive<u64> = 11..=14;

/// The data of a server until it was killed, and the changes that it acknowledged, in order.
struct Killed {
    dir: TempDir,
    home: Home,
    changes: Vec<Change>,
}

fn killed() -> Killed {
    let settings = [
        ("TIDELINE__STORAGE__WRITE_BUFFER_MB", "64"),
        ("TIDELINE__TIMELINE__INBOX_LIMIT", "20"),
        ("TIDELINE__FANOUT__PUSH_THRESHOLD", "2"),
        ("TIDELINE__FANOUT__PULL_THRESHOLD", "3"),
    ];
    let dir = tempfile::tempdir().expect("temp dir");
    let home = Home::new(dir.path().join("data"), dir.path().join("log"), &settings);
    let server = home.start();
    let mut changes = Vec::new();
    for step in 1..=CHANGES {
        let text = format!("{step} {}", "x".repeat(TEXT * usize::from(step % 3 != 2)));
        let change = match step % 10 {
            1 => Change::Relate { user: 11 + step % 40 / 10, follow: vec![1 + step / 40 % AUTHORS], unfollow: vec![] },
            4 if step > 20 => Change::Delete(step - 11),
            7 if step > 400 => {
                Change::Relate { user: 11 + step % 40 / 10, follow: vec![], unfollow: vec![1 + step / 40 % AUTHORS] }
            }
            _ => Change::Publish(vec![Item { id: step, author: 1 + step % AUTHORS, at: 1000 + step, text }]),
        };
        assert_eq!(outcome(&change, send(&server, &change)), Outcome::Made, "{change:?}");
        changes.push(change);
    }
    server.end("KILL");
    Killed { dir, home, changes }
}

impl Killed {
    /// A copy of the data left, to be damaged.
    fn copy(&self, name: &str) -> (Home, PathBuf) {
        let data = self.dir.path().join(name);
        (copy(&self.home, &data), data)
    }

    /// The server must start with the state after some of the changes. Returns how many.
    fn starts(&self, home: &Home, what: &str) -> usize {
        let server = home.start();
        let present = observed(&server);
        let (mut model, mut made) = (Model::default(), None);
        for (number, change) in self.changes.iter().enumerate() {
            if expected(&model) == present {
                made = Some((number, model.clone()));
            }
            model.apply(change);
        }
        if expected(&model) == present {
            made = Some((self.changes.len(), model));
        }
        let Some((made, model)) = made else { panic!("{what}: a state that never was: {present:?}") };
        compare(&server, &model, what);
        assert!(server.drain());
        compare(&server, &model, what);
        assert_eq!(server.end("TERM").code(), Some(0), "{what}");
        home.check();
        made
    }
}

/// The server must refuse to start, naming the directory and one of the words.
fn is_refused(home: &Home, words: &[&str]) {
    home.clear_log();
    let status = home.try_start("").err().unwrap_or_else(|| panic!("it started; expected {words:?}"));
    assert_eq!(status.code(), Some(1));
    says_why(home, words);
}

fn says_why(home: &Home, words: &[&str]) {
    let said = home.log();
    let line = said.lines().last().expect("a line");
    let known = words.iter().any(|word| line.contains(word));
    assert!(line.starts_with("tideline: data directory ") && known, "{said}");
    assert!(line.contains(&home.data.display().to_string()), "{said}");
}

/// A state by its lists: own pages by author, followees by user.
type Seen = Vec<Vec<u64>>;

fn observed(server: &Server) -> Seen {
    let page = |author| scroll(server, &format!("/v1/users/{author}/content?view=ids&"), "content_id");
    (1..=AUTHORS).map(page).chain(USERS.map(|user| following(server, user).into_iter().collect())).collect()
}

fn expected(model: &Model) -> Seen {
    let followees = |raw| members(&model.members(user(raw), Side::Following)).into_iter().collect();
    (1..=AUTHORS).map(|author| ids(&model.outbox(user(author)))).chain(USERS.map(followees)).collect()
}

fn cut(log: &Path, bytes: u64) {
    OpenOptions::new().write(true).open(log).expect("opens").set_len(bytes).expect("cuts");
}

fn length(log: &Path) -> u64 {
    log.metadata().expect("there").len()
}

#[test]
fn a_damaged_log_gives_a_state_that_was_there_or_a_refusal() {
    let killed = killed();
    let all = killed.changes.len();
    let logs = engine_logs(&killed.home.data);
    assert!(logs.len() > 1, "only one log: {logs:?}");
    let newest = |data: &Path| engine_logs(data).pop().expect("a log");
    // The last log before the newest that some tables have not flushed: each flush of one table begins a log.
    let older = |data: &Path| {
        let logs = engine_logs(data);
        let mut earlier = logs[..logs.len() - 1].iter();
        earlier.rfind(|log| length(log) > TEXT as u64).expect("an older log").clone()
    };
    let whole = length(logs.last().expect("a log"));

    let (home, _) = killed.copy("untouched");
    assert_eq!(killed.starts(&home, "untouched"), all);

    // Torn anywhere: the part before is there. Odd steps, so that headers and blocks are cut too.
    let mut least = all;
    for (number, part) in [0, 1, 12, 13, 37, 50, 77, 99].into_iter().enumerate() {
        let (home, data) = killed.copy(&format!("torn-{number}"));
        let length = whole * part / 100 + 7 * (part % 3);
        cut(&newest(&data), length.min(whole - 1));
        least = least.min(killed.starts(&home, &format!("the newest log cut to {length} bytes")));
    }
    assert!(least < all, "nothing was cut off");

    for (name, tail) in [("zeros", vec![0; 5000]), ("noise", (0..5000_u32).map(|n| ((n * n) >> 3) as u8).collect())] {
        let (home, data) = killed.copy(name);
        OpenOptions::new().append(true).open(newest(&data)).expect("opens").write_all(&tail).expect("writes");
        assert_eq!(killed.starts(&home, &format!("{name} after the newest log")), all);
    }

    let (home, data) = killed.copy("newest-gone");
    fs::remove_file(newest(&data)).expect("removes");
    killed.starts(&home, "the newest log gone");

    // An older log was flushed to the device when the next was begun, so it must be there.
    let (home, data) = killed.copy("older-gone");
    let name = older(&data).file_stem().expect("name").to_str().expect("text").trim_start_matches('0').to_owned();
    fs::remove_file(older(&data)).expect("removes");
    is_refused(&home, &[&format!("Missing WAL with log number: {name}"), "does not continue the log file before it"]);

    let (home, data) = killed.copy("older-torn");
    let log = older(&data);
    cut(&log, length(&log) / 2);
    is_refused(&home, &[&format!(": db/{name:0>6}.log is damaged at byte")]);
}

const ITEMS: u64 = 1000;

/// Publishes items one by one, lets the server rest if asked, and kills it. Every item was acknowledged.
fn killed_with_items(dir: &Path, rest: bool) -> Home {
    let home = Home::new(dir.join("data"), dir.join("log"), &[]);
    let server = home.start();
    for id in 1..=ITEMS {
        let item = Item { id, author: 1, at: 1000 + id, text: format!("{id} {}", "x".repeat((id % 50 * 20) as usize)) };
        let change = Change::Publish(vec![item]);
        assert_eq!(outcome(&change, send(&server, &change)), Outcome::Made, "{change:?}");
    }
    if rest {
        assert!(server.drain());
        wait_until("the log is not vouched for", || ends_with_a_note(&home.data));
    }
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
    let home = killed_with_items(dir.path(), true);
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

#[test]
fn without_a_rest_a_flipped_bit_takes_at_most_the_last_change() {
    let dir = tempfile::tempdir().expect("temp dir");
    let home = killed_with_items(dir.path(), false);
    let log = engine_logs(&home.data).pop().expect("a log");
    for before_end in [5, 300, 1500, 4000, 9000] {
        let home = copy(&home, &dir.path().join(format!("flip-{before_end}")));
        flip(&home.data.join("db").join(log.file_name().expect("name")), length(&log) as usize - before_end);
        if let Ok(server) = home.try_start("") {
            let left = items(&server);
            assert!(left >= ITEMS - 1, "{left} items are left after a flip {before_end} bytes before the end");
        }
    }
}
