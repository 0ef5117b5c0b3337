//! Ids and times at the ends of their ranges, or with 0x00 and 0xff bytes in keys.

use model::store::{Batch, Push, Then, Tier};
use model::{Cursor, Entry, MAX_ID, MAX_MILLIS, Side, Span, UserCursor, UserId};
use store::Store;

use super::support::{
    BOTH_ORDERS, MANY, deliver, entry, expected, follow, follow_of, follow_settled, inbox, inbox_part, item, jobs,
    place, post, relate, span, timed, user, users,
};

/// Numbers that sort differently as bytes in the wrong order, as signed, or as text.
const NUMBERS: [u64; 14] = [
    1,
    2,
    0x7F,
    0x80,
    0xFF,
    0x100,
    0xFF00,
    0xFFFF_FFFF,
    0x1_0000_0000,
    0x00FF_00FF_00FF_00FF,
    0x7F00_FF00_FF00_FF00,
    0x7FFF_FFFF_FFFF_FF00,
    MAX_ID - 1,
    MAX_ID,
];

/// One item at every time for every author, with a content id of the same kind.
fn entries(authors: &[u64]) -> Vec<Entry> {
    let times = NUMBERS.iter().map(|at| if *at == 1 { 0 } else { *at });
    let pairs = times.flat_map(|at| authors.iter().map(move |author| (at, *author)));
    // Ids: the numbers themselves first, then others that lie close to them.
    let ids = NUMBERS.into_iter().chain((0..).map(|n| 0x00FF_FF00_0000_0000 + n * 0xFF));
    pairs.zip(ids).map(|((at, author), id)| entry(author, at, id)).collect()
}

fn publish_all(store: &Store, entries: &[Entry]) {
    let items: Vec<_> = entries.iter().map(|e| timed(post(e.cursor.id.get(), e.author.get(), e.cursor.at))).collect();
    store.publish(&items, Batch::AllOrNone, Push::Queued).expect("publishes");
}

fn content_is_found_under_every_id(store: &Store) {
    let items: Vec<_> = NUMBERS.iter().map(|id| timed(post(*id, *id, *id))).collect();
    store.publish(&items, Batch::AllOrNone, Push::Queued).expect("publishes");
    store.delete(item(0xFF), 1.into()).expect("deletes");
    store.delete(item(MAX_ID), MAX_MILLIS.into()).expect("deletes");
    let ids: Vec<_> = NUMBERS.into_iter().map(item).collect();
    let found = store.contents(&ids, Tier::Disk).expect("reads");
    let deleted = store.deleted(&ids, Tier::Disk).expect("reads");
    for ((id, found), deleted) in NUMBERS.into_iter().zip(found).zip(deleted) {
        assert_eq!(deleted, id == 0xFF || id == MAX_ID, "{id:#x}");
        assert_eq!(found, Some(post(id, id, id)).filter(|_| !deleted), "{id:#x}");
    }
}

fn outboxes_are_ordered_as_numbers(store: &Store) {
    let all = entries(&NUMBERS);
    publish_all(store, &all);
    for round in 0..2 {
        for author in NUMBERS {
            let own: Vec<_> = all.iter().copied().filter(|e| e.author == user(author)).collect();
            for order in BOTH_ORDERS {
                let found = store.outboxes(&[user(author)], Span::ALL.scan(order, MANY), Tier::Disk).expect("reads");
                assert_eq!(found, expected(&own, |e| e.cursor, Span::ALL, order, MANY), "{author:#x} {round}");
            }
        }
        let everybody = users(NUMBERS);
        let mut bounds: Vec<_> = all.iter().step_by(17).map(|e| e.cursor).collect();
        bounds.extend([Cursor::OLDEST, Cursor::NEWEST]);
        for bound in bounds {
            for (span, order) in [(span(Some(bound), None), BOTH_ORDERS[0]), (span(None, Some(bound)), BOTH_ORDERS[1])]
            {
                let found = store.outboxes(&everybody, span.scan(order, 10), Tier::Disk).expect("reads");
                assert_eq!(found, expected(&all, |e| e.cursor, span, order, 10), "{span:?} {round}");
            }
        }
        // The next round reads from table files.
        store.compact().expect("compacts");
    }
}

fn inboxes_are_ordered_as_numbers(store: &Store) {
    let all = entries(&[1, 0xFF, MAX_ID]);
    publish_all(store, &all);
    let readers = users([1, 2, 0xFF, 0x100, MAX_ID - 1, MAX_ID]);
    for job in jobs(store) {
        deliver(store, job, &readers, Then::End);
    }
    for _ in 0..2 {
        for reader in &readers {
            for order in BOTH_ORDERS {
                let found = inbox_part(store, reader.get(), Span::ALL, order).0;
                assert_eq!(found, expected(&all, |e| e.cursor, Span::ALL, order, MANY));
            }
        }
        for nobody in [3, 0xFE, 0x101, MAX_ID - 2] {
            assert_eq!(inbox(store, nobody), []);
        }
        store.compact().expect("compacts");
    }
}

fn a_floor_can_be_anywhere(store: &Store) {
    let all = entries(&[1]);
    publish_all(store, &all);
    for job in jobs(store) {
        deliver(store, job, &users([0xFF, MAX_ID]), Then::End);
    }
    let mut floors: Vec<_> = all.iter().map(|e| e.cursor).collect();
    floors.extend([Cursor::OLDEST, Cursor::NEWEST, place(0, MAX_ID), place(MAX_MILLIS, 1)]);
    floors.sort_unstable();
    for floor in floors {
        store.raise_floor(user(0xFF), floor).expect("raises");
        for order in BOTH_ORDERS {
            let want = expected(&all, |e| e.cursor, span(None, Some(floor)), order, MANY);
            assert_eq!(inbox_part(store, 0xFF, Span::ALL, order), (want, Some(floor)));
        }
    }
    store.compact().expect("compacts");
    assert_eq!(inbox_part(store, 0xFF, Span::ALL, BOTH_ORDERS[0]), (vec![], Some(Cursor::NEWEST)));
    assert_eq!((inbox(store, MAX_ID).len(), inbox(store, 0x100).len()), (all.len(), 0));
}

fn the_graph_holds_every_id_and_time(store: &Store) {
    // Everybody follows everybody; `since` is the follower's number, so clashes abound.
    for who in NUMBERS {
        let changes: Vec<_> =
            NUMBERS.iter().filter(|other| **other != who).map(|other| follow_of(*other, who.min(*other) - 1)).collect();
        relate(store, who, &changes);
    }
    for _ in 0..2 {
        for who in NUMBERS {
            let others: Vec<UserId> = users(NUMBERS.into_iter().filter(|other| *other != who));
            assert_eq!(store.followees(user(who), Tier::Disk).expect("reads"), others);
            assert_eq!(store.followers_after(user(who), None, MANY).expect("reads"), others);
            assert_eq!(store.follower_count(user(who)).expect("reads"), others.len() as u64);
            let places: Vec<_> =
                others.iter().map(|other| UserCursor { at: who.min(other.get()) - 1, id: *other }).collect();
            for side in [Side::Following, Side::Followers, Side::Friends] {
                for order in BOTH_ORDERS {
                    let found = store.members(user(who), side, Span::ALL.scan(order, MANY), Tier::Disk).expect("reads");
                    assert_eq!(found, expected(&places, |place| *place, Span::ALL, order, MANY), "{who:#x} {side:?}");
                }
            }
        }
        store.compact().expect("compacts");
    }
}

fn the_latest_times_are_times(store: &Store) {
    follow(store, 1, 2, MAX_MILLIS);
    follow(store, 2, 1, 0);
    let friends =
        store.members(user(2), Side::Friends, Span::ALL.scan(BOTH_ORDERS[0], MANY), Tier::Disk).expect("reads");
    assert_eq!(friends, [UserCursor { at: MAX_MILLIS, id: user(1) }]);
    let touched = store.touch(user(1), MAX_MILLIS).expect("touches");
    assert_eq!(touched.activity.seen(), Some(MAX_MILLIS));
    assert_eq!(store.split_active(&users([1]), MAX_MILLIS).expect("splits").active, users([1]));
    store.touch(user(2), 0).expect("touches");
    assert_eq!(store.split_active(&users([2]), 0).expect("splits").active, users([2]));
    assert_eq!(store.split_active(&users([2]), 1).expect("splits").lapsed, users([2]));
}

fn back_fill_reaches_the_oldest_and_the_newest(store: &Store) {
    let all = entries(&[MAX_ID]);
    publish_all(store, &all);
    follow_settled(store, 1, MAX_ID, 0);
    assert_eq!(inbox(store, 1), expected(&all, |e| e.cursor, Span::ALL, BOTH_ORDERS[0], MANY));
}

on_both! {
    content_is_found_under_every_id,
    outboxes_are_ordered_as_numbers,
    inboxes_are_ordered_as_numbers,
    a_floor_can_be_anywhere,
    the_graph_holds_every_id_and_time,
    the_latest_times_are_times,
    back_fill_reaches_the_oldest_and_the_newest,
}
