//! The notes of a node, its mark, and the names that its changes have.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use double::GiveNumbers;
use model::Profile;
use model::store::{Activities, Hold, MARK, Names, Records, Replica, Store, Tier};
use store::{Options, Rocks};

use super::support::user;

fn note(store: &dyn Store, name: &str) -> Option<Vec<u8>> {
    store.note(name).expect("reads")
}

fn a_note_stays_until_it_is_removed(store: &dyn Store) {
    assert_eq!(note(store, "a"), None);
    store.put_notes(&[("a", Some(b"1")), ("b", Some(b""))]).expect("writes");
    assert_eq!((note(store, "a"), note(store, "b")), (Some(b"1".to_vec()), Some(Vec::new())));
    store.put_notes(&[("a", None), ("b", Some(b"2")), ("c", None)]).expect("writes");
    assert_eq!((note(store, "a"), note(store, "b")), (None, Some(b"2".to_vec())));
}

fn names_go_on_after_a_number(store: &dyn Store) {
    let give = |name| store.give_numbers(&[name]).expect("gives")[0];
    let first = give("a");
    assert_eq!(store.highest_name(), first);
    store.continue_names(first + 10);
    assert_eq!(give("b"), first + 11);
    assert_eq!(give("a"), first);
}

on_both! { a_note_stays_until_it_is_removed, names_go_on_after_a_number }

/// A store whose marks count the writes that have one.
fn node(dir: &tempfile::TempDir) -> (Rocks, Arc<AtomicU64>) {
    let store = Rocks::open(&Options::new(dir.path())).expect("opens");
    let made = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&made);
    store.keep_mark(Arc::new(move |_| count.fetch_add(1, Ordering::Relaxed).to_be_bytes().to_vec()));
    (store, made)
}

#[test]
fn on_a_node_each_change_has_a_mark_and_nothing_else_has() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (store, made) = node(&dir);
    store.touch(user(1), 5).expect("touches");
    store.meet(user(2), 5).expect("meets");
    assert_eq!((made.load(Ordering::Relaxed), note(&store, MARK)), (0, None));
    for n in 0..3_u64 {
        store.put_profile(user(n + 1), &Profile::default()).expect("puts");
        assert_eq!(note(&store, MARK), Some(n.to_be_bytes().to_vec()));
    }
    drop(store);
    let store = Rocks::open(&Options::new(dir.path())).expect("opens");
    assert_eq!(note(&store, MARK), Some(2_u64.to_be_bytes().to_vec()));
}

#[test]
fn on_a_node_a_name_is_written_with_a_change_or_not_at_all() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (store, _) = node(&dir);
    let number = |name| store.numbers(&[name], Tier::Disk).expect("reads")[0];
    let held = store.hold_numbers(&["a"], Hold::Change).expect("holds");
    // A read that marks its user as seen, while a command that may be refused is decided.
    store.touch(user(1), 5).expect("touches");
    assert_eq!(number("a"), None);
    store.release_numbers(&["a"], Hold::Change);
    assert!(store.highest_name() < held[0], "the number is free again, as on all nodes");
    let again = store.hold_numbers(&["b"], Hold::Change).expect("holds");
    store.put_profile(user(1), &Profile::default()).expect("puts");
    assert_eq!((number("a"), number("b")), (None, Some(again[0])));
    assert_eq!(again, held);
}
