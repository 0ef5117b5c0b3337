//! Editing, deleting and looking up content.

use model::store::{Published, Push, Tier};
use model::{Content, Edit};
use store::Store;

use super::support::{
    content, deliver, entry, ids, inbox, is_deleted, item, jobs, outbox, post, publish, publish_post, push, user,
};

fn text(text: &str) -> Edit {
    Edit { text: Some(Some(text.to_owned())), ..Edit::default() }
}

fn an_edit_sets_its_fields_and_leaves_the_others(store: &Store) {
    let before = Content { extra: Some("{}".to_owned()), topics: vec!["t".to_owned()], ..post(10, 1, 100) };
    publish(store, before.clone());
    let edited = store.edit(item(10), &text("new"), 200.into()).expect("edits");
    let after = Content { text: Some("new".to_owned()), edited_at: Some(200), ..before };
    assert_eq!(edited, Some(after.clone()));
    assert_eq!(content(store, 10), Some(after.clone()));

    let media = r#"[{"type":"a","url":"b"}]"#.to_owned();
    let edit = Edit { text: None, media: Some(media.clone()), extra: Some(Some("{\"k\":1}".to_owned())) };
    store.edit(item(10), &edit, 300.into()).expect("edits");
    let after = Content { media, extra: Some("{\"k\":1}".to_owned()), edited_at: Some(300), ..after };
    assert_eq!(content(store, 10), Some(after));
}

fn an_edit_can_clear_fields(store: &Store) {
    let before = Content { extra: Some("{}".to_owned()), ..post(10, 1, 100) };
    publish(store, before.clone());
    let edit = Edit { text: Some(None), media: None, extra: Some(None) };
    let after = Content { text: None, extra: None, edited_at: Some(200), ..before };
    assert_eq!(store.edit(item(10), &edit, 200.into()).expect("edits"), Some(after.clone()));
    assert_eq!(content(store, 10), Some(after));
}

fn an_empty_edit_only_gains_the_time(store: &Store) {
    publish_post(store, 10, 1, 100);
    let after = Content { edited_at: Some(200), ..post(10, 1, 100) };
    assert_eq!(store.edit(item(10), &Edit::default(), 200.into()).expect("edits"), Some(after.clone()));
    assert_eq!(content(store, 10), Some(after));
}

fn an_edit_makes_no_job_and_moves_nothing(store: &Store) {
    push(store, 10, 1, 100, &[user(2)]);
    store.edit(item(10), &text("new"), 200.into()).expect("edits");
    assert_eq!(jobs(store), []);
    assert_eq!(outbox(store, 1), [entry(1, 100, 10)]);
    assert_eq!(inbox(store, 2), [entry(1, 100, 10)]);
}

fn an_item_without_broadcast_can_be_edited(store: &Store) {
    publish(store, Content { broadcast: false, ..post(10, 1, 100) });
    assert!(store.edit(item(10), &text("new"), 200.into()).expect("edits").is_some());
    assert_eq!(outbox(store, 1), []);
}

fn a_missing_item_cannot_be_edited(store: &Store) {
    assert_eq!(store.edit(item(10), &text("new"), 200.into()).expect("edits"), None);
    assert_eq!(content(store, 10), None);
}

fn a_deleted_item_cannot_be_edited(store: &Store) {
    publish_post(store, 10, 1, 100);
    store.delete(item(10), 150.into()).expect("deletes");
    assert_eq!(store.edit(item(10), &text("new"), 200.into()).expect("edits"), None);
    assert_eq!(content(store, 10), None);
    assert!(is_deleted(store, 10));
}

fn a_delete_takes_content_and_outbox_row(store: &Store) {
    for id in [9, 10, 11] {
        publish_post(store, id, 1, 100);
    }
    publish_post(store, 12, 2, 100);
    assert!(store.delete(item(10), 200.into()).expect("deletes"));
    assert_eq!(content(store, 10), None);
    assert!(is_deleted(store, 10));
    assert_eq!(ids(&outbox(store, 1)), [11, 9]);
    assert_eq!(ids(&outbox(store, 2)), [12]);
    for id in [9, 11, 12] {
        assert!(content(store, id).is_some() && !is_deleted(store, id), "{id}");
    }
}

fn a_delete_leaves_inboxes_and_makes_no_job(store: &Store) {
    push(store, 10, 1, 100, &[user(2), user(3)]);
    let waiting = publish_post(store, 11, 1, 110);
    store.delete(item(10), 200.into()).expect("deletes");
    store.delete(item(11), 200.into()).expect("deletes");
    assert_eq!(inbox(store, 2), [entry(1, 100, 10)]);
    assert_eq!(inbox(store, 3), [entry(1, 100, 10)]);
    assert_eq!(jobs(store), [waiting]);
    // The fan-out of an item deleted meanwhile still runs to its end.
    deliver(store, waiting, &[user(2)], model::store::Then::End);
    assert_eq!(ids(&inbox(store, 2)), [11, 10]);
    assert_eq!(jobs(store), []);
}

fn a_second_delete_does_nothing(store: &Store) {
    publish_post(store, 10, 1, 100);
    assert!(store.delete(item(10), 200.into()).expect("deletes"));
    assert!(!store.delete(item(10), 300.into()).expect("deletes"));
    assert!(is_deleted(store, 10));
}

fn a_missing_item_cannot_be_deleted(store: &Store) {
    assert!(!store.delete(item(10), 200.into()).expect("deletes"));
    assert!(!is_deleted(store, 10));
    // The item can still be published.
    publish_post(store, 10, 1, 100);
    assert!(content(store, 10).is_some());
}

fn an_item_without_broadcast_can_be_deleted(store: &Store) {
    publish(store, Content { broadcast: false, ..post(10, 1, 100) });
    assert!(store.delete(item(10), 200.into()).expect("deletes"));
    assert_eq!(content(store, 10), None);
    assert!(is_deleted(store, 10));
}

fn an_edited_item_can_be_deleted(store: &Store) {
    publish_post(store, 10, 1, 100);
    store.edit(item(10), &text("new"), 200.into()).expect("edits");
    assert!(store.delete(item(10), 300.into()).expect("deletes"));
    assert_eq!((content(store, 10), outbox(store, 1)), (None, Vec::new()));
}

fn a_delete_for_good_cannot_be_taken_back(store: &Store) {
    let written = Content { topics: vec!["tea".to_owned()], extra: Some("{}".to_owned()), ..post(10, 1, 100) };
    publish(store, written.clone());
    publish(store, Content { id: item(11), ..written });
    store.delete(item(11), 200.into()).expect("deletes");
    for id in [10, 11] {
        assert!(store.delete_for_good(item(id), 200, None).expect("deletes"));
        assert!(is_deleted(store, id));
        let gone = store.restore(item(id), 0, None, Push::Queued).expect("answers");
        assert_eq!(gone, model::store::Restored::Gone);
        assert!(!store.delete_for_good(item(id), 0, None).expect("answers"), "a second time");
        assert!(store.purge(item(id), 0).expect("purges"));
    }
    assert_eq!(outbox(store, 1), []);
    assert!(!store.delete_for_good(item(99), 0, None).expect("answers"));
    publish_post(store, 12, 1, 100);
    store.delete(item(12), 200.into()).expect("deletes");
    assert!(!store.delete_for_good(item(12), 201, None).expect("answers"), "it was final already");
}

fn contents_come_in_the_order_asked(store: &Store) {
    for id in 1..=5 {
        publish_post(store, id, 1, 100 - id);
    }
    store.delete(item(2), 200.into()).expect("deletes");
    let asked = [5, 2, 1, 9, 3, 5].map(item);
    let found = store.contents(&asked, Tier::Disk).expect("reads");
    let found: Vec<_> = found.iter().map(|content| content.as_ref().map(|content| content.id.get())).collect();
    assert_eq!(found, [Some(5), None, Some(1), None, Some(3), Some(5)]);
    assert_eq!(store.deleted(&asked, Tier::Disk).expect("reads"), [false, true, false, false, false, false]);
}

fn nothing_asked_is_nothing_answered(store: &Store) {
    assert_eq!(store.contents(&[], Tier::Disk).expect("reads"), []);
    assert_eq!(store.deleted(&[], Tier::Disk).expect("reads"), [false; 0]);
}

fn many_are_looked_up_at_once(store: &Store) {
    let items: Vec<_> = (1..=500).map(|id| super::support::timed(post(id, 1, id))).collect();
    let results = store.publish(&items, model::store::Batch::AllOrNone, Push::Queued).expect("publishes");
    assert!(results.iter().all(|result| matches!(result, Published::New(_))));
    for id in (5..=500).step_by(5) {
        store.delete(item(id), 1000.into()).expect("deletes");
    }
    let asked: Vec<_> = (1..=600).rev().map(item).collect();
    let found = store.contents(&asked, Tier::Disk).expect("reads");
    let deleted = store.deleted(&asked, Tier::Disk).expect("reads");
    for ((id, content), deleted) in asked.iter().zip(found).zip(deleted) {
        let raw = id.get();
        assert_eq!(deleted, raw <= 500 && raw % 5 == 0, "{raw}");
        assert_eq!(content.map(|c| c.id), Some(*id).filter(|_| raw <= 500 && raw % 5 != 0), "{raw}");
    }
}

on_both! {
    an_edit_sets_its_fields_and_leaves_the_others,
    an_edit_can_clear_fields,
    an_empty_edit_only_gains_the_time,
    an_edit_makes_no_job_and_moves_nothing,
    an_item_without_broadcast_can_be_edited,
    a_missing_item_cannot_be_edited,
    a_deleted_item_cannot_be_edited,
    a_delete_takes_content_and_outbox_row,
    a_delete_leaves_inboxes_and_makes_no_job,
    a_second_delete_does_nothing,
    a_missing_item_cannot_be_deleted,
    an_item_without_broadcast_can_be_deleted,
    an_edited_item_can_be_deleted,
    a_delete_for_good_cannot_be_taken_back,
    contents_come_in_the_order_asked,
    nothing_asked_is_nothing_answered,
    many_are_looked_up_at_once,
}
