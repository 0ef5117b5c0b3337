//! Closing a directory and opening it again. Only the store on disk has one.

use std::path::Path;

use feed::store::{InboxRoom, Options, Store};
use model::Job;

use super::everything::{Scope, dump, fill};
use super::support::{
    MANY, floor, follow_settled, inbox, jobs, open, open_with, place, publish_post, push, settle, unfollow, users,
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
fn everything_is_there_before_anything_is_loaded_into_memory() {
    let dir = fresh();
    let store = open(dir.path());
    fill(&store);
    let before = everything(&store);
    drop(store);
    let store = open_with(&Options { loads: false, ..Options::new(dir.path()) });
    let loaded = |store: &Store| store.filters().iter().all(|filter| filter.is_loaded);
    assert!(!loaded(&store));
    assert_eq!(everything(&store), before);
    let store = reopened(dir.path(), store);
    assert!(loaded(&store), "few rows are loaded by the start itself");
    assert_eq!(everything(&store), before);
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
