//! Comments: lists by item and by user, and their counts.

use model::store::{Batch, Push, Tier};
use model::{COMMENT, Content, Entry, ItemCounts, REPOST, Span};
use store::Store;

use super::support::{
    BOTH_ORDERS, MANY, content, entry, expected, item, outbox, place, post, publish, publish_post, spans, timed, user,
};

/// A comment on an item, not broadcast.
fn comment(id: u64, author: u64, at: u64, subject: u64) -> Content {
    Content { kind: COMMENT.to_owned(), ref_id: Some(item(subject)), broadcast: false, ..post(id, author, at) }
}

fn on(store: &Store, subject: u64) -> Vec<Entry> {
    store.comments(item(subject), Span::ALL.newest(MANY), Tier::Disk).expect("reads")
}

fn by(store: &Store, author: u64) -> Vec<Entry> {
    store.user_comments(user(author), Span::ALL.newest(MANY), Tier::Disk).expect("reads")
}

fn counts(store: &Store, id: u64) -> (u64, u64) {
    let ItemCounts { comments, reposts, .. } = store.item_counts(&[item(id)], Tier::Disk).expect("reads")[0];
    (comments, reposts)
}

fn a_comment_is_listed_by_its_subject_and_by_its_author(store: &Store) {
    publish_post(store, 1, 1, 100);
    assert_eq!(publish(store, comment(10, 2, 110, 1)), None, "is pushed to nobody");
    publish(store, comment(11, 3, 110, 1));
    publish(store, comment(12, 2, 90, 10));
    assert_eq!(on(store, 1), [entry(3, 110, 11), entry(2, 110, 10)]);
    assert_eq!(on(store, 10), [entry(2, 90, 12)], "on a comment");
    assert_eq!((by(store, 2), by(store, 3)), (vec![entry(2, 110, 10), entry(2, 90, 12)], vec![entry(3, 110, 11)]));
    assert_eq!((by(store, 1), outbox(store, 2)), (vec![], vec![]));
    assert_eq!((counts(store, 1), counts(store, 10), counts(store, 12)), ((2, 0), (1, 0), (0, 0)));
}

fn a_broadcast_comment_is_in_the_outbox_too(store: &Store) {
    let job = publish(store, Content { broadcast: true, ..comment(10, 2, 110, 1) });
    assert!(job.is_some());
    assert_eq!((on(store, 1), outbox(store, 2)), (vec![entry(2, 110, 10)], vec![entry(2, 110, 10)]));
}

fn only_the_kind_makes_a_comment(store: &Store) {
    publish(store, Content { kind: REPOST.to_owned(), ..comment(10, 2, 110, 1) });
    publish(store, Content { kind: "reply".to_owned(), ..comment(11, 2, 110, 1) });
    publish(store, Content { ref_id: None, ..comment(12, 2, 110, 1) });
    assert_eq!((on(store, 1), counts(store, 1)), (vec![], (0, 1)));
    assert_eq!(by(store, 2), [entry(2, 110, 12)], "one without a subject is its author's all the same");
}

fn a_deleted_comment_leaves_lists_and_counts(store: &Store) {
    publish_post(store, 1, 1, 100);
    for id in [10, 11, 12] {
        publish(store, comment(id, 2, 110, 1));
    }
    assert!(store.delete(item(11), 200.into()).expect("deletes"));
    assert!(!store.delete(item(11), 200.into()).expect("deletes"));
    assert_eq!(on(store, 1), [entry(2, 110, 12), entry(2, 110, 10)]);
    assert_eq!((by(store, 2), counts(store, 1)), (on(store, 1), (2, 0)));
}

fn the_comments_on_a_deleted_item_stay(store: &Store) {
    publish_post(store, 1, 1, 100);
    publish(store, comment(10, 2, 110, 1));
    store.delete(item(1), 200.into()).expect("deletes");
    publish(store, comment(11, 2, 120, 1));
    assert_eq!((on(store, 1), counts(store, 1)), (vec![entry(2, 120, 11), entry(2, 110, 10)], (2, 0)));
    assert_eq!(content(store, 10).expect("live").ref_id, Some(item(1)));
}

fn a_comment_may_come_before_its_subject(store: &Store) {
    publish(store, comment(10, 2, 110, 1));
    assert_eq!((on(store, 1), counts(store, 1)), (vec![entry(2, 110, 10)], (1, 0)));
    publish_post(store, 1, 1, 100);
    assert_eq!((on(store, 1), counts(store, 1)), (vec![entry(2, 110, 10)], (1, 0)));
}

fn a_refused_batch_leaves_no_comment(store: &Store) {
    publish_post(store, 1, 1, 100);
    let items = [timed(comment(10, 2, 110, 1)), timed(Content { fingerprint: 0, ..post(1, 1, 100) })];
    store.publish(&items, Batch::AllOrNone, Push::Queued).expect("answers");
    assert_eq!((on(store, 1), by(store, 2), counts(store, 1)), (vec![], vec![], (0, 0)));
}

fn every_part_of_a_list_is_exact(store: &Store) {
    let all = [entry(5, 0, 3), entry(6, 0, 4), entry(5, 7, 256), entry(7, 7, 255), entry(5, 9, 2)];
    for entry in all {
        publish(store, comment(entry.cursor.id.get(), entry.author.get(), entry.cursor.at, 100));
        // Items with ids next to this one's, whose comments must not show.
        for (more, subject) in [(1000, 99), (2000, 101)] {
            publish(store, comment(entry.cursor.id.get() + more, 4, entry.cursor.at, subject));
        }
    }
    let own: Vec<_> = all.into_iter().filter(|entry| entry.author == user(5)).collect();
    let places: Vec<_> = all.iter().map(|entry| entry.cursor).chain([place(7, 9)]).collect();
    for span in spans(&places) {
        for order in BOTH_ORDERS {
            for limit in [0, 1, 2, MANY] {
                let found = store.comments(item(100), span.scan(order, limit), Tier::Disk).expect("reads");
                assert_eq!(found, expected(&all, |e| e.cursor, span, order, limit), "{span:?} {order:?} {limit}");
                let found = store.user_comments(user(5), span.scan(order, limit), Tier::Disk).expect("reads");
                assert_eq!(found, expected(&own, |e| e.cursor, span, order, limit), "{span:?} {order:?} {limit}");
            }
        }
    }
}

on_both! {
    a_comment_is_listed_by_its_subject_and_by_its_author,
    a_broadcast_comment_is_in_the_outbox_too,
    only_the_kind_makes_a_comment,
    a_deleted_comment_leaves_lists_and_counts,
    the_comments_on_a_deleted_item_stay,
    a_comment_may_come_before_its_subject,
    a_refused_batch_leaves_no_comment,
    every_part_of_a_list_is_exact,
}
