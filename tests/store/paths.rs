//! Items with further paths, and kinds.

use model::error::{Code, Error};
use model::store::{Push, Restored, Then, Tier};
use model::{Content, Entry, Event, EventKind, KindId, Logged, Millis, Span, Work};
use store::Store;

use super::support::{
    MANY, deliver, follow_settled, inbox, item, jobs, place, post, publish_on_paths, push, settle, unfollow, user,
    users,
};

/// Item 10 of user 1 in group 8, and in group 9 if `in_both`.
fn in_groups(in_both: bool) -> Content {
    let to = if in_both { users([8, 9]) } else { users([8]) };
    Content { to, kind_id: KindId(3), ..post(10, 1, 100) }
}

fn entry(source: u64) -> Entry {
    Entry { kind: KindId(3), ..Entry::plain(place(100, 10), user(1)).on(user(source)) }
}

fn outbox(store: &Store, sources: impl IntoIterator<Item = u64>) -> Vec<Entry> {
    store.outboxes(&users(sources), Span::ALL.newest(MANY), Tier::Disk).expect("reads")
}

fn count(store: &Store, source: u64) -> u64 {
    store.user_counts(user(source), Tier::Disk).expect("reads").content
}

fn each_path_has_its_row_its_job_and_its_count(store: &Store) {
    let made = publish_on_paths(store, in_groups(true));
    assert_eq!(
        made.iter().map(|job| job.work).collect::<Vec<_>>(),
        [1, 8, 9].map(|source| Work::FanOut { entry: entry(source) })
    );
    assert!(made.iter().all(|job| job.id.lane == job.work.lane()));
    let mut there = jobs(store);
    there.sort_by_key(|job| job.id.seq);
    assert_eq!(there, made);
    for source in [1, 8, 9] {
        assert_eq!((outbox(store, [source]), count(store, source)), (vec![entry(source)], 1), "{source}");
    }
    assert_eq!(outbox(store, [1, 8, 9]), [9, 8, 1].map(entry));
    assert!(store.delete(item(10), 200.into()).expect("deletes"));
    assert!([1, 8, 9].iter().all(|source| outbox(store, [*source]).is_empty() && count(store, *source) == 0));
}

fn an_inbox_has_an_entry_for_each_path_until_its_source_is_left(store: &Store) {
    follow_settled(store, 2, 1, 50);
    follow_settled(store, 2, 8, 51);
    for job in publish_on_paths(store, in_groups(false)) {
        deliver(store, job, &users([2]), Then::End);
    }
    push(store, 11, 1, 101, &users([2]));
    let newest = Entry::plain(place(101, 11), user(1));
    assert_eq!(inbox(store, 2), [newest, entry(8), entry(1)]);
    let job = unfollow(store, 2, 1);
    assert_eq!(settle(store, job, MANY), 2);
    assert_eq!(inbox(store, 2), [entry(8)], "what came through the group stays");
    follow_settled(store, 2, 1, 52);
    assert_eq!(inbox(store, 2), [newest, entry(8), entry(1)]);
    let job = unfollow(store, 2, 8);
    settle(store, job, MANY);
    assert_eq!(inbox(store, 2), [newest, entry(1)]);
}

fn an_item_leaves_one_path_and_stays_on_the_others(store: &Store) {
    follow_settled(store, 2, 1, 50);
    follow_settled(store, 2, 8, 51);
    for job in publish_on_paths(store, in_groups(true)) {
        deliver(store, job, &users([2]), Then::End);
    }
    let take_off = |id: u64, source: u64, number: u64| {
        let event = Event::new(number, EventKind::TakenOff, false, 7, 7).of_path(&in_groups(true), user(source));
        let taken = store.take_off(item(id), user(source), 300, &event).expect("answers");
        assert_eq!(store.logged(number, 1).expect("reads").pop(), taken.then_some(Logged::Event(event)));
        taken
    };
    let off = || {
        let all = [1, 8, 9].map(|source| (item(10), user(source)));
        let off = store.taken_off(&mut all.into_iter(), Tier::Disk).expect("reads");
        off.into_iter().map(|(_, source)| source.get()).collect::<Vec<_>>()
    };
    assert!(off().is_empty());
    assert!(!take_off(10, 7, 5) && !take_off(11, 8, 5), "no path, and no item");
    assert!(take_off(10, 8, 5));
    assert!(!take_off(10, 8, 6), "only once");
    let paths = || store.contents(&[item(10)], Tier::Disk).expect("reads").remove(0).map(|item| item.paths().collect());
    assert_eq!((off(), paths()), (vec![8], Some(users([1, 9]))));
    assert_eq!((outbox(store, [1, 8, 9]), count(store, 8)), ([9, 1].map(entry).to_vec(), 0));
    assert!(inbox(store, 2).contains(&entry(8)), "the entry stays; reads ask for it");
    store.delete(item(10), 400.into()).expect("deletes");
    assert!(!take_off(10, 9, 6), "it is deleted");
    let restored = store.restore(item(10), 0, None, Push::Queued).expect("restores");
    let Restored::Now(content, jobs) = restored else { panic!("{restored:?}") };
    assert_eq!((content.to, jobs.len()), (users([9]), 2));
    assert!(take_off(10, 1, 6), "also its author");
    assert_eq!((off(), paths()), (vec![1, 8], Some(users([9]))));
    store.delete(item(10), 500.into()).expect("deletes");
    assert!(store.purge(item(10), Millis::MAX).expect("purges"));
    assert!(off().is_empty(), "the deletion hides the entries");
}

fn kinds_get_numbers_in_the_order_in_which_they_come(store: &Store) {
    let numbers =
        |kinds: &[&str]| store.give_kinds(kinds).expect("gives").iter().map(|kind| kind.0).collect::<Vec<_>>();
    assert_eq!(numbers(&["repost", "post", "comment"]), [2, 0, 1]);
    assert_eq!(numbers(&["video", "post", "poll", "video"]), [3, 0, 4, 3]);
    assert_eq!(numbers(&["poll", "clip"]), [4, 5]);
    let many: Vec<_> = (0..245).map(|n| format!("k{n}")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let refused = store.give_kinds(&many).expect_err("one too many");
    assert!(matches!(refused, Error::Refused { code: Code::TooManyKinds, .. }), "{refused:?}");
    assert_eq!(numbers(&many[1..])[243], 249, "none of them has got a number before");
    assert!(store.give_kinds(&["other"]).is_err());
    assert_eq!(numbers(&["clip", "comment", "k1"]), [5, 1, 6]);
}

on_both!(
    each_path_has_its_row_its_job_and_its_count,
    an_inbox_has_an_entry_for_each_path_until_its_source_is_left,
    an_item_leaves_one_path_and_stays_on_the_others,
    kinds_get_numbers_in_the_order_in_which_they_come,
);
