//! Several threads at once: readers, workers, and the one thread that makes changes.

use std::ops::ControlFlow;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use model::store::{Batch, Push, Tier};
use model::{Order, Span};
use store::Store;

use super::support::{
    MANY, follow_of, ids, inbox_part, item, jobs, place, post, publish_post, push, relate, timed, unfollow_of, user,
    users,
};

const THREADS: u64 = 4;
const ROUNDS: u64 = 50;

/// Runs `work` on every thread, all starting at once. Returns the results.
fn at_once<T: Send>(work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(THREADS as usize);
    let run = |number| {
        start.wait();
        work(number)
    };
    thread::scope(|scope| {
        let handles: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || run(number))).collect::<Vec<_>>();
        handles.into_iter().map(|handle| handle.join().expect("the thread ends well")).collect()
    })
}

fn one_touch_of_the_dormant_makes_the_rebuild(store: &Store) {
    for who in 1..=ROUNDS {
        let touched = at_once(|number| store.touch(user(who), 100 + number).expect("touches"));
        assert_eq!(touched.iter().filter(|touched| touched.job.is_some()).count(), 1);
        let seen = store.activity(user(who), Tier::Disk).expect("reads").seen();
        assert!(seen >= touched.iter().filter(|t| t.job.is_none()).filter_map(|t| t.activity.seen()).max());
    }
    assert_eq!(jobs(store).len(), ROUNDS as usize);
}

fn a_touch_and_a_split_agree(store: &Store) {
    for who in 1..=ROUNDS {
        store.touch(user(who), 50).expect("touches");
        // Either the touch came first and the user stays, or the split did and the touch makes a rebuild.
        let results = at_once(|number| {
            if number == 0 {
                (Some(store.touch(user(who), 200).expect("touches")), vec![])
            } else {
                (None, store.split_active(&[user(who)], 100).expect("splits").lapsed)
            }
        });
        let lapsed = results.iter().filter(|(_, lapsed)| !lapsed.is_empty()).count();
        let touched = results[0].0.expect("the first thread touched");
        assert_eq!(lapsed, usize::from(touched.job.is_some()), "{results:?}");
        assert_eq!(store.activity(user(who), Tier::Disk).expect("reads").seen(), Some(200));
    }
}

fn floor_and_rows_are_of_one_instant(store: &Store) {
    const ROWS: u64 = 200;
    for id in 1..=ROWS {
        push(store, id, 1, id, &users([2]));
    }
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for id in 1..=ROWS {
                store.raise_floor(user(2), place(id, id)).expect("raises");
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            for order in [Order::NewestFirst, Order::OldestFirst] {
                let (rows, floor) = inbox_part(store, 2, Span::ALL, order);
                let floor = floor.map_or(0, |floor| floor.at);
                let mut want: Vec<u64> = (floor + 1..=ROWS).collect();
                if order == Order::NewestFirst {
                    want.reverse();
                }
                assert_eq!(ids(&rows), want);
            }
        }
    });
}

fn a_settle_is_seen_whole_or_not_at_all(store: &Store) {
    let items: Vec<_> = (1..=100).map(|id| timed(post(id, 1, id))).collect();
    store.publish(&items, Batch::AllOrNone, Push::Queued).expect("publishes");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..ROUNDS {
                let change = if round % 2 == 0 { follow_of(1, 5) } else { unfollow_of(1) };
                let job = relate(store, 2, &[change])[0].job.expect("the pair changes");
                store.settle(job.id, user(2), user(1), MANY).expect("settles");
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            let mut count = 0;
            let mut visit = |_| {
                count += 1;
                ControlFlow::Continue(())
            };
            store.inbox(user(2), Span::ALL, Order::NewestFirst, Tier::Disk, &mut visit).expect("reads");
            assert!(count == 0 || count == 100, "{count}");
        }
    });
}

/// Reads at all depths go on while one item comes and goes.
fn merged_outboxes_show_a_change_from_its_return_on(store: &Store) {
    let items: Vec<_> = (1..=300).map(|id| timed(post(2 * id, 1 + id % 3, 2 * id))).collect();
    store.publish(&items, Batch::AllOrNone, Push::Queued).expect("publishes");
    let authors = users([1, 2, 3]);
    let read = |from: u64| {
        let span = Span { before: Some(place(from, 1000)), after: None };
        ids(&store.outboxes(&authors, span.newest(6), Tier::Disk).expect("reads"))
    };
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for number in 0..THREADS {
            let (read, done) = (&read, &done);
            scope.spawn(move || {
                for round in 0.. {
                    if done.load(Ordering::Acquire) {
                        break;
                    }
                    let from = 20 + (round * (number + 1)) % 500;
                    let mut found = read(from);
                    found.retain(|id| id % 2 == 0);
                    let want: Vec<_> = (1..=from / 2).rev().map(|id| 2 * id).take(found.len()).collect();
                    assert!(found.len() >= 5 && found == want, "{found:?}");
                }
            });
        }
        for round in 0..ROUNDS {
            let at = 31 + 2 * (round * 7 % 200);
            publish_post(store, at, 2, at);
            assert!(read(at + 3).contains(&at), "published");
            assert!(store.delete(item(at), 100.into()).expect("deletes"));
            assert!(!read(at + 3).contains(&at), "deleted");
            store.restore(item(at), 0, None, Push::Queued).expect("restores");
            assert!(read(at + 3).contains(&at), "restored");
            assert!(store.delete(item(at), 100.into()).expect("deletes"));
        }
        done.store(true, Ordering::Release);
    });
}

on_both! {
    merged_outboxes_show_a_change_from_its_return_on,
    one_touch_of_the_dormant_makes_the_rebuild,
    a_touch_and_a_split_agree,
    floor_and_rows_are_of_one_instant,
    a_settle_is_seen_whole_or_not_at_all,
}
