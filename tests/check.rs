//! `tideline check`: silent on good data, and precise on bad.

pub(crate) mod damage;
mod digests;
#[allow(dead_code, reason = "shared with tests/store")]
#[path = "store/everything.rs"]
mod everything;
mod names;
mod rows;
#[allow(dead_code, reason = "shared with tests/store")]
#[path = "store/support.rs"]
mod support;

use std::time::Duration;

use self::support::{put_inbox_entry, remove_inbox_entry};
use crate::command::Place;
use crate::plain::{item, user};
use config::Config;
use feed::DeleteItem;
use model::{Cursor, Entry, ExternalId};
use tideline::server::StartOptions;

/// User 1 follows 2 and 3, and 2 follows 1.
fn place() -> Place {
    filled(Place::new())
}

fn filled(place: Place) -> Place {
    place.file("f", "1,2\n1,3\n2,1\n");
    place.file("c", "10,2,1000\n11,3,1000\n12,2,2000\n13,1,1500\n");
    place.run(&["import", "--follows", "f", "--content", "c"]).ok();
    place
}

fn cursor(at: u64, id: u64) -> Cursor {
    Cursor { at, id: item(id) }
}

fn entry(at: u64, id: u64, author: u64) -> Entry {
    Entry::plain(cursor(at, id), user(author))
}

/// Runs the check, which must fail, and returns what it printed.
fn disagreements(place: &Place) -> Vec<String> {
    let ran = place.run(&["check"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    ran.out.lines().map(str::to_owned).collect()
}

#[test]
fn good_data_has_no_disagreement() {
    let ran = place().run(&["check"]).ok();
    assert_eq!(ran.out, "3 users checked, 0 disagreements\n");
}

#[test]
fn a_removed_row_is_missed() {
    let place = place();
    remove_inbox_entry(&place.rocks(), user(1), entry(1000, 11, 3));
    assert_eq!(disagreements(&place), ["user 1: inbox lacks 1000-11 of source 3", "3 users checked, 1 disagreements"]);
    // A check does not repair the data.
    assert_eq!(disagreements(&place).len(), 2);
}

#[test]
fn an_added_row_is_noticed() {
    let place = place();
    let rocks = place.rocks();
    put_inbox_entry(&rocks, user(1), entry(1001, 99, 2));
    put_inbox_entry(&rocks, user(2), entry(1000, 11, 3));
    drop(rocks);
    assert_eq!(
        disagreements(&place),
        [
            "user 1: inbox has 1001-99 of source 2 that is not in the outbox",
            "user 2: inbox has 1000-11 of source 3 that the user does not follow",
            "3 users checked, 2 disagreements",
        ]
    );
}

#[test]
fn rows_of_deleted_content_may_stay() {
    let place = place();
    let mut config = Config::default();
    config.storage.data_dir = place.data();
    let app =
        tideline::server::open(&config, StartOptions { changes: true, ..StartOptions::default() }).expect("opens");
    app.feed().submit(DeleteItem { item: ExternalId::Number(12), purge: false }).expect("deletes");
    app.stop(Duration::from_secs(60)).expect("stops");
    place.run(&["check"]).ok();
    put_inbox_entry(&place.rocks(), user(3), entry(2000, 12, 2));
    place.run(&["check"]).ok();
}

#[test]
fn only_pulled_entries_may_be_absent() {
    // Items are pushed to no followers, so every inbox is rightly empty.
    let nobody = |place: Place| {
        place.with_env("TIDELINE__FANOUT__PUSH_THRESHOLD", 0).with_env("TIDELINE__FANOUT__PULL_THRESHOLD", 0)
    };
    let pulled = filled(nobody(Place::new()));
    pulled.run(&["check"]).ok();
    // A later item that is pushed to all does not make up for the earlier ones.
    pulled.file("d", "20,2,1500\n21,2,3000\n");
    let pushing =
        pulled.with_env("TIDELINE__FANOUT__PUSH_THRESHOLD", 9).with_env("TIDELINE__FANOUT__PULL_THRESHOLD", 9);
    pushing.run(&["import", "--content", "d"]).ok();
    pushing.run(&["check"]).ok();
    let rocks = pushing.rocks();
    remove_inbox_entry(&rocks, user(1), entry(1500, 20, 2));
    remove_inbox_entry(&rocks, user(1), entry(3000, 21, 2));
    drop(rocks);
    assert_eq!(
        disagreements(&pushing),
        ["user 1: inbox lacks 3000-21 of source 2", "3 users checked, 1 disagreements"]
    );
}

#[test]
fn rows_below_the_floor_are_ignored() {
    let place = place();
    let rocks = place.rocks();
    feed::inbox::tables::raise_floor(&rocks, user(1), cursor(1000, 11)).expect("raises");
    remove_inbox_entry(&rocks, user(1), entry(1000, 10, 2));
    remove_inbox_entry(&rocks, user(1), entry(1000, 11, 3));
    put_inbox_entry(&rocks, user(1), entry(900, 99, 9));
    drop(rocks);
    place.run(&["check"]).ok();
    remove_inbox_entry(&place.rocks(), user(1), entry(2000, 12, 2));
    assert_eq!(disagreements(&place)[0], "user 1: inbox lacks 2000-12 of source 2");
}

#[test]
fn a_database_that_lost_its_head_is_refused_and_kept() {
    let place = place();
    place.run(&["check"]).ok();
    let db = place.data().join("db");
    let tables = || {
        let names = std::fs::read_dir(&db).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".sst")).count()
    };
    let before = tables();
    assert!(before > 0);
    std::fs::remove_file(db.join("CURRENT")).unwrap();
    for command in ["check", "stats", "check"] {
        let ran = place.run(&[command]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.err.contains("db/CURRENT is missing"), "{ran:?}");
        assert_eq!(tables(), before);
    }
    std::fs::remove_dir_all(&db).unwrap();
    assert_eq!(place.run(&["check"]).code, Some(1));
    assert!(!db.exists());
}
