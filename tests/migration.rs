//! Directories of earlier formats: the plan, the migration, and every page after it. `crash_points.rs` ends migrations
//! at every failpoint.

use std::fs;
use std::path::Path;

use crate::process::home::Home;

/// Runs a command on a directory; returns its exit code and what it wrote.
fn run(home: &Home, args: &[&str]) -> (Option<i32>, String) {
    let ran = home.command(args, "").stdout(std::process::Stdio::piped()).output().expect("runs");
    let log = fs::read_to_string(home.data.with_file_name("log")).unwrap_or_default();
    (ran.status.code(), format!("{}{log}", String::from_utf8_lossy(&ran.stdout)))
}

fn format(data: &Path) -> String {
    fs::read_to_string(data.join("FORMAT")).expect("reads")
}

#[test]
fn an_earlier_format_is_planned_migrated_and_shows_the_same_pages() {
    for name in crate::formats::ALL {
        let scratch = tempfile::tempdir().expect("temp dir");
        let home = crate::formats::copy(name, scratch.path());
        let (code, said) = run(&home, &["migrate", "--check"]);
        assert_eq!(code, Some(0), "{said}");
        let (number, _) = name.split_once('/').expect("a number");
        let steps = ["likes and favorites get tables of their own; ", "each inbox becomes one row; "];
        let steps = steps[number.parse::<usize>().expect("a number") - 2..].concat();
        assert!(said.contains(&format!("format {number} to 4: {steps}about ")), "{said}");
        let before = fs::read_to_string(crate::formats::kept(name).join("data/FORMAT")).expect("reads");
        assert_eq!(format(&home.data), before, "a check changes nothing");
        for command in ["stats", "check"] {
            let (code, said) = run(&home, &[command]);
            assert!(code == Some(1) && said.contains("run \"tideline migrate --data-dir "), "{said}");
            assert_eq!(format(&home.data), before, "{command}");
        }
        let server = home.start();
        crate::formats::compare(name, &server, "at once");
        assert!(server.drain());
        crate::formats::compare(name, &server, "after all jobs");
        assert_eq!(server.end("TERM").code(), Some(0));
        assert!(format(&home.data).starts_with("tideline format 4\nrelease "), "{}", format(&home.data));
        home.check();
        // The first start after a migration drops the tables of the earlier format.
        let tables = rocksdb::DB::list_cf(&rocksdb::Options::default(), home.data.join("db")).expect("lists");
        assert!(!tables.iter().any(|table| table.starts_with("reactions") || table == "inbox"), "{tables:?}");
        let (code, said) = run(&home, &["migrate"]);
        assert!(code == Some(0) && said.contains("nothing to do"), "{said}");
        let server = home.start();
        crate::formats::compare(name, &server, "after another start");
        assert_eq!(server.end("TERM").code(), Some(0));
    }
}

#[test]
fn a_later_format_is_refused_with_the_version_that_wrote_it() {
    let scratch = tempfile::tempdir().expect("temp dir");
    let home = crate::formats::copy("2/stopped", scratch.path());
    fs::write(home.data.join("FORMAT"), "tideline format 5\nrelease 7.5.1\n").expect("writes");
    for args in [&["check"][..], &["migrate", "--check"], &["migrate"], &["stats"]] {
        let (code, said) = run(&home, args);
        assert!(code == Some(1) && said.contains("version 7.5.1 wrote it in format 5"), "{said}");
    }
}

/// The tables of an earlier format are dropped only when they are empty.
#[test]
fn a_format_changed_by_hand_loses_nothing() {
    let scratch = tempfile::tempdir().expect("temp dir");
    let home = crate::formats::copy("2/killed", scratch.path());
    fs::write(home.data.join("FORMAT"), "tideline format 4\n").expect("writes");
    for args in [&["stats"][..], &["migrate"], &["check"]] {
        let (_, said) = run(&home, args);
        assert!(said.contains("FORMAT was changed by hand") || args == ["migrate"], "{said}");
    }
    fs::write(home.data.join("FORMAT"), "tideline format 2\n").expect("writes");
    let server = home.start();
    crate::formats::compare("2/killed", &server, "after all");
}

#[test]
fn without_an_engine_there_is_nothing_to_plan() {
    let scratch = tempfile::tempdir().expect("temp dir");
    let home = crate::formats::copy("2/stopped", scratch.path());
    fs::remove_dir_all(home.data.join("db")).expect("removes");
    let (code, said) = run(&home, &["migrate", "--check"]);
    assert!(code == Some(1) && said.contains("db/CURRENT is missing"), "{said}");
}
