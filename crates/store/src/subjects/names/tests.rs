use super::*;
use crate::Options;
use model::Profile;
use model::store::{Names as _, Records, Store};

fn open(dir: &tempfile::TempDir) -> Rocks {
    Rocks::open(&Options::new(dir.path())).expect("opens")
}

fn give(store: &Rocks, name: &str) -> u64 {
    store.give_numbers(&[name]).expect("gives")[0]
}

/// Writes a change of a user.
fn write(store: &Rocks) -> Result<()> {
    store.put_profile(UserId::MIN, &Profile::default())
}

fn number(store: &Rocks, name: &str) -> Option<u64> {
    store.numbers(&[name], Tier::Disk).expect("reads")[0]
}

#[test]
fn a_name_that_no_write_has_is_forgotten_with_its_change() {
    let dir = tempfile::tempdir().expect("temp dir");
    let store = open(&dir);
    let refused = give(&store, "a");
    assert_eq!((give(&store, "b"), give(&store, "a")), (refused + 1, refused));
    store.end_change();
    write(&store).expect("writes");
    assert_eq!((number(&store, "a"), number(&store, "b")), (None, None));
    assert_eq!(give(&store, "b"), refused, "the number is free again");
    write(&store).expect("writes");
    store.end_change();
    assert_eq!((number(&store, "b"), give(&store, "c")), (Some(refused), refused + 1));
}

#[test]
fn a_name_of_a_write_that_fails_is_forgotten() {
    let dir = tempfile::tempdir().expect("temp dir");
    let store = open(&dir);
    assert!(store.health.seal());
    give(&store, "a");
    assert!(write(&store).is_err());
    store.end_change();
    assert_eq!(number(&store, "a"), None);
    drop(store);
    let store = open(&dir);
    let first = give(&store, "b");
    store.write_names().expect("writes");
    drop(store);
    let store = open(&dir);
    assert_eq!((number(&store, "a"), number(&store, "b")), (None, Some(first)));
    assert_eq!(store.names(&[first], Tier::Disk).expect("reads")[0].as_ref(), "b");
    assert!(give(&store, "c") > first);
}
