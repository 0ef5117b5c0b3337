//! Several threads at once: each method that promises to be one change is one.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use model::store::{Batch, Published, Push, Store, Tier};
use model::{Content, Edit, Order, RelationKind, Side, Span};

use super::support::{
    MANY, content, follow, follow_of, ids, inbox_part, item, jobs, outbox, place, post, publish_post, push, relate,
    relation, timed, unfollow_of, user, users,
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

fn one_of_many_publishes_of_an_id_wins(store: &dyn Store) {
    for id in 1..=ROUNDS {
        let results = at_once(|number| {
            let body = Content { fingerprint: number, ..post(id, 1 + number, 100 + number) };
            store.publish(&[timed(body)], Batch::AllOrNone, Push::Queued, &mut |_| ()).expect("publishes").remove(0)
        });
        let won: Vec<_> = (0..THREADS).filter(|n| matches!(results[*n as usize], Published::New(_))).collect();
        assert_eq!(won.len(), 1, "{results:?}");
        assert_eq!(results.iter().filter(|result| **result == Published::Taken).count(), THREADS as usize - 1);
        let there = content(store, id).expect("is there");
        assert_eq!((there.author, there.fingerprint), (user(1 + won[0]), won[0]));
        for number in 0..THREADS {
            assert_eq!(ids(&outbox(store, 1 + number)).contains(&id), number == won[0]);
        }
    }
    assert_eq!(jobs(store).len(), ROUNDS as usize);
}

fn equal_publishes_at_once_are_new_once(store: &dyn Store) {
    for id in 1..=ROUNDS {
        let results = at_once(|_| {
            store
                .publish(&[timed(post(id, 1, 100))], Batch::Each, Push::Queued, &mut |_| ())
                .expect("publishes")
                .remove(0)
        });
        assert_eq!(results.iter().filter(|result| matches!(result, Published::New(_))).count(), 1);
        assert_eq!(results.iter().filter(|result| matches!(result, Published::Same(_))).count(), 3);
    }
    assert_eq!(outbox(store, 1).len(), ROUNDS as usize);
}

fn overlapping_batches_are_whole_or_not_at_all(store: &dyn Store) {
    for round in 0..ROUNDS {
        // Each thread's batch shares its ends with its neighbours', in opposing orders.
        let results = at_once(|number| {
            let mut items: Vec<_> = (0..4)
                .map(|n| {
                    let id = round * 100 + 1 + (number * 3 + n) % (THREADS * 3);
                    timed(Content { fingerprint: number, ..post(id, 1 + number, id) })
                })
                .collect();
            if number % 2 == 1 {
                items.reverse();
            }
            let results = store.publish(&items, Batch::AllOrNone, Push::Queued, &mut |_| ()).expect("publishes");
            !results.contains(&Published::Taken)
        });
        let mut owned = 0;
        for (number, won) in (0..THREADS).zip(&results) {
            let own = outbox(store, 1 + number).into_iter().filter(|e| e.cursor.id.get() / 100 == round).count();
            assert_eq!(own, if *won { 4 } else { 0 }, "{results:?}");
            owned += usize::from(*won);
        }
        assert!(owned >= 1);
    }
}

fn edits_of_one_item_all_take_effect(store: &dyn Store) {
    for id in 1..=ROUNDS {
        publish_post(store, id, 1, 100);
        at_once(|number| {
            let value = format!("{{\"by\":{number}}}");
            let edit = match number % 3 {
                0 => Edit { text: Some(Some("t".to_owned())), ..Edit::default() },
                1 => Edit { media: Some("[{}]".to_owned()), ..Edit::default() },
                _ => Edit { extra: Some(Some(value)), ..Edit::default() },
            };
            store.edit(item(id), &edit, 200.into()).expect("edits").expect("is there")
        });
        let after = content(store, id).expect("is there");
        assert_eq!((after.text.as_deref(), after.media.as_str()), (Some("t"), "[{}]"));
        assert_eq!(after.extra.as_deref(), Some("{\"by\":2}"));
    }
}

fn one_delete_of_an_item_wins(store: &dyn Store) {
    for id in 1..=ROUNDS {
        publish_post(store, id, 1, 100);
        let edit = Edit { text: Some(None), ..Edit::default() };
        let won = at_once(|number| {
            if number == 0 {
                store.edit(item(id), &edit, 300.into()).expect("edits");
                return false;
            }
            store.delete(item(id), 200.into()).expect("deletes")
        });
        assert_eq!(won.iter().filter(|won| **won).count(), 1);
        assert_eq!(content(store, id), None, "an edit does not bring it back");
    }
    assert_eq!(outbox(store, 1), []);
}

fn follows_of_one_author_are_all_counted(store: &dyn Store) {
    at_once(|number| {
        for n in 0..ROUNDS {
            let who = 100 + number * ROUNDS + n;
            relate(store, who, &[follow_of(1, n)]);
            if n % 5 == 0 {
                relate(store, who, &[unfollow_of(1)]);
            }
        }
    });
    let left = store.followers_after(user(1), None, MANY).expect("reads");
    assert_eq!(left.len() as u64, THREADS * ROUNDS * 4 / 5);
    assert_eq!(store.follower_count(user(1)).expect("reads"), left.len() as u64);
}

fn one_follow_of_a_pair_makes_the_job(store: &dyn Store) {
    for target in 2..2 + ROUNDS {
        let made = at_once(|number| relate(store, 1, &[follow_of(target, 10 + number)])[0]);
        assert_eq!(made.iter().filter(|related| related.job.is_some()).count(), 1);
        let since = relation(store, 1, target).following_since;
        assert!(made.iter().all(|related| related.relation.following_since == since));
        assert_eq!(store.follower_count(user(target)).expect("reads"), 1);
    }
    assert_eq!(store.followees(user(1), Tier::Disk).expect("reads"), users(2..2 + ROUNDS));
}

fn the_follow_limit_holds(store: &dyn Store) {
    let won: usize = at_once(|number| {
        let follow = |n: u64| store.relate(user(1), &[follow_of(100 + number * ROUNDS + n, n)], 20).is_ok();
        (0..ROUNDS).filter(|n| follow(*n)).count()
    })
    .into_iter()
    .sum();
    assert_eq!(won, 20);
    assert_eq!(store.followees(user(1), Tier::Disk).expect("reads").len(), 20);
}

fn friends_agree_when_both_sides_change(store: &dyn Store) {
    let friends = |who| {
        let rows = store.members(user(who), Side::Friends, Span::ALL.newest(MANY), Tier::Disk);
        rows.expect("reads").into_iter().map(|row| (row.id.get(), row.at)).collect::<Vec<_>>()
    };
    for round in 0..ROUNDS {
        at_once(|number| {
            let (who, other) = if number % 2 == 0 { (1, 2) } else { (2, 1) };
            for n in 0..4 {
                let change =
                    if (n + number + round) % 3 == 0 { unfollow_of(other) } else { follow_of(other, 10 + number) };
                relate(store, who, &[change]);
            }
        });
        let relation = relation(store, 1, 2);
        let since =
            relation.following_since.max(relation.followed_since).filter(|_| relation.kind() == RelationKind::Mutual);
        assert_eq!(friends(1), since.map(|at| (2, at)).into_iter().collect::<Vec<_>>());
        assert_eq!(friends(2), since.map(|at| (1, at)).into_iter().collect::<Vec<_>>());
        for (who, follower) in [(2, relation.following_since), (1, relation.followed_since)] {
            assert_eq!(store.follower_count(user(who)).expect("reads"), u64::from(follower.is_some()));
        }
    }
}

fn crossing_batches_of_follows_do_not_lock_up(store: &dyn Store) {
    at_once(|number| {
        let others: Vec<u64> = (0..40).filter(|other| *other != number).map(|other| 1 + other).collect();
        for round in 0..10 {
            let change = |other: &u64| if round % 2 == 0 { follow_of(*other, round) } else { unfollow_of(*other) };
            let mut changes: Vec<_> = others.iter().map(change).collect();
            if number % 2 == 0 {
                changes.reverse();
            }
            relate(store, 1 + number, &changes);
        }
    });
    assert_eq!(jobs(store).len(), THREADS as usize * 39 * 10);
    assert_eq!(store.users_after(None, MANY).expect("reads"), []);
}

fn one_touch_of_the_dormant_makes_the_rebuild(store: &dyn Store) {
    for who in 1..=ROUNDS {
        let touched = at_once(|number| store.touch(user(who), 100 + number).expect("touches"));
        assert_eq!(touched.iter().filter(|touched| touched.job.is_some()).count(), 1);
        let seen = store.activity(user(who), Tier::Disk).expect("reads").seen();
        assert!(seen >= touched.iter().filter(|t| t.job.is_none()).filter_map(|t| t.activity.seen()).max());
    }
    assert_eq!(jobs(store).len(), ROUNDS as usize);
}

fn a_touch_and_a_split_agree(store: &dyn Store) {
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

fn job_numbers_are_unique_among_threads(store: &dyn Store) {
    let made = at_once(|number| {
        let each = |n: u64| {
            let id = 1 + number * ROUNDS + n;
            [publish_post(store, id, id, 1), follow(store, 1000 + id, id, 1)].map(|job| job.id.seq)
        };
        (0..ROUNDS).flat_map(each).collect::<Vec<_>>()
    });
    assert!(made.iter().all(|own| own.is_sorted()));
    let all: BTreeSet<u64> = made.into_iter().flatten().collect();
    assert_eq!(all.len() as u64, 2 * THREADS * ROUNDS);
    assert_eq!(jobs(store).iter().map(|job| job.id.seq).collect::<BTreeSet<_>>(), all);
}

fn floor_and_rows_are_of_one_instant(store: &dyn Store) {
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

fn a_settle_is_seen_whole_or_not_at_all(store: &dyn Store) {
    let items: Vec<_> = (1..=100).map(|id| timed(post(id, 1, id))).collect();
    store.publish(&items, Batch::AllOrNone, Push::Queued, &mut |_| ()).expect("publishes");
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
fn merged_outboxes_show_a_change_from_its_return_on(store: &dyn Store) {
    let items: Vec<_> = (1..=300).map(|id| timed(post(2 * id, 1 + id % 3, 2 * id))).collect();
    store.publish(&items, Batch::AllOrNone, Push::Queued, &mut |_| ()).expect("publishes");
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
            store.restore(item(at), 0, None, Push::Queued, &mut |_| ()).expect("restores");
            assert!(read(at + 3).contains(&at), "restored");
            assert!(store.delete(item(at), 100.into()).expect("deletes"));
        }
        done.store(true, Ordering::Release);
    });
}

on_both! {
    merged_outboxes_show_a_change_from_its_return_on,
    one_of_many_publishes_of_an_id_wins,
    equal_publishes_at_once_are_new_once,
    overlapping_batches_are_whole_or_not_at_all,
    edits_of_one_item_all_take_effect,
    one_delete_of_an_item_wins,
    follows_of_one_author_are_all_counted,
    one_follow_of_a_pair_makes_the_job,
    the_follow_limit_holds,
    friends_agree_when_both_sides_change,
    crossing_batches_of_follows_do_not_lock_up,
    one_touch_of_the_dormant_makes_the_rebuild,
    a_touch_and_a_split_agree,
    job_numbers_are_unique_among_threads,
    floor_and_rows_are_of_one_instant,
    a_settle_is_seen_whole_or_not_at_all,
}
