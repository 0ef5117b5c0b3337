//! Following and unfollowing.

use model::error::{Code, Error};
use model::store::{Change, Tier};
use model::{KindId, Relation, RelationKind, Rule, Side, Span, UserCursor, Work};
use store::Store;

use super::support::{MANY, follow, follow_of, jobs, lane_of, relate, relation, unfollow, unfollow_of, user, users};

fn members(store: &Store, who: u64, side: Side) -> Vec<(u64, u64)> {
    let rows = store.members(user(who), side, Span::ALL.newest(MANY), Tier::Disk).expect("reads");
    rows.iter().map(|row: &UserCursor| (row.id.get(), row.at)).collect()
}

/// The followees, the followers, and the count of followers.
fn sides(store: &Store, who: u64) -> (Vec<u64>, Vec<u64>, u64) {
    let raw = |users: Vec<model::UserId>| users.into_iter().map(|user| user.get()).collect();
    (
        raw(store.followees(user(who), Tier::Disk).expect("reads")),
        raw(store.followers_after(user(who), None, MANY).expect("reads")),
        store.follower_count(user(who)).expect("reads"),
    )
}

fn a_follow_is_seen_from_both_sides(store: &Store) {
    let related = relate(store, 1, &[follow_of(2, 100)]);
    let want = Relation { following_since: Some(100), ..Relation::none(user(1), user(2)) };
    assert_eq!(related[0].relation, want);
    assert_eq!(relation(store, 1, 2), want);
    let mirror = Relation { followed_since: Some(100), ..Relation::none(user(2), user(1)) };
    assert_eq!(relation(store, 2, 1), mirror);
    assert_eq!(sides(store, 1), (vec![2], vec![], 0));
    assert_eq!(sides(store, 2), (vec![], vec![1], 1));
    assert_eq!(members(store, 1, Side::Following), [(2, 100)]);
    assert_eq!(members(store, 2, Side::Followers), [(1, 100)]);
    assert_eq!(members(store, 1, Side::Friends), []);
}

fn a_rule_changes_alone_and_goes_with_its_follow(store: &Store) {
    let [no_posts, only_five] = [(false, 0), (true, 5)].map(|(is_only, kind)| Rule::new(is_only, &[KindId(kind)]));
    let set = |since, rule| {
        let related = relate(store, 1, &[Change { rule, ..follow_of(2, since) }])[0];
        assert_eq!(related.relation, relation(store, 1, 2));
        let sources = store.authors(user(1), Tier::Disk).expect("reads");
        let among = store.authors_among(user(1), &users([3, 2]), Tier::Disk).expect("reads");
        assert_eq!((&sources[..], sources.rules()), (&among[..], among.rules()));
        assert_eq!(sources.rule(user(2)), related.relation.rule);
        (related.relation.following_since, related.relation.rule, related.job.is_some())
    };
    assert_eq!(set(5, Some(no_posts)), (Some(5), no_posts, true));
    assert_eq!(set(6, None), (Some(5), no_posts, false), "it stays");
    assert_eq!(set(7, Some(only_five)), (Some(5), only_five, false));
    assert_eq!(relation(store, 2, 1).rule, None, "it is the follower's");
    assert_eq!(members(store, 1, Side::Following), [(2, 5)]);
    assert_eq!(set(8, Some(None)), (Some(5), None, false));
    set(9, Some(only_five));
    unfollow(store, 1, 2);
    assert_eq!(relation(store, 1, 2).rule, None);
    assert_eq!(set(10, None), (Some(10), None, true), "it is gone");
}

fn a_change_leaves_a_settle_job_in_the_authors_lane(store: &Store) {
    let first = follow(store, 1, 2, 100);
    assert_eq!((first.work, first.progress), (Work::Settle { user: user(1), source: user(2) }, None));
    assert_eq!(first.id.lane, lane_of(2));
    let second = unfollow(store, 1, 2);
    assert_eq!(second.work, first.work);
    assert!(second.id.seq > first.id.seq);
    assert_eq!(jobs(store), [first, second]);
}

fn a_repeated_follow_keeps_its_since_and_makes_no_job(store: &Store) {
    let job = follow(store, 1, 2, 100);
    for since in [0, 100, 200] {
        let again = relate(store, 1, &[follow_of(2, since)])[0];
        assert_eq!((again.relation.following_since, again.job), (Some(100), None));
    }
    assert_eq!(members(store, 1, Side::Following), [(2, 100)]);
    assert_eq!(members(store, 2, Side::Followers), [(1, 100)]);
    assert_eq!(store.follower_count(user(2)).expect("reads"), 1);
    assert_eq!(jobs(store), [job]);
}

fn an_unfollow_takes_everything_back(store: &Store) {
    follow(store, 1, 2, 100);
    follow(store, 1, 3, 110);
    follow(store, 4, 2, 120);
    let related = relate(store, 1, &[unfollow_of(2)]);
    assert_eq!(related[0].relation.kind(), RelationKind::None);
    assert_eq!(relation(store, 1, 2).kind(), RelationKind::None);
    assert_eq!(sides(store, 1), (vec![3], vec![], 0));
    assert_eq!(sides(store, 2), (vec![], vec![4], 1));
    assert_eq!(members(store, 1, Side::Following), [(3, 110)]);
    assert_eq!(members(store, 2, Side::Followers), [(4, 120)]);
}

fn an_unfollow_of_nobody_makes_no_job(store: &Store) {
    follow(store, 2, 1, 50);
    let before = jobs(store);
    for _ in 0..2 {
        let related = relate(store, 1, &[unfollow_of(2)])[0];
        assert_eq!((related.relation.kind(), related.job), (RelationKind::FollowedBy, None));
    }
    assert_eq!(jobs(store), before);
    assert_eq!(sides(store, 1), (vec![], vec![2], 1));
}

fn a_new_follow_takes_the_new_since(store: &Store) {
    follow(store, 1, 2, 100);
    unfollow(store, 1, 2);
    for (since, other) in [(50, 300), (200, 10)] {
        follow(store, 1, 2, since);
        assert_eq!(relation(store, 1, 2).following_since, Some(since));
        assert_eq!(members(store, 1, Side::Following), [(2, since)]);
        assert_eq!(members(store, 2, Side::Followers), [(1, since)]);
        unfollow(store, 1, 2);
        follow(store, 1, 2, other);
        assert_eq!(members(store, 1, Side::Following), [(2, other)]);
        unfollow(store, 1, 2);
    }
}

fn friends_since_is_that_of_the_later_follow(store: &Store) {
    follow(store, 1, 2, 100);
    follow(store, 2, 1, 200);
    assert_eq!(relation(store, 1, 2).kind(), RelationKind::Mutual);
    assert_eq!(members(store, 1, Side::Friends), [(2, 200)]);
    assert_eq!(members(store, 2, Side::Friends), [(1, 200)]);
    // Times count, not the order of the calls.
    follow(store, 1, 3, 500);
    follow(store, 3, 1, 400);
    assert_eq!(members(store, 1, Side::Friends), [(3, 500), (2, 200)]);
    assert_eq!(members(store, 3, Side::Friends), [(1, 500)]);
}

fn friends_end_with_either_follow(store: &Store) {
    for (stays, leaves) in [(1, 2), (2, 1)] {
        follow(store, stays, leaves, 100);
        follow(store, leaves, stays, 200);
        unfollow(store, leaves, stays);
        assert_eq!(members(store, 1, Side::Friends), []);
        assert_eq!(members(store, 2, Side::Friends), []);
        assert_eq!(relation(store, stays, leaves).kind(), RelationKind::Following);
        // They begin again with the next follow, even with an earlier time than before.
        follow(store, leaves, stays, 150);
        assert_eq!(members(store, stays, Side::Friends), [(leaves, 150)]);
        assert_eq!(members(store, leaves, Side::Friends), [(stays, 150)]);
        relate(store, stays, &[unfollow_of(leaves)]);
        relate(store, leaves, &[unfollow_of(stays)]);
    }
}

fn results_come_in_the_order_of_the_changes(store: &Store) {
    follow(store, 1, 5, 50);
    follow(store, 4, 1, 40);
    follow(store, 1, 6, 60);
    let before = jobs(store).len();
    let changes = [follow_of(9, 90), unfollow_of(5), follow_of(4, 41), unfollow_of(7), follow_of(6, 61)];
    let related = relate(store, 1, &changes);
    let targets: Vec<_> = related.iter().map(|r| r.relation.target.get()).collect();
    assert_eq!(targets, [9, 5, 4, 7, 6]);
    let kinds: Vec<_> = related.iter().map(|r| r.relation.kind()).collect();
    use RelationKind::{Following, Mutual, None};
    assert_eq!(kinds, [Following, None, Mutual, None, Following]);
    // Jobs only for actual changes, numbered in the same order.
    let made: Vec<_> = related.iter().filter_map(|r| r.job).collect();
    let authors: Vec<_> = made.iter().map(|job| job.work).collect();
    assert_eq!(authors, [9, 5, 4].map(|author| Work::Settle { user: user(1), source: user(author) }));
    assert!(made.windows(2).all(|pair| pair[0].id.seq < pair[1].id.seq), "{made:?}");
    assert_eq!(jobs(store).len(), before + 3);
    assert_eq!(sides(store, 1), (vec![4, 6, 9], vec![4], 1));
}

fn no_changes_are_no_change(store: &Store) {
    assert_eq!(relate(store, 1, &[]), []);
    assert_eq!(store.relate(user(1), &[], 0).expect("not refused"), []);
    assert_eq!(jobs(store), []);
}

fn is_refused(store: &Store, who: u64, changes: &[Change], limit: usize) -> bool {
    match store.relate(user(who), changes, limit) {
        Ok(_) => false,
        Err(Error::Refused { code: Code::FollowLimit, .. }) => true,
        Err(other) => panic!("{other:?}"),
    }
}

fn the_limit_itself_is_allowed_and_one_more_is_refused(store: &Store) {
    let first: Vec<_> = (11..=15).map(|target| follow_of(target, 1)).collect();
    assert!(is_refused(store, 1, &first, 4));
    assert!(!is_refused(store, 1, &first, 5));
    let before = jobs(store);
    assert!(is_refused(store, 1, &[follow_of(16, 1)], 5));
    // A refused call writes nothing, whatever else it contains.
    assert!(is_refused(store, 1, &[follow_of(16, 1), unfollow_of(11), follow_of(17, 1)], 5));
    assert_eq!(jobs(store), before);
    assert_eq!(sides(store, 1), (vec![11, 12, 13, 14, 15], vec![], 0));
    assert_eq!(sides(store, 16), (vec![], vec![], 0));
    assert_eq!(relation(store, 1, 16).kind(), RelationKind::None);
    assert!(is_refused(store, 2, &[follow_of(3, 1)], 0));
}

fn the_limit_is_about_what_is_there_afterwards(store: &Store) {
    relate(store, 1, &[follow_of(11, 1), follow_of(12, 1), follow_of(13, 1)]);
    assert!(!is_refused(store, 1, &[follow_of(14, 1), unfollow_of(11)], 3));
    assert!(!is_refused(store, 1, &[follow_of(14, 2), follow_of(12, 2)], 3), "both are there already");
    assert!(is_refused(store, 1, &[follow_of(15, 1), unfollow_of(11)], 3), "11 is not there any more");
    assert_eq!(sides(store, 1).0, [12, 13, 14]);
}

fn a_user_over_the_follow_limit_can_unfollow_and_exchange(store: &Store) {
    let first: Vec<_> = (11..=15).map(|target| follow_of(target, 1)).collect();
    relate(store, 1, &first);
    assert!(!is_refused(store, 1, &[follow_of(15, 9)], 2), "no change");
    assert!(!is_refused(store, 1, &[unfollow_of(11), follow_of(16, 1)], 2), "as many as before");
    assert!(!is_refused(store, 1, &[unfollow_of(12)], 2), "fewer than before");
    assert!(is_refused(store, 1, &[follow_of(17, 1)], 2));
    assert!(is_refused(store, 1, &[unfollow_of(13), follow_of(17, 1), follow_of(18, 1)], 2));
    assert_eq!(sides(store, 1).0, [13, 14, 15, 16]);
}

fn followers_do_not_count_towards_the_limit(store: &Store) {
    for follower in 2..=6 {
        follow(store, follower, 1, 1);
    }
    assert!(!is_refused(store, 1, &[follow_of(2, 1)], 1));
    assert_eq!(sides(store, 1), (vec![2], vec![2, 3, 4, 5, 6], 5));
}

fn a_thousand_changes_go_in_one_call(store: &Store) {
    let changes: Vec<_> = (2..=1001).map(|target| follow_of(target, target % 10)).collect();
    let related = store.relate(user(1), &changes, 1000).expect("relates");
    assert!(related.iter().all(|r| r.job.is_some()));
    assert_eq!(store.followees(user(1), Tier::Disk).expect("reads"), users(2..=1001));
    let changes: Vec<_> = (2..=1000).map(unfollow_of).collect();
    relate(store, 1, &changes);
    assert_eq!(store.followees(user(1), Tier::Disk).expect("reads"), users([1001]));
    assert_eq!(jobs(store).len(), 1999);
}

on_both! {
    a_follow_is_seen_from_both_sides,
    a_change_leaves_a_settle_job_in_the_authors_lane,
    a_repeated_follow_keeps_its_since_and_makes_no_job,
    an_unfollow_takes_everything_back,
    an_unfollow_of_nobody_makes_no_job,
    a_new_follow_takes_the_new_since,
    friends_since_is_that_of_the_later_follow,
    friends_end_with_either_follow,
    results_come_in_the_order_of_the_changes,
    no_changes_are_no_change,
    the_limit_itself_is_allowed_and_one_more_is_refused,
    the_limit_is_about_what_is_there_afterwards,
    a_user_over_the_follow_limit_can_unfollow_and_exchange,
    a_rule_changes_alone_and_goes_with_its_follow,
    followers_do_not_count_towards_the_limit,
    a_thousand_changes_go_in_one_call,
}
