//! Active users, and how users become active.

use std::ops::ControlFlow;

use model::store::{Split, Tier, Touched};
use model::{Activity, ContentId, Cursor, Order, Span, Work};
use store::Store;

use super::support::{
    floor, follow, follow_settled, ids, inbox, item, job_now, jobs, lane_of, place, publish_post, settle, unfollow,
    user, users,
};

fn activity(store: &Store, who: u64) -> Activity {
    store.activity(user(who), Tier::Disk).expect("reads")
}

fn inbox_floor(store: &Store, who: u64) -> Option<Cursor> {
    let visit = &mut |_| ControlFlow::Break(());
    store.inbox(user(who), Span::ALL, Order::NewestFirst, Tier::Disk, visit).expect("reads")
}

fn touch(store: &Store, who: u64, now: u64) -> Touched {
    store.touch(user(who), now).expect("touches")
}

/// Makes a user active, last seen at a time.
fn activate(store: &Store, who: u64, now: u64) {
    let job = touch(store, who, now).job.expect("was dormant");
    assert_eq!(store.rebuild(job.id, user(who), &[], 9).expect("rebuilds"), 0);
    assert_eq!(activity(store, who), Activity::Active { seen: now });
}

fn split(store: &Store, who: &[u64], seen_since: u64) -> (Vec<u64>, Vec<u64>) {
    let Split { active, lapsed } = store.split_active(&users(who.iter().copied()), seen_since).expect("splits");
    let raw = |users: Vec<model::UserId>| users.into_iter().map(|user| user.get()).collect();
    (raw(active), raw(lapsed))
}

fn everybody_is_dormant_at_first(store: &Store) {
    assert_eq!(activity(store, 1), Activity::default());
    assert_eq!(activity(store, u64::MAX >> 1), Activity::default());
    assert_eq!(jobs(store), []);
}

fn a_touched_user_returns_and_gets_a_rebuild(store: &Store) {
    let touched = touch(store, 1, 100);
    let job = touched.job.expect("a job");
    assert_eq!(touched.activity, Activity::Returning { seen: 100, empty: false, rebuild: job.id.seq });
    assert_eq!(activity(store, 1), touched.activity);
    assert_eq!((job.work, job.progress), (Work::Rebuild { user: user(1) }, None));
    assert_eq!(job.id.lane, lane_of(1));
    assert_eq!(jobs(store), [job]);
    assert_eq!(activity(store, 2), Activity::default());
}

fn a_second_touch_makes_no_second_rebuild(store: &Store) {
    let first = touch(store, 1, 100);
    for now in [100, 150, 120] {
        assert_eq!(touch(store, 1, now).job, None);
    }
    assert_eq!(jobs(store), [first.job.expect("a job")]);
}

fn the_last_time_seen_only_rises(store: &Store) {
    for (now, want) in [(100, 100), (150, 150), (120, 150), (0, 150), (151, 151)] {
        assert_eq!(touch(store, 1, now).activity.seen(), Some(want));
        assert!(!activity(store, 1).is_active());
    }
    activate(store, 2, 100);
    for (now, want) in [(100, 100), (150, 150), (120, 150), (0, 150), (151, 151)] {
        let touched = touch(store, 2, now);
        assert_eq!((touched.activity, touched.job), (Activity::Active { seen: want }, None));
        assert_eq!(activity(store, 2), Activity::Active { seen: want });
    }
}

fn the_dormant_are_in_neither_part(store: &Store) {
    assert_eq!(split(store, &[1, 2], 0), (vec![], vec![]));
    assert_eq!(split(store, &[], 0), (vec![], vec![]));
    assert_eq!(activity(store, 1), Activity::default());
}

fn the_active_and_the_returning_get_partial_pushes(store: &Store) {
    activate(store, 1, 100);
    touch(store, 2, 100);
    assert_eq!(split(store, &[1, 2, 3], 100), (vec![1, 2], vec![]));
    assert_eq!(activity(store, 1), Activity::Active { seen: 100 });
    assert_eq!((activity(store, 2).seen(), activity(store, 2).is_active()), (Some(100), false));
}

fn both_parts_keep_the_order_given(store: &Store) {
    for who in 1..=6 {
        activate(store, who, if who % 2 == 0 { 50 } else { 100 });
    }
    assert_eq!(split(store, &[5, 6, 1, 2, 9, 3], 100), (vec![5, 1, 3], vec![6, 2]));
    assert_eq!(activity(store, 4), Activity::Active { seen: 50 }, "was not asked about");
}

fn users_last_seen_before_the_time_lapse(store: &Store) {
    activate(store, 1, 99);
    touch(store, 2, 99);
    activate(store, 3, 100);
    assert_eq!(split(store, &[1, 2, 3], 100), (vec![3], vec![1, 2]));
    let dormant = Activity::Dormant { seen: Some(99) };
    assert_eq!((activity(store, 1), activity(store, 2)), (dormant, dormant));
    assert_eq!(activity(store, 3), Activity::Active { seen: 100 });
    // A user who has lapsed is dormant, and not found again.
    assert_eq!(split(store, &[1, 2, 3], 100), (vec![3], vec![]));
}

fn a_lapsed_user_returns_like_a_new_one(store: &Store) {
    activate(store, 1, 50);
    split(store, &[1], 100);
    let touched = touch(store, 1, 20);
    let job = touched.job.expect("a job");
    let returning = Activity::Returning { seen: 20, empty: false, rebuild: job.id.seq };
    assert_eq!(touched.activity, returning, "what was seen before is forgotten");
    assert_eq!(jobs(store), [job]);
}

fn a_rebuild_puts_in_the_newest_of_the_followed_and_makes_the_user_active(store: &Store) {
    for (id, author, at) in [(10, 5, 10), (11, 7, 11), (12, 5, 12), (13, 9, 13), (14, 7, 14)] {
        publish_post(store, id, author, at);
    }
    for author in [5, 7] {
        let job = follow(store, 1, author, 1);
        store.drop_job(job.id).expect("drops");
    }
    let rebuild = touch(store, 1, 100).job.expect("a job");
    touch(store, 1, 120);
    assert_eq!(store.rebuild(rebuild.id, user(1), &users([9, 5, 7]), 3).expect("rebuilds"), 3);
    assert_eq!((ids(&inbox(store, 1)), floor(store, 1)), (vec![14, 12, 11], Some(place(10, 10))));
    assert_eq!(activity(store, 1), Activity::Active { seen: 120 });
    assert_eq!(job_now(store, rebuild), None);

    // Once more, above the floor; what is there already stays.
    split(store, &[1], 200);
    store.delete(item(12), 300.into()).expect("deletes");
    publish_post(store, 15, 5, 9);
    publish_post(store, 16, 5, 16);
    let rebuild = touch(store, 1, 300).job.expect("a job");
    assert_eq!(store.rebuild(rebuild.id, user(1), &users([5]), 3).expect("rebuilds"), 1);
    assert_eq!((ids(&inbox(store, 1)), floor(store, 1)), (vec![16, 14, 12, 11], Some(place(10, 10))));
}

fn a_rebuild_after_an_eviction_stays_above_the_floor(store: &Store) {
    for id in 1..=9 {
        publish_post(store, id, 5, 10 * id);
    }
    follow_settled(store, 1, 5, 1);
    activate(store, 1, 100);
    assert!(store.evict(user(1), 101, Some(place(50, 5))).expect("evicts"));
    let rebuild = touch(store, 1, 200).job.expect("a job");
    assert_eq!(store.rebuild(rebuild.id, user(1), &users([5]), 9).expect("rebuilds"), 4);
    assert_eq!((ids(&inbox(store, 1)), floor(store, 1)), (vec![9, 8, 7, 6], Some(place(50, 5))));
    assert!(activity(store, 1).is_active());
}

fn a_rebuild_without_authors_only_activates(store: &Store) {
    let rebuild = touch(store, 1, 100).job.expect("a job");
    assert_eq!(store.rebuild(rebuild.id, user(1), &[], 9).expect("rebuilds"), 0);
    assert_eq!((jobs(store), activity(store, 1)), (vec![], Activity::Active { seen: 100 }));
}

fn a_rebuild_of_who_lapsed_meanwhile_only_ends(store: &Store) {
    publish_post(store, 10, 2, 10);
    follow_settled(store, 1, 2, 1);
    let before = jobs(store);
    store.raise_floor(user(1), place(5, 5)).expect("raises");
    publish_post(store, 11, 2, 20);
    let rebuild = touch(store, 1, 50).job.expect("a job");
    split(store, &[1], 100);
    assert_eq!(store.rebuild(rebuild.id, user(1), &users([2, 3]), 9).expect("rebuilds"), 0);
    assert_eq!((jobs(store).len(), activity(store, 1)), (before.len() + 1, Activity::Dormant { seen: Some(50) }));
    assert_eq!(ids(&inbox(store, 1)), [10]);
}

fn a_rebuild_of_an_earlier_return_only_ends(store: &Store) {
    follow_settled(store, 1, 2, 1);
    publish_post(store, 10, 2, 10);
    let first = touch(store, 1, 50).job.expect("a job");
    split(store, &[1], 100);
    let second = touch(store, 1, 200).job.expect("a job");
    // Its authors may have been chosen before the second skip.
    assert_eq!(store.rebuild(first.id, user(1), &users([2]), 9).expect("rebuilds"), 0);
    assert!(!activity(store, 1).is_active() && inbox(store, 1).is_empty());
    assert_eq!(store.rebuild(second.id, user(1), &users([2]), 9).expect("rebuilds"), 1);
    assert_eq!((ids(&inbox(store, 1)), activity(store, 1)), (vec![10], Activity::Active { seen: 200 }));
}

/// The removal may still be in memory, and must not be written after the entries of the rebuild.
fn a_rebuild_brings_back_entries_that_a_settle_has_removed(store: &Store) {
    publish_post(store, 10, 5, 10);
    follow_settled(store, 1, 5, 1);
    settle(store, unfollow(store, 1, 5), 9);
    assert!(inbox(store, 1).is_empty());
    let again = follow(store, 1, 5, 2);
    store.drop_job(again.id).expect("drops");
    let rebuild = touch(store, 1, 100).job.expect("a job");
    assert_eq!(store.rebuild(rebuild.id, user(1), &users([5]), 9).expect("rebuilds"), 1);
    assert_eq!(ids(&inbox(store, 1)), [10]);
    store.write_arrivals().expect("writes");
    assert_eq!(ids(&inbox(store, 1)), [10]);
}

fn a_user_once_met_becomes_idle(store: &Store) {
    store.meet(user(1), 100).expect("meets");
    store.meet(user(1), 200).expect("meets");
    assert_eq!(activity(store, 1), Activity::Dormant { seen: Some(100) }, "the first time counts");
    activate(store, 2, 50);
    store.meet(user(2), 10).expect("meets");
    assert_eq!(activity(store, 2), Activity::Active { seen: 50 });
    touch(store, 3, 60);
    let idle = |after, limit, before| {
        let found = store.idle(after, limit, before).expect("looks");
        (found.users.iter().map(|user| user.get()).collect::<Vec<_>>(), found.next)
    };
    assert_eq!(idle(None, 10, 61), (vec![2, 3], None));
    assert_eq!(idle(None, 10, 60), (vec![2], None));
    assert_eq!(idle(None, 2, 101), (vec![1, 2], Some(user(2))));
    assert_eq!(idle(Some(user(2)), 2, 101), (vec![3], None));
    assert_eq!(idle(None, 10, 50), (vec![], None));
}

fn an_evicted_user_has_no_inbox_until_the_rebuild(store: &Store) {
    let floor = Cursor { at: 500, id: ContentId::MIN };
    activate(store, 1, 100);
    assert!(!store.evict(user(1), 100, Some(floor)).expect("evicts"), "seen since");
    assert!(!store.evict(user(9), 100, Some(floor)).expect("evicts"), "never heard of");
    assert_eq!(inbox_floor(store, 1), None);
    assert!(store.evict(user(1), 101, Some(floor)).expect("evicts"));
    assert!(!store.evict(user(1), 101, Some(floor)).expect("evicts"), "a second time");
    assert_eq!((activity(store, 1), inbox_floor(store, 1)), (Activity::Evicted, Some(floor)));
    assert!(!activity(store, 1).has_inbox());
    activate(store, 2, 100);
    assert_eq!(store.not_evicted(users([3, 1, 2])).expect("reads"), users([3, 2]));
    assert_eq!(split(store, &[1, 2], 0), (vec![2], vec![]));
    assert_eq!(store.idle(None, 10, u64::MAX >> 1).expect("looks").users, users([2]));

    let returned = touch(store, 1, 700);
    let job = returned.job.expect("a job");
    assert_eq!(returned.activity, Activity::Returning { seen: 700, empty: true, rebuild: job.id.seq });
    assert!(!activity(store, 1).has_inbox());
    assert_eq!(store.not_evicted(users([1])).expect("reads"), users([1]));
    assert_eq!(split(store, &[1], 700), (vec![1], vec![]));
    store.rebuild(job.id, user(1), &[], 9).expect("rebuilds");
    assert!(activity(store, 1).has_inbox());
    assert_eq!(inbox_floor(store, 1), Some(floor), "floors only rise");
}

fn a_user_who_lapses_before_the_rebuild_stays_evicted(store: &Store) {
    activate(store, 1, 100);
    store.evict(user(1), 101, None).expect("evicts");
    touch(store, 1, 200);
    assert_eq!(split(store, &[1], 201), (vec![], vec![1]));
    assert_eq!(activity(store, 1), Activity::Evicted);
    assert_eq!(store.not_evicted(users([1])).expect("reads"), []);
}

fn many_are_split_at_once(store: &Store) {
    let everybody: Vec<u64> = (1..=1000).collect();
    for who in everybody.iter().copied().filter(|who| who % 4 != 0) {
        touch(store, who, who % 4 * 100);
    }
    let (active, lapsed) = split(store, &everybody, 200);
    assert_eq!(active, everybody.iter().copied().filter(|who| who % 4 >= 2).collect::<Vec<_>>());
    assert_eq!(lapsed, everybody.iter().copied().filter(|who| who % 4 == 1).collect::<Vec<_>>());
}

on_both! {
    everybody_is_dormant_at_first,
    a_touched_user_returns_and_gets_a_rebuild,
    a_second_touch_makes_no_second_rebuild,
    the_last_time_seen_only_rises,
    the_dormant_are_in_neither_part,
    the_active_and_the_returning_get_partial_pushes,
    both_parts_keep_the_order_given,
    users_last_seen_before_the_time_lapse,
    a_lapsed_user_returns_like_a_new_one,
    a_rebuild_puts_in_the_newest_of_the_followed_and_makes_the_user_active,
    a_rebuild_after_an_eviction_stays_above_the_floor,
    a_rebuild_without_authors_only_activates,
    a_rebuild_of_who_lapsed_meanwhile_only_ends,
    a_rebuild_of_an_earlier_return_only_ends,
    a_rebuild_brings_back_entries_that_a_settle_has_removed,
    a_user_once_met_becomes_idle,
    an_evicted_user_has_no_inbox_until_the_rebuild,
    a_user_who_lapses_before_the_rebuild_stays_evicted,
    many_are_split_at_once,
}
