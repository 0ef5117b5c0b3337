//! Erasures of users.

use std::ops::ControlFlow;

use model::store::{Batch, FINAL, Push, Restored, Tier};
use model::{
    Audience, Barrier, Content, ContentId, Entry, ErasedPart, ErasurePlace, Event, EventKind, KindId, ListSettings,
    Logged, NoticeCursor, NoticeId, NoticeKind, Order, Profile, Reaction, ReactionKind, Side, Span, UserCounts, UserId,
};
use store::Store;

use super::support::{
    audit, erasure_of, follow_of, follow_settled, item, place, post, publish, publish_on_paths, relate, timed, user,
};

const MANY: usize = 1000;

fn begin(store: &Store, who: u64, number: u64) -> bool {
    let event = Event::new(number, EventKind::Suspension, false, number, number).of_user(user(who));
    store.begin_erasure(&erasure_of(who, number), Some(&event)).expect("begins")
}

/// Erases a user in parts of so many rows, with the purges.
fn erase(store: &Store, who: u64, most: usize) {
    let mut place = ErasurePlace::default();
    while let Some(part) = store.to_erase(user(who), &mut place, most).expect("reads") {
        for job in store.erase(user(who), &part).expect("erases") {
            store.drop_job(job.id).expect("drops");
        }
    }
    for place in store.unlisted(user(who), Span::ALL.scan(Order::NewestFirst, MANY), Tier::Disk).expect("reads") {
        store.purge_reactions(place.id, 1, MANY, None).expect("purges");
        assert!(store.purge(place.id, 1).expect("purges"));
    }
    assert!(store.end_erasure(user(who), 900, 0).expect("ends"));
}

/// User 1 with something of everything, beside users 2 to 9.
fn fill(store: &Store) {
    for id in 10..20 {
        publish(store, post(id, 1, id));
    }
    publish(store, Content { broadcast: false, ..post(20, 1, 20) });
    publish(
        store,
        Content {
            kind: "comment".to_owned(),
            kind_id: KindId(1),
            ref_id: Some(item(30)),
            broadcast: false,
            ..post(21, 1, 21)
        },
    );
    for id in 30..33 {
        publish_on_paths(store, Content { to: vec![user(1)], ..post(id, 2, id) });
    }
    // One may come back, and one has left the path already.
    store.delete(item(31), 50.into()).expect("deletes");
    let left = Event::new(32, EventKind::TakenOff, false, 50, 50).of_user(user(1));
    assert!(store.take_off(item(32), user(1), 50, &left).expect("takes off"));
    store.delete(item(10), 40.into()).expect("deletes");
    for other in 2..=9 {
        follow_settled(store, other, 1, other);
        follow_settled(store, 1, other, 10 + other);
    }
    for (who, target) in [(1, 2), (2, 1)] {
        store.set_barrier(user(who), user(target), Barrier::Mute, Some(5), MANY).expect("mutes");
        store.set_barrier(user(who), user(target), Barrier::Hide, Some(5), MANY).expect("hides");
    }
    store.set_barrier(user(3), user(1), Barrier::Block, Some(5), MANY).expect("blocks");
    store.set_barrier(user(1), user(3), Barrier::Block, Some(6), MANY).expect("blocks");
    let like = |who, kind| Reaction { user: user(who), kind, since: Some(7) };
    store
        .react(item(30), &[like(1, ReactionKind::LIKE), like(1, ReactionKind::FAVORITE), like(2, ReactionKind::LIKE)])
        .expect("reacts");
    store.react(item(11), &[like(1, ReactionKind::LIKE), like(2, ReactionKind::LIKE)]).expect("reacts");
    for owner in [1, 2] {
        store.put_list(user(owner), "close", &ListSettings::default(), MANY).expect("puts");
        store
            .change_members(
                user(owner),
                "close",
                &[follow_of(3, 5), follow_of(if owner == 1 { 4 } else { 1 }, 5)],
                MANY,
            )
            .expect("adds");
    }
    publish(store, Content { mentions: vec![user(1), user(3)], ..post(33, 2, 33) });
    // What the user has published about an item that is purged, and a purged item of the user.
    publish(store, post(40, 2, 40));
    for (id, kind) in [(41, "comment"), (42, "repost")] {
        let kind_id = KindId::built_in(kind).expect("a kind");
        publish(store, Content { kind: kind.to_owned(), kind_id, ref_id: Some(item(40)), ..post(id, 1, id) });
    }
    publish(store, post(43, 1, 43));
    for id in [40, 43] {
        store.delete(item(id), 44.into()).expect("deletes");
        assert!(store.purge(item(id), 45).expect("purges"));
    }
    for (who, actor) in [(1, 2), (2, 1), (3, 1), (4, 2)] {
        let id = NoticeId::new(NoticeKind::FollowRequest, user(actor), None);
        store.move_notice_marker(user(who), NoticeCursor { at: 5, id }).expect("moves");
    }
    store.put_profile(user(1), &Profile { nickname: Some("Ana".to_owned()), ..Profile::default() }).expect("puts");
    store.move_marker(user(1), place(20, 20), None).expect("moves");
    store.touch(user(1), 50).expect("touches");
}

fn nothing_names_an_erased_user(store: &Store) {
    for most in [1, 3, MANY] {
        let number = 100 + most as u64;
        fill_again(store, most);
        assert!(begin(store, 1, number) && !begin(store, 1, number + 1));
        assert!(store.has_erasures() && store.is_erasing(user(1)) && !store.is_erasing(user(2)));
        let hidden = store.suspended_among(&mut [1, 2].map(user).into_iter(), Tier::Disk).expect("reads");
        assert_eq!(hidden, [user(1)]);
        erase(store, 1, most);
        assert!(!store.has_erasures());
        for side in Side::all() {
            for who in 1..=9 {
                let members = store.members(user(who), side, Span::ALL.newest(MANY), Tier::Disk).expect("reads");
                assert!(members.iter().all(|member| member.id != user(1)), "{side:?} of {who}");
                assert!(who != 1 || members.is_empty(), "{side:?}");
            }
        }
        assert_eq!(store.user_counts(user(1), Tier::Disk).expect("reads"), UserCounts::default());
        assert_eq!(store.user_counts(user(4), Tier::Disk).expect("reads"), UserCounts::default());
        assert_eq!(store.outboxes(&[user(1)], Span::ALL.newest(MANY), Tier::Disk).expect("reads"), []);
        assert_eq!(store.user_comments(user(1), Span::ALL.newest(MANY), Tier::Disk).expect("reads"), []);
        assert_eq!(store.unlisted(user(1), Span::ALL.newest(MANY), Tier::Disk).expect("reads"), []);
        let counts = store.item_counts(&[item(30)], Tier::Disk).expect("reads").remove(0);
        assert_eq!((counts.comments, counts.reactions.get(ReactionKind::LIKE)), (0, 1));
        assert_eq!(counts.reactions.get(ReactionKind::FAVORITE), 0);
        let other = store.contents(&[item(30)], Tier::Disk).expect("reads").remove(0).expect("is live");
        assert_eq!(other.to, []);
        let (deleted, at) = store.kept(&[item(31)]).expect("reads").remove(0).expect("is kept");
        assert_eq!((deleted.to, at), (vec![], Some(50)));
        let mut path = [(item(32), user(1))].into_iter();
        assert_eq!(store.taken_off(&mut path, Tier::Disk).expect("reads"), []);
        assert_eq!(store.lists(user(1), Tier::Disk).expect("reads"), []);
        let list = store.list(user(2), "close", Tier::Disk).expect("reads").expect("is there").id;
        let members = store.list_members(list, Span::ALL.newest(MANY), Tier::Disk).expect("reads");
        assert_eq!(members.iter().map(|member| member.id).collect::<Vec<_>>(), [user(3)]);
        assert_eq!(store.profiles(&[user(1)], Tier::Disk).expect("reads"), [None]);
        assert_eq!(store.marker(user(1), Tier::Disk).expect("reads"), None);
        for who in 1..=9 {
            let notices = store.notices(user(who), Span::ALL.newest(MANY), Tier::Disk).expect("reads");
            assert!(notices.iter().all(|notice| notice.place.id.actor != user(1)), "notices of {who}: {notices:?}");
            assert!(who != 1 || notices.is_empty(), "{notices:?}");
            let marker = store.notice_marker(user(who), Tier::Disk).expect("reads");
            assert!(marker.is_none_or(|place| place.actor() != Some(user(1))), "{marker:?} of {who}");
        }
        let marker = |who| store.notice_marker(user(who), Tier::Disk).expect("reads").map(|place| place.at);
        assert_eq!([1, 2, 3, 4].map(marker), [None, Some(5), Some(5), Some(5)]);
        let mentioning = store.contents(&[item(33)], Tier::Disk).expect("reads").remove(0).expect("is live");
        assert_eq!(mentioning.mentions, [user(3)]);
        let rows = store.logged(0, MANY).expect("reads");
        assert!(rows.iter().all(|row| !row.names(user(1))), "{rows:?}");
        let begun = rows.into_iter().find(|row| row.number() == number).and_then(Logged::event);
        assert_eq!(begun.expect("streams that come late need it").kind, EventKind::Gap);
        // The ids of the items stay taken.
        assert_eq!(store.deleted(&[item(11), item(20)], Tier::Disk).expect("reads"), [true; 2]);
        assert_eq!(store.kept(&[item(11), item(20)]).expect("reads"), [None, None]);
        assert_eq!(audit(store), Vec::<String>::new());
        let erased = store.erased().expect("reads");
        assert_eq!((erased.len(), &*erased[0].hash, erased[0].over), (1, "1", 900));
    }
}

/// Fills the store; from the second time on with what an earlier round has left.
fn fill_again(store: &Store, round: usize) {
    if round == 1 {
        fill(store);
        return;
    }
    let base = 1000 * round as u64;
    publish(store, post(base, 1, base));
    let with = Content { to: vec![user(1)], audience: Audience::Followers, ..post(base + 1, 2, base) };
    store.publish(&[timed(with)], Batch::AllOrNone, Push::Queued).expect("publishes");
    relate(store, 1, &[follow_of(9, 5)]);
    store.set_barrier(user(2), user(1), Barrier::Mute, Some(5), MANY).expect("mutes");
}

fn a_deleted_item_of_a_user_who_is_erased_is_not_restored(store: &Store) {
    publish(store, post(10, 1, 10));
    store.delete(item(10), 20.into()).expect("deletes");
    assert!(begin(store, 1, 30));
    let restored = store.restore(item(10), 0, None, Push::Queued).expect("answers");
    assert_eq!(restored, Restored::Gone);
}

fn an_item_of_another_comes_back_without_the_path_of_a_user_who_is_erased(store: &Store) {
    publish_on_paths(store, Content { to: vec![user(1), user(3)], ..post(10, 2, 10) });
    store.delete(item(10), 20.into()).expect("deletes");
    assert!(begin(store, 1, 30));
    match store.restore(item(10), 0, None, Push::Queued).expect("answers") {
        Restored::Now(content, jobs) => assert_eq!((content.to, jobs.len()), (vec![user(3)], 2)),
        other => panic!("{other:?}"),
    }
    assert_eq!(store.outboxes(&[user(1)], Span::ALL.newest(MANY), Tier::Disk).expect("reads"), []);
    assert_eq!(store.unlisted(user(1), Span::ALL.newest(MANY), Tier::Disk).expect("reads"), []);
    erase(store, 1, MANY);
    assert_eq!(audit(store), Vec::<String>::new());
}

fn inboxes_lose_the_entries_of_an_author_alone(store: &Store) {
    publish_on_paths(store, Content { to: vec![user(3), user(4)], ..post(10, 1, 10) });
    publish_on_paths(store, Content { to: vec![user(3)], ..post(11, 2, 11) });
    for source in [1, 3, 4] {
        follow_settled(store, 9, source, 20);
    }
    let moderated = Event::new(30, EventKind::TakenOff, false, 30, 30).of_user(user(4));
    assert!(store.take_off(item(10), user(4), 30, &moderated).expect("takes off"));
    assert_eq!(store.erased_paths(&[item(10), item(12)]).expect("reads"), [user(3), user(4)]);
    let authors = || {
        let mut found = Vec::new();
        let mut see = |entry: Entry| {
            found.push((entry.source, entry.author));
            ControlFlow::Continue(())
        };
        store.inbox(user(9), Span::ALL, Order::NewestFirst, Tier::Disk, &mut see).expect("reads");
        found.sort_unstable();
        found
    };
    let (one, two) = ([(1, 1), (3, 1), (4, 1)], [(3, 2)]);
    let pairs =
        |of: &[(u64, u64)]| of.iter().map(|(source, author)| (user(*source), user(*author))).collect::<Vec<_>>();
    assert_eq!(authors(), pairs(&[&one[..2], &two, &one[2..]].concat()));
    store.clear_inboxes(&[user(9), user(8)], user(1)).expect("clears");
    assert_eq!(authors(), pairs(&two));
    store.write_arrivals().expect("writes");
    assert_eq!(authors(), pairs(&two));
}

fn parts_count_only_what_is_there(store: &Store) {
    publish(store, post(10, 2, 10));
    assert!(begin(store, 1, 30));
    for part in [
        ErasedPart::Items(vec![10, 11]),
        ErasedPart::Others(vec![2]),
        ErasedPart::Reactions(vec![(0, 10, 10)]),
        ErasedPart::Lists(vec!["none".to_owned()]),
        ErasedPart::Memberships(vec![7]),
        ErasedPart::Changes(vec![29]),
    ] {
        assert_eq!(store.erase(user(1), &part).expect("erases"), []);
    }
    assert_eq!(store.erasures().expect("reads")[0].rows, 0);
    assert!(store.contents(&[item(10)], Tier::Disk).expect("reads")[0].is_some());
    // Without an erasure nothing is removed.
    store.erase(user(2), &ErasedPart::Items(vec![10])).expect("answers");
    let kept: Vec<Option<u64>> = store
        .kept(&[ContentId::MIN, item(10)])
        .expect("reads")
        .into_iter()
        .map(|kept| kept.map(|(_, at)| at.unwrap_or(FINAL + 1)))
        .collect();
    assert_eq!(kept, [None, Some(FINAL + 1)]);
    assert!(!store.end_erasure(UserId::MAX, 1, 0).expect("answers"));
}

on_both! {
    nothing_names_an_erased_user,
    a_deleted_item_of_a_user_who_is_erased_is_not_restored,
    an_item_of_another_comes_back_without_the_path_of_a_user_who_is_erased,
    inboxes_lose_the_entries_of_an_author_alone,
    parts_count_only_what_is_there,
}
