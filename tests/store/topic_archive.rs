//! Lists of topics with a part in the archive.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use model::error::Error;
use model::store::{Push, Restored, Tier};
use model::{Cursor, Entry, Order, Span};
use store::Options;
use store::Store;

use super::support::{BOTH_ORDERS, MANY, audit, entry, expected, ids, item, open, open_with, place, publish, spans};
use super::topics::{about, delete, list, part, topic};

/// Most items that a list shows, in tests of reads during changes.
const DEPTH: usize = 6;

fn restore(store: &Store, id: u64) {
    assert!(matches!(store.restore(item(id), 0, None, Push::Queued).expect("restores"), Restored::Now(..)));
}

fn rows(store: &Store, table: &str) -> u64 {
    store.compact().expect("compacts");
    store.stats().expect("stats").iter().find(|stats| stats.table == table).expect("the table").rows
}

#[test]
fn every_page_is_the_same_wherever_the_rows_are() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = open(dir.path());
    let mut all: Vec<Entry> = (1..=10).map(|id| entry(id % 3 + 1, id / 2, id)).collect();
    for entry in &all {
        publish(&store, about(entry.cursor.id.get(), entry.author.get(), entry.cursor.at, &["a"]));
    }
    let a = topic(&store, "a");
    let bounds: Vec<Cursor> = (1..=10).map(|id| place(id / 2, id)).chain([place(0, 9), place(2, 8)]).collect();
    let check = |store: &Store, all: &[Entry], when: &str| {
        for depth in [1, 2, 4, 7, MANY] {
            let newest = expected(all, |entry| entry.cursor, Span::ALL, Order::NewestFirst, depth);
            for order in BOTH_ORDERS {
                for (span, limit) in spans(&bounds).into_iter().flat_map(|span| [1, 3, MANY].map(|limit| (span, limit)))
                {
                    let right = expected(&newest, |entry| entry.cursor, span, order, limit);
                    let what = || format!("{when}: {span:?} {order:?} limit {limit} depth {depth}");
                    assert_eq!(part(store, a, span, order, limit, depth), right, "{}", what());
                    match store.topic_content(a, span.scan(order, limit), depth, Tier::Memory) {
                        Ok(found) => assert_eq!(found, right, "{}", what()),
                        Err(Error::NotCached) => {}
                        Err(other) => panic!("{}: {other:?}", what()),
                    }
                }
            }
        }
    };
    for (newest, most) in [(2, 1), (6, 2), (6, 9), (10, 1), (10, 9)] {
        store.archive_topic(a, place(newest / 2, newest), most).expect("moves");
        check(&store, &all, &format!("moved up to {newest}"));
        delete(&store, newest);
        all.retain(|entry| entry.cursor.id != item(newest));
        check(&store, &all, &format!("{newest} deleted"));
        restore(&store, newest);
        all.push(entry(newest % 3 + 1, newest / 2, newest));
        store.compact().expect("compacts");
        check(&store, &all, &format!("{newest} restored"));
        assert_eq!(audit(&store), Vec::<String>::new());
        if newest == 6 {
            delete(&store, 6);
            all.retain(|entry| entry.cursor.id != item(6));
            restore(&store, 6);
            all.push(entry(1, 3, 6));
        }
    }
    assert_eq!(list(&store, "a"), (1..=10).rev().collect::<Vec<_>>());
}

#[test]
fn a_list_is_full_whatever_was_moved_and_deleted() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = open(dir.path());
    for id in 1..=310 {
        publish(&store, about(id, 1, id, &["a"]));
    }
    let a = topic(&store, "a");
    for moved in [60, 60, 60, 5] {
        assert_eq!(store.archive_topic(a, place(185, 185), 60).expect("moves"), moved);
    }
    // The rows above the floor, and the floor; the rows up to it, and a mark.
    assert_eq!((rows(&store, "topic_content"), rows(&store, "topic_archive")), (126, 186));
    (186..=310).for_each(|id| delete(&store, id));
    let newest = |depth| ids(&part(&store, a, Span::ALL, Order::NewestFirst, MANY, depth));
    assert_eq!(newest(100), (86..=185).rev().collect::<Vec<_>>());
    publish(&store, about(400, 1, 400, &["a"]));
    (100..=185).for_each(|id| delete(&store, id));
    assert_eq!(newest(100), (1..=99).chain([400]).rev().collect::<Vec<_>>());
    assert_eq!(newest(3), [400, 99, 98]);
    drop(store);
    let store = open(dir.path());
    publish(&store, about(401, 1, 50, &["a"]));
    restore(&store, 100);
    restore(&store, 310);
    assert_eq!(
        list(&store, "a"),
        [&[400, 310][..], &(51..=100).rev().collect::<Vec<_>>(), &[401], &(1..=50).rev().collect::<Vec<_>>()].concat()
    );
    assert_eq!(audit(&store), Vec::<String>::new());
}

/// Reads lists of a topic while a thread changes it. Each list must be that of one instant between the beginning and
/// the end of the read.
#[test]
fn a_read_that_goes_on_in_the_archive_is_of_one_instant() {
    const LAST: u64 = 40;
    let dir = tempfile::tempdir().expect("a directory");
    let options = Options { sync: false, ..Options::new(dir.path()) };
    let store = open_with(&options);
    (1..=LAST).for_each(|id| _ = publish(&store, about(id, 1, id, &["a"])));
    let a = topic(&store, "a");
    let shown = |live: &[u64]| live.iter().rev().take(DEPTH).copied().collect::<Vec<u64>>();
    // The list after each change, and the number of changes that have returned.
    let (states, returned) = (Mutex::new(vec![shown(&(1..=LAST).collect::<Vec<_>>())]), AtomicUsize::new(0));
    let (done, below) = (AtomicBool::new(false), AtomicUsize::new(0));
    // Rows are moved between changes.
    let one_writes = Mutex::new(());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let began = Instant::now();
            let mut live: Vec<u64> = (1..=LAST).collect();
            let change = |live: &[u64], write: &mut dyn FnMut()| {
                states.lock().expect("whole").push(shown(live));
                let _writes = one_writes.lock().expect("whole");
                write();
                returned.fetch_add(1, Ordering::SeqCst);
            };
            for round in 0.. {
                // On a busy machine the reads may come late.
                let enough = below.load(Ordering::SeqCst) > 0 || began.elapsed() > Duration::from_secs(60);
                if round >= 60 && enough {
                    break;
                }
                // Deletes all but a few items, at both ends of the list and around the floor, and restores them.
                let mut gone = Vec::new();
                while live.len() > 3 {
                    let place = (gone.len() * 7 + round) % DEPTH.min(live.len());
                    let id = live.remove(live.len() - 1 - place);
                    gone.push(id);
                    change(&live, &mut || delete(&store, id));
                }
                while let Some(id) = if gone.len() % 2 == 0 { gone.pop() } else { Some(gone.remove(0)) } {
                    live.insert(live.partition_point(|other| *other < id), id);
                    change(&live, &mut || restore(&store, id));
                }
            }
            done.store(true, Ordering::SeqCst);
        });
        scope.spawn(|| {
            for newest in (1..LAST - 2).cycle() {
                if done.load(Ordering::SeqCst) {
                    break;
                }
                let writes = one_writes.lock().expect("whole");
                store.archive_topic(a, place(newest, newest), 2).expect("moves");
                drop(writes);
                if newest % 20 == 0 {
                    store.compact().expect("compacts");
                }
            }
        });
        let reads = || {
            [(Span::ALL, Order::NewestFirst), (Span::ALL, Order::OldestFirst)]
                .into_iter()
                .chain([(Span { before: Some(Cursor::NEWEST), after: None }, Order::NewestFirst)])
                .flat_map(|(span, order)| [Tier::Memory, Tier::Disk].map(|tier| (span, order, tier)))
        };
        while !done.load(Ordering::SeqCst) {
            for (span, order, tier) in reads() {
                let first = returned.load(Ordering::SeqCst);
                let found = match store.topic_content(a, span.scan(order, MANY), DEPTH, tier) {
                    Err(Error::NotCached) => continue,
                    found => found.expect("reads"),
                };
                let states = states.lock().expect("whole");
                let mut found = ids(&found);
                if order == Order::OldestFirst {
                    found.reverse();
                }
                below.fetch_add(usize::from(found.last() < Some(&30)), Ordering::SeqCst);
                assert!(states[first..].contains(&found), "{found:?} is none of {:?}", &states[first..]);
            }
        }
        assert!(below.load(Ordering::SeqCst) > 0, "no read went below");
    });
}
