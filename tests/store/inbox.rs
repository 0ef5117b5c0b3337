//! Reading inboxes, and their floors.

use std::ops::ControlFlow;

use model::store::{Push, Then, Tier};
use model::{Cursor, Entry, Order, Span};
use store::Store;

use super::support::{
    BOTH_ORDERS, MANY, deliver, entry, expected, floor, ids, inbox, inbox_part, place, publish_post, push, span, spans,
    user, users,
};

fn all() -> Vec<Entry> {
    vec![
        entry(11, 0, 1),
        entry(12, 10, 5),
        entry(11, 10, 6),
        entry(13, 10, 7),
        entry(11, 20, 2),
        entry(12, 30, 256),
        entry(13, 30, 255),
    ]
}

fn build(store: &Store) {
    for row in all() {
        push(store, row.cursor.id.get(), row.author.get(), row.cursor.at, &[user(2)]);
    }
    // The neighbours' rows must not show.
    push(store, 1001, 11, 15, &users([1, 3]));
}

fn a_fresh_inbox_is_empty_and_complete(store: &Store) {
    for order in BOTH_ORDERS {
        assert_eq!(inbox_part(store, 2, Span::ALL, order), (vec![], None));
    }
}

fn rows_come_in_either_order_with_their_authors(store: &Store) {
    build(store);
    for order in BOTH_ORDERS {
        let want = expected(&all(), |row| row.cursor, Span::ALL, order, MANY);
        assert_eq!(inbox_part(store, 2, Span::ALL, order), (want, None));
    }
    assert_eq!(inbox(store, 1), [entry(11, 15, 1001)]);
    assert_eq!(inbox(store, 3), [entry(11, 15, 1001)]);
}

fn bounds_are_left_out_in_either_order(store: &Store) {
    build(store);
    let mut places: Vec<_> = all().iter().map(|row| row.cursor).collect();
    places.extend([place(0, 2), place(10, 1), place(10, 100), place(15, 6), place(30, 257)]);
    places.extend([Cursor::OLDEST, Cursor::NEWEST]);
    // With the floor nowhere, at a row, and between rows.
    for floor in [None, Some(place(10, 6)), Some(place(15, 1))] {
        if let Some(floor) = floor {
            store.raise_floor(user(2), floor).expect("raises");
        }
        for span in spans(&places) {
            for order in BOTH_ORDERS {
                let mut want = expected(&all(), |row| row.cursor, span, order, MANY);
                want.retain(|row| floor.is_none_or(|floor| row.cursor > floor));
                assert_eq!(inbox_part(store, 2, span, order), (want, floor), "{span:?} {order:?}");
            }
        }
    }
}

fn the_walk_stops_when_told(store: &Store) {
    build(store);
    for order in BOTH_ORDERS {
        let all = expected(&all(), |row| row.cursor, Span::ALL, order, MANY);
        for stop_at in 1..=all.len() {
            let mut seen = Vec::new();
            let mut visit = |row| {
                seen.push(row);
                if seen.len() == stop_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            store.inbox(user(2), Span::ALL, order, Tier::Disk, &mut visit).expect("reads");
            assert_eq!(seen, all[..stop_at]);
        }
    }
}

fn the_floor_is_told_even_if_the_walk_stops_or_finds_nothing(store: &Store) {
    build(store);
    store.raise_floor(user(2), place(10, 5)).expect("raises");
    let mut stop = |_| ControlFlow::Break(());
    for order in BOTH_ORDERS {
        let found = store.inbox(user(2), Span::ALL, order, Tier::Disk, &mut stop).expect("reads");
        assert_eq!(found, Some(place(10, 5)));
        let below = span(Some(place(10, 5)), None);
        assert_eq!(inbox_part(store, 2, below, order), (vec![], Some(place(10, 5))));
        let above = span(None, Some(place(40, 1)));
        assert_eq!(inbox_part(store, 2, above, order), (vec![], Some(place(10, 5))));
    }
}

fn rows_at_and_below_the_floor_are_not_there(store: &Store) {
    build(store);
    store.raise_floor(user(2), place(10, 6)).expect("raises");
    assert_eq!(ids(&inbox(store, 2)), [256, 255, 2, 7]);
    // A floor without a row.
    store.raise_floor(user(2), place(25, 1)).expect("raises");
    assert_eq!(ids(&inbox(store, 2)), [256, 255]);
    store.raise_floor(user(2), Cursor::NEWEST).expect("raises");
    assert_eq!((inbox(store, 2), floor(store, 2)), (vec![], Some(Cursor::NEWEST)));
}

fn a_floor_only_rises(store: &Store) {
    build(store);
    let steps = [
        (place(10, 5), place(10, 5)),
        (place(10, 4), place(10, 5)),
        (place(9, 900), place(10, 5)),
        (Cursor::OLDEST, place(10, 5)),
        (place(10, 6), place(10, 6)),
        (place(10, 6), place(10, 6)),
        (place(11, 1), place(11, 1)),
        (place(10, 900), place(11, 1)),
    ];
    for (raise, want) in steps {
        store.raise_floor(user(2), raise).expect("raises");
        assert_eq!(floor(store, 2), Some(want), "{raise}");
        assert!(inbox(store, 2).iter().all(|row| row.cursor > want));
    }
}

fn the_lowest_floor_hides_only_the_lowest_row(store: &Store) {
    build(store);
    store.raise_floor(user(2), Cursor::OLDEST).expect("raises");
    assert_eq!(floor(store, 2), Some(Cursor::OLDEST));
    assert_eq!(ids(&inbox(store, 2)), [256, 255, 2, 7, 6, 5]);
}

fn a_floor_needs_no_rows_and_is_the_users_own(store: &Store) {
    store.raise_floor(user(2), place(10, 5)).expect("raises");
    assert_eq!((floor(store, 1), floor(store, 2), floor(store, 3)), (None, Some(place(10, 5)), None));
    build(store);
    assert_eq!(ids(&inbox(store, 2)), [256, 255, 2, 7, 6]);
    assert_eq!(ids(&inbox(store, 1)), [1001]);
}

fn nothing_arrives_at_or_below_the_floor(store: &Store) {
    store.raise_floor(user(2), place(10, 5)).expect("raises");
    let below = publish_post(store, 4, 11, 10);
    let at = publish_post(store, 5, 11, 10);
    let above = publish_post(store, 6, 11, 10);
    for job in [below, at, above] {
        deliver(store, job, &users([2, 3]), Then::End);
    }
    assert_eq!(ids(&inbox(store, 2)), [6]);
    assert_eq!(ids(&inbox(store, 3)), [6, 5, 4]);
}

fn a_large_inbox_is_walked_whole(store: &Store) {
    let items: Vec<_> = (1..=1200).map(|n| entry(1 + n % 5, n * 31 % 97, n)).collect();
    let posts: Vec<_> = items
        .iter()
        .map(|e| super::support::timed(super::support::post(e.cursor.id.get(), e.author.get(), e.cursor.at)))
        .collect();
    store.publish(&posts, model::store::Batch::AllOrNone, Push::Queued).expect("publishes");
    for job in super::support::jobs(store) {
        deliver(store, job, &users([900, 901]), Then::End);
    }
    for order in BOTH_ORDERS {
        let want = expected(&items, |row| row.cursor, Span::ALL, order, MANY);
        assert_eq!(inbox_part(store, 900, Span::ALL, order).0, want);
    }
    assert_eq!(inbox(store, 901), inbox(store, 900));
    assert_eq!(inbox_part(store, 902, Span::ALL, Order::OldestFirst).0, []);
}

on_both! {
    a_fresh_inbox_is_empty_and_complete,
    rows_come_in_either_order_with_their_authors,
    bounds_are_left_out_in_either_order,
    the_walk_stops_when_told,
    the_floor_is_told_even_if_the_walk_stops_or_finds_nothing,
    rows_at_and_below_the_floor_are_not_there,
    a_floor_only_rises,
    the_lowest_floor_hides_only_the_lowest_row,
    a_floor_needs_no_rows_and_is_the_users_own,
    nothing_arrives_at_or_below_the_floor,
    a_large_inbox_is_walked_whole,
}
