//! Outboxes of which a part has moved to the archive.

use std::sync::{Arc, Mutex};

use model::store::{Listeners, Tier};
use model::{Cursor, Order, Span, UserId};
use store::Options;
use store::Store;

use super::support::{expected, ids, item, open, open_with, outbox, place, publish_post, span, spans, user, users};

const AUTHOR: u64 = 7;

/// Ten items, of which the oldest six are in the archive.
fn archived(store: &Store) {
    for id in 1..=10 {
        publish_post(store, id, AUTHOR, id * 10);
    }
    publish_post(store, 50, AUTHOR + 1, 35);
    assert_eq!(store.archive_outbox(user(AUTHOR), place(60, 6), 4).expect("moves"), 4);
    assert_eq!(store.archive_outbox(user(AUTHOR), place(60, 6), 4).expect("moves"), 2);
    assert_eq!(store.archive_outbox(user(AUTHOR), place(60, 6), 4).expect("moves"), 0);
}

/// Rows of a table after a compaction, when they are counted exactly.
fn rows(store: &Store, table: &str) -> u64 {
    store.compact().expect("compacts");
    store.stats().expect("stats").iter().find(|stats| stats.table == table).expect("the table").rows
}

#[test]
fn every_page_is_the_same() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = open(dir.path());
    archived(&store);
    let all = outbox(&store, AUTHOR);
    assert_eq!(ids(&all), (1..=10).rev().collect::<Vec<_>>());
    let authors = users([AUTHOR, AUTHOR + 1]);
    let mut both = all;
    both.extend(outbox(&store, AUTHOR + 1));
    both.sort_by_key(|entry| std::cmp::Reverse(entry.cursor));
    let places: Vec<Cursor> = both.iter().map(|entry| entry.cursor).chain([place(60, 9), place(61, 1)]).collect();
    for compacted in [false, true] {
        if compacted {
            store.compact().expect("compacts");
        }
        for span in spans(&places) {
            for order in [Order::NewestFirst, Order::OldestFirst] {
                for limit in [1, 2, 3, 5, 20] {
                    let found = store.outboxes(&authors, span.scan(order, limit), Tier::Disk).expect("reads");
                    assert_eq!(found, expected(&both, |entry| entry.cursor, span, order, limit), "{span:?} {order:?}");
                }
            }
        }
    }
}

#[test]
fn a_compaction_drops_what_was_moved() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = open(dir.path());
    archived(&store);
    // Four rows of the author, the floor, one row of the other author; six rows and a mark.
    assert_eq!((rows(&store, "outbox"), rows(&store, "outbox_archive")), (6, 7));
    drop(store);
    let store = open(dir.path());
    assert_eq!(outbox(&store, AUTHOR).len(), 10);
}

#[test]
fn late_items_and_deletions_find_the_archive() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = open(dir.path());
    archived(&store);
    publish_post(&store, 101, AUTHOR, 15);
    publish_post(&store, 102, AUTHOR, 60);
    publish_post(&store, 103, AUTHOR, 61);
    store.compact().expect("compacts");
    assert_eq!(ids(&outbox(&store, AUTHOR)), [10, 9, 8, 7, 103, 102, 6, 5, 4, 3, 2, 101, 1]);
    for id in [101, 102, 103, 1, 2, 3, 4, 5, 6] {
        assert!(store.delete(item(id), 1000.into()).expect("deletes"));
    }
    store.compact().expect("compacts");
    assert_eq!(ids(&outbox(&store, AUTHOR)), [10, 9, 8, 7]);
    // The archive is empty, but the floor remains, and a later start knows it.
    drop(store);
    let store = open(dir.path());
    publish_post(&store, 400, AUTHOR, 5);
    store.compact().expect("compacts");
    assert_eq!(ids(&outbox(&store, AUTHOR)), [10, 9, 8, 7, 400]);
}

#[test]
fn an_oversized_outbox_is_named_when_it_is_compacted() {
    let dir = tempfile::tempdir().expect("a directory");
    let named: Arc<Mutex<Vec<UserId>>> = Arc::default();
    let told = Arc::clone(&named);
    let listeners = Listeners {
        oversized_outbox: Arc::new(move |author| told.lock().expect("a whole list").push(author)),
        ..Listeners::default()
    };
    let options = Options { notice_outbox_above: 3, listeners, ..Options::new(dir.path()) };
    let store = open_with(&options);
    archived(&store);
    publish_post(&store, 60, AUTHOR + 1, 36);
    publish_post(&store, 61, AUTHOR + 1, 37);
    store.compact().expect("compacts");
    let mut named = named.lock().expect("a whole list").clone();
    named.dedup();
    assert_eq!(named, users([AUTHOR]), "four above its floor; the other has three");
}

#[test]
fn items_that_move_while_they_are_read_are_seen_once() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = open(dir.path());
    for id in 1..=2000 {
        publish_post(&store, id, AUTHOR, id);
    }
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for newest in (10..=1900).step_by(10) {
                store.archive_outbox(user(AUTHOR), place(newest, newest), 10).expect("moves");
                if newest % 300 == 0 {
                    store.compact().expect("compacts");
                }
            }
        });
        for order in [Order::NewestFirst, Order::OldestFirst].into_iter().cycle().take(60) {
            let all: Span<_> = span(None, None);
            let found = store.outboxes(&users([AUTHOR]), all.scan(order, 5000), Tier::Disk).expect("reads");
            let mut found = ids(&found);
            found.sort_unstable();
            assert!(found.iter().copied().eq(1..=2000), "{} items", found.len());
        }
    });
}
