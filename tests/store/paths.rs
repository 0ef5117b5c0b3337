//! Items with further paths, and kinds.

use model::error::{Code, Error};
use model::store::{Store, Then, Tier};
use model::{Content, Entry, KindId, Span, Work};

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

fn outbox(store: &dyn Store, sources: impl IntoIterator<Item = u64>) -> Vec<Entry> {
    store.outboxes(&users(sources), Span::ALL.newest(MANY), Tier::Disk).expect("reads")
}

fn count(store: &dyn Store, source: u64) -> u64 {
    store.user_counts(user(source), Tier::Disk).expect("reads").content
}

fn each_path_has_its_row_its_job_and_its_count(store: &dyn Store) {
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

fn an_inbox_has_an_entry_for_each_path_until_its_source_is_left(store: &dyn Store) {
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

fn kinds_get_numbers_in_the_order_in_which_they_come(store: &dyn Store) {
    let numbers = |kinds: &[&str]| store.kind_ids(kinds).expect("gives").iter().map(|kind| kind.0).collect::<Vec<_>>();
    assert_eq!(numbers(&["post"]), [0]);
    assert_eq!(numbers(&["video", "post", "poll", "video"]), [1, 0, 2, 1]);
    assert_eq!(numbers(&["poll", "clip"]), [2, 3]);
    let many: Vec<_> = (0..247).map(|n| format!("k{n}")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let refused = store.kind_ids(&many).expect_err("one too many");
    assert!(matches!(refused, Error::Refused { code: Code::TooManyKinds, .. }), "{refused:?}");
    assert_eq!(numbers(&many[1..])[245], 249, "none of them has got a number before");
    assert!(store.kind_ids(&["other"]).is_err());
    assert_eq!(numbers(&["clip", "post", "k1"]), [3, 0, 4]);
}

on_both!(
    each_path_has_its_row_its_job_and_its_count,
    an_inbox_has_an_entry_for_each_path_until_its_source_is_left,
    kinds_get_numbers_in_the_order_in_which_they_come,
);
