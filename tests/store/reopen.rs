//! Closing a directory and opening it again. Only the store on disk has one.

use std::path::Path;
use std::sync::{Arc, Mutex};

use model::error::Error;
use model::store::{Batch, Listeners, Published, Push, Then, Tier};
use model::{Activity, Content, Job, Lane, Progress, Reach, UserId, Work};
use store::{InboxRoom, Options, Store};

use super::everything::{Scope, dump, fill};
use super::support::{
    MANY, content, deliver, floor, follow, follow_settled, ids, inbox, item, job_now, jobs, open, open_with, place,
    post, publish, publish_post, push, settle, timed, unfollow, user, users,
};

/// A directory that is removed with the test.
fn fresh() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// Everything.
fn everything(store: &Store) -> (Vec<String>, Vec<Job>) {
    (dump(store, &Scope::filled()), jobs(store))
}

fn reopened(dir: &Path, store: Box<Store>) -> Box<Store> {
    drop(store);
    open(dir)
}

#[test]
fn everything_is_there_again() {
    let dir = fresh();
    let mut store = open(dir.path());
    fill(&store);
    let before = everything(&store);
    for _ in 0..3 {
        store = reopened(dir.path(), store);
        assert_eq!(everything(&store), before);
    }
    store.compact().expect("compacts");
    store = reopened(dir.path(), store);
    assert_eq!(everything(&store), before);
}

#[test]
fn everything_is_there_before_anything_is_loaded_into_memory() {
    let dir = fresh();
    let store = open(dir.path());
    fill(&store);
    let before = everything(&store);
    drop(store);
    let store = open_with(&Options { loads: false, ..Options::new(dir.path()) });
    let loaded = |store: &Store| store.usage().expect("figures").filters.iter().all(|filter| filter.is_loaded);
    assert!(!loaded(&store));
    assert_eq!(everything(&store), before);
    let store = reopened(dir.path(), store);
    assert!(loaded(&store), "few rows are loaded by the start itself");
    assert_eq!(everything(&store), before);
}

#[test]
fn an_empty_store_stays_empty() {
    let dir = fresh();
    let store = open(dir.path());
    let before = everything(&store);
    let store = reopened(dir.path(), store);
    assert_eq!(everything(&store), before);
    assert_eq!(store.users_after(None, MANY).expect("reads"), Vec::<UserId>::new());
}

#[test]
fn a_reopened_store_goes_on_like_one_never_closed() {
    let (closed, kept) = (fresh(), fresh());
    let (mut one, other) = (open(closed.path()), open(kept.path()));
    let steps: [fn(&Store); 6] = [
        |store| push(store, 1, 1, 10, &users([2])),
        |store| assert_eq!(settle(store, follow(store, 2, 1, 5), 1), 0),
        |store| push(store, 2, 1, 20, &users([2, 3])),
        |store| assert!(store.delete(item(1), 5.into()).expect("deletes")),
        |store| assert_eq!(settle(store, unfollow(store, 2, 1), 1), 2),
        |store| assert_eq!(settle(store, follow(store, 2, 1, 6), 5), 1),
    ];
    for step in steps {
        one = reopened(closed.path(), one);
        step(&one);
        step(&other);
        assert_eq!(everything(&one).0, everything(&other).0);
    }
    assert_eq!(ids(&inbox(&one, 2)), [2]);
}

#[test]
fn publishing_knows_what_was_there_before() {
    let dir = fresh();
    let store = open(dir.path());
    publish_post(&store, 1, 1, 10);
    publish_post(&store, 2, 1, 20);
    store.delete(item(2), 30.into()).expect("deletes");
    let store = reopened(dir.path(), store);
    let results =
        store.publish(&[timed(post(1, 1, 10)), timed(post(2, 1, 20))], Batch::Each, Push::Queued).expect("publishes");
    assert_eq!(results, [Published::Same(post(1, 1, 10)), Published::Taken]);
    assert!(!store.delete(item(2), 40.into()).expect("deletes"));
    assert!(store.deleted(&[item(2)], Tier::Disk).expect("reads")[0]);
}

#[test]
fn new_jobs_come_after_those_on_disk() {
    let dir = fresh();
    let mut store = open(dir.path());
    let mut made: Vec<Job> = Vec::new();
    for round in 1..=5 {
        made.push(publish_post(&store, round, 1, 10));
        made.push(follow(&store, 2, 10 + round, 5));
        store = reopened(dir.path(), store);
        assert!(made.windows(2).all(|pair| pair[0].id.seq < pair[1].id.seq), "{made:?}");
    }
    made.sort_by_key(|job| job.id);
    assert_eq!(jobs(&store), made);
}

#[test]
fn a_fan_out_is_resumed_where_it_was() {
    let dir = fresh();
    let store = open(dir.path());
    let job = publish_post(&store, 1, 1, 10);
    let Work::FanOut { entry } = job.work else { panic!("not a fan-out: {job:?}") };
    store.begin_fan_out(job.id, entry, Reach::Active).expect("begins");
    let progress = Progress { reach: Reach::Active, done_to: Some(user(3)) };
    deliver(&store, job, &users([2, 3]), Then::Progress(progress));

    let store = reopened(dir.path(), store);
    let found = job_now(&store, job).expect("is still there");
    assert_eq!(found, Job { progress: Some(progress), ..job });
    assert_eq!(store.unpushed(user(1), Tier::Disk).expect("reads").to_active, Some(place(10, 1)));
    assert_eq!(store.authors_with_unpushed(&users([1, 2]), None, false, Tier::Disk).expect("reads"), users([1]));
    deliver(&store, found, &users([4]), Then::End);

    let store = reopened(dir.path(), store);
    assert_eq!(jobs(&store), []);
    assert_eq!([2, 3, 4].map(|who| inbox(&store, who).len()), [1, 1, 1]);
}

#[test]
fn activity_is_kept() {
    let dir = fresh();
    let store = open(dir.path());
    let returning = store.touch(user(1), 10).expect("touches").activity;
    let job = store.touch(user(2), 20).expect("touches").job.expect("a job");
    store.rebuild(job.id, user(2), &[], 0).expect("rebuilds");
    let store = reopened(dir.path(), store);
    assert_eq!(store.activity(user(1), Tier::Disk).expect("reads"), returning);
    assert_eq!(store.activity(user(2), Tier::Disk).expect("reads"), Activity::Active { seen: 20 });
    assert_eq!(store.touch(user(1), 30).expect("touches").job, None, "its rebuild is still to come");
    assert_eq!(jobs(&store)[0].id.lane, Lane::of(user(1)));

    assert!(store.evict(user(2), 21, None).expect("evicts"));
    let store = reopened(dir.path(), store);
    assert_eq!(store.activity(user(2), Tier::Disk).expect("reads"), Activity::Evicted);
    assert_eq!(store.not_evicted(users([1, 2, 3])).expect("reads"), users([1, 3]));
}

#[test]
fn a_directory_has_one_store_at_a_time() {
    let dir = fresh();
    let store = open(dir.path());
    publish_post(&store, 1, 1, 10);
    match Store::open(&Options::new(dir.path())) {
        Err(Error::Setup(message)) => assert!(!message.is_empty()),
        other => panic!("opened twice: {other:?}"),
    }
    // The attempt does the first store no harm.
    publish_post(&store, 2, 1, 20);
    let store = reopened(dir.path(), store);
    assert!(content(&store, 1).is_some() && content(&store, 2).is_some());
}

#[test]
fn durability_by_the_operating_system_also_survives_a_reopening() {
    let dir = fresh();
    let options = Options { sync: false, ..Options::new(dir.path()) };
    let store = open_with(&options);
    fill(&store);
    let before = everything(&store);
    drop(store);
    assert_eq!(everything(&open(dir.path())), before);
}

#[test]
fn an_inbox_beyond_its_room_is_trimmed_when_it_is_merged() {
    let dir = fresh();
    let options = Options { inbox_room: InboxRoom { limit: 20, slack: 5 }, ..Options::new(dir.path()) };
    let store = open_with(&options);
    for id in 1..=30 {
        // User 2 gets 30, user 3 gets exactly limit and slack, user 4 all but those below its floor.
        let recipients: &[u64] = if id <= 25 { &[2, 3, 4] } else { &[2, 4] };
        push(&store, id, 1, id, &users(recipients.iter().copied()));
    }
    store.raise_floor(user(4), place(8, 8)).expect("raises");
    assert_eq!((inbox(&store, 2).len(), floor(&store, 2)), (30, None), "not merged yet");
    store.write_arrivals().expect("writes");
    for when in ["merged by the read", "merged on disk"] {
        assert_eq!((inbox(&store, 2).len(), floor(&store, 2)), (20, Some(place(10, 10))), "{when}");
        assert_eq!((inbox(&store, 3).len(), floor(&store, 3)), (25, None), "{when}");
        assert_eq!((inbox(&store, 4).len(), floor(&store, 4)), (22, Some(place(8, 8))), "{when}");
        store.compact().expect("compacts");
    }
}

/// A merge for a read raises the floor; then entries above it go away, so that the next merge would not raise it.
#[test]
fn a_floor_that_a_settle_has_seen_stays() {
    let dir = fresh();
    let options = Options { inbox_room: InboxRoom { limit: 4, slack: 1 }, ..Options::new(dir.path()) };
    let store = open_with(&options);
    for id in [10, 20, 30] {
        let job = publish_post(&store, id, 9, id);
        store.drop_job(job.id).expect("drops");
    }
    follow_settled(&store, 2, 1, 1);
    for id in 31..=36 {
        push(&store, id, 1, id, &users([2]));
    }
    store.write_arrivals().expect("writes");
    assert_eq!(floor(&store, 2), Some(place(32, 32)));
    // The settle of the new followee puts nothing below the floor that it sees.
    follow_settled(&store, 2, 9, 2);
    let job = unfollow(&store, 2, 1);
    settle(&store, job, MANY);
    for _ in 0..2 {
        assert_eq!((inbox(&store, 2), floor(&store, 2)), (vec![], Some(place(32, 32))));
        store.compact().expect("compacts");
    }
}

#[test]
fn jobs_end_on_disk_only_with_their_entries() {
    let dir = fresh();
    let store = open(dir.path());
    follow_settled(&store, 2, 1, 1);
    store.write_arrivals().expect("writes");
    let copy = fresh();
    push(&store, 10, 1, 10, &users([2]));
    // The files as a kill leaves them, without the changes in memory.
    copy_files(dir.path(), copy.path());
    let killed = open(copy.path());
    assert_eq!((inbox(&killed, 2).len(), jobs(&killed).len()), (0, 1));
    store.write_arrivals().expect("writes");
    let copy = fresh();
    copy_files(dir.path(), copy.path());
    let killed = open(copy.path());
    assert_eq!((inbox(&killed, 2).len(), jobs(&killed).len()), (1, 0));
}

/// Copies a data directory that is in use; its log is written without a buffer.
fn copy_files(from: &Path, to: &Path) {
    std::fs::create_dir_all(to.join("db")).expect("makes a directory");
    for part in ["", "db"] {
        for file in std::fs::read_dir(from.join(part)).expect("lists").map(|entry| entry.expect("an entry").path()) {
            if file.is_file() {
                std::fs::copy(&file, to.join(part).join(file.file_name().expect("a name"))).expect("copies");
            }
        }
    }
}

#[test]
fn rows_that_memory_lacks_are_never_taken_for_empty() {
    // Items larger than a block, so that a look-up of a missing item reaches a block that is not in memory as often
    // as the table's filter errs.
    let dir = fresh();
    let store = open(dir.path());
    for id in 1..=400 {
        let long = Content { text: Some(id.to_string().repeat(2000)), ..post(id * 1000, 1, id) };
        publish(&store, long);
    }
    store.compact().expect("compacts");
    let store = reopened(dir.path(), store);
    for id in (1000..400_000).step_by(37) {
        match store.contents(&[item(id)], Tier::Memory) {
            Ok(found) => assert_eq!(found[0].is_some(), id % 1000 == 0, "{id}"),
            Err(Error::NotCached) => {}
            Err(other) => panic!("{id}: {other}"),
        }
    }
}

#[test]
fn a_deleted_item_is_named_when_it_is_compacted() {
    let dir = fresh();
    let named = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&named);
    let listeners = Listeners {
        deleted_item: Arc::new(move |id, at| told.lock().expect("a whole list").push((id.get(), at))),
        ..Listeners::default()
    };
    let store = open_with(&Options { listeners, ..Options::new(dir.path()) });
    for id in 1..=9 {
        publish_post(&store, id, 1, id);
    }
    for (id, at) in [(2, 200), (5, 500), (7, 700)] {
        store.delete(item(id), at.into()).expect("deletes");
    }
    store.restore(item(5), 0, None, Push::Queued).expect("answers");
    let compacted = || {
        store.compact().expect("compacts");
        let mut named = std::mem::take(&mut *named.lock().expect("a whole list"));
        named.dedup();
        named
    };
    assert_eq!(compacted(), [(2, 200), (7, 700)]);
    assert!(store.purge(item(7), 701).expect("purges"));
    assert_eq!(compacted(), [(2, 200)], "what is purged is gone");
    let rows =
        store.stats().expect("reads").into_iter().find(|figures| figures.table == "content").expect("there").rows;
    assert_eq!(rows, 8);
}
