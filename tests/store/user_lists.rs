//! Lists of sources that users keep.

use model::store::{Change, Tier};
use model::{Barrier, Cursor, KindId, ListSettings, Order, Rule, Span, UserCursor, UserList};
use store::Store;

use super::support::{MANY, follow, place, user, users};

fn put(store: &Store, who: u64, name: &str, exclusive: bool) -> UserList {
    store.put_list(user(who), name, &ListSettings { title: None, exclusive }, MANY).expect("puts")
}

fn change(store: &Store, who: u64, name: &str, changes: &[(u64, Option<u64>)]) -> Option<Vec<Option<u64>>> {
    let changes: Vec<_> = changes.iter().map(|(member, since)| Change::new(user(*member), *since)).collect();
    let after = store.change_members(user(who), name, &changes, MANY).expect("changes")?;
    Some(after.into_iter().map(|membership| membership.map(|membership| membership.since)).collect())
}

fn members(store: &Store, list: &UserList) -> Vec<(u64, u64)> {
    let all = store.list_members(list.id, Span::ALL.newest(MANY), Tier::Disk).expect("reads");
    all.into_iter().map(|UserCursor { at, id }| (at, id.get())).collect()
}

fn names(store: &Store, who: u64) -> Vec<String> {
    store.lists(user(who), Tier::Disk).expect("reads").into_iter().map(|list| list.name).collect()
}

fn a_list_is_made_changed_and_deleted(store: &Store) {
    assert!(names(store, 1).is_empty());
    let close = put(store, 1, "close", false);
    let other = put(store, 1, "\u{e9}", true);
    assert_eq!(put(store, 1, "close", false), close, "a repeat");
    let titled = ListSettings { title: Some("T".to_owned()), exclusive: true };
    let changed = store.put_list(user(1), "close", &titled, 0).expect("a change needs no room");
    assert_eq!(changed, UserList { settings: titled, ..close.clone() });
    assert_ne!(close.id, other.id);
    assert_eq!(names(store, 1), ["close", "\u{e9}"]);
    assert_eq!(store.list(user(1), "close", Tier::Disk).expect("reads"), Some(changed));
    assert_eq!(store.list(user(2), "close", Tier::Disk).expect("reads"), None, "another user's");
    let refused = store.put_list(user(1), "third", &ListSettings::default(), 2).expect_err("is full");
    assert_eq!(refused.code().map(|code| code.name()), Some("list_limit"));
    assert!(store.delete_list(user(1), "close").expect("deletes"));
    assert!(!store.delete_list(user(1), "close").expect("answers"));
    assert_eq!(names(store, 1), ["\u{e9}"]);
    assert!(put(store, 2, "close", false).id > other.id.max(close.id), "no number is given twice");
}

fn members_keep_their_times(store: &Store) {
    assert_eq!(change(store, 1, "close", &[(2, Some(5))]), None);
    let list = put(store, 1, "close", false);
    assert_eq!(
        change(store, 1, "close", &[(2, Some(5)), (256, Some(7)), (3, None)]),
        Some(vec![Some(5), Some(7), None])
    );
    assert_eq!(change(store, 1, "close", &[(2, Some(9)), (1, Some(6))]), Some(vec![Some(5), Some(6)]));
    assert_eq!(members(store, &list), [(7, 256), (6, 1), (5, 2)]);
    let above = Span { before: None, after: Some(UserCursor { at: 5, id: user(2) }) };
    let oldest = store.list_members(list.id, above.scan(Order::OldestFirst, 1), Tier::Disk).expect("reads");
    assert_eq!(oldest, [UserCursor { at: 6, id: user(1) }]);
    let among = store.memberships(list.id, &users([3, 256, 2]), Tier::Disk).expect("reads");
    assert_eq!(among.iter().map(|of| of.map(|of| of.since)).collect::<Vec<_>>(), [None, Some(7), Some(5)]);
    assert_eq!(change(store, 1, "close", &[(2, None), (4, Some(8))]), Some(vec![None, Some(8)]));
    assert_eq!(members(store, &list), [(8, 4), (7, 256), (6, 1)]);
    let refused = |changes: &[(u64, Option<u64>)]| {
        let changes: Vec<_> = changes.iter().map(|(member, since)| Change::new(user(*member), *since)).collect();
        store.change_members(user(1), "close", &changes, 2).err().and_then(|error| error.code())
    };
    assert_eq!(refused(&[(9, Some(1))]).map(|code| code.name()), Some("member_limit"));
    assert_eq!(refused(&[(9, Some(1)), (4, None)]), None, "not more than before");
    store.delete_list(user(1), "close").expect("deletes");
    assert!(members(store, &list).is_empty());
    assert!(members(store, &put(store, 1, "close", false)).is_empty(), "of another list of the name");
}

fn an_exclusive_list_takes_its_members_out_of_the_authors(store: &Store) {
    for author in 2..=5 {
        follow(store, 1, author, 1);
    }
    let authors = || {
        let all = store.authors(user(1), Tier::Disk).expect("reads");
        let among = store.authors_among(user(1), &users(1..=9), Tier::Disk).expect("reads");
        assert_eq!((&among[..], among.rules()), (&all[..], all.rules()));
        all.to_vec()
    };
    let list = put(store, 1, "close", false);
    change(store, 1, "close", &[(2, Some(1)), (3, Some(1)), (9, Some(1))]);
    assert_eq!(authors(), users([2, 3, 4, 5]));
    put(store, 1, "close", true);
    put(store, 1, "other", true);
    change(store, 1, "other", &[(5, Some(1))]);
    assert_eq!(authors(), users([4]));
    let of_list = || store.list_authors(user(1), list.id, Tier::Disk).expect("reads").to_vec();
    assert_eq!(of_list(), users([2, 3, 9]));
    store.set_barrier(user(1), user(3), Barrier::Mute, Some(1), MANY).expect("mutes");
    store.set_barrier(user(9), user(1), Barrier::Hide, Some(1), MANY).expect("hides");
    assert_eq!(of_list(), users([2]));
    change(store, 1, "close", &[(2, None)]);
    assert_eq!(authors(), users([2, 4]));
    store.delete_list(user(1), "other").expect("deletes");
    assert_eq!(authors(), users([2, 4, 5]));
    assert_eq!(store.authors(user(2), Tier::Disk).expect("reads")[..], [], "another user's lists count nothing");
}

fn members_have_rules_of_their_own(store: &Store) {
    let list = put(store, 1, "close", false);
    let no_posts = Rule::new(false, &[KindId::POST]).expect("few");
    let add = |member: u64, since: u64, rule: Option<Option<Rule>>| {
        let change = Change { rule, ..Change::new(user(member), Some(since)) };
        let after = store.change_members(user(1), "close", &[change], MANY).expect("changes").expect("a list");
        after[0].map(|membership| (membership.since, membership.rule))
    };
    assert_eq!(add(2, 5, Some(Some(no_posts))), Some((5, Some(no_posts))));
    assert_eq!(add(3, 6, None), Some((6, None)));
    assert_eq!(add(2, 7, None), Some((5, Some(no_posts))), "it stays");
    let rules = || store.list_authors(user(1), list.id, Tier::Disk).expect("reads").rules().to_vec();
    assert_eq!(rules(), [(user(2), no_posts)]);
    assert_eq!(add(2, 8, Some(None)), Some((5, None)));
    assert_eq!((rules(), members(store, &list)), (vec![], vec![(6, 3), (5, 2)]));
    add(2, 9, Some(Some(no_posts)));
    change(store, 1, "close", &[(2, None)]);
    assert_eq!(add(2, 9, None), Some((9, None)), "it went with the member");
}

fn the_marker_of_a_list_moves_forward_only_and_goes_with_it(store: &Store) {
    let shift = |name: &str, to: Cursor| store.move_list_marker(user(1), name, to, None).expect("moves");
    assert_eq!(shift("close", place(5, 5)), None);
    let list = put(store, 1, "close", false);
    let marker = || store.list_marker(list.id, Tier::Disk).expect("reads");
    assert_eq!(marker(), None);
    assert_eq!(shift("close", place(5, 5)), Some(place(5, 5)));
    assert_eq!(shift("close", place(4, 9)), Some(place(5, 5)));
    let back = store.move_list_marker(user(1), "close", place(1, 1), Some(place(5, 5))).expect("moves");
    assert_eq!((back, marker()), (Some(place(1, 1)), Some(place(1, 1))));
    assert_eq!(store.marker(user(1), Tier::Disk).expect("reads"), None, "that of the home timeline");
    store.delete_list(user(1), "close").expect("deletes");
    assert_eq!(marker(), None);
}

on_both! {
    a_list_is_made_changed_and_deleted,
    members_keep_their_times,
    an_exclusive_list_takes_its_members_out_of_the_authors,
    members_have_rules_of_their_own,
    the_marker_of_a_list_moves_forward_only_and_goes_with_it,
}
