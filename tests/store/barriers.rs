//! Mutes, hiding from others, and blocks.

use model::error::{Code, Error};
use model::store::Tier;
use model::{Barrier, Job, Relation, Side, Span, UserCursor, UserId, Work};
use store::Store;

use super::support::{
    BOTH_ORDERS, MANY, expected, follow, follow_of, relate, relation, spans, unfollow, unfollow_of, user, users,
};

fn set(store: &Store, who: u64, target: u64, barrier: Barrier, since: Option<u64>) -> Relation {
    store.set_barrier(user(who), user(target), barrier, since, MANY).expect("sets").relation
}

fn authors(store: &Store, reader: u64) -> Vec<u64> {
    let authors = store.authors(user(reader), Tier::Disk).expect("reads");
    // They are found among any users, in any order.
    let asked: Vec<_> = (1..=9).map(user).chain(authors.iter().rev().copied()).collect();
    let among = store.authors_among(user(reader), &asked, Tier::Disk).expect("reads");
    assert_eq!((&among[..], among.rules()), (&authors[..], authors.rules()));
    if let Some(silenced) = authors.silenced() {
        let pairs: Vec<_> = asked.iter().map(|author| (user(reader), *author)).collect();
        let found: Vec<_> = asked.iter().map(|author| silenced.contains(author)).collect();
        assert_eq!(store.silences(&pairs, Tier::Disk).expect("reads"), found);
    }
    authors.iter().map(|author| author.get()).collect()
}

fn a_barrier_stands_until_it_is_lifted(store: &Store) {
    for barrier in Barrier::ALL {
        let none = Relation::none(user(1), user(2));
        let raised = none.with_barrier(barrier, Some(10));
        assert_eq!(set(store, 1, 2, barrier, None), none);
        assert_eq!(set(store, 1, 2, barrier, Some(10)), raised);
        assert_eq!(set(store, 1, 2, barrier, Some(20)), raised, "it keeps its time");
        assert_eq!(relation(store, 1, 2), raised);
        assert_eq!(relation(store, 2, 1), Relation::none(user(2), user(1)), "it is the user's own");
        assert_eq!(set(store, 1, 2, barrier, None), none);
        assert_eq!(set(store, 1, 2, barrier, None), none);
        assert_eq!(set(store, 1, 2, barrier, Some(30)), none.with_barrier(barrier, Some(30)));
        assert_eq!(set(store, 1, 2, barrier, None), none);
    }
}

fn mutes_hides_and_follows_do_not_mix(store: &Store) {
    follow(store, 1, 2, 5);
    set(store, 1, 2, Barrier::Mute, Some(10));
    set(store, 1, 2, Barrier::Hide, Some(20));
    let hidden = Relation::none(user(1), user(2)).with_barrier(Barrier::Hide, Some(20));
    let all = Relation { following_since: Some(5), ..hidden.with_barrier(Barrier::Mute, Some(10)) };
    assert_eq!(relation(store, 1, 2), all);
    assert_eq!(set(store, 1, 2, Barrier::Mute, None), Relation { following_since: Some(5), ..hidden });
    unfollow(store, 1, 2);
    assert_eq!(relation(store, 1, 2), hidden);
    // A change of the follow answers with the barriers too.
    let related = relate(store, 1, &[follow_of(2, 7)]);
    assert_eq!(related[0].relation, Relation { following_since: Some(7), ..hidden });
}

fn authors_are_those_whom_the_reader_is_shown(store: &Store) {
    for target in [2, 3, 4, 5] {
        follow(store, 1, target, target);
    }
    assert_eq!(authors(store, 1), [2, 3, 4, 5]);
    set(store, 1, 3, Barrier::Mute, Some(10));
    set(store, 4, 1, Barrier::Hide, Some(10));
    assert_eq!(authors(store, 1), [2, 5]);
    // In the other direction a barrier does nothing.
    set(store, 2, 1, Barrier::Mute, Some(10));
    set(store, 1, 5, Barrier::Hide, Some(10));
    assert_eq!(authors(store, 1), [2, 5]);
    assert_eq!(store.followees(user(1), Tier::Disk).expect("reads"), users([2, 3, 4, 5]));
    // A barrier without a follow counts once there is one.
    set(store, 1, 6, Barrier::Mute, Some(10));
    set(store, 7, 1, Barrier::Hide, Some(10));
    follow(store, 1, 6, 1);
    follow(store, 1, 7, 1);
    assert_eq!(authors(store, 1), [2, 5]);
    set(store, 1, 3, Barrier::Mute, None);
    set(store, 4, 1, Barrier::Hide, None);
    set(store, 1, 6, Barrier::Mute, None);
    assert_eq!(authors(store, 1), [2, 3, 4, 5, 6]);
    assert!(authors(store, 9).is_empty());
}

fn many_barriers_hide_the_same_as_few(store: &Store) {
    for target in [20, 30, 40] {
        follow(store, 1, target, target);
    }
    for (barrier, hidden) in [(Barrier::Mute, 20), (Barrier::Hide, 30)] {
        // One barrier more each time, until there are more barriers than followees.
        for other in [10, 25, 26, 27, 28, 29, 50, hidden] {
            let (who, target) = if barrier == Barrier::Mute { (1, other) } else { (other, 1) };
            set(store, who, target, barrier, Some(1));
        }
        let rest = if barrier == Barrier::Mute { vec![30, 40] } else { vec![40] };
        assert_eq!(authors(store, 1), rest, "{barrier:?}");
        assert!(authors(store, 2).is_empty());
    }
}

fn no_more_than_the_limit(store: &Store) {
    for barrier in Barrier::ALL {
        let raise = |target: u64, limit| store.set_barrier(user(1), user(target), barrier, Some(target), limit);
        let refused = |target, limit| match raise(target, limit) {
            Err(Error::Refused { code, .. }) => code,
            other => panic!("{other:?}"),
        };
        let code = match barrier {
            Barrier::Mute => Code::MuteLimit,
            Barrier::Hide => Code::HideLimit,
            Barrier::Block => Code::BlockLimit,
        };
        assert_eq!(refused(2, 0), code);
        raise(2, 2).expect("raises");
        raise(3, 2).expect("raises");
        assert_eq!(refused(4, 2), code);
        raise(3, 2).expect("stands already");
        raise(3, 1).expect("stands already");
        assert_eq!(store.barred_after(user(1), barrier, None, MANY).expect("reads"), users([2, 3]));
        assert_eq!(relation(store, 1, 4).barred_since(barrier), None);
        set(store, 1, 2, barrier, None);
        raise(4, 2).expect("there is room again");
        // Each user has a limit.
        store.set_barrier(user(2), user(3), barrier, Some(1), 1).expect("raises");
    }
}

fn all_are_listed_by_time_within_bounds(store: &Store) {
    let at = |since, id| UserCursor { at: since, id: user(id) };
    let places = [at(0, 2), at(10, 255), at(10, 256), at(10, 257), at(20, 3), at(30, 65_536), at(30, 4)];
    for barrier in Barrier::ALL {
        for place in places {
            set(store, 1, place.id.get(), barrier, Some(place.at));
        }
        set(store, 2, 1, barrier, Some(15));
        set(store, 1, 9, barrier, Some(15));
        set(store, 1, 9, barrier, None);
    }
    for barrier in Barrier::ALL {
        for span in spans(&[places[1], places[3], at(5, 256), at(30, 5), UserCursor::OLDEST, UserCursor::NEWEST]) {
            for order in BOTH_ORDERS {
                for limit in [0, 1, 3, MANY] {
                    let found = store
                        .members(user(1), Side::Barred(barrier), span.scan(order, limit), Tier::Disk)
                        .expect("reads");
                    assert_eq!(found, expected(&places, |place| *place, span, order, limit), "{span:?} {order:?}");
                }
            }
        }
    }
}

fn lists_by_id_go_on_after_any_user(store: &Store) {
    for other in [2, 255, 256] {
        set(store, 1, other, Barrier::Hide, Some(other));
        set(store, other, 1, Barrier::Hide, Some(other));
        set(store, other, 1, Barrier::Mute, Some(other));
    }
    let hidden =
        |after: Option<u64>, limit| store.barred_after(user(1), Barrier::Hide, after.map(user), limit).expect("reads");
    for (after, limit, want) in [
        (None, MANY, vec![2, 255, 256]),
        (None, 2, vec![2, 255]),
        (Some(1), 1, vec![2]),
        (Some(2), MANY, vec![255, 256]),
        (Some(255), 5, vec![256]),
        (Some(256), 5, vec![]),
        (None, 0, vec![]),
    ] {
        assert_eq!(hidden(after, limit), users(want));
    }
    let among = |asked: &[u64]| store.hiders_among(user(1), &users(asked.iter().copied()), Tier::Disk).expect("reads");
    assert_eq!(among(&[]), []);
    assert_eq!(among(&[256, 1, 3, 2, 255]), users([256, 2, 255]));
    set(store, 255, 1, Barrier::Hide, None);
    assert_eq!(among(&[255, 2]), users([2]));
    assert_eq!(store.barred_after(user(1), Barrier::Mute, None, MANY).expect("reads"), []);
    assert_eq!(
        store
            .members(user(1), Side::Barred(Barrier::Mute), Span::ALL.scan(BOTH_ORDERS[0], MANY), Tier::Disk)
            .expect("reads"),
        []
    );
}

fn block(store: &Store, who: u64, target: u64) -> [Option<Job>; 2] {
    store.set_barrier(user(who), user(target), Barrier::Block, Some(50), MANY).expect("blocks").jobs
}

fn pairs(jobs: [Option<Job>; 2]) -> Vec<(u64, u64)> {
    let pair = |job: Job| match job.work {
        Work::Settle { user, source } => (user.get(), source.get()),
        other => panic!("{other:?}"),
    };
    jobs.into_iter().flatten().map(pair).collect()
}

fn a_block_ends_the_follows_of_both(store: &Store) {
    follow(store, 1, 2, 5);
    follow(store, 2, 1, 6);
    follow(store, 1, 3, 7);
    follow(store, 4, 1, 8);
    assert_eq!(pairs(block(store, 1, 2)), [(1, 2), (2, 1)]);
    assert_eq!(pairs(block(store, 1, 3)), [(1, 3)]);
    assert_eq!(pairs(block(store, 1, 4)), [(4, 1)]);
    assert_eq!(pairs(block(store, 1, 2)), [], "it stands already");
    assert_eq!(pairs(block(store, 2, 1)), [], "there are no follows");
    for who in 1..=4 {
        let counts = store.user_counts(user(who), Tier::Disk).expect("reads");
        assert_eq!((counts.following, counts.followers, counts.friends), (0, 0, 0), "{who}");
        for side in [Side::Following, Side::Followers, Side::Friends] {
            let scan = Span::ALL.scan(BOTH_ORDERS[0], MANY);
            assert_eq!(store.members(user(who), side, scan, Tier::Disk).expect("reads"), [], "{who} {side:?}");
        }
    }
    set(store, 1, 2, Barrier::Block, None);
    set(store, 2, 1, Barrier::Block, None);
    assert_eq!(relation(store, 1, 2), Relation::none(user(1), user(2)), "no follow comes back");
    follow(store, 1, 2, 9);
}

fn nobody_follows_over_a_block(store: &Store) {
    block(store, 1, 2);
    for (who, target) in [(1, 2), (2, 1)] {
        let both = [follow_of(3, 5), follow_of(target, 5)];
        let refused = store.relate(user(who), &both, MANY).expect_err("there is a block");
        assert_eq!(refused.code(), Some(Code::Blocked));
        assert_eq!(relation(store, who, 3).following_since, None, "all or none");
        assert_eq!(relate(store, who, &[unfollow_of(target)])[0].job, None);
    }
}

fn a_block_is_found_from_both_sides(store: &Store) {
    let among = |who: u64, asked: &[u64]| {
        let found = store.blocked_among(user(who), &users(asked.iter().copied()), Tier::Disk).expect("reads");
        found.into_iter().map(UserId::get).collect::<Vec<_>>()
    };
    block(store, 1, 2);
    block(store, 3, 1);
    block(store, 1, 255);
    block(store, 255, 1);
    assert_eq!(among(1, &[255, 9, 3, 2, 1]), [255, 3, 2]);
    for other in [2, 3, 255] {
        assert_eq!(among(other, &[1, 4]), [1]);
    }
    set(store, 1, 255, Barrier::Block, None);
    set(store, 1, 2, Barrier::Block, None);
    assert_eq!(among(1, &[255, 2, 3]), [255, 3], "the other direction stands");
    assert_eq!(among(1, &[]), [0; 0]);
}

on_both! {
    a_block_ends_the_follows_of_both,
    nobody_follows_over_a_block,
    a_block_is_found_from_both_sides,
    a_barrier_stands_until_it_is_lifted,
    mutes_hides_and_follows_do_not_mix,
    authors_are_those_whom_the_reader_is_shown,
    many_barriers_hide_the_same_as_few,
    no_more_than_the_limit,
    all_are_listed_by_time_within_bounds,
    lists_by_id_go_on_after_any_user,
}
