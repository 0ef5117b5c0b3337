//! Tables of one row a user: profiles, markers, which move forward only, and suspensions.

use model::store::Tier;
use model::{Cursor, Event, EventKind, Logged, Profile};
use store::Store;

use super::support::{place, user, users};

fn named(nickname: &str) -> Profile {
    Profile { nickname: Some(nickname.to_owned()), ..Profile::default() }
}

fn profiles(store: &Store, who: impl IntoIterator<Item = u64>) -> Vec<Option<Profile>> {
    store.profiles(&users(who), Tier::Disk).expect("reads")
}

fn a_profile_is_put_in_place_of_the_last(store: &Store) {
    assert_eq!(profiles(store, [1]), [None]);
    let full = Profile {
        nickname: Some("Ann \u{e9}".to_owned()),
        avatar: Some("a.png".to_owned()),
        extra: Some("{\"k\": 1.50}".to_owned()),
    };
    store.put_profile(user(1), &full).expect("puts");
    assert_eq!(profiles(store, [1]), [Some(full)]);
    store.put_profile(user(1), &named("Ann")).expect("puts");
    assert_eq!(profiles(store, [1]), [Some(named("Ann"))]);
    store.put_profile(user(1), &Profile::default()).expect("puts");
    assert_eq!(profiles(store, [1]), [Some(Profile::default())]);
}

fn profiles_come_in_the_order_they_are_asked_for(store: &Store) {
    let several: Vec<_> = [255, 1, 256].map(|id| (user(id), named(&id.to_string()))).into();
    store.put_profiles(&several).expect("puts");
    let name = |id: u64| Some(named(&id.to_string()));
    assert_eq!(profiles(store, [256, 2, 1, 256, 255]), [name(256), None, name(1), name(256), name(255)]);
    assert_eq!(profiles(store, []), []);
}

fn of_one_who_comes_twice_the_later_counts(store: &Store) {
    store.put_profiles(&[(user(1), named("a")), (user(2), named("b")), (user(1), named("c"))]).expect("puts");
    assert_eq!(profiles(store, [1, 2]), [Some(named("c")), Some(named("b"))]);
    store.put_profiles(&[]).expect("puts nothing");
    assert_eq!(profiles(store, [1, 2]), [Some(named("c")), Some(named("b"))]);
}

fn a_user_is_found_by_the_words_of_the_present_nickname(store: &Store) {
    let found = |text: &str| store.users_named(text, 2).expect("reads");
    let put = [(1, "Ann Lee"), (2, "LEE"), (3, "Leeds Ann"), (4, "")].map(|(who, name)| (user(who), named(name)));
    store.put_profiles(&put).expect("puts");
    assert_eq!(found("lee"), users([1, 2]), "in the order of the words, then of the users");
    assert_eq!(found("leed"), users([3]));
    assert_eq!(found("ann l"), users([1]));
    assert_eq!(found("nn"), []);
    store.put_profiles(&[(user(1), named("Bo Lee")), (user(2), named("x")), (user(1), named("Bo"))]).expect("puts");
    assert_eq!((found("lee"), found("bo"), found("ann")), (users([3]), users([1]), users([3])));
    store.put_profile(user(3), &Profile::default()).expect("puts");
    assert_eq!(found("lee"), []);
}

fn marker(store: &Store, who: u64) -> Option<Cursor> {
    store.marker(user(who), Tier::Disk).expect("reads")
}

fn a_marker_moves_forward_only(store: &Store) {
    assert_eq!(marker(store, 1), None);
    for (moved_to, then) in [
        (place(5, 5), place(5, 5)),
        (place(4, 9), place(5, 5)),
        (place(5, 4), place(5, 5)),
        (place(5, 5), place(5, 5)),
        (place(5, 6), place(5, 6)),
        (place(6, 1), place(6, 1)),
        (Cursor::OLDEST, place(6, 1)),
        (Cursor::NEWEST, Cursor::NEWEST),
        (place(6, 1), Cursor::NEWEST),
    ] {
        assert_eq!(store.move_marker(user(1), moved_to, None).expect("moves"), then, "to {moved_to}");
        assert_eq!(marker(store, 1), Some(then));
    }
    assert_eq!(marker(store, 2), None, "another user's");
    assert_eq!(store.move_marker(user(2), Cursor::OLDEST, None).expect("moves"), Cursor::OLDEST);
    assert_eq!((marker(store, 2), marker(store, 1)), (Some(Cursor::OLDEST), Some(Cursor::NEWEST)));
}

fn a_marker_moves_back_from_a_wrong_place_only(store: &Store) {
    let mend = |wrong: Cursor, then: Cursor| store.move_marker(user(1), then, Some(wrong)).expect("moves");
    assert_eq!(mend(place(5, 5), place(1, 1)), place(1, 1), "none there");
    for who in [1, 2] {
        store.move_marker(user(who), Cursor::NEWEST, None).expect("moves");
    }
    assert_eq!(mend(place(5, 5), place(4, 4)), Cursor::NEWEST, "another place");
    assert_eq!(mend(Cursor::NEWEST, place(4, 4)), place(4, 4), "back");
    assert_eq!((marker(store, 1), marker(store, 2)), (Some(place(4, 4)), Some(Cursor::NEWEST)));
    assert_eq!(mend(Cursor::NEWEST, place(3, 3)), place(4, 4), "it is not there any more");
    assert_eq!(mend(place(3, 3), place(6, 1)), place(6, 1), "upwards");
}

fn a_suspension_keeps_its_time_until_it_is_taken_back(store: &Store) {
    let set = |who: u64, since: Option<u64>, number: u64| {
        let event = Event::new(number, EventKind::Suspension, false, 5, 5).of_user(user(who));
        store.set_suspension(user(who), since, event).expect("sets")
    };
    let since = |who: u64| store.suspended_since(user(who), Tier::Disk).expect("reads");
    let among = |who: &[u64]| store.suspended_among(&mut who.iter().map(|who| user(*who)), Tier::Disk).expect("reads");
    assert_eq!((since(1), among(&[1, 2])), (None, vec![]));
    assert!(!set(1, None, 1), "it was not there");
    assert!(set(1, Some(7), 2) && !set(1, Some(9), 3));
    assert!(set(256, Some(0), 4));
    assert_eq!((since(1), since(2), since(256)), (Some(7), None, Some(0)));
    assert_eq!(among(&[256, 2, 1, 256, 255]), [user(1), user(256)]);
    assert!(set(1, None, 5) && !set(1, None, 6));
    assert_eq!((since(1), among(&[1, 256])), (None, vec![user(256)]));
    let events = store.logged(0, 9).expect("reads").into_iter().filter_map(Logged::event);
    let told: Vec<_> = events.map(|event| (event.number, event.kind, event.entry.author)).collect();
    assert_eq!(told, [(2, 1), (4, 256), (5, 1)].map(|(number, who)| (number, EventKind::Suspension, user(who))));
}

on_both! {
    a_suspension_keeps_its_time_until_it_is_taken_back,
    a_profile_is_put_in_place_of_the_last,
    profiles_come_in_the_order_they_are_asked_for,
    of_one_who_comes_twice_the_later_counts,
    a_user_is_found_by_the_words_of_the_present_nickname,
    a_marker_moves_forward_only,
    a_marker_moves_back_from_a_wrong_place_only,
}
