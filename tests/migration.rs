//! Directories of other formats. No format had a table that later ones have not, so a build with failpoints has a step from
//! a made-up one (`crates/store/src/engine/migration.rs`): its markers are in a table of their own, with other keys.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use crate::process::home::Home;
use crate::server::{Server, wait_until};
use model::failpoint::names;
use rocksdb::{ColumnFamilyDescriptor, DB, IteratorMode, WriteOptions};
use serde_json::json;
use store::{FORMAT, Options, Rocks};

/// The table of the made-up format.
const MADE_UP: &str = "made_up_markers";
/// The made-up format, the one without `nicknames`, and the present one.
const FORMATS: [u32; 3] = [4, 5, 6];
const _: () = assert!(FORMATS[2] == FORMAT);
/// Users with a marker and a nickname: three changes of each step of a migration.
const USERS: u64 = 2500;
const CHANGES: usize = 3;
/// The rows of each of them in `nicknames`.
const WORDS: usize = 2;
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

/// A directory of the made-up format, in which users have the same marker and the same nickname.
fn earlier(home: &Home) {
    let server = home.start();
    server.call("PUT", "/v1/users/1", json!({"nickname": "Élodie Martin"}).to_string()).expect(200);
    let item = json!({"author_id": 2, "content_id": 5, "published_at": 1005});
    server.call("POST", "/v1/content", item.to_string()).expect(201);
    server.call("PUT", "/v1/users/1/marker", json!({"cursor": "1005-5"}).to_string()).expect(200);
    assert_eq!(server.end("TERM").code(), Some(0));
    let mut db = engine(&home.data);
    db.create_cf(MADE_UP, &rocksdb::Options::default()).expect("a table");
    let [from, to] = ["markers", MADE_UP].map(|table| db.cf_handle(table).expect("a table"));
    let marker = db.get_cf(from, 1_u64.to_be_bytes()).expect("reads").expect("a marker");
    // The log of the server has a note at each change.
    let mut options = WriteOptions::default();
    #[allow(clippy::disallowed_methods, reason = "nobody follows it")]
    options.disable_wal(true);
    for user in 1..=USERS {
        db.put_cf_opt(to, (!user).to_be_bytes(), &marker, &options).expect("puts");
    }
    db.delete_cf_opt(from, 1_u64.to_be_bytes(), &options).expect("deletes");
    let profiles = db.cf_handle("profiles").expect("a table");
    let profile = db.get_cf(profiles, 1_u64.to_be_bytes()).expect("reads").expect("a profile");
    for user in 2..=USERS {
        db.put_cf_opt(profiles, user.to_be_bytes(), &profile, &options).expect("puts");
    }
    [from, to, profiles].iter().for_each(|family| db.flush_cf(family).expect("flushes"));
    db.drop_cf("nicknames").expect("drops");
    set_format(home, &before(FORMATS[0]));
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

/// Starts the server, which must have the present format and all markers.
#[track_caller]
fn all_is_migrated(home: &Home, when: &str) {
    let server = home.start();
    for user in [1, 2, 1000, 1001, 2000, 2001, USERS] {
        let marker = server.get(&format!("/v1/users/{user}/marker"));
        assert_eq!(marker, json!({"cursor": "1005-5"}), "{when}: {user}");
    }
    assert_eq!(found(&server, "mart"), ["1", "2", "3"], "{when}");
    assert_eq!(server.end("TERM").code(), Some(0), "{when}");
    let now = format!("tideline format {FORMAT}\nrelease {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(format(home), now, "{when}");
    // The first start after a migration drops the table.
    home.check();
    assert_eq!((rows(home, "markers"), rows(home, MADE_UP)), (Some(USERS as usize), None), "{when}");
    assert_eq!(rows(home, "nicknames"), Some(WORDS * USERS as usize), "{when}");
}

/// The first users found by a text.
fn found(server: &Server, text: &str) -> Vec<String> {
    let page = server.get(&format!("/v1/admin/users?search={text}&limit=3"));
    let ids =
        page["items"].as_array().expect("users").iter().map(|user| user["user_id"].as_str().expect("an id").into());
    ids.collect()
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
        "format {} to {FORMAT}: made-up markers become markers; the words of nicknames get their table; about {} rows to \
         read; needs ",
        FORMATS[0],
        2 * USERS
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
    assert_eq!(format(&home), before(FORMATS[0]), "nothing is changed");

    // The process ends at each place of the migration, and the next start goes on.
    let places: Vec<_> = names().into_iter().filter(|name| name.starts_with("migrat")).collect();
    assert_eq!(places.len(), 4, "{places:?}");
    for place in &places {
        let passings = if place.starts_with("migrate.") { 2 * CHANGES } else { 1 };
        for passing in 0..passings {
            let when = format!("{place} {passing}");
            let home = copy(&home, &when);
            let ended = home.try_start(&format!("{place}={passing}*off->return(abort)"));
            assert_eq!(ended.err().and_then(|status| status.signal()), Some(ABORTED), "{when}");
            assert!(format(&home).ends_with(&format!("\nmigrating from {}\n", FORMATS[0])), "{when}");
            // The bare engine replays the log, so it opens a copy.
            let seen = copy(&home, "seen");
            let left = rows(&seen, MADE_UP).expect("a table");
            assert_eq!(rows(&seen, "markers"), Some(USERS as usize - left), "{when}: {left}");
            let named = rows(&seen, "nicknames").unwrap_or_default();
            assert!(left > 0 || passing + 1 >= passings / 2, "{when}: {left}");
            assert!(left == 0 || named == 0, "{when}: one step after the other");
            assert!(named < WORDS * USERS as usize || passing + 1 == passings, "{when}: {named}");
            fs::remove_dir_all(&seen.data).expect("removes");
            all_is_migrated(&home, &when);
        }
    }
    let failed = copy(&home, "failed");
    let ended = failed.try_start("migrate.before=1*off->1*return(error)->off").err();
    assert_eq!(ended.and_then(|status| status.code()), Some(1));
    assert_eq!(failed.logged(&format!("the migration from format {} is not complete: ", FORMATS[0])), 1);
    all_is_migrated(&failed, "a write that failed");

    // A backup of the earlier format.
    let (backup, restored) = (copy(&home, "backup"), home.with_data(scratch.path().join("restored")));
    as_backup(&backup, FORMATS[0]);
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
    set_format(&by_hand, &before(FORMATS[0]));
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
fn a_directory_of_format_5_gets_the_words_of_its_nicknames() {
    let scratch = tempfile::tempdir().expect("temp dir");
    let home = Home::new(scratch.path().join("data"), scratch.path().join("log"), &[]);
    let server = home.start();
    for (user, nickname) in [("1", "Zoë"), ("ann", "Élodie Martin"), ("bo", "Martin")] {
        server.call("PUT", &format!("/v1/users/{user}"), json!({"nickname": nickname}).to_string()).expect(200);
    }
    server.call("PUT", "/v1/users/cy", json!({"avatar": "https://a.example/b.png"}).to_string()).expect(200);
    assert_eq!(server.end("TERM").code(), Some(0));
    let mut db = engine(&home.data);
    let words = |db: &DB| {
        let rows = db.iterator_cf(db.cf_handle("nicknames").expect("a table"), IteratorMode::Start);
        rows.map(|row| row.expect("a row").0).collect::<Vec<_>>()
    };
    let whole = words(&db);
    assert_eq!(whole.len(), 4);
    db.drop_cf("nicknames").expect("drops");
    drop(db);
    set_format(&home, &before(FORMATS[1]));
    // Development versions with other words, and a row that cannot be read.
    let (other, damaged) = (copy(&home, "other"), copy(&home, "damaged"));
    let mut db = engine(&other.data);
    db.create_cf("nicknames", &rocksdb::Options::default()).expect("a table");
    let family = db.cf_handle("nicknames").expect("a table");
    db.put_cf(family, [&b"old"[..], &[0], &1_u64.to_be_bytes()].concat(), []).expect("puts");
    db.flush_cf(family).expect("flushes");
    drop(db);
    let db = engine(&damaged.data);
    let profiles = db.cf_handle("profiles").expect("a table");
    db.put_cf(profiles, 1_u64.to_be_bytes(), [1, 255]).expect("puts");
    db.flush_cf(profiles).expect("flushes");
    drop(db);
    let (backup, restored) = (copy(&home, "backup"), home.with_data(scratch.path().join("restored")));
    as_backup(&backup, FORMATS[1]);
    let (code, said) = run(&restored, &["restore", "--from", backup.data.to_str().expect("text")]);
    assert!(code == Some(0) && said.contains(" 0 disagreements\n"), "{said}");

    let (code, said) = run(&home, &["migrate", "--check"]);
    assert!(
        code == Some(0) && said.contains("format 5 to 6: the words of nicknames get their table; about 4 rows"),
        "{said}"
    );
    for home in [&home, &other, &restored] {
        let server = home.start();
        assert_eq!(found(&server, "martin"), ["ann", "bo"]);
        assert_eq!(found(&server, "zoe"), ["1"]);
        assert_eq!(found(&server, "old"), [] as [&str; 0]);
        server.call("POST", "/v1/admin/backups", "").expect(201);
        let state = || server.get("/v1/admin/backups")["items"][0]["state"].as_str().expect("a state").to_owned();
        wait_until("the backup is not looked at", || !["unverified", "verifying"].contains(&&*state()));
        assert_eq!(state(), "verified");
        assert_eq!(server.end("TERM").code(), Some(0));
        home.check();
        assert_eq!(words(&engine(&home.data)), whole);
    }
    let server = damaged.start();
    assert_eq!(found(&server, "martin"), ["ann", "bo"], "the others are found");
    assert_eq!(server.end("TERM").code(), Some(0));
    let (code, said) = run(&damaged, &["check"]);
    assert!(code == Some(1) && said.contains(" 1 disagreements") && said.contains("user 1: profiles has"), "{said}");
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
