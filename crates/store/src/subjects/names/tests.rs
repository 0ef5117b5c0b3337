use super::*;
use crate::Options;
use model::Profile;
use model::store::{Activities, Names as _, Records};

fn open(dir: &tempfile::TempDir) -> Rocks {
    Rocks::open(&Options::new(dir.path())).expect("opens")
}

fn hold(store: &Rocks, name: &str) -> u64 {
    store.hold_numbers(&[name], Hold::Change).expect("holds")[0]
}

/// Writes a change that mentions a user with this number.
fn write(store: &Rocks, number: u64) -> Result<()> {
    store.put_profile(UserId::new(number).expect("in range"), &Profile::default())
}

/// Stops the engine: it takes no more writes until it is opened again.
fn stop_engine(store: &Rocks) {
    // A sequence number, the number of records, and a value for table 127, which does not exist.
    let batch = rocksdb::WriteBatch::from_data(&[0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 127, 1, b'k', 1, b'v']);
    store.db.write(batch).expect_err("there is no such table");
}

fn number(store: &Rocks, name: &str) -> Option<u64> {
    store.numbers(&[name], Tier::Disk).expect("reads")[0]
}

#[test]
fn a_name_that_no_change_has_written_is_forgotten() {
    let dir = tempfile::tempdir().expect("temp dir");
    let store = open(&dir);
    let refused = hold(&store, "a");
    store.release_numbers(&["a"], Hold::Change);
    store.meet(UserId::MIN, 1).expect("meets");
    write(&store, 1).expect("writes");
    assert_eq!(number(&store, "a"), None);
    let again = hold(&store, "a");
    assert!(again > refused, "no number is given twice");
    // A write that the full device does not take.
    store.health.owes_room.store(true, Ordering::Release);
    assert!(write(&store, again).is_err());
    store.release_numbers(&["a"], Hold::Change);
    assert!(store.names.given.lock().held.is_empty() && !store.names.has_wanted.load(Ordering::Acquire));
}

#[test]
fn a_name_of_a_change_that_the_engine_refuses_is_forgotten() {
    let dir = tempfile::tempdir().expect("temp dir");
    let store = open(&dir);
    stop_engine(&store);
    for name in 0..100 {
        let name = format!("name {name}");
        let number = hold(&store, &name);
        assert!(write(&store, number).is_err());
        assert!(store.write_names(&[number]).is_err());
        store.release_numbers(&[&name], Hold::Change);
    }
    assert!(store.names.given.lock().held.is_empty() && !store.names.has_wanted.load(Ordering::Acquire));
    drop(store);
    let store = open(&dir);
    let number_of = hold(&store, "name 0");
    write(&store, number_of).expect("writes");
    assert_eq!(number(&store, "name 0"), Some(number_of));
}

#[test]
fn a_change_has_the_names_that_it_mentions_and_no_others() {
    let dir = tempfile::tempdir().expect("temp dir");
    let store = open(&dir);
    let names: Vec<_> = (0..200).map(|n| format!("name {n}")).collect();
    let numbers: Vec<_> = names.iter().map(|name| hold(&store, name)).collect();
    let before = store.db.latest_sequence_number();
    // A change that has failed.
    drop(store.add_names(&mut WriteBatch::default(), &numbers[..]));
    numbers[..100].iter().for_each(|number| write(&store, *number).expect("writes"));
    let writes = store.db.get_updates_since(before).expect("reads the log");
    let rows: Vec<_> = writes.map(|write| write.expect("reads").1.len()).filter(|rows| *rows > 0).collect();
    assert_eq!(rows, [3; 100], "a profile, and two rows of a name");
    let found = store.numbers(&names.iter().map(String::as_str).collect::<Vec<_>>(), Tier::Disk).expect("reads");
    let wanted = numbers.iter().enumerate().map(|(n, number)| (n < 100).then_some(*number));
    assert_eq!(found, wanted.collect::<Vec<_>>());
}

#[test]
fn a_name_is_written_while_one_of_its_changes_may_be() {
    let dir = tempfile::tempdir().expect("temp dir");
    let store = open(&dir);
    let numbers =
        [hold(&store, "a"), hold(&store, "a"), store.hold_numbers(&["a"], Hold::Stream).expect("reserves")[0]];
    assert!(numbers.iter().all(|number| *number == numbers[0]), "{numbers:?}");
    store.release_numbers(&["a"], Hold::Change);
    assert_eq!((number(&store, "a"), store.reserved_number("a")), (None, Some(numbers[0])));
    // A change that mentions it without a hold.
    store.meet(UserId::new(numbers[0]).expect("in range"), 1).expect("meets");
    assert_eq!((number(&store, "a"), store.reserved_number("a")), (Some(numbers[0]), None));
    store.release_numbers(&["a"], Hold::Change);
    store.release_numbers(&["a"], Hold::Stream);
    drop(store);
    let store = open(&dir);
    assert_eq!(number(&store, "a"), Some(numbers[0]));
    assert_eq!(store.names(&numbers[..1], Tier::Disk).expect("reads")[0].as_ref(), "a");
    assert!(hold(&store, "b") > numbers[0]);
}

#[test]
fn a_name_that_is_written_after_a_look_up_has_one_number() {
    let dir = tempfile::tempdir().expect("temp dir");
    let store = open(&dir);
    for others in [0, MOST_RECENT] {
        let name = format!("with {others} others");
        let emptied = store.names.emptied.load(Ordering::Acquire);
        let found = store.names.numbers.find_all(&store, &[&name]).expect("reads");
        assert_eq!(found, [None]);
        let number = hold(&store, &name);
        write(&store, number).expect("writes");
        let others: Vec<_> = (0..others).map(|n| n.to_string()).collect();
        let others: Vec<_> = others.iter().map(String::as_str).collect();
        let given = store.hold_numbers(&others, Hold::Change).expect("holds");
        store.write_names(&given).expect("writes");
        store.release_numbers(&others, Hold::Change);
        store.names.numbers.clear();
        assert_eq!(store.hold_found(&[&name], found, emptied, Hold::Change).expect("holds"), [number]);
    }
    assert!(store.names.given.lock().recent.len() <= MOST_RECENT);
}

#[test]
fn a_name_keeps_its_number_while_a_write_is_under_way() {
    let dir = tempfile::tempdir().expect("temp dir");
    let store = open(&dir);
    let first = hold(&store, "a");
    let mut change = WriteBatch::default();
    let under_way = store.add_names(&mut change, &first);
    store.release_numbers(&["a"], Hold::Change);
    assert_eq!(hold(&store, "a"), first, "its rows may be on disk already");
    store.commit(change, false).expect("writes");
    under_way.written();
    store.release_numbers(&["a"], Hold::Change);
    assert_eq!(number(&store, "a"), Some(first));
}
