//! Outboxes, one and several taken together.

use std::collections::BTreeMap;

use model::store::{Batch, Push, Restored, Tier};
use model::{Content, ContentId, Entry, Order, Span, UserId};
use store::Store;

use super::support::{
    BOTH_ORDERS, MANY, entry, expected, ids, item, outbox, place, post, publish, publish_post, span, spans, timed,
    user, users,
};

fn read(store: &Store, authors: &[UserId], order: Order, limit: usize) -> Vec<Entry> {
    store.outboxes(authors, Span::ALL.scan(order, limit), Tier::Disk).expect("reads")
}

fn publish_entries(store: &Store, entries: &[Entry]) {
    let to_item = |entry: &Entry| timed(post(entry.cursor.id.get(), entry.author.get(), entry.cursor.at));
    let items: Vec<_> = entries.iter().map(to_item).collect();
    store.publish(&items, Batch::AllOrNone, Push::Queued).expect("publishes");
}

fn several_are_merged_in_either_order(store: &Store) {
    let all = [entry(1, 100, 10), entry(2, 90, 20), entry(1, 80, 30), entry(3, 95, 40), entry(2, 110, 50)];
    publish_entries(store, &all);
    let authors = users([1, 2, 3]);
    assert_eq!(ids(&read(store, &authors, Order::NewestFirst, MANY)), [50, 10, 40, 20, 30]);
    assert_eq!(ids(&read(store, &authors, Order::OldestFirst, MANY)), [30, 20, 40, 10, 50]);
    assert_eq!(read(store, &authors, Order::NewestFirst, 1), [entry(2, 110, 50)]);
    // The order of authors makes no difference, and other authors are left out.
    assert_eq!(ids(&read(store, &users([3, 1]), Order::NewestFirst, MANY)), [10, 40, 30]);
}

fn items_of_one_time_are_ordered_by_id_as_a_number(store: &Store) {
    publish_entries(store, &[entry(1, 100, 9), entry(2, 100, 10), entry(1, 100, 100), entry(3, 100, 255)]);
    publish_entries(store, &[entry(2, 100, 256)]);
    let authors = users([2, 3, 1]);
    assert_eq!(ids(&read(store, &authors, Order::NewestFirst, MANY)), [256, 255, 100, 10, 9]);
    assert_eq!(ids(&read(store, &authors, Order::OldestFirst, MANY)), [9, 10, 100, 255, 256]);
}

fn the_limit_cuts(store: &Store) {
    let all: Vec<_> = (1..=9).map(|n| entry(1 + n % 2, n, n)).collect();
    publish_entries(store, &all);
    for limit in [0, 1, 2, 8, 9, 10, MANY, usize::MAX] {
        for order in BOTH_ORDERS {
            let found = read(store, &users([1, 2]), order, limit);
            assert_eq!(found, expected(&all, |e| e.cursor, Span::ALL, order, limit), "{limit} {order:?}");
        }
    }
}

fn bounds_are_left_out_in_either_order(store: &Store) {
    let all = [
        entry(1, 0, 1),
        entry(1, 10, 5),
        entry(2, 10, 6),
        entry(1, 10, 7),
        entry(2, 20, 2),
        entry(1, 30, 256),
        entry(2, 30, 255),
    ];
    publish_entries(store, &all);
    // The items' own places, places between them, and the ends.
    let mut places: Vec<_> = all.iter().map(|entry| entry.cursor).collect();
    places.extend([place(0, 2), place(10, 1), place(10, 100), place(15, 6), place(20, 1), place(30, 257)]);
    places.extend([model::Cursor::OLDEST, model::Cursor::NEWEST]);
    let authors = users([1, 2]);
    for span in spans(&places) {
        for order in BOTH_ORDERS {
            for limit in [1, 3, MANY] {
                let found = store.outboxes(&authors, span.scan(order, limit), Tier::Disk).expect("reads");
                let want = expected(&all, |e| e.cursor, span, order, limit);
                assert_eq!(found, want, "{span:?} {order:?} {limit}");
            }
        }
    }
}

fn authors_without_items_add_nothing(store: &Store) {
    assert_eq!(read(store, &[], Order::NewestFirst, MANY), []);
    assert_eq!(read(store, &users([1, 2]), Order::NewestFirst, MANY), []);
    publish_post(store, 10, 2, 100);
    assert_eq!(read(store, &[], Order::NewestFirst, MANY), []);
    for order in BOTH_ORDERS {
        assert_eq!(read(store, &users([1, 2, 3]), order, MANY), [entry(2, 100, 10)]);
        assert_eq!(read(store, &users([1, 3]), order, MANY), []);
    }
}

fn neighbours_are_not_read(store: &Store) {
    for (id, author) in (1..).zip(254..=258) {
        publish_post(store, id, author, 100);
    }
    for (id, author) in (1..).zip(254..=258) {
        for order in BOTH_ORDERS {
            assert_eq!(read(store, &[user(author)], order, MANY), [entry(author, 100, id)]);
        }
    }
}

fn an_old_time_lands_at_its_own_place(store: &Store) {
    for (id, at) in [(10, 300), (11, 100), (12, 200)] {
        publish_post(store, id, 1, at);
    }
    assert_eq!(ids(&outbox(store, 1)), [10, 12, 11]);
}

fn deleted_items_and_those_without_broadcast_are_left_out(store: &Store) {
    for id in 10..=14 {
        publish(store, Content { broadcast: id != 12, ..post(id, 1, id) });
    }
    store.delete(item(13), 100.into()).expect("deletes");
    for order in BOTH_ORDERS {
        let all = [entry(1, 10, 10), entry(1, 11, 11), entry(1, 14, 14)];
        assert_eq!(read(store, &[user(1)], order, 2), expected(&all, |e| e.cursor, Span::ALL, order, 2));
    }
}

fn many_outboxes_page_without_hole_or_repeat(store: &Store) {
    let all: Vec<_> = (1..=2000).map(|n| entry(1 + n * 7 % 60, n * 31 % 97, n)).collect();
    publish_entries(store, &all);
    let authors = users(1..=60);
    for order in BOTH_ORDERS {
        let mut paged: Vec<Entry> = Vec::new();
        let mut span = Span::ALL;
        loop {
            let page = store.outboxes(&authors, span.scan(order, 100), Tier::Disk).expect("reads");
            let Some(last) = page.last() else { break };
            match order {
                Order::NewestFirst => span.before = Some(last.cursor),
                Order::OldestFirst => span.after = Some(last.cursor),
            }
            paged.extend(page);
        }
        assert_eq!(paged, expected(&all, |e| e.cursor, Span::ALL, order, MANY));
    }
}

/// Changes and merged reads in turn, on outboxes longer than anything that a store may keep of them.
fn reads_at_any_depth_see_every_change(store: &Store) {
    let mut random = fastrand::Rng::with_seed(1);
    let mut live: BTreeMap<ContentId, Entry> = BTreeMap::new();
    let mut deleted: Vec<ContentId> = Vec::new();
    let all: Vec<_> = (1..=4000).map(|n| entry(1 + n % 5, n * 37 % 2003, n)).collect();
    publish_entries(store, &all);
    live.extend(all.iter().map(|entry| (entry.cursor.id, *entry)));
    for round in 0..600 {
        match random.u8(..8) {
            0 => {
                let new = entry(random.u64(1..=5), random.u64(..2100), 10_000 + round);
                publish_entries(store, &[new]);
                live.insert(new.cursor.id, new);
            }
            1 => {
                let (id, _) = live.iter().nth(random.usize(..live.len())).expect("some are left");
                let id = *id;
                assert!(store.delete(id, 100.into()).expect("deletes"));
                live.remove(&id);
                deleted.push(id);
            }
            2 if !deleted.is_empty() => {
                let id = deleted.swap_remove(random.usize(..deleted.len()));
                let Restored::Now(content, _) = store.restore(id, 0, None, Push::Queued).expect("restores") else {
                    panic!("{id} is not restored")
                };
                live.insert(id, content.entry());
            }
            3 if random.u8(..8) == 0 => {
                store.archive_outbox(user(random.u64(1..=5)), place(random.u64(..500), 1), 100).expect("archives");
            }
            _ => {}
        }
        let mut authors = users(1..=5);
        random.shuffle(&mut authors);
        authors.truncate(random.usize(2..=5));
        let any = |random: &mut fastrand::Rng| random.bool().then(|| place(random.u64(..2100), random.u64(1..3000)));
        let span = span(any(&mut random), any(&mut random).filter(|_| round % 3 == 0));
        let limit = [1, 5, 21, 100, 1500][random.usize(..5)];
        let order = BOTH_ORDERS[usize::from(random.u8(..4) == 0)];
        let there: Vec<_> = live.values().filter(|entry| authors.contains(&entry.author)).copied().collect();
        let found = store.outboxes(&authors, span.scan(order, limit), Tier::Disk).expect("reads");
        assert_eq!(found, expected(&there, |e| e.cursor, span, order, limit), "{round} {span:?} {order:?} {limit}");
        // Again, from wherever the answer comes now.
        assert_eq!(store.outboxes(&authors, span.scan(order, limit), Tier::Disk).expect("reads"), found);
    }
}

on_both! {
    several_are_merged_in_either_order,
    items_of_one_time_are_ordered_by_id_as_a_number,
    the_limit_cuts,
    bounds_are_left_out_in_either_order,
    authors_without_items_add_nothing,
    neighbours_are_not_read,
    an_old_time_lands_at_its_own_place,
    deleted_items_and_those_without_broadcast_are_left_out,
    many_outboxes_page_without_hole_or_repeat,
    reads_at_any_depth_see_every_change,
}
