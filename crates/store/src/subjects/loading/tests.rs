use std::sync::mpsc::channel;
use std::thread;

use tempfile::TempDir;

use super::*;
use crate::Options;
use crate::rows::batch::WriteBatch;
use crate::subjects::users::PartialPushRecipients;
use model::store::{Split, Tier};
use model::{ContentId, Cursor, Entry, Event, EventKind, JobId, Lane, Reach, Work};

fn user(raw: u64) -> UserId {
    UserId::new(raw).expect("in range")
}

/// A store of which nothing is loaded.
fn unloaded(dir: &TempDir) -> Store {
    Store::open(&Options { sync: false, loads: false, ..Options::new(dir.path()) }).expect("opens")
}

fn put(store: &Store, table: Table, rows: impl Iterator<Item = (u64, Vec<u8>)>) {
    for part in rows.collect::<Vec<_>>().chunks(1000) {
        let mut change = WriteBatch::default();
        part.iter().for_each(|(key, row)| change.put(table, keys::id(*key), row));
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
    put(&store, ACTIVITY, (1..=ROWS).map(|raw| (raw, values::activity(activity(raw)).to_vec())));
    put(&store, DELETED, (1..=ROWS).filter(|raw| raw % 2 == 0).map(|raw| (raw, values::millis(7).to_vec())));
    let (_stop, stopped) = channel();
    let mut loading = Loading::of(&store, stopped);
    let mut expected: Vec<_> = (0..=ROWS).map(activity).collect();
    let check = |expected: &[Activity], raw: u64| {
        let of = &[user(raw)];
        let is_evicted = store.not_evicted(of.to_vec()).expect("reads").is_empty();
        assert_eq!(is_evicted, expected[raw as usize] == Activity::Evicted, "{raw}");
        let Split { active, lapsed } = store.split_active(of, 0).expect("reads");
        assert_eq!((active.len(), lapsed.len()), (usize::from(expected[raw as usize].seen().is_some()), 0), "{raw}");
        let ids = [raw, raw + 1].map(|id| ContentId::new(id).expect("in range"));
        let deleted = store.deleted(&ids, Tier::Disk).expect("reads");
        assert_eq!(deleted, ids.map(|id| id.get().is_multiple_of(2) && id.get() <= ROWS), "{raw}");
    };
    thread::scope(|scope| {
        let walk = scope.spawn(|| loading.run());
        let mut n = 1_u64;
        while !walk.is_finished() || n < 5000 {
            // Somewhere.
            let raw = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) % ROWS + 1;
            check(&expected, raw);
            match n % 3 {
                0 => {
                    if store.evict(user(raw), u64::MAX, None).expect("evicts") {
                        expected[raw as usize] = Activity::Evicted;
                    }
                }
                1 => expected[raw as usize] = store.touch(user(raw), 20).expect("touches").activity,
                _ => {
                    let lapsed = store.split_active(&[user(raw)], u64::MAX).expect("splits").lapsed;
                    if !lapsed.is_empty() {
                        expected[raw as usize] = store.activity(user(raw), Tier::Disk).expect("reads");
                    }
                }
            }
            check(&expected, raw);
            n += 1;
        }
        walk.join().expect("ends");
    });
    assert!(store.loaded.filters().iter().all(|filter| filter.is_loaded));
    (1..=ROWS).for_each(|raw| check(&expected, raw));
}

#[test]
fn unpushed_items_during_a_walk_are_in_its_answers() {
    const AUTHORS: u64 = 5000;
    let dir = tempfile::tempdir().expect("a directory");
    let store = unloaded(&dir);
    let cursor = |at| Cursor { at, id: ContentId::MIN };
    let row = |at| model::Unpushed { to_nobody: Some(cursor(at)), to_active: None };
    put(&store, UNPUSHED, (1..=AUTHORS).step_by(2).map(|raw| (raw, values::unpushed(row(1)).to_vec())));
    let (_stop, stopped) = channel();
    let mut loading = Loading::of(&store, stopped);
    let mut newest: Vec<_> = (0..=AUTHORS).map(|raw| raw % 2).collect();
    let check = |newest: &[u64], raw: u64| {
        let expected = newest[raw as usize];
        let author = user(raw);
        let (version, may) = store.may_have_unpushed(&[author]);
        assert!(expected == 0 || may == [author], "{raw}");
        assert!(store.unpushed_version() >= version);
        let floor = Some(cursor(expected)).filter(|_| expected > 0);
        for (floor, has) in [(floor, false), (None, expected > 0)] {
            let found = store.authors_with_unpushed(&[author], floor, true, Tier::Disk).expect("reads");
            assert_eq!(!found.is_empty(), has, "{raw} from {floor:?}");
        }
    };
    thread::scope(|scope| {
        let walk = scope.spawn(|| loading.run());
        let mut n = 1;
        while !walk.is_finished() || n < 5000 {
            let raw = n * 7919 % AUTHORS + 1;
            check(&newest, raw);
            let entry = Entry::plain(cursor(10 + n), user(raw));
            let job = JobId { lane: Work::FanOut { entry }.lane(), seq: n };
            store.begin_fan_out(job, entry, Reach::Nobody).expect("writes");
            newest[raw as usize] = 10 + n;
            check(&newest, raw);
            n += 1;
        }
        walk.join().expect("ends");
    });
    (1..=AUTHORS).for_each(|raw| check(&newest, raw));
    let version = store.unpushed_version();
    assert_eq!(store.may_have_unpushed(&[user(AUTHORS + 1)]), (version, vec![]));
    let entry = Entry::plain(cursor(1), user(AUTHORS + 1));
    store.begin_fan_out(JobId { lane: Lane::of(user(1)), seq: 1 }, entry, Reach::Nobody).expect("writes");
    assert!(store.unpushed_version() > version);
}

/// Of users who did not fit, those for whom there is room come in, and the others are no burden.
#[test]
fn a_later_walk_forgets_who_is_dormant() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut store = unloaded(&dir);
    let inner = Arc::get_mut(&mut store.inner).expect("alone");
    Arc::get_mut(&mut inner.loaded).expect("alone").partial_push_recipients = PartialPushRecipients::new(4);
    let (_stop, stopped) = channel();
    let mut loading = Loading::of(&store, stopped);
    loading.run();
    for raw in 1..=8 {
        let job = store.touch(user(raw), 10 + raw).expect("touches").job.expect("a job");
        store.rebuild(job.id, user(raw), &[], 10).expect("rebuilds");
    }
    assert!(store.loaded.partial_push_recipients.leaves_out());
    let users: Vec<_> = (1..=9).map(user).collect();
    let Split { active, lapsed } = store.split_active(&users, 15).expect("splits");
    assert_eq!((active, lapsed), ((5..=8).map(user).collect(), (1..=4).map(user).collect()));
    // None of these is in memory.
    assert_eq!(store.loaded.partial_push_recipients.usage().0.used, 0);
    loading.load(ACTIVITY, Loading::load_activities).expect("loads");
    assert!(!store.loaded.partial_push_recipients.leaves_out());
    assert_eq!(store.loaded.partial_push_recipients.usage().0.used, 4);
    assert_eq!(store.split_active(&users, 15).expect("splits").active, (5..=8).map(user).collect::<Vec<_>>());
}

#[test]
fn a_stop_ends_all_walks_and_leaves_safe_answers() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = unloaded(&dir);
    for table in [SUSPENDED, DELETED] {
        put(&store, table, (1..=10 * ROWS).map(|raw| (raw, values::millis(7).to_vec())));
    }
    let (stop, stopped) = channel();
    drop(stop);
    let mut loading = Loading::of(&store, stopped);
    assert!(!loading.load_filter(SUSPENDED, &store.loaded.suspended).expect("walks"));
    assert_eq!(loading.rows, ROWS);
    loading.run();
    assert_eq!(loading.rows, ROWS, "of the last table");
    assert!(!store.loaded.deleted.is_loaded());
    loading.go_on();
    let suspended = |raw| store.suspended_since(user(raw), Tier::Disk).expect("reads");
    assert_eq!([1, 10 * ROWS, 10 * ROWS + 1].map(suspended), [Some(7), Some(7), None]);
    let event = Event::new(1, EventKind::Suspension, false, 1, 2).of_user(user(1));
    assert!(store.set_suspension(user(1), None, event).expect("writes"));
    assert_eq!(suspended(1), None);
}

#[test]
fn a_table_that_cannot_be_read_is_looked_up_row_by_row() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = unloaded(&dir);
    put(&store, ACTIVITY, (1..=3).map(|raw| (raw, values::activity(Activity::Evicted).to_vec())));
    put(&store, ACTIVITY, [(2, vec![0xFF])].into_iter());
    drop(store);
    let store = Store::open(&Options::new(dir.path())).expect("opens");
    assert_eq!(store.not_evicted([1, 3, 4].map(user).to_vec()).expect("reads"), [user(4)]);
    let usage = store.loaded.filters();
    let loaded = |name| usage.iter().find(|filter| filter.name == name).map(|filter| filter.is_loaded);
    assert_eq!(["evicted", "deleted"].map(loaded), [Some(false), Some(true)]);
    assert!(store.activity(user(2), Tier::Disk).is_err());
}
