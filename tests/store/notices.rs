//! Notices: the changes that write and remove them, how long they are kept, and their markers.

use model::store::{Approval, Batch, Change, Push, Tier};
use model::{
    Barrier, COMMENT, Content, ContentId, KindId, Millis, NoticeCursor, NoticeId, NoticeKind, Order, POST, REPOST,
    Reaction, ReactionKind, Span, UserSettings,
};
use store::Store;

use super::support::{
    MANY, audit, digest, follow, follow_of, item, post, publish, relate, timed, unfollow_of, user, users,
};

use NoticeKind::{Comment, Follow, FollowRequest, Mention, Repost, RequestApproved};

/// The notices of a user: kind, actor, time and item, newest first; the other way round they are the same.
fn notices(store: &Store, whose: u64) -> Vec<(NoticeKind, u64, Millis, u64)> {
    let read = |order| store.notices(user(whose), Span::ALL.scan(order, MANY), Tier::Disk).expect("reads");
    let (newest, mut oldest) = (read(Order::NewestFirst), read(Order::OldestFirst));
    oldest.reverse();
    assert_eq!(newest, oldest);
    let shown = newest.into_iter().map(|notice| {
        let NoticeId { kind, actor, item, .. } = notice.place.id;
        (kind, actor.get(), notice.place.at, item.map_or(0, ContentId::get))
    });
    shown.collect()
}

fn react(store: &Store, id: u64, who: u64, since: Option<u64>) {
    store.react(item(id), &[Reaction { user: user(who), kind: ReactionKind::LIKE, since }]).expect("reacts");
}

/// An item on another one.
fn on(kind: &str, subject: u64, content: Content) -> Content {
    let kind_id = KindId::built_in(kind).expect("a kind");
    Content { kind: kind.to_owned(), kind_id, ref_id: Some(item(subject)), ..content }
}

fn mentioning(content: Content, whom: &[u64]) -> Content {
    Content { mentions: users(whom.iter().copied()), ..content }
}

fn follows_and_requests_come_and_go_with_their_notices(store: &Store) {
    follow(store, 2, 1, 5);
    assert_eq!(notices(store, 1), [(Follow, 2, 5, 0)]);
    relate(store, 2, &[follow_of(1, 9)]);
    assert_eq!(notices(store, 1), [(Follow, 2, 5, 0)], "the time of the first follow");
    relate(store, 2, &[unfollow_of(1)]);
    assert_eq!(notices(store, 1), []);
    let settings = UserSettings { approve_followers: true, ..UserSettings::default() };
    store.put_settings(user(1), settings).expect("puts");
    let asks = |who, since| {
        relate(store, who, &[Change { approval: Approval::IfNeeded, ..follow_of(1, since) }]);
    };
    asks(2, 11);
    asks(3, 12);
    asks(4, 13);
    assert_eq!(notices(store, 1), [(FollowRequest, 4, 13, 0), (FollowRequest, 3, 12, 0), (FollowRequest, 2, 11, 0)]);
    store.answer_request(user(1), user(2), Some(20)).expect("answers").expect("waits");
    store.answer_request(user(1), user(3), None).expect("answers").expect("waits");
    assert_eq!(notices(store, 1), [(Follow, 2, 20, 0), (FollowRequest, 4, 13, 0)]);
    assert_eq!((notices(store, 2), notices(store, 3)), (vec![(RequestApproved, 1, 20, 0)], vec![]));
    asks(5, 21);
    asks(6, 22);
    relate(store, 5, &[Change { approval: Approval::Given, ..follow_of(1, 23) }]);
    relate(store, 7, &[Change { approval: Approval::Given, ..follow_of(1, 24) }]);
    store.put_settings(user(1), UserSettings::default()).expect("puts");
    asks(6, 25);
    let approved = [5, 6, 7].map(|who| notices(store, who));
    assert_eq!(approved, [vec![(RequestApproved, 1, 23, 0)], vec![], vec![]], "only those that waited, if approved");
    for other in [2, 4, 5, 6, 7] {
        store.set_barrier(user(1), user(other), Barrier::Block, Some(30), MANY).expect("blocks");
    }
    assert_eq!((notices(store, 1), notices(store, 2)), (vec![], vec![]));
    assert_eq!(audit(store), Vec::<String>::new());
}

fn a_reaction_has_a_notice_until_it_is_taken_back_or_purged(store: &Store) {
    publish(store, post(10, 1, 100));
    react(store, 10, 1, Some(110));
    react(store, 10, 2, Some(110));
    react(store, 10, 3, Some(120));
    let of = |actor, at| (NoticeKind::Reaction, actor, at, 10);
    assert_eq!(notices(store, 1), [of(3, 120), of(2, 110)], "none of oneself");
    react(store, 10, 3, None);
    store.delete(item(10), 200.into()).expect("deletes");
    assert_eq!(notices(store, 1), [of(2, 110)], "a restore brings it back");
    store.purge_reactions(item(10), Millis::MAX, MANY, None).expect("purges");
    assert_eq!(notices(store, 1), []);
}

fn items_have_notices_for_those_whom_they_concern(store: &Store) {
    publish(store, on(COMMENT, 10, post(9, 2, 90)));
    publish(store, post(10, 1, 100));
    publish(store, mentioning(on(COMMENT, 10, post(11, 2, 110)), &[1, 2, 3]));
    publish(store, mentioning(post(12, 2, 120), &[1, 2]));
    publish(store, on(POST, 10, post(13, 2, 130)));
    publish(store, on(COMMENT, 10, post(14, 1, 140)));
    store.delete(item(10), 150.into()).expect("deletes");
    publish(store, on(REPOST, 10, post(15, 3, 150)));
    let of_owner = [(Repost, 3, 150, 15), (Mention, 2, 120, 12), (Mention, 2, 110, 11)];
    assert_eq!(notices(store, 1), of_owner, "none of an item before its subject");
    assert_eq!((notices(store, 2), notices(store, 3)), (vec![], vec![(Mention, 2, 110, 11)]));
    assert_eq!(audit(store), Vec::<String>::new());
    let batch =
        [timed(post(20, 4, 200)), timed(on(COMMENT, 20, post(21, 5, 210))), timed(on(COMMENT, 23, post(22, 5, 220)))];
    store.publish(&batch, Batch::AllOrNone, Push::Queued).expect("publishes");
    assert_eq!(notices(store, 4), [(Comment, 5, 210, 21)], "on an earlier one of the batch");
    for id in [11, 12] {
        store.delete(item(id), 300.into()).expect("deletes");
    }
    assert_eq!(notices(store, 3), [(Mention, 2, 110, 11)]);
    for id in [11, 12] {
        assert!(store.purge(item(id), Millis::MAX).expect("purges"));
    }
    assert_eq!((notices(store, 1), notices(store, 3)), (vec![(Repost, 3, 150, 15)], vec![]));
}

fn old_notices_end_and_none_are_written_without_a_time(store: &Store) {
    follow(store, 2, 1, 5);
    follow(store, 3, 1, 7);
    let marked = NoticeCursor { at: 7, id: NoticeId::new(Follow, user(3), None) };
    assert_eq!(store.move_notice_marker(user(1), marked).expect("moves"), marked);
    let older = NoticeCursor { at: 5, ..marked };
    assert_eq!(store.move_notice_marker(user(1), older).expect("moves"), marked, "forward only");
    assert_eq!(store.notice_marker(user(1), Tier::Disk).expect("reads"), Some(marked));
    store.keep_notices(6);
    store.keep_notices(2);
    follow(store, 4, 1, 5);
    let (listed, before) = (notices(store, 1), digest(store, 0));
    assert_eq!(listed, [(Follow, 3, 7, 0)]);
    store.compact().expect("compacts");
    assert_eq!((notices(store, 1), digest(store, 0)), (listed, before));
    store.keep_notices(Millis::MAX);
    follow(store, 5, 1, 900);
    store.compact().expect("compacts");
    assert_eq!(notices(store, 1), []);
    let rows = store.stats().expect("reads").into_iter().find(|table| table.table == "notices").map(|table| table.rows);
    assert_eq!(rows, Some(0));
    relate(store, 3, &[unfollow_of(1)]);
    assert_eq!(audit(store), Vec::<String>::new());
}

on_both! {
    follows_and_requests_come_and_go_with_their_notices,
    a_reaction_has_a_notice_until_it_is_taken_back_or_purged,
    items_have_notices_for_those_whom_they_concern,
    old_notices_end_and_none_are_written_without_a_time,
}
