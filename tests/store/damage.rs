//! Damaged inboxes, on RocksDB only.

use model::store::Tier;
use model::{Activity, Cursor};
use store::{Options, Store};

use super::support::{
    BOTH_ORDERS, MANY, floor, follow, follow_settled, ids, inbox, inbox_part, job_now, publish_post, push, settle,
    span, unfollow, user, users,
};

/// User 2 follows user 1 and has the items 10 to 15. Then the inbox is damaged in each way, and perhaps compacted with a
/// later item.
fn each_way(test: fn(&Store)) {
    for way in 0..8 {
        for compacts in [false, true] {
            let dir = tempfile::tempdir().expect("a temporary directory");
            let store = Store::open(&Options::new(dir.path())).expect("opens");
            follow_settled(&store, 2, 1, 100);
            (10..=15).for_each(|id| push(&store, id, 1, id, &users([2])));
            store.damage_inbox(user(2), way).expect("damages");
            if compacts {
                push(&store, 16, 1, 16, &users([2]));
                store.compact().expect("compacts");
            }
            test(&store);
        }
    }
}

fn dropped(store: &Store) -> u64 {
    store.drop_damaged_inboxes().expect("drops");
    store.usage().expect("figures").damaged_inboxes
}

#[test]
fn a_damaged_inbox_claims_nothing_and_is_rebuilt() {
    each_way(|store| {
        push(store, 17, 1, 17, &users([2]));
        for order in BOTH_ORDERS {
            let (entries, floor) = inbox_part(store, 2, span(None, None), order);
            let counting = entries.iter().filter(|entry| Some(entry.cursor) > floor).count();
            assert_eq!((counting, floor), (0, Some(Cursor::NEWEST)));
        }
        assert_eq!(dropped(store), 1);
        assert_eq!(store.activity(user(2), Tier::Disk).expect("reads"), Activity::Evicted);
        assert_eq!((dropped(store), floor(store, 2)), (1, None), "once");
        let job = store.touch(user(2), 200).expect("touches").job.expect("a job");
        store.rebuild(job.id, user(2), &users([1]), MANY).expect("rebuilds");
        assert_eq!(store.activity(user(2), Tier::Disk).expect("reads"), Activity::Active { seen: 200 });
        let (entries, floor) = (inbox(store, 2), floor(store, 2));
        assert!(ids(&entries).ends_with(&[15, 14, 13, 12, 11, 10]) && floor.is_none(), "{entries:?} {floor:?}");
    });
}

#[test]
fn a_settle_of_a_damaged_inbox_ends() {
    each_way(|store| {
        publish_post(store, 30, 3, 30);
        let job = follow(store, 2, 3, 100);
        settle(store, job, MANY);
        let jobs = [job, unfollow(store, 2, 1)];
        settle(store, jobs[1], MANY);
        store.write_arrivals().expect("writes");
        assert!(jobs.iter().all(|job| job_now(store, *job).is_none()), "{:?}", store.jobs());
        assert_eq!((ids(&inbox(store, 2)), floor(store, 2)), (vec![30], None));
        assert_eq!(store.activity(user(2), Tier::Disk).expect("reads"), Activity::Evicted);
        assert_eq!(dropped(store), 1);
    });
}

#[test]
fn a_rebuild_of_a_damaged_inbox_leaves_it_to_the_next_read() {
    each_way(|store| {
        let job = store.touch(user(2), 200).expect("touches").job.expect("a job");
        assert_eq!(store.rebuild(job.id, user(2), &users([1]), MANY).expect("rebuilds"), 0);
        assert_eq!(store.activity(user(2), Tier::Disk).expect("reads"), Activity::Evicted);
        let job = store.touch(user(2), 200).expect("touches").job.expect("a job");
        let newest = store.rebuild(job.id, user(2), &users([1]), 3).expect("rebuilds");
        assert_eq!((newest, inbox(store, 2).len(), floor(store, 2).is_some()), (3, 3, true));
        assert_eq!(dropped(store), 1);
    });
}
