use super::*;
use crate::Options;
use model::{KindId, Profile, UserId};

fn open(dir: &tempfile::TempDir) -> Arc<Store> {
    Arc::new(Store::open(&Options::new(dir.path())).expect("opens"))
}

fn give(store: &Store, name: &str) -> u64 {
    store.give_numbers(&[name]).expect("gives")[0]
}

fn give_kind(store: &Store, kind: &str) -> KindId {
    store.give_kinds(&[kind]).expect("gives")[0]
}

/// Writes a change of a user.
fn write(store: &Store) -> Result<()> {
    store.put_profile(UserId::MIN, &Profile::default())
}

fn number(store: &Store, name: &str) -> Option<u64> {
    store.numbers(&[name], Tier::Disk).expect("reads")[0]
}

#[test]
fn numbers_stay_if_their_change_is_made() {
    let dir = tempfile::tempdir().expect("temp dir");
    let store = open(&dir);
    let making = Arc::clone(&store).grouping();
    let first = give(&making, "a");
    assert_eq!((give(&making, "b"), give(&making, "a"), number(&making, "a")), (first + 1, first, Some(first)));
    let video = give_kind(&making, "video");
    write(&making).expect("stages");
    making.end_change(false);
    assert_eq!((number(&making, "a"), making.kind_names().expect("reads").len()), (None, 3));
    assert_eq!((give(&making, "c"), give_kind(&making, "clip")), (first, video));
    making.end_change(true);
    assert_eq!((give(&making, "d"), number(&store, "c")), (first + 1, None));
    making.end_change(false);
    making.write_group().expect("writes");
    assert_eq!(["a", "b", "c", "d"].map(|name| number(&store, name)), [None, None, Some(first), None]);
    assert_eq!(store.kind_names().expect("reads")[3..], ["clip"]);
}

#[test]
fn names_of_a_write_that_fails_are_forgotten() {
    let dir = tempfile::tempdir().expect("temp dir");
    let store = open(&dir);
    let making = Arc::clone(&store).grouping();
    assert!(store.disk().expect("on disk").health.seal());
    give(&making, "a");
    write(&making).expect("stages");
    making.end_change(true);
    making.write_group().expect_err("the store takes no writes");
    assert_eq!(number(&making, "a"), None);
    drop((making, store));
    let store = open(&dir);
    let first = give(&store, "b");
    drop(store);
    let store = open(&dir);
    assert_eq!((number(&store, "a"), number(&store, "b")), (None, Some(first)));
    assert_eq!(store.names(&[first], Tier::Disk).expect("reads")[0].as_ref(), "b");
    assert!(give(&store, "c") > first);
}
