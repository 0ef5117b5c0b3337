use std::cell::RefCell;

use super::*;
use model::Span;

fn entries(ids: &[u64]) -> Vec<Entry> {
    let cursor = |id: &u64| Cursor { at: 0, id: ContentId::new(*id).expect("in range") };
    ids.iter().map(|id| Entry::plain(cursor(id), UserId::MIN)).collect()
}

#[test]
fn a_segment_that_is_not_gone_on_with_says_where_it_ends() {
    let whole = || Segment { entries: entries(&[9, 8]), end: None, looked_at: 2 };
    let next = |_| Ok(Segment { entries: entries(&[7]), end: None, looked_at: 1 });
    let then = |n| whole().then(n, next).expect("goes on");
    assert_eq!((then(2).entries, then(2).end), (entries(&[9, 8]), entries(&[8]).first().map(|e| e.cursor)));
    assert_eq!((then(3).entries, then(3).end), (entries(&[9, 8, 7]), None));
}

#[test]
fn a_run_of_deleted_items_takes_few_segments() {
    // 20 live ones, 1000 deleted ones, 5 live ones, newest first.
    let all: Vec<u64> = (1..=1025).rev().collect();
    let deleted = |entry: &Entry| (6..=1005).contains(&entry.cursor.id.get());
    let deleted = |entries: &[Entry]| Ok(entries.iter().map(deleted).collect());
    let asked = RefCell::new(Vec::new());
    let next = |scan: Scan<ContentId>| {
        asked.borrow_mut().push(scan.limit);
        let rows = entries(&all).into_iter().filter(|entry| scan.span.contains(entry.cursor)).take(scan.limit);
        Segment::of(rows.collect(), scan.limit).without(deleted)
    };
    for (limit, most) in [(20, 1), (21, 7), (25, 7), (26, 8)] {
        asked.borrow_mut().clear();
        let found = fill(Span::ALL.newest(limit), 4096, &next).expect("reads");
        let live: Vec<_> = all[..20].iter().chain(&all[1020..]).copied().take(limit).collect();
        assert_eq!(found, entries(&live).into(), "{limit}");
        let asked = asked.borrow();
        assert!(asked[0] == limit && asked.len() <= most, "{limit}: {asked:?}");
    }
}

#[test]
fn a_scan_stops_after_some_entries_and_goes_on_there() {
    let name = |n: u64| n.is_multiple_of(3);
    // Some of the entries of one millisecond are names, which stand above all numbers of it.
    let entry = |of_a_time: u64, n: u64| {
        let id = if name(n) { ContentId::LAST_NUMBER.get() + n } else { n };
        Entry::plain(Cursor { at: n / of_a_time, id: ContentId::new(id).expect("in range") }, UserId::MIN)
    };
    let is_shown = |entry: &Entry| entry.cursor.id.get() % 100 == 1;
    for (of_a_time, order) in
        [1, 7, 150, 2000].into_iter().flat_map(|of| [(of, Order::NewestFirst), (of, Order::OldestFirst)])
    {
        let mut all: Vec<Entry> = (1..=1000).map(|n| entry(of_a_time, n)).collect();
        all.sort_unstable();
        if order == Order::NewestFirst {
            all.reverse();
        }
        let next = |scan: Scan<ContentId>| {
            let rows = all.iter().copied().filter(|entry| scan.span.contains(entry.cursor)).take(scan.limit);
            Ok(Segment::of(rows.collect(), scan.limit).only(is_shown))
        };
        let (mut rest, mut found, mut scans) = (Span::ALL.scan(order, 21), Vec::new(), 0);
        loop {
            let part = fill(rest, 100, &next).expect("reads");
            found.extend(part.found);
            scans += 1;
            let Some(stopped) = part.stopped else { break };
            let tells = all.iter().find(|entry| entry.cursor == stopped && entry.cursor.id != ContentId::MIN);
            assert!(tells.is_none_or(is_shown), "{stopped} leads to an entry that is left out");
            rest = rest.beyond(stopped, 21);
        }
        all.retain(is_shown);
        assert_eq!(found, all, "{of_a_time}, {order:?}");
        assert!((2..=20).contains(&scans), "{of_a_time}, {order:?}: {scans}");
    }
}

#[test]
fn a_merge_ends_where_the_first_source_may_have_more() {
    let part = |ids: &[u64], n| Segment::of(entries(ids), n);
    let merged = merge([part(&[9, 7], 3), part(&[8, 7, 3], 3), part(&[], 3)], Order::NewestFirst);
    assert_eq!(merged.entries, entries(&[9, 8, 7, 7, 3]));
    assert_eq!(merged.end, entries(&[3]).first().map(|e| e.cursor));
    let merged = merge([part(&[9, 6], 2), part(&[8, 2], 2), part(&[1], 2)], Order::NewestFirst);
    assert_eq!(merged.entries, entries(&[9, 8, 6]));
    let merged = merge([part(&[1, 5], 2), part(&[2], 2), part(&[5, 6], 2)], Order::OldestFirst);
    assert_eq!(merged.entries, entries(&[1, 2, 5, 5]));
    assert_eq!(merged.end, entries(&[5]).first().map(|e| e.cursor));
    let merged = merge([part(&[1], 2), part(&[2], 2), part(&[], 2)], Order::OldestFirst);
    assert_eq!((merged.entries, merged.end), (entries(&[1, 2]), None));
}

#[test]
fn the_entries_of_an_item_are_not_parted() {
    let of_paths = |ids: &[u64], n| {
        let Segment { entries, end, .. } = Segment::of_paths(entries(ids), n);
        (entries.iter().map(|entry| entry.cursor.id.get()).collect::<Vec<_>>(), end.map(|end| end.id.get()))
    };
    let twelve: Vec<u64> = (0..12).rev().map(|n| 1 + n / 2).collect();
    assert_eq!(of_paths(&twelve, 13), (twelve.clone(), None));
    assert_eq!(of_paths(&twelve, 12), (twelve[..10].to_vec(), Some(2)));
}
