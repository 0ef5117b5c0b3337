//! Closing a directory and opening it again. Only the store on disk has one.

use std::path::Path;

use feed::store::{InboxRoom, Options, Store};
use model::Job;
use model::error::Error;

use super::everything::{Scope, dump, fill};
use super::support::{
    MANY, content, floor, follow_settled, inbox, jobs, open, open_with, place, publish_post, push, settle, unfollow,
    user, users,
};

/// A directory that is removed with the test.
fn fresh() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// Everything.
fn everything(store: &Store) -> (Vec<String>, Vec<Job>) {
    (dump(store, &Scope::filled()), jobs(store))
}

fn reopened(dir: &Path, store: Box<Store>) -> Box<Store> {
    drop(store);
    open(dir)
}

#[test]
fn everything_is_there_again() {
    let dir = fresh();
    let mut store = open(dir.path());
    fill(&store);
    let before = everything(&store);
    for _ in 0..3 {
        store = reopened(dir.path(), store);
        assert_eq!(everything(&store), before);
    }
    store.compact().expect("compacts");
    store = reopened(dir.path(), store);
    assert_eq!(everything(&store), before);
}

#[test]
fn everything_is_there_before_anything_is_loaded_into_memory() {
    let dir = fresh();
    let store = open(dir.path());
    fill(&store);
    let before = everything(&store);
    drop(store);
    let store = open_with(&Options { loads: false, ..Options::new(dir.path()) });
    let loaded = |store: &Store| store.usage().expect("figures").filters.iter().all(|filter| filter.is_loaded);
    assert!(!loaded(&store));
    assert_eq!(everything(&store), before);
    let store = reopened(dir.path(), store);
    assert!(loaded(&store), "few rows are loaded by the start itself");
    assert_eq!(everything(&store), before);
}

#[test]
fn a_directory_has_one_store_at_a_time() {
    let dir = fresh();
    let store = open(dir.path());
    publish_post(&store, 1, 1, 10);
    match Store::open(&Options::new(dir.path())) {
        Err(Error::Setup(message)) => assert!(!message.is_empty()),
        other => panic!("opened twice: {other:?}"),
    }
    // The attempt does the first store no harm.
    publish_post(&store, 2, 1, 20);
    let store = reopened(dir.path(), store);
    assert!(content(&store, 1).is_some() && content(&store, 2).is_some());
}

#[test]
fn durability_by_the_operating_system_also_survives_a_reopening() {
    let dir = fresh();
    let options = Options::new(dir.path()).with(|engine| engine.sync = false);
    let store = open_with(&options);
    fill(&store);
    let before = everything(&store);
    drop(store);
    assert_eq!(everything(&open(dir.path())), before);
}

#[test]
fn an_inbox_beyond_its_room_is_trimmed_when_it_is_merged() {
    let dir = fresh();
    let options = Options { inbox_room: InboxRoom { limit: 20, slack: 5 }, ..Options::new(dir.path()) };
    let store = open_with(&options);
    for id in 1..=30 {
        // User 2 gets 30, user 3 gets exactly limit and slack, user 4 all but those below its floor.
        let recipients: &[u64] = if id <= 25 { &[2, 3, 4] } else { &[2, 4] };
        push(&store, id, 1, id, &users(recipients.iter().copied()));
    }
    feed::inbox::tables::raise_floor(&store, user(4), place(8, 8)).expect("raises");
    assert_eq!((inbox(&store, 2).len(), floor(&store, 2)), (30, None), "not merged yet");
    store.write_arrivals().expect("writes");
    for when in ["merged by the read", "merged on disk"] {
        assert_eq!((inbox(&store, 2).len(), floor(&store, 2)), (20, Some(place(10, 10))), "{when}");
        assert_eq!((inbox(&store, 3).len(), floor(&store, 3)), (25, None), "{when}");
        assert_eq!((inbox(&store, 4).len(), floor(&store, 4)), (22, Some(place(8, 8))), "{when}");
        store.compact().expect("compacts");
    }
}

/// A merge for a read raises the floor; then entries above it go away, so that the next merge would not raise it.
#[test]
fn a_floor_that_a_settle_has_seen_stays() {
    let dir = fresh();
    let options = Options { inbox_room: InboxRoom { limit: 4, slack: 1 }, ..Options::new(dir.path()) };
    let store = open_with(&options);
    for id in [10, 20, 30] {
        let job = publish_post(&store, id, 9, id);
        feed::inbox::tables::drop_job(&store, job.id).expect("drops");
    }
    follow_settled(&store, 2, 1, 1);
    for id in 31..=36 {
        push(&store, id, 1, id, &users([2]));
    }
    store.write_arrivals().expect("writes");
    assert_eq!(floor(&store, 2), Some(place(32, 32)));
    // The settle of the new followee puts nothing below the floor that it sees.
    follow_settled(&store, 2, 9, 2);
    let job = unfollow(&store, 2, 1);
    settle(&store, job, MANY);
    for _ in 0..2 {
        assert_eq!((inbox(&store, 2), floor(&store, 2)), (vec![], Some(place(32, 32))));
        store.compact().expect("compacts");
    }
}

#[test]
fn jobs_end_on_disk_only_with_their_entries() {
    let dir = fresh();
    let store = open(dir.path());
    follow_settled(&store, 2, 1, 1);
    store.write_arrivals().expect("writes");
    let copy = fresh();
    push(&store, 10, 1, 10, &users([2]));
    // The files as a kill leaves them, without the changes in memory.
    copy_files(dir.path(), copy.path());
    let killed = open(copy.path());
    assert_eq!((inbox(&killed, 2).len(), jobs(&killed).len()), (0, 1));
    store.write_arrivals().expect("writes");
    let copy = fresh();
    copy_files(dir.path(), copy.path());
    let killed = open(copy.path());
    assert_eq!((inbox(&killed, 2).len(), jobs(&killed).len()), (1, 0));
}

/// Copies a data directory that is in use; its log is written without a buffer.
fn copy_files(from: &Path, to: &Path) {
    std::fs::create_dir_all(to.join("db")).expect("makes a directory");
    for part in ["", "db"] {
        for file in std::fs::read_dir(from.join(part)).expect("lists").map(|entry| entry.expect("an entry").path()) {
            if file.is_file() {
                std::fs::copy(&file, to.join(part).join(file.file_name().expect("a name"))).expect("copies");
            }
        }
    }
}
