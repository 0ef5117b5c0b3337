//! Fan-out: beginning it, delivering, and its progress.

use model::store::{Batch, Published, Push, Restored, Then, Tier};
use model::{Cursor, Job, Progress, Reach, Unpushed, UserId};
use store::Store;

use super::support::{deliver, entry, ids, inbox, item, job_now, jobs, place, post, publish_post, timed, user, users};

fn begin(store: &Store, job: Job, reach: Reach) {
    let model::Work::FanOut { entry } = job.work else { panic!("not a fan-out: {job:?}") };
    store.begin_fan_out(job.id, entry, reach).expect("begins");
}

fn unpushed(store: &Store, author: u64) -> Unpushed {
    store.unpushed(user(author), Tier::Disk).expect("reads")
}

fn progress(reach: Reach, done_to: Option<u64>) -> Progress {
    Progress { reach, done_to: done_to.map(user) }
}

fn beginning_records_the_reach(store: &Store) {
    for (id, reach) in [(10, Reach::All), (11, Reach::Active), (12, Reach::Nobody)] {
        let job = publish_post(store, id, 1, id);
        begin(store, job, reach);
        assert_eq!(job_now(store, job), Some(Job { progress: Some(progress(reach, None)), ..job }));
        assert_eq!(job_now(store, job).map(|job| job.work), Some(job.work));
    }
    assert_eq!(jobs(store).len(), 3);
}

fn a_push_to_all_leaves_nothing_unpushed(store: &Store) {
    assert_eq!(unpushed(store, 1), Unpushed::default());
    let job = publish_post(store, 10, 1, 100);
    begin(store, job, Reach::All);
    assert_eq!(unpushed(store, 1), Unpushed::default());
}

fn each_lesser_reach_is_recorded_by_itself(store: &Store) {
    let active = publish_post(store, 10, 1, 100);
    begin(store, active, Reach::Active);
    assert_eq!(unpushed(store, 1), Unpushed { to_nobody: None, to_active: Some(place(100, 10)) });
    let nobody = publish_post(store, 11, 1, 50);
    begin(store, nobody, Reach::Nobody);
    assert_eq!(unpushed(store, 1), Unpushed { to_nobody: Some(place(50, 11)), to_active: Some(place(100, 10)) });
    // A later push to all changes nothing.
    let all = publish_post(store, 12, 1, 200);
    begin(store, all, Reach::All);
    assert_eq!(unpushed(store, 1), Unpushed { to_nobody: Some(place(50, 11)), to_active: Some(place(100, 10)) });
}

fn unpushed_only_rises(store: &Store) {
    let mut newest: Option<Cursor> = None;
    // By time, then by id. Old items come late.
    for (id, at) in [(20, 100), (19, 100), (21, 100), (30, 50), (5, 101), (300, 100)] {
        newest = newest.max(Some(place(at, id)));
        let job = publish_post(store, id, 1, at);
        begin(store, job, Reach::Nobody);
        assert_eq!(unpushed(store, 1).to_nobody, newest);
        let job = publish_post(store, 1000 + id, 2, at);
        begin(store, job, Reach::Active);
        assert_eq!(unpushed(store, 2).to_active, Some(place(at, 1000 + id)).max(unpushed(store, 2).to_active));
    }
    assert_eq!(unpushed(store, 1), Unpushed { to_nobody: Some(place(101, 5)), to_active: None });
    assert_eq!(unpushed(store, 2), Unpushed { to_nobody: None, to_active: Some(place(101, 1005)) });
}

fn an_item_that_is_left_out_has_no_job_and_reaches_nobody(store: &Store) {
    let silent = model::Content { broadcast: false, ..post(13, 3, 400) };
    let items = [post(10, 1, 100), post(11, 2, 200), post(12, 1, 50), silent].map(timed);
    let published = store.publish(&items, Batch::AllOrNone, Push::LeftOut);
    assert_eq!(published.expect("publishes"), [const { Published::New(Vec::new()) }; 4]);
    let newest = [1, 2].map(|author| unpushed(store, author).to_nobody);
    assert_eq!(newest, [Some(place(100, 10)), Some(place(200, 11))]);
    assert_eq!((jobs(store), unpushed(store, 3)), (Vec::new(), Unpushed::default()));
    let outbox = store.outboxes(&[user(1)], model::Span::ALL.newest(9), Tier::Disk);
    assert_eq!(ids(&outbox.expect("reads")), [10, 12]);
    // A restore of an item that was pushed tells of it, too.
    let job = publish_post(store, 20, 4, 70);
    deliver(store, job, &users([5]), Then::End);
    let moment = model::Moment { at: 80, event: None };
    assert!(store.delete(item(20), moment).expect("deletes"));
    let restored = store.restore(item(20), 0, None, Push::LeftOut).expect("restores");
    assert!(matches!(&restored, Restored::Now(_, jobs) if jobs.is_empty()), "{restored:?}");
    assert_eq!(unpushed(store, 4), Unpushed { to_nobody: Some(place(70, 20)), to_active: None });
    // A later fan-out of the author keeps it.
    let job = publish_post(store, 21, 4, 60);
    begin(store, job, Reach::Nobody);
    assert_eq!(unpushed(store, 4).to_nobody, Some(place(70, 20)));
}

fn unpushed_is_the_authors_own(store: &Store) {
    let job = publish_post(store, 10, 256, 100);
    begin(store, job, Reach::Nobody);
    for author in [1, 255, 257, 65_536] {
        assert_eq!(unpushed(store, author), Unpushed::default(), "{author}");
    }
}

fn authors_with_unpushed_items_above_a_floor_are_lacking(store: &Store) {
    // Reaches: author 1 all, 2 the active, 3 nobody, 256 the active and nobody. Author 4 published nothing.
    let pushes = [
        (10, 1, 100, Reach::All),
        (20, 2, 100, Reach::Active),
        (30, 3, 100, Reach::Nobody),
        (40, 256, 100, Reach::Active),
        (41, 256, 50, Reach::Nobody),
    ];
    for (id, author, at, reach) in pushes {
        let job = publish_post(store, id, author, at);
        begin(store, job, reach);
    }
    let everybody = users([256, 4, 3, 2, 1]);
    // A floor, and the authors lacking for active and for dormant users.
    let cases: [(Option<Cursor>, &[u64], &[u64]); 8] = [
        (None, &[3, 256], &[2, 3, 256]),
        (Some(Cursor::OLDEST), &[3, 256], &[2, 3, 256]),
        (Some(place(50, 40)), &[3, 256], &[2, 3, 256]),
        (Some(place(50, 41)), &[3], &[2, 3, 256]),
        (Some(place(100, 20)), &[3], &[3, 256]),
        (Some(place(100, 30)), &[], &[256]),
        (Some(place(100, 40)), &[], &[]),
        (Some(Cursor::NEWEST), &[], &[]),
    ];
    for (floor, to_active, to_dormant) in cases {
        for (active, want) in [(true, to_active), (false, to_dormant)] {
            let mut found = store.authors_with_unpushed(&everybody, floor, active, Tier::Disk).expect("reads");
            found.sort_unstable();
            assert_eq!(found, users(want.iter().copied()), "{floor:?} {active}");
        }
    }
    // Only the given authors count.
    assert_eq!(store.authors_with_unpushed(&users([1, 3]), None, true, Tier::Disk).expect("reads"), users([3]));
    assert_eq!(store.authors_with_unpushed(&[], None, false, Tier::Disk).expect("reads"), []);
}

fn every_recipient_gets_the_entry(store: &Store) {
    let job = publish_post(store, 10, 1, 100);
    deliver(store, job, &users([2, 255, 256]), Then::End);
    for who in [2, 255, 256] {
        assert_eq!(inbox(store, who), [entry(1, 100, 10)]);
    }
    for who in [1, 3, 257] {
        assert_eq!(inbox(store, who), []);
    }
}

fn a_delivery_twice_is_a_delivery_once(store: &Store) {
    let job = publish_post(store, 10, 1, 100);
    for then in [Then::Nothing, Then::Nothing, Then::End] {
        deliver(store, job, &users([2, 3]), then);
        assert_eq!(inbox(store, 2), [entry(1, 100, 10)]);
        assert_eq!(inbox(store, 3), [entry(1, 100, 10)]);
    }
}

fn a_delivery_leaves_progress_or_end_or_nothing(store: &Store) {
    let job = publish_post(store, 10, 1, 100);
    let other = publish_post(store, 11, 1, 110);
    begin(store, job, Reach::All);
    let begun = Job { progress: Some(progress(Reach::All, None)), ..job };
    deliver(store, job, &users([2]), Then::Nothing);
    assert_eq!(job_now(store, job), Some(begun));

    for done_to in [3, 300, u64::MAX >> 1] {
        let now = progress(Reach::All, Some(done_to));
        deliver(store, job, &[user(done_to)], Then::Progress(now));
        assert_eq!(job_now(store, job), Some(Job { progress: Some(now), ..job }));
        assert_eq!(inbox(store, done_to), [entry(1, 100, 10)]);
    }

    deliver(store, job, &users([9]), Then::End);
    assert_eq!(jobs(store), [other], "the other job is as it was");
    assert_eq!(inbox(store, 9), [entry(1, 100, 10)]);
}

fn a_resumed_fan_out_goes_on_where_it_was(store: &Store) {
    let followers = users(2..=10);
    let job = publish_post(store, 10, 1, 100);
    begin(store, job, Reach::Active);
    deliver(store, job, &followers[..4], Then::Progress(progress(Reach::Active, Some(5))));
    // A worker that takes the job over knows only its row.
    let found = job_now(store, job).expect("is still there");
    let left = found.progress.expect("has begun");
    assert_eq!(left, progress(Reach::Active, Some(5)));
    let rest: Vec<UserId> = followers.iter().copied().filter(|follower| Some(*follower) > left.done_to).collect();
    deliver(store, found, &rest, Then::End);
    for follower in followers {
        assert_eq!(inbox(store, follower.get()), [entry(1, 100, 10)]);
    }
    assert_eq!(jobs(store), []);
}

fn a_fan_out_may_have_no_recipient(store: &Store) {
    let job = publish_post(store, 10, 1, 100);
    deliver(store, job, &[], Then::Nothing);
    assert_eq!(jobs(store), [job]);
    deliver(store, job, &[], Then::End);
    assert_eq!(jobs(store), []);
    assert_eq!(store.users_after(None, 10).expect("reads"), users([1]), "the author alone");
}

fn the_floor_of_a_recipient_is_only_its_own(store: &Store) {
    store.raise_floor(user(3), place(100, 10)).expect("raises");
    let job = publish_post(store, 10, 1, 100);
    deliver(store, job, &users([2, 3, 4]), Then::End);
    assert_eq!((inbox(store, 2).len(), inbox(store, 3).len(), inbox(store, 4).len()), (1, 0, 1));
}

fn ten_thousand_get_it_at_once(store: &Store) {
    let everybody = users(1_000_000..1_010_000);
    let first = publish_post(store, 10, 1, 100);
    let second = publish_post(store, 11, 1, 90);
    deliver(store, first, &everybody, Then::End);
    deliver(store, second, &everybody, Then::End);
    for who in (1_000_000..1_010_000).step_by(997) {
        assert_eq!(inbox(store, who), [entry(1, 100, 10), entry(1, 90, 11)]);
    }
    assert_eq!(store.users_after(Some(user(1)), 20_000).expect("reads"), everybody);
}

fn entries_of_different_authors_keep_them(store: &Store) {
    for (id, author) in [(10, 1), (11, 256), (12, u64::MAX >> 1)] {
        let job = publish_post(store, id, author, 100);
        deliver(store, job, &users([5]), Then::End);
    }
    let want = [(12, u64::MAX >> 1), (11, 256), (10, 1)].map(|(id, author)| post(id, author, 100).entry());
    assert_eq!(inbox(store, 5), want);
    assert_eq!(ids(&inbox(store, 5)), [12, 11, 10]);
}

on_both! {
    beginning_records_the_reach,
    a_push_to_all_leaves_nothing_unpushed,
    each_lesser_reach_is_recorded_by_itself,
    unpushed_only_rises,
    an_item_that_is_left_out_has_no_job_and_reaches_nobody,
    unpushed_is_the_authors_own,
    authors_with_unpushed_items_above_a_floor_are_lacking,
    every_recipient_gets_the_entry,
    a_delivery_twice_is_a_delivery_once,
    a_delivery_leaves_progress_or_end_or_nothing,
    a_resumed_fan_out_goes_on_where_it_was,
    a_fan_out_may_have_no_recipient,
    the_floor_of_a_recipient_is_only_its_own,
    ten_thousand_get_it_at_once,
    entries_of_different_authors_keep_them,
}
