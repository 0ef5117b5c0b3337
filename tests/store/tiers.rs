//! Reads that may not touch the disk give the right answer or none.

use std::fmt::Debug;
use std::ops::RangeInclusive;

use feed::follows::tables::Change;
use feed::items::tables::{Batch, Push};
use feed::store::Store;
use kv::Tier;
use model::error::{Error, Result};
use model::{Order, Reaction, ReactionKind, Restriction, Side, Span};

use super::everything::{Scope, fill, reads};
use super::support::{BOTH_ORDERS, item, open, place, post, span, timed, user, users};

/// Reads from memory, from the disk, and from memory again.
fn check<T: PartialEq + Debug>(what: &str, read: impl Fn(Tier) -> Result<T>) {
    let cold = read(Tier::Memory);
    let want = read(Tier::Disk).expect("the disk knows");
    match cold {
        Ok(answer) => assert_eq!(answer, want, "{what}"),
        Err(Error::NotCached) => {}
        Err(other) => panic!("{what}: {other:?}"),
    }
    // A compaction by the engine may put new files in between, but not every time.
    let mut warm = (0..5).map(|_| {
        assert_eq!(read(Tier::Disk).expect("the disk knows"), want, "{what}");
        read(Tier::Memory)
    });
    let warm = warm.find(|answer| !matches!(answer, Err(Error::NotCached)));
    assert_eq!(warm.unwrap_or_else(|| panic!("{what}: not in memory after a read")).expect("reads"), want, "{what}");
}

fn every_read_is_right_or_not_cached(store: &Store) {
    fill(store);
    // Once from recent writes, once from table files, once with more writes on top.
    for round in 0..3 {
        match round {
            1 => store.compact().expect("compacts"),
            2 => {
                feed::items::tables::delete(store, item(2010), 9.into()).expect("deletes");
                feed::items::tables::publish(store, &[timed(post(9999, 2, 50))], Batch::AllOrNone, Push::Queued)
                    .expect("publishes");
            }
            _ => {}
        }
        check_all(store);
    }
}

fn check_all(store: &Store) {
    let ids: Vec<_> = [1000, 1007, 2010, 3299, 9999, 77].into_iter().map(item).collect();
    for order in BOTH_ORDERS {
        for (part, limit) in [(Span::ALL, 250), (Span::ALL, 5), (span(Some(place(150, 2150)), Some(place(50, 1))), 50)]
        {
            let scope = Scope { span: part, order, limit, ..Scope::whole(&users(1..=11), &ids) };
            for (name, read) in reads(&scope) {
                check(&format!("{name} {order:?} {limit}"), |tier| read(store, tier));
            }
        }
    }
    check("activity with its job", |tier| feed::inbox::tables::activity(store, user(1), tier));
}

/// Ids far apart, so that most fall between the blocks of a table file.
fn scattered(n: u64) -> u64 {
    n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 1 | 1
}

#[test]
fn rows_of_cold_files_are_not_taken_for_empty() {
    let dir = tempfile::tempdir().expect("a directory");
    // Each opening makes a separate file.
    for part in 0..3_u64 {
        let items: Vec<_> = (0..8000).map(|n| timed(post(scattered(part * 8000 + n), 1, n))).collect();
        feed::items::tables::publish(&open(dir.path()), &items, Batch::AllOrNone, Push::Queued).expect("publishes");
    }
    let store = open(dir.path());
    let mut cold = 0;
    for first in (0..26_000).step_by(50) {
        let ids: Vec<_> = (first..first + 50).map(|n| item(scattered(n))).collect();
        match feed::items::tables::contents(&store, &ids, Tier::Memory) {
            Ok(found) => assert_eq!(found.iter().flatten().count(), if first < 24_000 { 50 } else { 0 }),
            Err(Error::NotCached) => cold += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(cold > 0, "everything was in memory: the test shows nothing");
}

#[test]
fn a_read_from_memory_does_not_wade_through_deletions() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = open(dir.path());
    feed::items::tables::publish(&store, &[timed(post(10, 1, 5))], Batch::AllOrNone, Push::Queued).expect("publishes");
    let wishes = |who: RangeInclusive<u64>, there: bool| -> Vec<_> {
        let wish = |who| Reaction { user: user(who), kind: ReactionKind::LIKE, since: there.then_some(who) };
        who.map(wish).collect()
    };
    feed::reactions::tables::react(&store, item(10), &wishes(1..=5000, true)).expect("likes");
    let read = |order, tier| {
        feed::reactions::tables::reactors(&store, item(10), ReactionKind::LIKE, Span::ALL.scan(order, 5), tier)
    };
    check("likes", |tier| read(Order::NewestFirst, tier));
    // All but some at either end.
    feed::reactions::tables::react(&store, item(10), &wishes(6..=4990, false)).expect("takes back");
    check("likes", |tier| read(Order::NewestFirst, tier));
    feed::reactions::tables::react(&store, item(10), &wishes(4991..=5000, false)).expect("takes back");
    feed::reactions::tables::react(&store, item(10), &wishes(1..=5, false)).expect("takes back");
    feed::reactions::tables::react(&store, item(10), &wishes(2500..=2500, true)).expect("likes");
    for order in BOTH_ORDERS {
        assert!(matches!(read(order, Tier::Memory), Err(Error::NotCached)), "{order:?}");
        let found = read(order, Tier::Disk).expect("reads");
        assert_eq!(found.iter().map(|place| place.id).collect::<Vec<_>>(), [user(2500)], "{order:?}");
    }
}

#[test]
fn a_read_from_memory_does_no_more_than_other_requests_can_wait_for() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = open(dir.path());
    let items: Vec<_> = (1..=600).map(|n| timed(post(n, 1 + n % 40, n))).collect();
    feed::items::tables::publish(&store, &items, Batch::AllOrNone, Push::Queued).expect("publishes");
    let many: Vec<_> = (1001..=1700).map(|target| Change::new(user(target), Some(target))).collect();
    feed::follows::tables::relate(&store, user(900), &many, 10_000).expect("follows");
    feed::follows::tables::relate(&store, user(901), &many[..400], 10_000).expect("follows");
    feed::follows::tables::relate(&store, user(902), &many[..1], 10_000).expect("follows");
    for target in 1..=600 {
        feed::restrictions::tables::set_restriction(
            &store,
            user(901),
            user(target),
            Restriction::Mute,
            Some(target),
            10_000,
        )
        .expect("mutes");
    }
    for order in BOTH_ORDERS {
        let outboxes = |authors: u64, tier| {
            feed::items::tables::outboxes(&store, &users(1..=authors), Span::ALL.scan(order, 20), tier)
        };
        check("few outboxes", |tier| outboxes(32, tier));
        assert!(matches!(outboxes(33, Tier::Memory), Err(Error::NotCached)), "{order:?}");
        assert_eq!(outboxes(40, Tier::Disk).expect("reads").len(), 20);
        let members = |limit, tier| {
            feed::follows::tables::members(&store, user(900), Side::Following, Span::ALL.scan(order, limit), tier)
        };
        check("some of a list", |tier| members(400, tier));
        assert!(matches!(members(600, Tier::Memory), Err(Error::NotCached)), "{order:?}");
        assert_eq!(members(600, Tier::Disk).expect("reads").len(), 600);
    }
    check("a short list of authors", |tier| feed::timeline::tables::authors(&store, user(902), tier));
    for who in [900, 901] {
        // The second user has many mutes.
        assert!(
            matches!(feed::timeline::tables::authors(&store, user(who), Tier::Memory), Err(Error::NotCached)),
            "{who}"
        );
        assert_eq!(
            feed::timeline::tables::authors(&store, user(who), Tier::Disk).expect("reads").len(),
            if who == 900 { 700 } else { 400 }
        );
    }
    let ids = |most: u64| (1..=most).map(item).collect::<Vec<_>>();
    check("few items", |tier| feed::items::tables::contents(&store, &ids(64), tier));
    assert!(matches!(feed::items::tables::contents(&store, &ids(65), Tier::Memory), Err(Error::NotCached)));
    assert_eq!(feed::items::tables::contents(&store, &ids(65), Tier::Disk).expect("reads").len(), 65);
}

on_a_store! {
    every_read_is_right_or_not_cached,
}
