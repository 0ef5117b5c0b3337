//! Requests to follow users who approve their followers.

use model::error::Code;
use model::store::{Approval, Change, Related, Tier};
use model::{Barrier, Relation, Side, Span, UserId, UserSettings};
use store::Store;

use super::support::{BOTH_ORDERS, MANY, follow, follow_of, relate, relation, unfollow_of, user, users};

fn approve_followers(store: &Store, who: u64, approve_followers: bool) {
    store.put_settings(user(who), UserSettings { approve_followers, ..UserSettings::default() }).expect("puts");
}

fn approved(target: u64, since: u64) -> Change {
    Change { approval: Approval::Given, ..follow_of(target, since) }
}

fn listed(store: &Store, who: u64, side: Side) -> Vec<(u64, u64)> {
    let found = store.members(user(who), side, Span::ALL.scan(BOTH_ORDERS[0], MANY), Tier::Disk).expect("reads");
    found.into_iter().map(|place| (place.at, place.id.get())).collect()
}

fn asked(since: u64) -> Relation {
    Relation { requested_since: Some(since), ..Relation::none(user(1), user(2)) }
}

fn a_follow_that_asks_is_a_request(store: &Store) {
    assert_eq!(store.settings(user(2), Tier::Disk).expect("reads"), UserSettings::default());
    approve_followers(store, 2, true);
    for since in [10, 20] {
        assert_eq!(relate(store, 1, &[follow_of(2, since)]), [Related { relation: asked(10), job: None }]);
    }
    relate(store, 3, &[follow_of(2, 30), follow_of(4, 30)]);
    assert_eq!(relation(store, 1, 2), asked(10));
    assert_eq!(relation(store, 2, 1), Relation::none(user(2), user(1)), "it is not the target's");
    assert_eq!(listed(store, 2, Side::FollowRequests), [(30, 3), (10, 1)]);
    assert_eq!(listed(store, 1, Side::SentRequests), [(10, 2)]);
    assert_eq!(listed(store, 2, Side::Followers), []);
    assert_eq!(store.followees(user(3), Tier::Disk).expect("reads"), users([4]));
    assert_eq!(store.follower_count(user(2)).expect("reads"), 0);
    assert_eq!(
        relate(store, 1, &[unfollow_of(2)])[0],
        Related { relation: Relation::none(user(1), user(2)), job: None }
    );
    assert_eq!(listed(store, 2, Side::FollowRequests), [(30, 3)]);
    assert_eq!(listed(store, 1, Side::SentRequests), []);
}

fn a_follow_that_does_not_ask_ends_the_request(store: &Store) {
    approve_followers(store, 2, true);
    for (step, change) in [approved(2, 30), follow_of(2, 30)].into_iter().enumerate() {
        relate(store, 1, &[follow_of(2, 10)]);
        // The second time because the target has stopped approving.
        approve_followers(store, 2, step == 0);
        let related = relate(store, 1, &[change])[0];
        assert_eq!(related.relation, Relation { following_since: Some(30), ..Relation::none(user(1), user(2)) });
        assert!(related.job.is_some());
        assert_eq!(listed(store, 2, Side::FollowRequests), []);
        // A follow that is there does not become a request.
        approve_followers(store, 2, true);
        assert_eq!(relate(store, 1, &[follow_of(2, 40)])[0].relation, related.relation);
        relate(store, 1, &[unfollow_of(2)]);
    }
}

fn a_request_is_answered_once(store: &Store) {
    let answer = |since| store.answer_request(user(2), user(1), since).expect("answers");
    approve_followers(store, 2, true);
    assert_eq!(answer(Some(20)), None);
    relate(store, 1, &[follow_of(2, 10)]);
    assert_eq!(answer(None), Some(Related { relation: Relation::none(user(1), user(2)), job: None }));
    assert_eq!(answer(None), None);
    relate(store, 1, &[follow_of(2, 10)]);
    let related = answer(Some(20)).expect("waits");
    assert_eq!(related.relation, Relation { following_since: Some(20), ..Relation::none(user(1), user(2)) });
    assert!(related.job.is_some());
    assert_eq!((answer(Some(30)), answer(None)), (None, None));
    assert_eq!(relation(store, 1, 2), related.relation);
    assert_eq!(store.user_counts(user(1), Tier::Disk).expect("reads").following, 1);
    assert_eq!(store.follower_count(user(2)).expect("reads"), 1);
    assert_eq!(listed(store, 2, Side::FollowRequests), []);
}

fn follows_and_requests_share_the_limit(store: &Store) {
    approve_followers(store, 2, true);
    follow(store, 1, 3, 5);
    let try_to = |change, limit| store.relate(user(1), &[change], limit).map(drop).map_err(|error| error.code());
    let full = Err(Some(Code::FollowLimit));
    assert_eq!(try_to(follow_of(2, 5), 1), full);
    assert_eq!(try_to(follow_of(2, 5), 2), Ok(()));
    assert_eq!(try_to(follow_of(4, 5), 2), full);
    assert_eq!(try_to(follow_of(2, 9), 1), Ok(()), "it waits already");
    assert_eq!(try_to(approved(2, 9), 1), Ok(()), "as many as before");
    assert_eq!(try_to(follow_of(4, 5), 2), full);
}

fn a_block_ends_requests_in_both_directions(store: &Store) {
    approve_followers(store, 1, true);
    approve_followers(store, 2, true);
    relate(store, 1, &[follow_of(2, 5)]);
    relate(store, 2, &[follow_of(1, 5)]);
    let barred = store.set_barrier(user(1), user(2), Barrier::Block, Some(9), MANY).expect("blocks");
    assert_eq!(barred.jobs, [None; 2]);
    assert_eq!(barred.relation, Relation::none(user(1), user(2)).with_barrier(Barrier::Block, Some(9)));
    for (who, side) in [(1, Side::SentRequests), (1, Side::FollowRequests), (2, Side::SentRequests)] {
        assert_eq!(listed(store, who, side), [], "{who} {side:?}");
    }
    assert_eq!(relation(store, 2, 1), Relation::none(user(2), user(1)));
}

fn either_side_of_a_request_is_a_user(store: &Store) {
    approve_followers(store, 2, true);
    relate(store, 1, &[follow_of(2, 5)]);
    let found: Vec<UserId> = store.users_after(None, MANY).expect("reads");
    assert_eq!(found, users([1, 2]));
}

on_both! {
    a_follow_that_asks_is_a_request,
    a_follow_that_does_not_ask_ends_the_request,
    a_request_is_answered_once,
    follows_and_requests_share_the_limit,
    a_block_ends_requests_in_both_directions,
    either_side_of_a_request_is_a_user,
}
