//! Lists of topics.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use model::store::{Batch, Listeners, Published, Push, Restored, Tier};
use model::{Content, ContentId, Cursor, Entry, Order, Span, TopicId};
use store::Options;
use store::Store;

use super::support::{
    BOTH_ORDERS, MANY, entry, expected, ids, is_deleted, item, open, open_with, place, post, publish, span, spans,
    timed,
};

on_both! {
    an_item_is_in_the_list_of_each_topic_once,
    every_part_of_a_list_is_that_of_its_newest,
    items_moved_to_the_archive_stay_listed,
    a_repeat_and_a_refused_publish_list_nothing,
}

pub(super) fn about(id: u64, author: u64, at: u64, topics: &[&str]) -> Content {
    Content { topics: topics.iter().map(|topic| (*topic).to_owned()).collect(), ..post(id, author, at) }
}

pub(super) fn topic(store: &Store, name: &str) -> TopicId {
    store.topic(name, Tier::Disk).expect("reads").unwrap_or_else(|| panic!("nothing names {name}"))
}

/// A whole list, newest first; empty for a topic that no item has.
pub(super) fn list(store: &Store, name: &str) -> Vec<u64> {
    let Some(topic) = store.topic(name, Tier::Disk).expect("reads") else { return Vec::new() };
    ids(&part(store, topic, Span::ALL, Order::NewestFirst, MANY, MANY))
}

pub(super) fn part(
    store: &Store,
    topic: TopicId,
    span: Span<ContentId>,
    order: Order,
    limit: usize,
    depth: usize,
) -> Vec<Entry> {
    store.topic_content(topic, span.scan(order, limit), depth, Tier::Disk).expect("reads")
}

pub(super) fn delete(store: &Store, id: u64) {
    assert!(store.delete(item(id), 1.into()).expect("deletes"));
}

fn an_item_is_in_the_list_of_each_topic_once(store: &Store) {
    assert_eq!(store.topic("a", Tier::Disk).expect("reads"), None);
    publish(store, about(1, 5, 10, &["a", "b", "a"]));
    publish(store, Content { broadcast: false, ..about(2, 6, 20, &["a/é 🌊", "a"]) });
    publish(store, about(3, 5, 5, &["a"]));
    publish(store, about(4, 5, 30, &[]));
    assert_eq!((list(store, "a"), list(store, "b"), list(store, "a/é 🌊")), (vec![2, 1, 3], vec![1], vec![2]));
    assert_eq!((list(store, "A"), list(store, ""), list(store, "a/")), (vec![], vec![], vec![]));
    let newest = part(store, topic(store, "a"), Span::ALL, Order::NewestFirst, 1, MANY);
    assert_eq!(newest, [entry(6, 20, 2)], "with its author");
    delete(store, 1);
    assert!(is_deleted(store, 1));
    assert_eq!((list(store, "a"), list(store, "b")), (vec![2, 3], vec![]));
}

fn every_part_of_a_list_is_that_of_its_newest(store: &Store) {
    let mut all = Vec::new();
    for id in 1..=7 {
        publish(store, about(id, id % 3 + 1, id / 2, &["a"]));
        all.push(entry(id % 3 + 1, id / 2, id));
    }
    publish(store, about(8, 1, 2, &["b"]));
    publish(store, about(9, 1, 2, &["a"]));
    let a = topic(store, "a");
    let mut bounds: Vec<Cursor> = all.iter().map(|entry| entry.cursor).collect();
    bounds.extend([place(0, 9), place(2, 3), place(9, 1)]);
    // Twice: with rows cached in the first round, and after a change.
    all.push(entry(1, 2, 9));
    for gone in [7, 9] {
        for (depth, order) in [0, 1, 3, 6, MANY].into_iter().flat_map(|depth| BOTH_ORDERS.map(|order| (depth, order))) {
            let newest = expected(&all, |entry| entry.cursor, Span::ALL, Order::NewestFirst, depth);
            for (span, limit) in spans(&bounds).into_iter().flat_map(|span| [1, 2, MANY].map(|limit| (span, limit))) {
                let found = part(store, a, span, order, limit, depth);
                assert_eq!(
                    found,
                    expected(&newest, |entry| entry.cursor, span, order, limit),
                    "{span:?} {order:?} limit {limit} depth {depth}"
                );
            }
        }
        delete(store, gone);
        all.retain(|entry| entry.cursor.id != item(gone));
    }
}

fn items_moved_to_the_archive_stay_listed(store: &Store) {
    for id in 1..=6 {
        publish(store, about(id, 1, id, &["a", "b"]));
    }
    let a = topic(store, "a");
    let archive = |newest, most| store.archive_topic(a, place(newest, newest), most).expect("moves");
    archive(3, 2);
    archive(3, 2);
    assert_eq!((list(store, "a"), list(store, "b")), (vec![6, 5, 4, 3, 2, 1], vec![6, 5, 4, 3, 2, 1]));
    archive(2, 9);
    let upwards = |span| ids(&part(store, a, span, Order::OldestFirst, MANY, 2));
    assert_eq!(upwards(Span::ALL), [5, 6]);
    publish(store, about(7, 1, 2, &["a"]));
    publish(store, about(8, 1, 3, &["a"]));
    assert_eq!(list(store, "a"), [6, 5, 4, 8, 3, 7, 2, 1], "8 is just above the floor, 7 below");
    delete(store, 5);
    delete(store, 2);
    assert_eq!((list(store, "a"), list(store, "b")), (vec![6, 4, 8, 3, 7, 1], vec![6, 4, 3, 1]));
    store.compact().expect("compacts");
    assert_eq!((list(store, "a"), list(store, "b")), (vec![6, 4, 8, 3, 7, 1], vec![6, 4, 3, 1]));
    for id in [6, 4, 8] {
        delete(store, id);
    }
    assert_eq!((list(store, "a"), list(store, "b")), (vec![3, 7, 1], vec![3, 1]));
    assert_eq!(ids(&part(store, a, Span::ALL, Order::NewestFirst, MANY, 2)), [3, 7]);
    assert_eq!(ids(&part(store, a, span(Some(place(3, 3)), None), Order::NewestFirst, MANY, 2)), [7]);
    for id in [2, 5] {
        assert!(matches!(store.restore(item(id), 0, None, Push::Queued).expect("restores"), Restored::Now(..)));
    }
    assert_eq!((list(store, "a"), list(store, "b")), (vec![5, 3, 7, 2, 1], vec![5, 3, 2, 1]));
}

fn a_repeat_and_a_refused_publish_list_nothing(store: &Store) {
    publish(store, about(1, 1, 1, &["a"]));
    let repeat = timed(about(1, 1, 1, &["a"]));
    let published = store.publish(&[repeat], Batch::AllOrNone, Push::Queued).expect("publishes");
    assert!(matches!(published[0], Published::Same(_)));
    let taken = [timed(about(1, 2, 1, &["b"])), timed(about(2, 2, 1, &["b", "c"]))];
    let taken = taken.map(|mut item| {
        item.content.fingerprint = 9;
        item
    });
    let published = store.publish(&taken, Batch::AllOrNone, Push::Queued).expect("answers");
    assert_eq!(published[0], Published::Taken);
    assert_eq!((list(store, "a"), list(store, "b"), list(store, "c")), (vec![1], vec![], vec![]));
    let published = store.publish(&taken, Batch::Each, Push::Queued).expect("answers");
    assert_eq!(published[0], Published::Taken);
    assert_eq!((list(store, "a"), list(store, "b"), list(store, "c")), (vec![1], vec![2], vec![2]));
}

#[test]
fn names_keep_their_ids_over_a_restart() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = open(dir.path());
    publish(&store, about(1, 1, 1, &["a", "b"]));
    let before = (topic(&store, "a"), topic(&store, "b"));
    assert_ne!(before.0, before.1);
    drop(store);
    let store = open(dir.path());
    publish(&store, about(2, 1, 2, &["c", "a"]));
    assert_eq!((topic(&store, "a"), topic(&store, "b")), before);
    assert!(topic(&store, "c") > before.0.max(before.1));
    drop(store);
    let store = open(dir.path());
    assert_eq!((list(&store, "a"), list(&store, "b"), list(&store, "c")), (vec![2, 1], vec![1], vec![2]));
}

#[test]
fn an_oversized_topic_is_named_and_what_moved_takes_no_room_in_it() {
    let dir = tempfile::tempdir().expect("a directory");
    let named: Arc<Mutex<Vec<TopicId>>> = Arc::default();
    let told = Arc::clone(&named);
    let listeners = Listeners {
        oversized_topic: Arc::new(move |topic| told.lock().expect("a whole list").push(topic)),
        ..Listeners::default()
    };
    let options = Options { notice_topic_above: 20, listeners, ..Options::new(dir.path()) };
    let store = open_with(&options);
    for id in 1..=30 {
        publish(&store, about(id, 1, id, if id <= 20 { &["a", "b"] } else { &["a"] }));
    }
    let rows = || {
        let stats = store.stats().expect("reads");
        stats.iter().find(|figures| figures.table == "topic_content").expect("the table is there").rows
    };
    store.compact().expect("compacts");
    assert_eq!((named.lock().expect("a whole list").as_slice(), rows()), (&[topic(&store, "a")][..], 50));
    assert_eq!(store.archive_topic(topic(&store, "a"), place(25, 25), 100).expect("moves"), 25);
    store.compact().expect("compacts");
    assert_eq!((list(&store, "a").len(), list(&store, "b").len(), rows()), (30, 20, 26));
}

#[test]
fn a_read_sees_the_list_of_one_instant() {
    const DEPTH: u64 = 10;
    let dir = tempfile::tempdir().expect("a directory");
    let options = Options { sync: false, ..Options::new(dir.path()) };
    let store = open_with(&options);
    for id in 1..=DEPTH {
        publish(&store, about(id, 1, id, &["a"]));
    }
    let a = topic(&store, "a");
    let (done, newest) = (AtomicBool::new(false), AtomicU64::new(DEPTH));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for id in DEPTH + 1..=3000 {
                publish(&store, about(id, 1, id, &["a"]));
                newest.store(id, Ordering::SeqCst);
                if id % 100 == 0 {
                    std::thread::yield_now();
                }
            }
            done.store(true, Ordering::SeqCst);
        });
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::SeqCst) {
                    let before = newest.load(Ordering::SeqCst);
                    for (bounds, order) in
                        [(Span::ALL, Order::OldestFirst), (span(Some(Cursor::NEWEST), None), Order::NewestFirst)]
                    {
                        let mut found = ids(&part(&store, a, bounds, order, MANY, DEPTH as usize));
                        found.sort_unstable();
                        let last = *found.last().expect("never empty");
                        assert!(found.iter().copied().eq(last - DEPTH + 1..=last), "{found:?}");
                        assert!(last >= before, "{last} is older than {before}");
                    }
                }
            });
        }
    });
}
