//! The notes of a node, and its mark.

use std::sync::Arc;

use feed::store::{Options, Store};
use model::Profile;
use model::store::MARK;

use super::support::{erasure_of, user};

fn note(store: &Store, name: &str) -> Option<Vec<u8>> {
    store.note(name).expect("reads")
}

fn a_note_stays_until_it_is_removed(store: &Store) {
    assert_eq!(note(store, "a"), None);
    store.put_notes(&[("a", Some(b"1")), ("b", Some(b""))]).expect("writes");
    assert_eq!((note(store, "a"), note(store, "b")), (Some(b"1".to_vec()), Some(Vec::new())));
    store.put_notes(&[("a", None), ("b", Some(b"2")), ("c", None)]).expect("writes");
    assert_eq!((note(store, "a"), note(store, "b")), (None, Some(b"2".to_vec())));
}

on_both! { a_note_stays_until_it_is_removed }

#[test]
fn a_group_has_the_mark_that_comes_with_it_and_an_empty_one_has_none() {
    let dir = tempfile::tempdir().expect("temp dir");
    let store = Arc::new(Store::open(&Options::new(dir.path())).expect("opens"));
    let grouping = Arc::clone(&store).grouping();
    feed::inbox::tables::touch(&store, user(1), 5).expect("touches");
    feed::inbox::tables::meet(&store, user(2), 5).expect("meets");
    grouping.note_group(MARK, b"none").expect("notes");
    grouping.write_group().expect("writes");
    assert_eq!(note(&store, MARK), None);
    for n in 0..3_u64 {
        feed::users::tables::put_profile(&grouping, user(n + 1), &Profile::default()).expect("puts");
        feed::users::tables::put_profile(&grouping, user(n + 2), &Profile::default()).expect("puts");
        grouping.note_group(MARK, &n.to_be_bytes()).expect("notes");
        assert_ne!(note(&store, MARK), Some(n.to_be_bytes().to_vec()));
        grouping.write_group().expect("writes");
        assert_eq!(note(&store, MARK), Some(n.to_be_bytes().to_vec()));
    }
    // Its end writes the group itself, with the mark that is behind it.
    assert!(feed::erasure::tables::begin_erasure(&store, &erasure_of(1, 5), None).expect("begins"));
    grouping.note_group(MARK, b"behind the end").expect("notes");
    assert!(feed::erasure::tables::end_erasure(&grouping, user(1), 6, 0).expect("ends"));
    assert_eq!(note(&store, MARK), Some(b"behind the end".to_vec()));
    drop((grouping, store));
    let store = Store::open(&Options::new(dir.path())).expect("opens");
    assert_eq!(note(&store, MARK), Some(b"behind the end".to_vec()));
}
