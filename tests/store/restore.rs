//! Taking deletions back, and purging.

use model::store::{Batch, Published, Push, Restored, Then, Tier};
use model::{COMMENT, Content, Entry, ItemCounts, Job, REPOST, Reaction, ReactionKind, Span, Work};
use store::Store;

use super::support::{
    MANY, content, deliver, entry, follow_settled, ids, inbox, is_deleted, item, job_now, jobs, outbox, place, post,
    publish, publish_post, push, settle, timed, unfollow, user,
};

/// Restores without a time limit.
fn restore(store: &Store, id: u64) -> Restored {
    restore_since(store, id, 0)
}

fn restore_since(store: &Store, id: u64, deleted_since: u64) -> Restored {
    store.restore(item(id), deleted_since, None, Push::Queued).expect("answers")
}

/// Restores a broadcast item that must be deleted, and returns its new job.
fn restored(store: &Store, id: u64) -> Job {
    let Restored::Now(_, jobs) = restore(store, id) else { panic!("{id} is not restored") };
    let [job] = jobs[..] else { panic!("{id} has no job") };
    job
}

fn delete(store: &Store, id: u64) {
    assert!(store.delete(item(id), 200.into()).expect("deletes"), "{id}");
}

/// Deletes an item and purges it at once.
fn erase(store: &Store, id: u64) {
    delete(store, id);
    assert!(store.purge(item(id), 201).expect("purges"), "{id}");
}

fn comment(id: u64, author: u64, subject: u64) -> Content {
    Content { kind: COMMENT.to_owned(), ref_id: Some(item(subject)), broadcast: false, ..post(id, author, 100) }
}

fn on(store: &Store, subject: u64) -> Vec<Entry> {
    store.comments(item(subject), Span::ALL.newest(MANY), Tier::Disk).expect("reads")
}

fn by(store: &Store, author: u64) -> Vec<Entry> {
    store.user_comments(user(author), Span::ALL.newest(MANY), Tier::Disk).expect("reads")
}

/// Comments and reposts of an item.
fn counts(store: &Store, id: u64) -> (u64, u64) {
    let counts = store.item_counts(&[item(id)], Tier::Disk).expect("reads").remove(0);
    (counts.comments, counts.reposts)
}

fn own(store: &Store, author: u64) -> u64 {
    store.user_counts(user(author), Tier::Disk).expect("reads").content
}

fn a_restore_is_a_publish_again(store: &Store) {
    let edited = Content { text: Some("new".to_owned()), edited_at: Some(150), ..post(10, 1, 100) };
    push(store, 10, 1, 100, &[user(2)]);
    let edit = model::Edit { text: Some(Some("new".to_owned())), ..Default::default() };
    store.edit(item(10), &edit, 150.into()).expect("edits");
    delete(store, 10);
    assert_eq!((outbox(store, 1), own(store, 1)), (vec![], 0));
    let job = restored(store, 10);
    assert_eq!((job.work, job.progress), (Work::FanOut { entry: entry(1, 100, 10) }, None));
    assert_eq!(jobs(store), [job]);
    assert_eq!((content(store, 10), is_deleted(store, 10)), (Some(edited), false), "as it was last");
    assert_eq!(
        (outbox(store, 1), inbox(store, 2), own(store, 1)),
        (vec![entry(1, 100, 10)], vec![entry(1, 100, 10)], 1)
    );
    // A repeat of the publish is recognised.
    let again = store.publish(&[timed(post(10, 1, 100))], Batch::AllOrNone, Push::Queued).expect("answers");
    assert!(matches!(again.as_slice(), [Published::Same(_)]), "{again:?}");
}

fn live_and_unknown_items_are_not_restored(store: &Store) {
    assert_eq!(restore(store, 10), Restored::Gone);
    publish_post(store, 10, 1, 100);
    assert_eq!(restore(store, 10), Restored::Live(post(10, 1, 100)));
    delete(store, 10);
    restored(store, 10);
    assert_eq!(restore(store, 10), Restored::Live(post(10, 1, 100)));
    assert_eq!((jobs(store).len(), own(store, 1)), (2, 1));
}

fn a_deletion_can_be_too_long_ago(store: &Store) {
    publish_post(store, 10, 1, 100);
    delete(store, 10);
    for since in [201, u64::MAX] {
        assert_eq!(restore_since(store, 10, since), Restored::Gone);
    }
    assert!(is_deleted(store, 10));
    assert!(matches!(restore_since(store, 10, 200), Restored::Now(..)));
}

fn an_item_can_go_and_come_again_and_again(store: &Store) {
    push(store, 10, 1, 100, &[user(2)]);
    for round in 1..=3 {
        delete(store, 10);
        assert_eq!((content(store, 10), is_deleted(store, 10), own(store, 1)), (None, true, 0), "{round}");
        let job = restored(store, 10);
        assert_eq!((content(store, 10), is_deleted(store, 10), own(store, 1)), (Some(post(10, 1, 100)), false, 1));
        assert_eq!(jobs(store), [job], "{round}");
        deliver(store, job, &[user(2), user(3)], Then::End);
    }
    assert_eq!((ids(&inbox(store, 2)), ids(&inbox(store, 3)), ids(&outbox(store, 1))), (vec![10], vec![10], vec![10]));
}

fn two_fan_outs_of_one_item_stand_side_by_side(store: &Store) {
    let first = publish_post(store, 10, 1, 100);
    delete(store, 10);
    let second = restored(store, 10);
    assert_eq!(jobs(store), [first, second], "in one lane, in this order");
    deliver(store, first, &[user(2)], Then::End);
    assert_eq!((job_now(store, first), job_now(store, second)), (None, Some(second)));
}

fn an_item_without_broadcast_is_restored_without_a_job(store: &Store) {
    let quiet = Content { broadcast: false, ..post(10, 1, 100) };
    publish(store, quiet.clone());
    delete(store, 10);
    assert_eq!(restore(store, 10), Restored::Now(quiet, vec![]));
    assert_eq!((jobs(store), outbox(store, 1), own(store, 1)), (vec![], vec![], 0));
}

fn a_settle_in_between_is_made_good(store: &Store) {
    follow_settled(store, 2, 1, 5);
    push(store, 10, 1, 100, &[user(2)]);
    delete(store, 10);
    // The follower unfollows and follows again: the settle removes its row.
    let job = unfollow(store, 2, 1);
    settle(store, job, MANY);
    follow_settled(store, 2, 1, 6);
    assert_eq!(inbox(store, 2), []);
    let job = restored(store, 10);
    deliver(store, job, &[user(2)], Then::End);
    assert_eq!(ids(&inbox(store, 2)), [10]);
    // A user who follows after the restore gets the item by settling.
    follow_settled(store, 3, 1, 7);
    assert_eq!(ids(&inbox(store, 3)), [10]);
}

fn an_item_below_the_outbox_floor_is_restored_there(store: &Store) {
    for id in 10..20 {
        publish_post(store, id, 1, id);
    }
    delete(store, 12);
    store.archive_outbox(user(1), place(15, 15), MANY).expect("moves");
    restored(store, 12);
    assert_eq!(ids(&outbox(store, 1)), (10..20).rev().collect::<Vec<_>>());
    store.compact().expect("compacts");
    assert_eq!(ids(&outbox(store, 1)), (10..20).rev().collect::<Vec<_>>());
    delete(store, 12);
    assert_eq!(ids(&outbox(store, 1)).len(), 9);
}

fn comments_and_reposts_come_back_into_lists_and_counts(store: &Store) {
    publish_post(store, 1, 1, 50);
    publish(store, comment(10, 2, 1));
    publish(store, Content { kind: REPOST.to_owned(), ..comment(11, 2, 1) });
    delete(store, 10);
    delete(store, 11);
    assert_eq!((on(store, 1), by(store, 2), counts(store, 1)), (vec![], vec![], (0, 0)));
    restore(store, 10);
    restore(store, 11);
    let row = vec![entry(2, 100, 10)];
    assert_eq!((on(store, 1), by(store, 2), counts(store, 1)), (row.clone(), row, (1, 1)));
}

fn a_restored_item_has_its_comments(store: &Store) {
    publish_post(store, 1, 1, 50);
    for id in [10, 11] {
        publish(store, comment(id, 2, 1));
    }
    delete(store, 1);
    publish(store, comment(12, 2, 1));
    delete(store, 10);
    restored(store, 1);
    assert_eq!((ids(&on(store, 1)), counts(store, 1)), (vec![12, 11], (2, 0)));
}

fn a_purged_item_is_gone_for_good(store: &Store) {
    push(store, 10, 1, 100, &[user(2)]);
    publish(store, comment(11, 3, 10));
    erase(store, 10);
    assert!(!store.purge(item(10), 201).expect("purges") && !store.delete(item(10), 200.into()).expect("deletes"));
    assert_eq!((content(store, 10), is_deleted(store, 10), outbox(store, 1)), (None, true, vec![]));
    assert_eq!(restore(store, 10), Restored::Gone);
    // Its rows in inboxes stay, but are hidden. Its id stays taken.
    assert_eq!(ids(&inbox(store, 2)), [10]);
    for again in [post(10, 1, 100), post(10, 9, 9)] {
        let results = store.publish(&[timed(again)], Batch::Each, Push::Queued).expect("answers");
        assert_eq!(results, [Published::Taken]);
    }
}

fn only_what_was_deleted_long_ago_is_purged(store: &Store) {
    assert!(!store.purge(item(10), u64::MAX).expect("answers"), "never there");
    publish_post(store, 10, 1, 100);
    assert!(!store.purge(item(10), u64::MAX).expect("answers"), "live");
    delete(store, 10);
    assert!(!store.purge(item(10), 200).expect("answers"), "at this very time");
    restored(store, 10);
    assert!(!store.purge(item(10), u64::MAX).expect("answers"), "taken back");
    assert_eq!(content(store, 10), Some(post(10, 1, 100)));
}

fn reactions_are_purged_first(store: &Store) {
    publish_post(store, 10, 1, 100);
    let like = |who| Reaction { user: user(who), kind: ReactionKind::LIKE, since: Some(5) };
    store.react(item(10), &[like(2), like(3)]).expect("reacts");
    delete(store, 10);
    assert!(!store.purge(item(10), 201).expect("answers"));
    let purged = |before| store.purge_reactions(item(10), before, 10, None).expect("purges").len();
    assert_eq!((purged(200), purged(201)), (0, 2), "deleted since, and before");
    assert!(store.purge(item(10), 201).expect("purges"));
    assert_eq!(store.item_counts(&[item(10)], Tier::Disk).expect("reads"), [ItemCounts::default()]);
}

fn a_purge_that_has_begun_is_final(store: &Store) {
    for id in [10, 11] {
        publish_post(store, id, 1, 100);
        let like = |who| Reaction { user: user(who), kind: ReactionKind::LIKE, since: Some(who) };
        store.react(item(id), &[like(2), like(3)]).expect("reacts");
        delete(store, id);
        assert_eq!(store.purge_reactions(item(id), 201, 1, None).expect("purges").len(), 1);
        // Half of its reactions are gone, so no settings allow a restore.
        assert_eq!(store.restore(item(id), 0, None, Push::Queued).expect("answers"), Restored::Gone);
        assert!(is_deleted(store, id) && content(store, id).is_none());
    }
    // No settings keep it, either.
    assert_eq!(store.purge_reactions(item(10), 0, 10, None).expect("purges").len(), 1);
    assert!(store.purge(item(10), 0).expect("purges"));
    assert!(!store.purge(item(11), 0).expect("answers"), "there is a reaction still");
}

fn nothing_hangs_on_what_is_purged(store: &Store) {
    publish_post(store, 1, 1, 50);
    for id in 10..14 {
        publish(store, comment(id, 2, 1));
    }
    publish(store, Content { kind: REPOST.to_owned(), ..comment(20, 2, 1) });
    delete(store, 11);
    erase(store, 1);
    assert_eq!((on(store, 1), counts(store, 1)), (vec![], (0, 0)));
    // The comments and reposts on it stay live, and their changes do not affect it.
    assert_eq!(ids(&by(store, 2)), [13, 12, 10]);
    delete(store, 10);
    delete(store, 20);
    restore(store, 11);
    restore(store, 20);
    publish(store, comment(14, 2, 1));
    assert_eq!((ids(&by(store, 2)), on(store, 1), counts(store, 1)), (vec![14, 13, 12, 11], vec![], (0, 0)));
}

fn a_purge_takes_any_number_of_comments(store: &Store) {
    let items =
        |subject: u64, from: u64| (from..from + 600).map(|id| timed(comment(id, 2, subject))).collect::<Vec<_>>();
    // Items with ids next to this one's, which lose nothing.
    for (subject, from) in [(4, 1000), (5, 2000), (6, 3000)] {
        publish_post(store, subject, 1, 50);
        store.publish(&items(subject, from), Batch::AllOrNone, Push::Queued).expect("publishes");
    }
    erase(store, 5);
    assert_eq!([4, 5, 6].map(|subject| on(store, subject).len()), [600, 0, 600]);
    store.compact().expect("compacts");
    assert_eq!([4, 5, 6].map(|subject| on(store, subject).len()), [600, 0, 600]);
    assert_eq!(by(store, 2).len(), 1800);
}

on_both! {
    a_restore_is_a_publish_again,
    live_and_unknown_items_are_not_restored,
    a_deletion_can_be_too_long_ago,
    an_item_can_go_and_come_again_and_again,
    two_fan_outs_of_one_item_stand_side_by_side,
    an_item_without_broadcast_is_restored_without_a_job,
    a_settle_in_between_is_made_good,
    an_item_below_the_outbox_floor_is_restored_there,
    comments_and_reposts_come_back_into_lists_and_counts,
    a_restored_item_has_its_comments,
    a_purged_item_is_gone_for_good,
    only_what_was_deleted_long_ago_is_purged,
    reactions_are_purged_first,
    a_purge_that_has_begun_is_final,
    nothing_hangs_on_what_is_purged,
    a_purge_takes_any_number_of_comments,
}
