//! Publishing.

use model::store::{Batch, Published, Push};
use model::{Content, Publish, Work};
use store::Store;

use super::support::{
    content, ids, inbox, is_deleted, item, jobs, lane_of, outbox, post, publish, publish_post, timed, user,
};

fn publish_each(store: &Store, items: &[Publish]) -> Vec<Published> {
    store.publish(items, Batch::Each, Push::Queued).expect("publishes")
}

fn publish_all(store: &Store, items: &[Publish]) -> Vec<Published> {
    store.publish(items, Batch::AllOrNone, Push::Queued).expect("publishes")
}

fn a_new_item_has_content_outbox_row_and_job(store: &Store) {
    let job = publish_post(store, 10, 1, 100);
    assert_eq!(content(store, 10), Some(post(10, 1, 100)));
    assert_eq!(outbox(store, 1), [post(10, 1, 100).entry()]);
    assert_eq!(job.work, Work::FanOut { entry: post(10, 1, 100).entry() });
    assert_eq!(job.progress, None);
    assert_eq!(jobs(store), [job]);
    assert!(!is_deleted(store, 10));
    assert_eq!(inbox(store, 1), []);
}

fn an_item_without_broadcast_has_neither_outbox_row_nor_job(store: &Store) {
    let quiet = Content { broadcast: false, ..post(10, 1, 100) };
    assert_eq!(publish(store, quiet.clone()), None);
    assert_eq!(content(store, 10), Some(quiet));
    assert_eq!(outbox(store, 1), []);
    assert_eq!(jobs(store), []);
}

fn every_field_comes_back_as_it_was(store: &Store) {
    let full = Content {
        kind: "a_kind_of_32_characters_0123456789"[..32].to_owned(),
        text: Some("nul \0, quote \", snow \u{2603}, a pair \u{1F30A}\u{FFFF}".to_owned()),
        media: r#"[{"type":"image","url":"x", "w": 1.0}]"#.to_owned(),
        topics: (0..10).map(|n| format!("\u{e9}{n}")).collect(),
        ref_id: Some(item(u64::MAX >> 1)),
        extra: Some(r#"{"a": {"b":[1e400, null]}}"#.to_owned()),
        mentions: vec![],
        fingerprint: u64::MAX,
        ..post(10, 1, 100)
    };
    publish(store, full.clone());
    assert_eq!(content(store, 10), Some(full));
    // A missing value is not the same as an empty one.
    let bare = Content { text: None, fingerprint: 0, ..post(11, 1, 100) };
    let empty =
        Content { text: Some(String::new()), extra: Some("{}".to_owned()), kind: "x".to_owned(), ..post(12, 1, 100) };
    publish(store, bare.clone());
    publish(store, empty.clone());
    assert_eq!(content(store, 11), Some(bare));
    assert_eq!(content(store, 12), Some(empty));
}

fn a_large_text_comes_back(store: &Store) {
    let large = Content { text: Some("\u{1F30A}".repeat(250_000)), ..post(10, 1, 100) };
    publish(store, large.clone());
    assert_eq!(content(store, 10), Some(large));
}

fn a_repeat_is_the_same_and_writes_nothing(store: &Store) {
    let job = publish_post(store, 10, 1, 100);
    for batch in [Batch::AllOrNone, Batch::Each] {
        let again = store.publish(&[timed(post(10, 1, 100))], batch, Push::Queued).expect("publishes");
        assert_eq!(again, [Published::Same(post(10, 1, 100))]);
    }
    assert_eq!(jobs(store), [job]);
    assert_eq!(outbox(store, 1).len(), 1);
}

fn a_repeat_returns_the_content_as_it_stands_now(store: &Store) {
    publish_post(store, 10, 1, 100);
    let edit = model::Edit { text: Some(Some("new".to_owned())), ..Default::default() };
    let edited = store.edit(item(10), &edit, 200.into()).expect("edits").expect("is there");
    assert_eq!(publish_all(store, &[timed(post(10, 1, 100))]), [Published::Same(edited.clone())]);
    assert_eq!(content(store, 10), Some(edited));
}

fn a_repeat_of_what_is_not_broadcast_is_the_same(store: &Store) {
    let quiet = Content { broadcast: false, ..post(10, 1, 100) };
    publish(store, quiet.clone());
    assert_eq!(publish_all(store, &[timed(quiet.clone())]), [Published::Same(quiet)]);
    assert_eq!(jobs(store), []);
}

fn another_fingerprint_is_taken_and_changes_nothing(store: &Store) {
    let job = publish_post(store, 10, 1, 100);
    let other = Content { fingerprint: 99, text: None, ..post(10, 2, 50) };
    for batch in [Batch::AllOrNone, Batch::Each] {
        assert_eq!(store.publish(&[timed(other.clone())], batch, Push::Queued).expect("publishes"), [Published::Taken]);
    }
    assert_eq!(content(store, 10), Some(post(10, 1, 100)));
    assert_eq!(outbox(store, 1), [post(10, 1, 100).entry()]);
    assert_eq!(outbox(store, 2), []);
    assert_eq!(jobs(store), [job]);
}

fn a_named_time_must_be_that_of_the_first(store: &Store) {
    publish_post(store, 10, 1, 100);
    for at in [0, 99, 101, u64::MAX >> 1] {
        assert_eq!(publish_all(store, &[timed(post(10, 1, at))]), [Published::Taken], "{at}");
    }
    assert_eq!(outbox(store, 1), [post(10, 1, 100).entry()]);
}

fn a_time_from_the_clock_does_not_matter_to_a_repeat(store: &Store) {
    publish_post(store, 10, 1, 100);
    let again =
        Publish { content: post(10, 1, 555), time_given: false, audience_given: true, id_made: false, event: None };
    assert_eq!(publish_all(store, &[again]), [Published::Same(post(10, 1, 100))]);
    let other = Publish {
        content: Content { fingerprint: 99, ..post(10, 1, 100) },
        time_given: false,
        audience_given: true,
        id_made: false,
        event: None,
    };
    assert_eq!(publish_all(store, &[other]), [Published::Taken]);
}

fn a_deleted_id_is_taken_even_for_the_same(store: &Store) {
    publish_post(store, 10, 1, 100);
    assert!(store.delete(item(10), 200.into()).expect("deletes"));
    let before = jobs(store);
    for batch in [Batch::AllOrNone, Batch::Each] {
        let again = store.publish(&[timed(post(10, 1, 100))], batch, Push::Queued).expect("publishes");
        assert_eq!(again, [Published::Taken]);
    }
    assert_eq!(content(store, 10), None);
    assert_eq!(outbox(store, 1), []);
    assert_eq!(jobs(store), before);
}

fn all_or_none_writes_nothing_if_one_is_taken(store: &Store) {
    publish_post(store, 10, 1, 100);
    let before = jobs(store);
    let taken = Content { fingerprint: 99, ..post(10, 1, 100) };
    // First, in the middle, last.
    for position in 0..3 {
        let mut items = vec![timed(post(20, 1, 200)), timed(post(21, 2, 210))];
        items.insert(position, timed(taken.clone()));
        let results = publish_all(store, &items);
        assert_eq!(results.len(), 3);
        assert_eq!(results[position], Published::Taken);
        assert_eq!(results.iter().filter(|result| **result == Published::Taken).count(), 1);
        assert_eq!((content(store, 20), content(store, 21)), (None, None));
        assert_eq!(ids(&outbox(store, 1)), [10]);
        assert_eq!(outbox(store, 2), []);
        assert_eq!(jobs(store), before);
    }
    // A refused id is still free.
    publish_post(store, 20, 3, 300);
    assert_eq!(outbox(store, 3), [post(20, 3, 300).entry()]);
}

fn all_or_none_goes_through_where_some_are_the_same(store: &Store) {
    publish_post(store, 10, 1, 100);
    let items = [timed(post(10, 1, 100)), timed(post(11, 1, 110))];
    let results = publish_all(store, &items);
    assert_eq!(results[0], Published::Same(post(10, 1, 100)));
    assert!(matches!(results[1], Published::New(_)), "{results:?}");
    assert_eq!(ids(&outbox(store, 1)), [11, 10]);
}

fn each_writes_what_can_be(store: &Store) {
    publish_post(store, 10, 1, 100);
    publish_post(store, 11, 1, 110);
    let items = [
        timed(post(12, 1, 120)),
        timed(Content { fingerprint: 99, ..post(10, 1, 100) }),
        timed(post(11, 1, 110)),
        timed(Content { broadcast: false, ..post(13, 1, 130) }),
        timed(post(14, 2, 140)),
    ];
    let results = publish_each(store, &items);
    assert!(matches!(results[0], Published::New(_)), "{results:?}");
    assert_eq!(results[1], Published::Taken);
    assert_eq!(results[2], Published::Same(post(11, 1, 110)));
    assert_eq!(results[3], Published::New(vec![]));
    assert!(matches!(results[4], Published::New(_)), "{results:?}");
    assert_eq!(ids(&outbox(store, 1)), [12, 11, 10]);
    assert_eq!(ids(&outbox(store, 2)), [14]);
    assert_eq!(content(store, 10), Some(post(10, 1, 100)));
    assert_eq!(jobs(store).len(), 4);
}

fn nothing_to_publish_is_no_change(store: &Store) {
    assert_eq!(publish_all(store, &[]), []);
    assert_eq!(publish_each(store, &[]), []);
    assert_eq!(jobs(store), []);
}

fn jobs_are_numbered_in_the_order_of_the_items(store: &Store) {
    // Times and ids fall while the numbers must rise.
    let items: Vec<_> = (0..20).map(|n| timed(post(100 - n, 1, 1000 - n))).collect();
    let results = publish_all(store, &items);
    let made: Vec<_> = results
        .iter()
        .map(|result| match result {
            Published::New(jobs) if jobs.len() == 1 => jobs[0],
            other => panic!("not new: {other:?}"),
        })
        .collect();
    assert!(made.windows(2).all(|pair| pair[0].id.seq < pair[1].id.seq), "{made:?}");
    for (job, item) in made.iter().zip(&items) {
        assert_eq!(job.work, Work::FanOut { entry: item.content.entry() });
    }
    assert_eq!(jobs(store), made);
}

fn a_job_is_in_its_authors_lane(store: &Store) {
    for author in 1..=50 {
        let job = publish_post(store, 1000 + author, author, 1);
        assert_eq!(job.id.lane, lane_of(author));
    }
}

fn a_thousand_items_go_in_one_call(store: &Store) {
    let items: Vec<_> = (1..=1000).map(|n| timed(post(n, 1 + n % 3, n / 7))).collect();
    let results = publish_all(store, &items);
    assert!(results.iter().all(|result| matches!(result, Published::New(_))));
    let all: Vec<_> = (1..=1000).map(item).collect();
    let stored = store.contents(&all, model::store::Tier::Disk).expect("reads");
    assert!(stored.iter().zip(&items).all(|(stored, item)| stored.as_ref() == Some(&item.content)));
    for author in 1..=3 {
        let mut own: Vec<_> = items.iter().map(|i| i.content.entry()).filter(|e| e.author == user(author)).collect();
        own.sort_by_key(|entry| std::cmp::Reverse(entry.cursor));
        assert_eq!(outbox(store, author), own);
    }
    assert_eq!(jobs(store).len(), 1000);
}

fn items_of_one_time_do_not_clash(store: &Store) {
    for id in [3, 1, 2] {
        publish_post(store, id, 1, 100);
    }
    publish_post(store, 4, 2, 100);
    assert_eq!(ids(&outbox(store, 1)), [3, 2, 1]);
    assert_eq!(ids(&outbox(store, 2)), [4]);
}

on_both! {
    a_new_item_has_content_outbox_row_and_job,
    an_item_without_broadcast_has_neither_outbox_row_nor_job,
    every_field_comes_back_as_it_was,
    a_large_text_comes_back,
    a_repeat_is_the_same_and_writes_nothing,
    a_repeat_returns_the_content_as_it_stands_now,
    a_repeat_of_what_is_not_broadcast_is_the_same,
    another_fingerprint_is_taken_and_changes_nothing,
    a_named_time_must_be_that_of_the_first,
    a_time_from_the_clock_does_not_matter_to_a_repeat,
    a_deleted_id_is_taken_even_for_the_same,
    all_or_none_writes_nothing_if_one_is_taken,
    all_or_none_goes_through_where_some_are_the_same,
    each_writes_what_can_be,
    nothing_to_publish_is_no_change,
    jobs_are_numbered_in_the_order_of_the_items,
    a_job_is_in_its_authors_lane,
    a_thousand_items_go_in_one_call,
    items_of_one_time_do_not_clash,
}
