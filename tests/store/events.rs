//! The log of events: each event is written with its change, and only with it.

use std::ops::ControlFlow;

use model::store::{Batch, Published, Push, Restored};
use model::{Changed, Content, Edit, Effect, EffectKind, Event, EventKind, Logged, Millis, Moment, Publish};
use store::Store;

use super::support::{item, open, post, timed, user};

fn event(number: u64, kind: EventKind) -> Event {
    Event::new(number, kind, kind == EventKind::Publish, 1000 + number, 2000 + number)
}

fn moment(at: Millis, number: u64, kind: EventKind) -> Moment {
    Moment { at, event: Some(event(number, kind)) }
}

fn stamped(content: Content, number: u64, kind: EventKind) -> Publish {
    Publish { event: Some(event(number, kind)), ..timed(content) }
}

fn publish(store: &Store, items: &[Publish], batch: Batch) -> Vec<Published> {
    store.publish(items, batch, Push::Queued).expect("publishes")
}

fn all(store: &Store) -> Vec<Event> {
    store.logged(0, usize::MAX).expect("reads").into_iter().filter_map(Logged::event).collect()
}

/// Numbers and kinds of all events.
fn told(store: &Store) -> Vec<(u64, EventKind)> {
    all(store).iter().map(|event| (event.number, event.kind)).collect()
}

fn a_publish_has_its_event(store: &Store) {
    assert!(all(store).is_empty());
    let quiet = Content { broadcast: false, ..post(11, 2, 50) };
    let items = [stamped(post(10, 1, 100), 5, EventKind::Publish), stamped(quiet.clone(), 7, EventKind::Publish)];
    let published = store.publish(&items, Batch::AllOrNone, Push::Queued).expect("publishes");
    assert_eq!(published.iter().map(|one| one.jobs().len()).collect::<Vec<_>>(), [1, 0]);
    let expected = [event(5, EventKind::Publish).of(&items[0].content), event(7, EventKind::Publish).of(&quiet)];
    assert_eq!(all(store), expected);
    assert!(expected[0].broadcast && !expected[1].broadcast && expected[0].entry == items[0].content.shown_as());
}

fn refused_and_repeated_items_have_no_event(store: &Store) {
    publish(store, &[stamped(post(10, 1, 100), 1, EventKind::Publish)], Batch::AllOrNone);
    let same = stamped(post(10, 1, 100), 2, EventKind::Publish);
    let taken = stamped(Content { fingerprint: 99, ..post(10, 1, 100) }, 3, EventKind::Publish);
    let new = stamped(post(12, 1, 100), 4, EventKind::Publish);
    for items in [vec![same.clone()], vec![taken.clone(), new.clone()]] {
        store.publish(&items, Batch::AllOrNone, Push::Queued).expect("answers");
    }
    assert_eq!(told(store), [(1, EventKind::Publish)]);
    publish(store, &[new], Batch::Each);
    publish(store, &[same], Batch::Each);
    publish(store, &[taken], Batch::Each);
    assert!(store.edit(item(99), &Edit::default(), moment(5, 5, EventKind::Edit)).expect("answers").is_none());
    assert!(!store.delete(item(99), moment(5, 6, EventKind::Delete)).expect("answers"));
    let live = store.restore(item(10), 0, Some(event(7, EventKind::Restore)), Push::Queued).expect("answers");
    assert!(matches!(live, Restored::Live(_)));
    let gone = store.restore(item(99), 0, Some(event(8, EventKind::Restore)), Push::Queued).expect("answers");
    assert_eq!(gone, Restored::Gone);
    assert_eq!(told(store), [(1, EventKind::Publish), (4, EventKind::Publish)]);
}

fn every_change_of_an_item_has_its_event(store: &Store) {
    publish(store, &[stamped(post(10, 1, 100), 1, EventKind::Publish)], Batch::AllOrNone);
    store.edit(item(10), &Edit::default(), moment(200, 2, EventKind::Edit)).expect("edits");
    assert!(store.delete(item(10), moment(300, 3, EventKind::Delete)).expect("deletes"));
    store.restore(item(10), 0, Some(event(4, EventKind::Restore)), Push::Queued).expect("restores");
    let kinds = [EventKind::Publish, EventKind::Edit, EventKind::Delete, EventKind::Restore];
    let expected: Vec<_> = (1..).zip(kinds).map(|(number, kind)| event(number, kind).of(&post(10, 1, 100))).collect();
    assert_eq!(all(store), expected);
    // Changes without events.
    store.edit(item(10), &Edit::default(), 400.into()).expect("edits");
    assert!(store.delete(item(10), 500.into()).expect("deletes"));
    assert_eq!(all(store), expected);
}

fn a_gap_is_one_row_for_all_its_items(store: &Store) {
    let items: Vec<_> = (1..=5).map(|id| stamped(post(id, 1, id), 9, EventKind::Gap)).collect();
    publish(store, &items, Batch::Each);
    assert_eq!(all(store), [event(9, EventKind::Gap)]);
    let again: Vec<_> = (1..=5).map(|id| stamped(post(id, 1, id), 10, EventKind::Gap)).collect();
    publish(store, &again, Batch::Each);
    assert_eq!(told(store), [(9, EventKind::Gap)]);
}

/// Publishes items whose events have these numbers, in this order.
fn log(store: &Store, numbers: &[u64]) {
    for number in numbers {
        publish(store, &[stamped(post(*number, 1, 1), *number, EventKind::Publish)], Batch::AllOrNone);
    }
}

fn numbers(rows: &[Logged]) -> Vec<u64> {
    rows.iter().map(Logged::number).collect()
}

/// The numbers of the newest rows.
fn newest(store: &Store, limit: usize) -> Vec<u64> {
    let mut newest = Vec::new();
    let visit = &mut |row: Logged| {
        newest.insert(0, row.number());
        if newest.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    store.newest_logged(visit).expect("reads");
    newest
}

fn events_are_read_by_number(store: &Store) {
    log(store, &[3, 1, 300, 255, 70_000]);
    let changed = Changed {
        number: 256,
        at: 9,
        effect: Effect::on(EffectKind::ReactionCreated, user(1)).item(item(3)).named("like"),
    };
    let effect = Logged::Effect { changed, top: 11 };
    store.log_effects(std::slice::from_ref(&effect)).expect("logs");
    assert_eq!(store.logged(256, 1).expect("reads"), [effect]);
    let from = |from, limit| numbers(&store.logged(from, limit).expect("reads"));
    assert_eq!(from(0, 99), [1, 3, 255, 256, 300, 70_000]);
    assert_eq!((from(2, 2), from(3, 1), from(301, 9), from(70_001, 9)), (vec![3, 255], vec![3], vec![70_000], vec![]));
    assert_eq!((newest(store, 2), newest(store, 99)), (vec![300, 70_000], from(0, 99)));
}

fn the_oldest_can_go(store: &Store) {
    log(store, &[1, 2, 255, 256, 257]);
    for (from, left) in [(1, &[1, 2, 255, 256, 257][..]), (2, &[2, 255, 256, 257]), (256, &[256, 257])] {
        store.trim_events(from).expect("trims");
        assert_eq!(numbers(&store.logged(0, 9).expect("reads")), left);
        assert_eq!(newest(store, 9), left);
    }
    store.trim_events(1000).expect("trims");
    assert_eq!((all(store), newest(store, 9)), (vec![], vec![]));
}

on_both! {
    a_publish_has_its_event,
    refused_and_repeated_items_have_no_event,
    every_change_of_an_item_has_its_event,
    a_gap_is_one_row_for_all_its_items,
    events_are_read_by_number,
    the_oldest_can_go,
}

#[test]
fn events_outlive_the_process() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    log(&open(dir.path()), &[1, 2, 300]);
    let store = open(dir.path());
    assert_eq!(newest(&store, 9), [1, 2, 300]);
    store.trim_events(2).expect("trims");
    drop(store);
    assert_eq!(newest(&open(dir.path()), 9), [2, 300]);
}
