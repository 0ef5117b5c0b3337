//! Reading the follow graph.

use model::store::Tier;
use model::{RelationKind, Side, Span, UserCursor, UserId};
use store::Store;

use super::support::{BOTH_ORDERS, MANY, expected, follow, relate, relation, spans, unfollow, user, users};

fn at(since: u64, id: u64) -> UserCursor {
    UserCursor { at: since, id: user(id) }
}

/// Equal times, and ids that differ in one byte.
fn places() -> Vec<UserCursor> {
    vec![at(0, 2), at(10, 255), at(10, 256), at(10, 257), at(20, 3), at(30, 65_536), at(30, 4)]
}

/// User 1 follows all of [`places`], is followed by them, or both.
fn build(store: &Store, side: Side) {
    for place in places() {
        if side != Side::Followers {
            follow(store, 1, place.id.get(), place.at);
        }
        if side != Side::Following {
            // For friends an earlier time, which must not count.
            let since = if side == Side::Friends { place.at / 2 } else { place.at };
            follow(store, place.id.get(), 1, since);
        }
    }
    // Others' rows must not show.
    follow(store, 7, 2, 5);
    follow(store, 2, 7, 5);
}

fn check_side(store: &Store, side: Side) {
    build(store, side);
    let mut bounds = places();
    bounds.extend([at(5, 256), at(10, 1), at(20, 4), at(31, 1), UserCursor::OLDEST, UserCursor::NEWEST]);
    for span in spans(&bounds) {
        for order in BOTH_ORDERS {
            for limit in [0, 1, 3, MANY] {
                let found = store.members(user(1), side, span.scan(order, limit), Tier::Disk).expect("reads");
                let want = expected(&places(), |place| *place, span, order, limit);
                assert_eq!(found, want, "{span:?} {order:?} {limit}");
            }
        }
    }
}

fn following_is_listed_by_time_within_bounds(store: &Store) {
    check_side(store, Side::Following);
}

fn followers_are_listed_by_time_within_bounds(store: &Store) {
    check_side(store, Side::Followers);
}

fn friends_are_listed_by_time_within_bounds(store: &Store) {
    check_side(store, Side::Friends);
}

fn any_limit_is_a_limit(store: &Store) {
    build(store, Side::Friends);
    for side in [Side::Following, Side::Followers, Side::Friends] {
        for order in BOTH_ORDERS {
            let found = store.members(user(1), side, Span::ALL.scan(order, usize::MAX), Tier::Disk).expect("reads");
            assert_eq!(found.len(), places().len());
        }
    }
    assert_eq!(store.followers_after(user(1), None, usize::MAX).expect("reads").len(), places().len());
}

fn users_without_relations_have_empty_lists(store: &Store) {
    follow(store, 1, 3, 10);
    for who in [2, 4] {
        for side in [Side::Following, Side::Followers, Side::Friends] {
            for order in BOTH_ORDERS {
                let found = store.members(user(who), side, Span::ALL.scan(order, MANY), Tier::Disk).expect("reads");
                assert_eq!(found, []);
            }
        }
        assert_eq!(store.followees(user(who), Tier::Disk).expect("reads"), []);
        assert_eq!(store.followers_after(user(who), None, MANY).expect("reads"), []);
        assert_eq!(store.follower_count(user(who)).expect("reads"), 0);
    }
}

fn followees_ascend_whatever_the_times(store: &Store) {
    let targets = [65_536, 2, 257, 255, 256, u64::MAX >> 1];
    for (since, target) in targets.into_iter().enumerate() {
        follow(store, 1, target, since as u64);
    }
    let mut sorted = targets;
    sorted.sort_unstable();
    assert_eq!(store.followees(user(1), Tier::Disk).expect("reads"), users(sorted));
}

fn followers_are_paged_by_id(store: &Store) {
    let followers = users([2, 3, 254, 255, 256, 257, 65_535, 65_536, u64::MAX >> 1]);
    for follower in followers.iter().rev() {
        follow(store, follower.get(), 1, follower.get() % 3);
    }
    // A follower of another user.
    follow(store, 9, 2, 1);
    let after = |after: Option<UserId>, limit| store.followers_after(user(1), after, limit).expect("reads");
    assert_eq!(after(None, MANY), followers);
    assert_eq!(after(None, 0), []);
    assert_eq!(after(None, 3), followers[..3]);
    // After each follower, and after ids of no user.
    for (index, follower) in followers.iter().enumerate() {
        assert_eq!(after(Some(*follower), MANY), followers[index + 1..]);
        assert_eq!(after(Some(*follower), 1), followers[index + 1..].iter().copied().take(1).collect::<Vec<_>>());
    }
    assert_eq!(after(Some(user(1)), 2), followers[..2]);
    assert_eq!(after(Some(user(100)), 2), followers[2..4]);
    assert_eq!(after(Some(UserId::MAX), 2), []);
}

fn the_count_follows_every_change(store: &Store) {
    let count = |who| store.follower_count(user(who)).expect("reads");
    for follower in 2..=50 {
        follow(store, follower, 1, follower);
        assert_eq!(count(1), follower - 1);
    }
    follow(store, 1, 2, 1);
    assert_eq!((count(1), count(2)), (49, 1));
    for follower in (2..=50).rev() {
        unfollow(store, follower, 1);
        assert_eq!(count(1), follower - 2);
    }
    assert_eq!((count(1), count(2)), (0, 1));
}

fn relations_come_in_the_order_asked(store: &Store) {
    follow(store, 1, 2, 20);
    follow(store, 3, 1, 30);
    follow(store, 1, 4, 40);
    follow(store, 4, 1, 41);
    let asked = users([5, 4, 2, 3, 1, 2]);
    let found = store.relations(user(1), &asked, Tier::Disk).expect("reads");
    let want = [
        (5, None, None),
        (4, Some(40), Some(41)),
        (2, Some(20), None),
        (3, None, Some(30)),
        (1, None, None),
        (2, Some(20), None),
    ];
    let found: Vec<_> = found
        .iter()
        .map(|relation| {
            assert_eq!(relation.user, user(1));
            (relation.target.get(), relation.following_since, relation.followed_since)
        })
        .collect();
    assert_eq!(found, want);
    assert_eq!(store.relations(user(1), &[], Tier::Disk).expect("reads"), []);
    assert_eq!(relation(store, 5, 1).kind(), RelationKind::None);
}

fn a_since_of_zero_is_a_follow(store: &Store) {
    follow(store, 1, 2, 0);
    follow(store, 2, 1, 0);
    assert_eq!(relation(store, 1, 2).kind(), RelationKind::Mutual);
    let friends =
        store.members(user(1), Side::Friends, Span::ALL.scan(BOTH_ORDERS[0], MANY), Tier::Disk).expect("reads");
    assert_eq!(friends, [at(0, 2)]);
}

fn large_lists_page_without_hole_or_repeat(store: &Store) {
    let changes: Vec<_> = (2..=1500).map(|n| super::support::follow_of(n, n * 31 % 97)).collect();
    relate(store, 1, &changes);
    let all: Vec<_> = (2..=1500).map(|n| at(n * 31 % 97, n)).collect();
    let mut paged: Vec<UserCursor> = Vec::new();
    let order = BOTH_ORDERS[0];
    loop {
        let span = super::support::span(paged.last().copied(), None);
        let page = store.members(user(1), Side::Following, span.scan(order, 100), Tier::Disk).expect("reads");
        if page.is_empty() {
            break;
        }
        paged.extend(page);
    }
    assert_eq!(paged, expected(&all, |place| *place, Span::ALL, order, MANY));
}

on_both! {
    following_is_listed_by_time_within_bounds,
    followers_are_listed_by_time_within_bounds,
    friends_are_listed_by_time_within_bounds,
    any_limit_is_a_limit,
    users_without_relations_have_empty_lists,
    followees_ascend_whatever_the_times,
    followers_are_paged_by_id,
    the_count_follows_every_change,
    relations_come_in_the_order_asked,
    a_since_of_zero_is_a_follow,
    large_lists_page_without_hole_or_repeat,
}
