//! Reactions.

use model::error::{Code, Error};
use model::store::{Push, Tier};
use model::{
    Content, ItemCounts, Order, Position, Reacted, Reaction, ReactionCounts, ReactionKind, ReactionKinds, Reactions,
    Span, UserCursor, UserId,
};
use store::Store;

use super::support::{
    BOTH_ORDERS, MANY, entry, expected, ids, item, place, post, publish, publish_post, spans, user, users,
};

const LIKE: ReactionKind = ReactionKind::LIKE;
const FAVORITE: ReactionKind = ReactionKind::FAVORITE;

fn wish(who: u64, kind: ReactionKind, since: impl Into<Option<u64>>) -> Reaction {
    Reaction { user: user(who), kind, since: since.into() }
}

fn react(store: &Store, id: u64, who: u64, kind: ReactionKind, since: impl Into<Option<u64>>) -> Reacted {
    store.react(item(id), &[wish(who, kind, since)]).expect("reacts").remove(0)
}

fn reactors(store: &Store, id: u64, kind: ReactionKind) -> Vec<(u64, u64)> {
    let rows = store.reactors(item(id), kind, Span::ALL.newest(MANY), Tier::Disk).expect("reads");
    rows.iter().map(|row: &UserCursor| (row.id.get(), row.at)).collect()
}

fn reacted_by(store: &Store, who: u64, kind: ReactionKind) -> Vec<u64> {
    let rows = store.reacted_by(user(who), kind, Span::ALL.newest(MANY), Tier::Disk).expect("reads");
    ids(&rows)
}

/// Likes and favorites of an item.
fn counts(store: &Store, id: u64) -> (u64, u64) {
    both(&store.item_counts(&[item(id)], Tier::Disk).expect("reads")[0])
}

fn both(counts: &ItemCounts) -> (u64, u64) {
    (counts.reactions.get(LIKE), counts.reactions.get(FAVORITE))
}

fn reacted(likes: u64, favorites: u64) -> ItemCounts {
    ItemCounts { reactions: [(LIKE, likes), (FAVORITE, favorites)].into_iter().collect(), ..ItemCounts::default() }
}

fn likes(likes: u64) -> ItemCounts {
    reacted(likes, 0)
}

fn flags<const N: usize>(kinds: [ReactionKind; N]) -> Reactions {
    kinds.into_iter().collect()
}

fn a_like_is_seen_from_both_sides_and_counted(store: &Store) {
    publish_post(store, 10, 9, 100);
    assert_eq!(react(store, 10, 1, LIKE, 50), Reacted { since: Some(50), changed: true, counts: likes(1) });
    assert_eq!(react(store, 10, 2, LIKE, 40).counts, likes(2));
    assert_eq!(react(store, 10, 2, FAVORITE, 60).counts, reacted(2, 1));
    assert_eq!(reactors(store, 10, LIKE), [(1, 50), (2, 40)]);
    assert_eq!(reactors(store, 10, FAVORITE), [(2, 60)]);
    assert_eq!(reacted_by(store, 1, LIKE), [10]);
    assert!(reacted_by(store, 1, FAVORITE).is_empty());
    assert_eq!(reacted_by(store, 2, FAVORITE), [10]);
    let of = |who| store.reacted(user(who), &[place(200, 11), place(100, 10)], Tier::Disk).expect("reads");
    let of_all = |id| store.reacted_to(item(id), &[user(3), user(1), user(2), user(1)], Tier::Disk).expect("reads");
    for (place, id) in [11, 10].into_iter().enumerate() {
        assert_eq!(of_all(id), [3, 1, 2, 1].map(|who| of(who)[place]), "the same, asked the other way");
    }
    assert_eq!(of(1), [Reactions::default(), flags([LIKE])]);
    assert_eq!(of(2)[1], flags([LIKE, FAVORITE]));
    assert_eq!(of(3), [Reactions::default(); 2]);
}

fn a_repeat_changes_nothing(store: &Store) {
    publish_post(store, 10, 9, 100);
    assert_eq!(react(store, 10, 1, LIKE, None), Reacted { since: None, changed: false, counts: likes(0) });
    react(store, 10, 1, LIKE, 50);
    for since in [0, 50, 60] {
        let again = react(store, 10, 1, LIKE, since);
        assert_eq!(again, Reacted { since: Some(50), changed: false, counts: likes(1) });
    }
    assert_eq!(reactors(store, 10, LIKE), [(1, 50)]);
    assert_eq!(react(store, 10, 1, LIKE, None), Reacted { since: None, changed: true, counts: likes(0) });
    assert_eq!(react(store, 10, 1, LIKE, None), Reacted { since: None, changed: false, counts: likes(0) });
    assert_eq!((reactors(store, 10, LIKE), reacted_by(store, 1, LIKE)), (vec![], vec![]));
    assert_eq!(react(store, 10, 1, LIKE, 70).since, Some(70));
    assert_eq!(reactors(store, 10, LIKE), [(1, 70)]);
}

fn wishes_of_one_call_apply_in_their_order(store: &Store) {
    publish_post(store, 10, 9, 100);
    react(store, 10, 1, LIKE, 5);
    let wishes = [
        wish(1, LIKE, None),
        wish(2, LIKE, 6),
        wish(1, LIKE, 7),
        wish(2, LIKE, None),
        wish(2, FAVORITE, 8),
        wish(3, LIKE, 9),
        wish(1, LIKE, 10),
    ];
    let reacted = store.react(item(10), &wishes).expect("reacts");
    let told: Vec<_> = reacted.iter().map(|r| (r.since, r.changed, both(&r.counts))).collect();
    assert_eq!(
        told,
        [
            (None, true, (0, 0)),
            (Some(6), true, (1, 0)),
            (Some(7), true, (2, 0)),
            (None, true, (1, 0)),
            (Some(8), true, (1, 1)),
            (Some(9), true, (2, 1)),
            (Some(7), false, (2, 1))
        ]
    );
    assert_eq!(reactors(store, 10, LIKE), [(3, 9), (1, 7)]);
    assert_eq!((reacted_by(store, 2, LIKE), reacted_by(store, 2, FAVORITE)), (vec![], vec![10]));
    assert_eq!(counts(store, 10), (2, 1));
    assert_eq!(store.react(item(10), &[]).expect("nothing to do"), []);
}

fn a_missing_item_gets_no_reaction(store: &Store) {
    publish_post(store, 10, 9, 100);
    react(store, 10, 1, LIKE, 5);
    store.delete(item(10), 200.into()).expect("deletes");
    for id in [10, 11] {
        for since in [None, Some(6)] {
            let refused = store.react(item(id), &[wish(1, LIKE, since), wish(2, LIKE, since)]);
            assert!(matches!(refused, Err(Error::Refused { code: Code::ContentNotFound, .. })), "{refused:?}");
        }
    }
    // Reactions are kept for a restore, and hidden meanwhile.
    assert_eq!((reactors(store, 10, LIKE), counts(store, 10)), (vec![(1, 5)], (1, 0)));
    assert!(reacted_by(store, 1, LIKE).is_empty());
    assert!(store.reacted(user(1), &[place(100, 10)], Tier::Disk).expect("reads")[0].has(LIKE));
    assert_eq!((reactors(store, 11, LIKE), counts(store, 11)), (vec![], (0, 0)));
}

fn deleted_items_do_not_end_a_page(store: &Store) {
    for id in 1..=2500 {
        publish_post(store, id, 9, id);
        react(store, id, 1, LIKE, 5);
        if id % 100 != 0 {
            store.delete(item(id), 10_000.into()).expect("deletes");
        }
    }
    let page = |order, tier| store.reacted_by(user(1), LIKE, Span::ALL.scan(order, 12), tier);
    let found = page(Order::NewestFirst, Tier::Disk).expect("reads");
    assert_eq!(ids(&found), (14..=25).rev().map(|n| n * 100).collect::<Vec<_>>());
    let found = page(Order::OldestFirst, Tier::Disk).expect("reads");
    assert_eq!(ids(&found), (1..=12).map(|n| n * 100).collect::<Vec<_>>());
    // A read from memory gives the same, or `NotCached` because of so many rows.
    match page(Order::NewestFirst, Tier::Memory) {
        Err(Error::NotCached) => {}
        found => assert_eq!(ids(&found.expect("reads")), (14..=25).rev().map(|n| n * 100).collect::<Vec<_>>()),
    }
}

fn flags_are_right_among_many_reactions(store: &Store) {
    const ITEMS: u64 = 300;
    for id in 1..=ITEMS {
        publish_post(store, id, 9, id);
    }
    let places: Vec<_> = (1..=ITEMS).map(|id| place(id, id)).collect();
    let mut expected = vec![Reactions::default(); places.len()];
    let mut set = |id: u64, kind, since: Option<u64>| {
        react(store, id, 1, kind, since);
        let flags = &mut expected[id as usize - 1];
        *flags = flags.iter().filter(|other| *other != kind).chain(since.map(|_| kind)).collect();
        for tier in [Tier::Disk, Tier::Memory] {
            // In parts, because a read from memory looks up few items at once.
            let read = |part: &[_]| store.reacted(user(1), part, tier).expect("reads");
            assert_eq!(places.chunks(50).flat_map(read).collect::<Vec<_>>(), expected, "after {kind:?} {id} {since:?}");
        }
    };
    // Many likes, few favorites; the oldest and the newest of them change.
    (1..=ITEMS).filter(|id| id % 3 > 0).for_each(|id| set(id, LIKE, Some(5)));
    (1..=ITEMS).filter(|id| id % 50 == 0).for_each(|id| set(id, FAVORITE, Some(5)));
    for id in [ITEMS - 2, ITEMS - 1, 1, 2, 200, ITEMS / 2] {
        set(id, LIKE, None);
        set(id, FAVORITE, Some(6));
        set(id, LIKE, Some(7));
    }
    assert_eq!(store.reacted(user(2), &places[..50], Tier::Disk).expect("reads"), [Reactions::default(); 50]);
}

fn counts_are_right_after_each_change(store: &Store) {
    let point =
        |id, kind: &str| publish(store, Content { kind: kind.to_owned(), ref_id: Some(item(10)), ..post(id, 9, id) });
    let all = || store.item_counts(&[item(10), item(11)], Tier::Disk).expect("reads");
    let mut expected = ItemCounts::default();
    assert_eq!(all(), [ItemCounts::default(), ItemCounts::default()], "before the item");
    point(20, "comment");
    expected.comments += 1;
    assert_eq!(all(), [expected.clone(), ItemCounts::default()]);
    publish_post(store, 10, 9, 100);
    for id in 21..=23 {
        point(id, "repost");
        react(store, 10, id, LIKE, 5);
        react(store, 10, id, FAVORITE, 5);
        expected.reposts += 1;
        expected.reactions = reacted(expected.reposts, expected.reposts).reactions;
        assert_eq!(all(), [expected.clone(), ItemCounts::default()]);
    }
    store.delete(item(20), 200.into()).expect("deletes");
    expected.comments = 0;
    assert_eq!(all()[0], expected);
    store.restore(item(20), 0, None, Push::Queued).expect("restores");
    expected.comments = 1;
    assert_eq!(all()[0], expected);
    store.delete(item(10), 300.into()).expect("deletes");
    assert_eq!(all()[0], expected);
    store.purge_reactions(item(10), u64::MAX, 100, None).expect("purges");
    expected.reactions = ReactionCounts::default();
    assert_eq!(all()[0], expected);
    assert!(store.purge(item(10), u64::MAX).expect("purges"));
    assert_eq!(all()[0], ItemCounts::default());
}

fn lists_are_cut_as_asked(store: &Store) {
    publish_post(store, 10, 9, 100);
    let edges = [(1, 0), (2, 7), (255, 7), (u64::MAX >> 1, 7), (256, u64::MAX >> 1)];
    for (who, since) in edges {
        react(store, 10, who, FAVORITE, since);
    }
    let all: Vec<_> = edges.iter().map(|(id, at)| Position { id: user(*id), at: *at }).collect();
    let mut entries = Vec::new();
    for (id, at) in [(1, 0), (2, 7), (255, 7), (u64::MAX >> 1, 7), (256, u64::MAX >> 1)] {
        publish_post(store, id, 9, at);
        react(store, id, 3, LIKE, 1000 - id % 1000);
        entries.push(entry(9, at, id));
    }
    let places: Vec<_> = entries.iter().map(|entry| entry.cursor).chain([place(7, 9)]).collect();
    for order in BOTH_ORDERS {
        for limit in [0, 1, 3, MANY] {
            for span in spans(&all) {
                let found = store.reactors(item(10), FAVORITE, span.scan(order, limit), Tier::Disk).expect("reads");
                assert_eq!(found, expected(&all, |place| *place, span, order, limit), "{span:?} {order:?} {limit}");
            }
            for span in spans(&places) {
                let found = store.reacted_by(user(3), LIKE, span.scan(order, limit), Tier::Disk).expect("reads");
                let want = expected(&entries, |entry| entry.cursor, span, order, limit);
                assert_eq!(found, want, "{span:?} {order:?} {limit}");
            }
        }
    }
}

fn neighbours_and_kinds_stay_apart(store: &Store) {
    for id in [255, 256, u64::MAX >> 1] {
        publish(store, post(id, id, 1));
        for kind in [LIKE, FAVORITE] {
            react(store, id, id, kind, id);
        }
    }
    for id in [255, 256, u64::MAX >> 1] {
        for kind in [LIKE, FAVORITE] {
            assert_eq!((reactors(store, id, kind), reacted_by(store, id, kind)), (vec![(id, id)], vec![id]));
        }
    }
    react(store, 256, 256, FAVORITE, None);
    assert_eq!((counts(store, 255), counts(store, 256)), ((1, 1), (1, 0)));
    assert_eq!((reacted_by(store, 256, LIKE), reacted_by(store, 256, FAVORITE)), (vec![256], vec![]));
}

fn a_purge_forgets_piece_by_piece(store: &Store) {
    for id in [10, 11] {
        publish_post(store, id, 9, 100);
        for who in 1..=5 {
            react(store, id, who, LIKE, who);
            react(store, id, who, FAVORITE, who);
        }
    }
    let purge = |id, most, after| store.purge_reactions(item(id), u64::MAX, most, after).expect("purges");
    assert_eq!(purge(10, 100, None), [], "of a live item nothing");
    assert_eq!(counts(store, 10), (5, 5));
    store.delete(item(10), 200.into()).expect("deletes");
    // The bytes of the kinds, in the order of their first use.
    let (like, favorite) = (0, 1);
    let place = |kind, who| (kind, Position { at: who, id: user(who) });
    // With a place, only the reactions after it.
    assert_eq!(purge(10, 2, Some(place(favorite, 3))), [place(favorite, 2), place(favorite, 1)]);
    assert_eq!(purge(10, 1, Some(place(like, 3))), [place(like, 2)]);
    assert_eq!(counts(store, 10), (4, 3));
    let (mut last, mut purged) = (None, Vec::new());
    let pieces: Vec<_> = (0..4)
        .map(|_| {
            let piece = purge(10, 3, last);
            last = piece.last().copied().or(last);
            purged.extend(piece.iter().map(|(kind, place)| (*kind, place.at)));
            piece.len()
        })
        .collect();
    assert_eq!(pieces, [3, 3, 1, 0]);
    assert_eq!(purged, [(like, 5), (like, 4), (like, 3), (like, 1), (favorite, 5), (favorite, 4), (favorite, 3)]);
    assert_eq!(counts(store, 10), (0, 0));
    for kind in [LIKE, FAVORITE] {
        assert_eq!(reactors(store, 10, kind), []);
        assert_eq!(reactors(store, 11, kind).len(), 5);
        assert!((1..=5).all(|who| reacted_by(store, who, kind) == [11]));
    }
    let flags = store.reacted(user(1), &[10, 11].map(|id| entry(9, 100, id).cursor), Tier::Disk).expect("reads");
    assert_eq!(flags, [Reactions::default(), [LIKE, FAVORITE].into_iter().collect()]);
    assert_eq!(purge(77, 3, None), []);
}

fn every_kind_of_the_most_is_counted_listed_and_purged(store: &Store) {
    let kinds = |names: &[&str]| {
        let kinds = ReactionKinds::new(names.iter().map(|name| (*name).to_owned()).collect()).expect("names");
        assert_eq!(store.name_reactions(&kinds), kinds);
        kinds
    };
    let many: Vec<_> = (0..32).map(|n| format!("{n} 👏")).collect();
    let all = kinds(&many.iter().map(String::as_str).collect::<Vec<_>>());
    publish_post(store, 10, 9, 100);
    for (kind, name) in all.iter() {
        let counts = react(store, 10, 1, kind, 5).counts;
        assert_eq!((counts.reactions.get(kind), counts.reactions.iter().count()), (1, kind.place() + 1), "{name}");
    }
    assert_eq!(store.reacted(user(1), &[place(100, 10)], Tier::Disk).expect("reads")[0].iter().count(), 32);
    store.delete(item(10), 200.into()).expect("deletes");
    let purged = store.purge_reactions(item(10), u64::MAX, 20, None).expect("purges");
    assert_eq!(purged.iter().map(|(byte, _)| *byte).collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
    let rest = store.purge_reactions(item(10), u64::MAX, 20, purged.last().copied()).expect("purges");
    assert_eq!((rest.len(), store.purge(item(10), u64::MAX).expect("purges")), (12, true));
}

fn concurrent_reactions_count_exactly(store: &Store) {
    publish_post(store, 10, 9, 100);
    let all: Vec<UserId> = users(1..=40);
    std::thread::scope(|threads| {
        for part in all.chunks(10) {
            threads.spawn(move || {
                for round in 0..20 {
                    for who in part {
                        let since = (round % 2 == 0 || who.get() % 2 == 0).then_some(round);
                        react(store, 10, who.get(), LIKE, since);
                    }
                }
            });
        }
    });
    assert_eq!(counts(store, 10), (20, 0));
    let who: Vec<_> = reactors(store, 10, LIKE).into_iter().map(|(who, since)| (who % 2, since)).collect();
    assert_eq!(who, vec![(0, 0); 20]);
}

on_both! {
    a_like_is_seen_from_both_sides_and_counted,
    a_repeat_changes_nothing,
    wishes_of_one_call_apply_in_their_order,
    a_missing_item_gets_no_reaction,
    deleted_items_do_not_end_a_page,
    flags_are_right_among_many_reactions,
    counts_are_right_after_each_change,
    lists_are_cut_as_asked,
    neighbours_and_kinds_stay_apart,
    a_purge_forgets_piece_by_piece,
    every_kind_of_the_most_is_counted_listed_and_purged,
    concurrent_reactions_count_exactly,
}
