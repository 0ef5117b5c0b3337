//! Directories of other formats. Format 6 had the effects of changes in a table of their own, without the latest time.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use crate::process::home::Home;
use model::failpoint::names;
use model::store::{Contents, Events};
use rocksdb::{ColumnFamilyDescriptor, DB, IteratorMode, WriteOptions};
use serde_json::json;
use store::{FORMAT, Options, Rocks};

/// The table that format 7 does not have.
const EFFECTS: &str = "effects";
const BEFORE: u32 = 6;
const _: () = assert!(BEFORE + 1 == FORMAT);
/// Users whose profiles were put: three changes of a migration, with the other effects.
const USERS: u64 = 2500;
const CHANGES: usize = 3;
/// Other effects, and events.
const EFFECTS_BEFORE: usize = 2;
const EVENTS: usize = 2;
const ALL: usize = USERS as usize + EFFECTS_BEFORE + EVENTS;
/// SIGABRT.
const ABORTED: i32 = 6;

/// Runs a command on a directory; returns its exit code and what it wrote.
fn run(home: &Home, args: &[&str]) -> (Option<i32>, String) {
    home.clear_log();
    let ran = home.command(args, "").output().expect("runs");
    (ran.status.code(), format!("{}{}", String::from_utf8_lossy(&ran.stdout), home.log()))
}

fn set_format(home: &Home, text: &str) {
    fs::write(home.data.join("FORMAT"), text).expect("writes");
}

fn format(home: &Home) -> String {
    fs::read_to_string(home.data.join("FORMAT")).expect("reads")
}

/// Opens the bare engine.
fn engine(data: &Path) -> DB {
    let mut engine = rocksdb::Options::default();
    engine.set_disable_auto_compactions(true);
    engine.set_max_file_opening_threads(1);
    let path = data.join("db");
    let tables = DB::list_cf(&engine, &path).expect("lists");
    let families = tables.into_iter().map(|name| ColumnFamilyDescriptor::new(name, engine.clone()));
    DB::open_cf_descriptors(&engine, path, families).expect("opens")
}

/// The rows of a table; `None` if there is no such table.
fn rows(home: &Home, table: &str) -> Option<usize> {
    let db = engine(&home.data);
    let family = db.cf_handle(table)?;
    Some(db.iterator_cf(family, IteratorMode::Start).count())
}

/// A directory of format 6: effects before, between and behind events.
fn earlier(home: &Home) {
    let server = home.start();
    server.call("PUT", "/v1/users/1", json!({"nickname": "Ann"}).to_string()).expect(200);
    // Its time is later than those of the effects behind it.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock");
    let later = u64::try_from(now.as_millis()).expect("a time") + 60_000;
    let item = json!({"author_id": 2, "content_id": 5, "published_at": later});
    server.call("POST", "/v1/content", item.to_string()).expect(201);
    server.call("PUT", "/v1/users/1/following/2", "").expect(200);
    assert_eq!(server.call("DELETE", "/v1/content/5", "").status, 204);
    assert_eq!(server.end("TERM").code(), Some(0));
    let mut db = engine(&home.data);
    db.create_cf(EFFECTS, &rocksdb::Options::default()).expect("a table");
    let [events, effects] = ["events", EFFECTS].map(|table| db.cf_handle(table).expect("a table"));
    // The log of the server has a note at each change.
    let mut options = WriteOptions::default();
    #[allow(clippy::disallowed_methods, reason = "nobody follows it")]
    options.disable_wal(true);
    let all: Vec<_> = db.iterator_cf(events, IteratorMode::Start).map(|row| row.expect("a row")).collect();
    let (last, deleted) = all.last().expect("a row");
    // The time of its event.
    let at = &deleted[26..34];
    let last = u64::from_be_bytes(last[..].try_into().expect("a number"));
    let (moved, _): (Vec<_>, Vec<_>) = all.iter().partition(|(_, row)| row[0] >= 0x80);
    assert_eq!((moved.len(), all.len()), (EFFECTS_BEFORE, EFFECTS_BEFORE + EVENTS));
    let put = |number: &[u8], row: &[u8]| db.put_cf_opt(effects, number, row, &options).expect("puts");
    for (number, row) in &moved {
        put(number, &[&[row[0] & 0x7F], &row[1..10], &row[18..]].concat());
        db.delete_cf_opt(events, number, &options).expect("deletes");
    }
    for user in 1..=USERS {
        // The code of a profile that was put, no flags, time and user.
        put(&(last + user).to_be_bytes(), &[&[19, 0], at, &user.to_be_bytes()].concat());
    }
    [events, effects].iter().for_each(|family| db.flush_cf(family).expect("flushes"));
    set_format(home, &before(BEFORE));
}

/// The file of an earlier format.
fn before(format: u32) -> String {
    format!("tideline format {format}\nrelease 0.0.9\n")
}

/// A copy of a directory beside it.
fn copy(home: &Home, name: &str) -> Home {
    let data = home.data.with_file_name(name);
    let copied = Command::new("cp").arg("-r").args([&home.data, &data]).status().expect("copies");
    assert!(copied.success());
    home.with_data(data)
}

/// Starts the server, which must have the present format and all changes.
#[track_caller]
fn all_is_migrated(home: &Home, when: &str) {
    let server = home.start();
    assert_eq!(server.end("TERM").code(), Some(0), "{when}");
    let store = Rocks::open(&Options::new(&home.data)).expect("opens");
    let kinds = store.kind_names().expect("reads");
    let told = store.logged(0, usize::MAX).expect("reads").into_iter().filter_map(|row| row.told(&kinds));
    let told: Vec<_> = told.map(|changed| changed.effect.kind.name()).collect();
    drop(store);
    let first = ["profile.changed", "content.published", "follow.created", "content.deleted"];
    assert_eq!(told[..first.len()], first, "{when}");
    assert!(told.len() == ALL && told[first.len()..].iter().all(|kind| *kind == "profile.changed"), "{when}");
    let now = format!("tideline format {FORMAT}\nrelease {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(format(home), now, "{when}");
    // The first start after a migration drops the table. No time falls.
    home.check();
    assert_eq!(rows(home, EFFECTS), None, "{when}");
}

/// Makes a backup of a stopped directory.
fn as_backup(home: &Home, format: u32) {
    for name in ["LOCK", "RUN", "RESERVE", "db/LOCK"] {
        fs::remove_file(home.data.join(name)).expect("removes");
    }
    let entries = [home.data.clone(), home.data.join("db")].map(|dir| fs::read_dir(dir).expect("lists"));
    let files = entries.into_iter().flatten().map(|entry| entry.expect("an entry").metadata().expect("a size"));
    let sizes: Vec<_> = files.filter(|found| found.is_file()).map(|found| found.len()).collect();
    let facts = json!({"name": "19700101T000001.000Z", "begun_at": 1000, "took_ms": 0, "sequence": 1, "format": format,
        "release": "0.0.9", "files": sizes.len(), "bytes": sizes.iter().sum::<u64>()});
    fs::write(home.data.join("BACKUP"), facts.to_string()).expect("writes");
}

#[test]
fn an_earlier_format_is_planned_and_migrated_also_after_a_crash() {
    let scratch = tempfile::tempdir().expect("temp dir");
    let home = Home::new(scratch.path().join("data"), scratch.path().join("log"), &[]);
    earlier(&home);
    let plan = format!(
        "format {BEFORE} to {FORMAT}: the rows of effects come into the log of events; about {} rows to read; needs ",
        ALL - EVENTS
    );

    // Nothing but a start, an import and a compaction migrates, and nothing without room.
    let (code, said) = run(&home, &["migrate", "--check"]);
    assert!(code == Some(0) && said.contains(&plan), "{said}");
    for command in ["stats", "check", "backup"] {
        let (code, said) = run(&home, &[command]);
        assert!(code == Some(1) && said.contains("run \"tideline migrate --data-dir "), "{said}");
    }
    let too_much = Options { write_buffer: usize::MAX / 4, ..Options::new(&home.data) };
    assert!(!Rocks::migration(&too_much).expect("a plan").expect("a migration").has_room());
    let refused = Rocks::open(&too_much).expect_err("no room").to_string();
    assert!(refused.contains("no room for the migration, which has changed nothing: ") && refused.contains(&plan));
    assert_eq!(format(&home), before(BEFORE), "nothing is changed");

    // The process ends at each place of the migration, and the next start goes on.
    let places: Vec<_> = names().into_iter().filter(|name| name.starts_with("migrat")).collect();
    assert_eq!(places.len(), 4, "{places:?}");
    for place in &places {
        let passings = if place.starts_with("migrate.") { CHANGES } else { 1 };
        for passing in 0..passings {
            let when = format!("{place} {passing}");
            let home = copy(&home, &when);
            let ended = home.try_start(&format!("{place}={passing}*off->return(abort)"));
            assert_eq!(ended.err().and_then(|status| status.signal()), Some(ABORTED), "{when}");
            assert!(format(&home).ends_with(&format!("\nmigrating from {}\n", BEFORE)), "{when}");
            // The bare engine replays the log, so it opens a copy.
            let seen = copy(&home, "seen");
            let left = rows(&seen, EFFECTS).expect("a table");
            assert_eq!(rows(&seen, "events"), Some(ALL - left), "{when}: {left}");
            assert!(left > 0 || passing + 1 == passings, "{when}: {left}");
            fs::remove_dir_all(&seen.data).expect("removes");
            all_is_migrated(&home, &when);
        }
    }
    let failed = copy(&home, "failed");
    let ended = failed.try_start("migrate.before=1*off->1*return(error)->off").err();
    assert_eq!(ended.and_then(|status| status.code()), Some(1));
    assert_eq!(failed.logged(&format!("the migration from format {} is not complete: ", BEFORE)), 1);
    all_is_migrated(&failed, "a write that failed");

    // A backup of the earlier format.
    let (backup, restored) = (copy(&home, "backup"), home.with_data(scratch.path().join("restored")));
    as_backup(&backup, BEFORE);
    let (code, said) = run(&restored, &["restore", "--from", backup.data.to_str().expect("text")]);
    assert!(code == Some(0) && said.contains(" 0 disagreements\n"), "{said}");
    all_is_migrated(&restored, "a backup");

    // The table of the earlier format is dropped only when it is empty.
    let by_hand = copy(&home, "by hand");
    set_format(&by_hand, &format!("tideline format {FORMAT}\n"));
    for command in ["stats", "check"] {
        let (code, said) = run(&by_hand, &[command]);
        assert!(code == Some(1) && said.contains("FORMAT was changed by hand"), "{said}");
    }
    set_format(&by_hand, &before(BEFORE));
    all_is_migrated(&by_hand, "by hand");

    // The command does what a start does.
    let (code, said) = run(&home, &["migrate"]);
    assert!(code == Some(0) && said.contains(&format!("the directory has format {FORMAT} now")), "{said}");
    all_is_migrated(&home, "the command");
    let (code, said) = run(&home, &["migrate"]);
    assert!(code == Some(0) && said.contains("nothing to do"), "{said}");
    fs::remove_dir_all(home.data.join("db")).expect("removes");
    let (code, said) = run(&home, &["migrate", "--check"]);
    assert!(code == Some(1) && said.contains("db/CURRENT is missing"), "{said}");
}

#[test]
fn a_later_format_and_one_before_the_first_release_are_refused() {
    let scratch = tempfile::tempdir().expect("temp dir");
    let home = Home::new(scratch.path().join("data"), scratch.path().join("log"), &[]);
    assert_eq!(home.start().end("TERM").code(), Some(0));
    for (text, words) in [
        ("tideline format 99\nrelease 7.5.1\n", "version 7.5.1 wrote it in format 99"),
        ("tideline format 2\n", "it has format 2, which only versions before the first release wrote"),
    ] {
        set_format(&home, text);
        for args in [&["check"][..], &["migrate", "--check"], &["migrate"], &["stats"], &["serve"]] {
            let (code, said) = run(&home, args);
            assert!(code == Some(1) && said.contains(words), "{said}");
            assert_eq!(format(&home), text);
        }
    }
}
