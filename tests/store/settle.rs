//! Settling: back-fill and purge.
//!
//! The count that a settle returns is of the author's rows above the floor as it is afterwards, so
//! that it does not depend on which rows below a floor a compaction has dropped already.

use model::{Content, MAX_MILLIS};
use store::Store;

use super::support::{
    MANY, entry, floor, follow, follow_settled, ids, inbox, item, job_now, jobs, place, post, publish, publish_post,
    push, settle, unfollow, user, users,
};

/// Ends every fan-out job, so that only the effect of settling shows.
fn publish_unpushed(store: &Store, ids: impl IntoIterator<Item = u64>, author: u64) {
    for id in ids {
        let job = publish_post(store, id, author, id);
        store.drop_job(job.id).expect("drops");
    }
}

fn a_follower_gets_what_was_published_before(store: &Store) {
    publish_unpushed(store, 10..=14, 1);
    let job = follow(store, 2, 1, 100);
    assert_eq!(inbox(store, 2), []);
    assert_eq!(settle(store, job, MANY), 5);
    assert_eq!(inbox(store, 2), [14, 13, 12, 11, 10].map(|id| entry(1, id, id)));
    assert_eq!(floor(store, 2), None, "nothing was left out");
    assert_eq!(jobs(store), []);
}

fn an_author_without_items_leaves_nothing(store: &Store) {
    let job = follow(store, 2, 1, 100);
    for room in [0, 10] {
        assert_eq!(settle(store, job, room), 0);
        assert_eq!((inbox(store, 2), floor(store, 2)), (vec![], None));
    }
    assert_eq!(jobs(store), []);
}

fn items_left_out_of_a_settle_raise_the_floor(store: &Store) {
    publish_unpushed(store, 10..=19, 1);
    let job = follow(store, 2, 1, 100);
    assert_eq!(settle(store, job, 3), 3);
    assert_eq!(ids(&inbox(store, 2)), [19, 18, 17]);
    assert_eq!(floor(store, 2), Some(place(16, 16)), "the first that was left out");
}

fn room_for_all_leaves_the_floor(store: &Store) {
    publish_unpushed(store, 10..=12, 1);
    let job = follow(store, 2, 1, 100);
    assert_eq!(settle(store, job, 3), 3);
    assert_eq!((ids(&inbox(store, 2)), floor(store, 2)), (vec![12, 11, 10], None));
}

fn no_room_at_all_raises_the_floor_to_the_newest(store: &Store) {
    publish_unpushed(store, 10..=12, 1);
    let job = follow(store, 2, 1, 100);
    assert_eq!(settle(store, job, 0), 0);
    assert_eq!((inbox(store, 2), floor(store, 2)), (vec![], Some(place(12, 12))));
    assert_eq!(jobs(store), []);
}

fn any_room_is_room(store: &Store) {
    publish_unpushed(store, 10..=12, 1);
    let job = follow(store, 2, 1, 100);
    assert_eq!(settle(store, job, usize::MAX), 3);
    assert_eq!((ids(&inbox(store, 2)), floor(store, 2)), (vec![12, 11, 10], None));
}

fn nothing_comes_in_at_or_below_the_floor(store: &Store) {
    publish_unpushed(store, 10..=19, 1);
    store.raise_floor(user(2), place(15, 15)).expect("raises");
    let job = follow(store, 2, 1, 100);
    // Four lie above the floor, so nothing is left out and the floor stays.
    assert_eq!(settle(store, job, 4), 4);
    assert_eq!((ids(&inbox(store, 2)), floor(store, 2)), (vec![19, 18, 17, 16], Some(place(15, 15))));
}

fn a_floor_above_everything_keeps_everything_out(store: &Store) {
    publish_unpushed(store, 10..=12, 1);
    let highest = place(MAX_MILLIS, 1);
    store.raise_floor(user(2), highest).expect("raises");
    let job = follow(store, 2, 1, 100);
    assert_eq!(settle(store, job, 1), 0);
    assert_eq!((inbox(store, 2), floor(store, 2)), (vec![], Some(highest)));
    assert_eq!(jobs(store), []);
}

fn others_rows_stay_where_they_are(store: &Store) {
    for id in [11, 21] {
        push(store, id, 3, id, &users([2]));
    }
    publish_unpushed(store, [10, 20, 30], 1);
    let job = follow(store, 2, 1, 100);
    assert_eq!(settle(store, job, MANY), 3);
    assert_eq!(
        inbox(store, 2),
        [entry(1, 30, 30), entry(3, 21, 21), entry(1, 20, 20), entry(3, 11, 11), entry(1, 10, 10)]
    );
    let job = unfollow(store, 2, 1);
    assert_eq!(settle(store, job, MANY), 3);
    assert_eq!(inbox(store, 2), [entry(3, 21, 21), entry(3, 11, 11)]);
}

fn a_risen_floor_hides_others_rows_too(store: &Store) {
    for id in [11, 15, 21] {
        push(store, id, 3, id, &users([2]));
    }
    publish_unpushed(store, [12, 14, 16], 1);
    let job = follow(store, 2, 1, 100);
    assert_eq!(settle(store, job, 2), 2);
    assert_eq!(floor(store, 2), Some(place(12, 12)));
    assert_eq!(ids(&inbox(store, 2)), [21, 16, 15, 14]);
}

fn items_pushed_already_are_not_counted(store: &Store) {
    push(store, 10, 1, 10, &users([2]));
    publish_unpushed(store, [11], 1);
    push(store, 12, 1, 12, &users([2]));
    let job = follow(store, 2, 1, 100);
    assert_eq!(settle(store, job, MANY), 1);
    assert_eq!(ids(&inbox(store, 2)), [12, 11, 10]);
}

fn a_second_settle_changes_nothing(store: &Store) {
    publish_unpushed(store, 10..=14, 1);
    let first = follow(store, 2, 1, 100);
    assert_eq!(settle(store, first, 3), 3);
    let (rows, at) = (inbox(store, 2), floor(store, 2));
    // As after a crash between the change and the next job, or for coalesced jobs of one pair.
    assert_eq!(settle(store, first, 3), 0);
    unfollow(store, 2, 1);
    let again = follow(store, 2, 1, 200);
    assert_eq!(settle(store, again, 3), 0);
    assert_eq!((inbox(store, 2), floor(store, 2)), (rows, at));
}

fn less_room_than_rows_lets_the_floor_rise(store: &Store) {
    publish_unpushed(store, 10..=14, 1);
    let job = follow(store, 2, 1, 100);
    settle(store, job, MANY);
    // Rows 10 to 12 vanish below the floor. The rest was there before.
    assert_eq!(settle(store, job, 2), 0);
    assert_eq!((ids(&inbox(store, 2)), floor(store, 2)), (vec![14, 13], Some(place(12, 12))));
    // More room does not lower it again.
    assert_eq!(settle(store, job, MANY), 0);
    assert_eq!((ids(&inbox(store, 2)), floor(store, 2)), (vec![14, 13], Some(place(12, 12))));
}

fn rows_of_deleted_items_are_taken_out(store: &Store) {
    for id in 10..=14 {
        push(store, id, 1, id, &users([2]));
    }
    push(store, 20, 3, 20, &users([2]));
    for id in [11, 14, 20] {
        store.delete(item(id), 500.into()).expect("deletes");
    }
    assert_eq!(inbox(store, 2).len(), 6);
    let job = follow(store, 2, 1, 100);
    assert_eq!(settle(store, job, MANY), 2);
    // The job ignores rows of other authors.
    assert_eq!(ids(&inbox(store, 2)), [20, 13, 12, 10]);
}

fn the_deleted_take_no_room(store: &Store) {
    publish_unpushed(store, 10..=15, 1);
    for id in [13, 15] {
        store.delete(item(id), 500.into()).expect("deletes");
    }
    let job = follow(store, 2, 1, 100);
    assert_eq!(settle(store, job, 3), 3);
    assert_eq!((ids(&inbox(store, 2)), floor(store, 2)), (vec![14, 12, 11], Some(place(10, 10))));
}

fn items_without_broadcast_are_not_back_filled(store: &Store) {
    publish_unpushed(store, [10, 12], 1);
    publish(store, Content { broadcast: false, ..post(11, 1, 11) });
    let job = follow(store, 2, 1, 100);
    assert_eq!(settle(store, job, MANY), 2);
    assert_eq!(ids(&inbox(store, 2)), [12, 10]);
}

fn an_unfollow_removes_every_row(store: &Store) {
    publish_unpushed(store, 10..=14, 1);
    publish_unpushed(store, 20..=24, 3);
    for author in [1, 3] {
        follow_settled(store, 2, author, 100);
        follow_settled(store, 4, author, 100);
    }
    let job = unfollow(store, 2, 1);
    assert_eq!(ids(&inbox(store, 2)).len(), 10, "not before the job has run");
    assert_eq!(settle(store, job, 1), 5);
    assert_eq!(ids(&inbox(store, 2)), [24, 23, 22, 21, 20]);
    assert_eq!(floor(store, 2), None);
    assert_eq!(inbox(store, 4).len(), 10, "another user's inbox");
    assert_eq!(jobs(store), []);
}

fn a_settle_without_a_follow_removes_nothing(store: &Store) {
    publish_unpushed(store, 10..=12, 1);
    let first = follow(store, 2, 1, 100);
    let second = unfollow(store, 2, 1);
    // The present relation counts, not the one that made the job.
    assert_eq!(settle(store, first, MANY), 0);
    assert_eq!(inbox(store, 2), []);
    assert_eq!(jobs(store), [second]);
    assert_eq!(settle(store, second, MANY), 0);
    assert_eq!(jobs(store), []);
}

fn an_early_job_settles_for_the_latest_relation(store: &Store) {
    publish_unpushed(store, 10..=12, 1);
    let first = follow(store, 2, 1, 100);
    let second = unfollow(store, 2, 1);
    let third = follow(store, 2, 1, 200);
    assert_eq!(settle(store, first, MANY), 3);
    assert_eq!(settle(store, second, MANY), 0);
    assert_eq!(inbox(store, 2).len(), 3);
    assert_eq!(settle(store, third, MANY), 0);
    assert_eq!(inbox(store, 2).len(), 3);
    assert_eq!(jobs(store), []);
}

fn rows_below_the_floor_are_not_counted_as_lost(store: &Store) {
    for id in 10..=14 {
        push(store, id, 1, id, &users([2]));
    }
    store.raise_floor(user(2), place(12, 12)).expect("raises");
    follow(store, 2, 1, 100);
    let job = unfollow(store, 2, 1);
    assert_eq!(settle(store, job, MANY), 2);
    assert_eq!((inbox(store, 2), floor(store, 2)), (vec![], Some(place(12, 12))));
}

fn only_its_own_job_ends(store: &Store) {
    let waiting = publish_post(store, 10, 1, 10);
    let first = follow(store, 2, 1, 100);
    let other = follow(store, 3, 1, 100);
    settle(store, first, MANY);
    assert_eq!(jobs(store), [waiting, other]);
    assert_eq!(job_now(store, first), None);
    assert_eq!(ids(&inbox(store, 2)), [10], "a settle does not wait for the fan-out");
}

fn a_long_outbox_is_back_filled_to_its_newest(store: &Store) {
    let items: Vec<_> = (1..=3000).map(|id| super::support::timed(post(id, 1, id / 3))).collect();
    store.publish(&items, model::store::Batch::AllOrNone, model::store::Push::Queued).expect("publishes");
    let job = follow(store, 2, 1, 100);
    assert_eq!(settle(store, job, 1000), 1000);
    assert_eq!(ids(&inbox(store, 2)), (2001..=3000).rev().collect::<Vec<_>>());
    assert_eq!(floor(store, 2), Some(place(2000 / 3, 2000)));
}

on_both! {
    a_follower_gets_what_was_published_before,
    an_author_without_items_leaves_nothing,
    items_left_out_of_a_settle_raise_the_floor,
    room_for_all_leaves_the_floor,
    no_room_at_all_raises_the_floor_to_the_newest,
    any_room_is_room,
    nothing_comes_in_at_or_below_the_floor,
    a_floor_above_everything_keeps_everything_out,
    others_rows_stay_where_they_are,
    a_risen_floor_hides_others_rows_too,
    items_pushed_already_are_not_counted,
    a_second_settle_changes_nothing,
    less_room_than_rows_lets_the_floor_rise,
    rows_of_deleted_items_are_taken_out,
    the_deleted_take_no_room,
    items_without_broadcast_are_not_back_filled,
    an_unfollow_removes_every_row,
    a_settle_without_a_follow_removes_nothing,
    an_early_job_settles_for_the_latest_relation,
    rows_below_the_floor_are_not_counted_as_lost,
    only_its_own_job_ends,
    a_long_outbox_is_back_filled_to_its_newest,
}
