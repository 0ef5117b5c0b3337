use std::thread;

use tempfile::TempDir;

use super::*;
use crate::rows::tables::{ACTIVITY, DELETED, SUSPENDED};
use crate::store::{Options, Store};
use crate::{inbox, items, users};
use kv::{Tier, WriteBatch};
use model::{ContentId, Event, EventKind};

fn user(raw: u64) -> UserId {
    UserId::new(raw).expect("in range")
}

/// A store of which nothing is loaded.
fn unloaded(dir: &TempDir) -> Store {
    Store::open(&Options { loads: false, ..Options::new(dir.path()) }.with(|engine| engine.sync = false))
        .expect("opens")
}

fn put(store: &Store, table: AnyTable, rows: impl Iterator<Item = (u64, Vec<u8>)>) {
    for part in rows.collect::<Vec<_>>().chunks(1000) {
        let mut change = WriteBatch::default();
        part.iter().for_each(|(key, row)| change.put(table, keys::id(*key), row.as_slice()));
        store.commit(change, false).expect("writes");
    }
}

fn activity(raw: u64) -> Activity {
    match raw % 3 {
        0 => Activity::Evicted,
        1 => Activity::Dormant { seen: Some(5) },
        _ => Activity::Active { seen: 10 },
    }
}

/// Changes of users come while the walk is at them, before and behind it.
#[test]
fn changes_during_a_walk_are_in_its_answers() {
    const ROWS: u64 = 20_000;
    let dir = tempfile::tempdir().expect("a directory");
    let store = unloaded(&dir);
    put(&store, &ACTIVITY, (1..=ROWS).map(|raw| (raw, activity(raw).bytes().expect("encodes"))));
    put(&store, &DELETED, (1..=ROWS).filter(|raw| raw % 2 == 0).map(|raw| (raw, 7_u64.to_be_bytes().to_vec())));
    let mut loading = Loading::of(store.kv(), &store.memory.loaded, never());
    let mut expected: Vec<_> = (0..=ROWS).map(activity).collect();
    let check = |expected: &[Activity], raw: u64| {
        let of = &[user(raw)];
        let is_evicted = inbox::tables::not_evicted(&store, of.to_vec()).expect("reads").is_empty();
        assert_eq!(is_evicted, expected[raw as usize] == Activity::Evicted, "{raw}");
        let active = inbox::tables::split_active(&store, of, 0).expect("reads");
        assert_eq!(active.len(), usize::from(expected[raw as usize].seen().is_some()), "{raw}");
        let activity = inbox::tables::activity(&store, user(raw), Tier::Disk).expect("reads");
        assert_eq!(activity, expected[raw as usize], "{raw}");
        let ids = [raw, raw + 1].map(|id| ContentId::new(id).expect("in range"));
        let deleted = items::tables::deleted(&store, &ids, Tier::Disk).expect("reads");
        assert_eq!(deleted, ids.map(|id| id.get().is_multiple_of(2) && id.get() <= ROWS), "{raw}");
    };
    thread::scope(|scope| {
        let walk = scope.spawn(|| loading.run(&tables(&**store.kv()).expect("sizes")));
        let mut n = 1_u64;
        while !walk.is_finished() || n < 5000 {
            // Somewhere.
            let raw = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) % ROWS + 1;
            check(&expected, raw);
            match n % 3 {
                0 => {
                    if inbox::tables::evict(&store, user(raw), u64::MAX, None).expect("evicts") {
                        expected[raw as usize] = Activity::Evicted;
                    }
                }
                1 => expected[raw as usize] = inbox::tables::touch(&store, user(raw), 20).expect("touches").activity,
                _ => {
                    inbox::tables::split_active(&store, &[user(raw)], u64::MAX).expect("splits");
                    let before = expected[raw as usize];
                    expected[raw as usize] = before.lapsed(u64::MAX).unwrap_or(before);
                }
            }
            check(&expected, raw);
            n += 1;
        }
        walk.join().expect("ends");
    });
    assert!(store.memory.loaded.filters().iter().all(|filter| filter.is_loaded));
    (1..=ROWS).for_each(|raw| check(&expected, raw));
}

#[test]
fn a_stop_ends_all_walks_and_leaves_safe_answers() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = unloaded(&dir);
    for table in [SUSPENDED.spec, DELETED.spec] {
        put(&store, table, (1..=10 * ROWS).map(|raw| (raw, 7_u64.to_be_bytes().to_vec())));
    }
    let (stop, stopped) = bounded::<()>(0);
    drop(stop);
    let mut loading = Loading::of(store.kv(), &store.memory.loaded, stopped);
    assert_eq!(loading.load_table(&SUSPENDED), None);
    assert_eq!(loading.rows, ROWS);
    loading.run(&[(0, SUSPENDED.spec), (0, DELETED.spec)]);
    assert_eq!(loading.rows, ROWS, "of the last table");
    assert!(!store.memory.loaded.filter(&DELETED).is_loaded());
    let suspended = |raw| users::tables::suspended_since(&store, user(raw), Tier::Disk).expect("reads");
    assert_eq!([1, 10 * ROWS, 10 * ROWS + 1].map(suspended), [Some(7), Some(7), None]);
    let event = Event::new(1, EventKind::Suspension, false, 1, 2).of_user(user(1));
    assert!(users::tables::set_suspension(&store, user(1), None, event).expect("writes"));
    assert_eq!(suspended(1), None);
}

#[test]
fn a_table_that_cannot_be_read_is_looked_up_row_by_row() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = unloaded(&dir);
    put(&store, &ACTIVITY, (1..=3).map(|raw| (raw, Activity::Evicted.bytes().expect("encodes"))));
    put(&store, &ACTIVITY, [(2, vec![0xFF])].into_iter());
    drop(store);
    let store = Store::open(&Options::new(dir.path())).expect("opens");
    assert_eq!(inbox::tables::not_evicted(&store, [1, 3, 4].map(user).to_vec()).expect("reads"), [user(4)]);
    let usage = store.memory.loaded.filters();
    let loaded = |name| usage.iter().find(|filter| filter.name == name).map(|filter| filter.is_loaded);
    assert_eq!(["evicted", "deleted"].map(loaded), [Some(false), Some(true)]);
    assert!(inbox::tables::activity(&store, user(2), Tier::Disk).is_err());
}
