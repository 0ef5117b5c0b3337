//! Profiles.

use tideline::model::Profile;
use tideline::store::{Store, Tier};

use super::support::{user, users};

fn named(nickname: &str) -> Profile {
    Profile { nickname: Some(nickname.to_owned()), ..Profile::default() }
}

fn read(store: &dyn Store, who: impl IntoIterator<Item = u64>) -> Vec<Option<Profile>> {
    store.profiles(&users(who), Tier::Disk).expect("reads")
}

fn a_profile_is_put_in_place_of_the_last(store: &dyn Store) {
    assert_eq!(read(store, [1]), [None]);
    let full = Profile {
        nickname: Some("Ann \u{e9}".to_owned()),
        avatar: Some("a.png".to_owned()),
        extra: Some("{\"k\": 1.50}".to_owned()),
    };
    store.put_profile(user(1), &full).expect("puts");
    assert_eq!(read(store, [1]), [Some(full)]);
    store.put_profile(user(1), &named("Ann")).expect("puts");
    assert_eq!(read(store, [1]), [Some(named("Ann"))]);
    store.put_profile(user(1), &Profile::default()).expect("puts");
    assert_eq!(read(store, [1]), [Some(Profile::default())]);
}

fn profiles_come_in_the_order_they_are_asked_for(store: &dyn Store) {
    let several: Vec<_> = [255, 1, 256].map(|id| (user(id), named(&id.to_string()))).into();
    store.put_profiles(&several).expect("puts");
    let name = |id: u64| Some(named(&id.to_string()));
    assert_eq!(read(store, [256, 2, 1, 256, 255]), [name(256), None, name(1), name(256), name(255)]);
    assert_eq!(read(store, []), []);
}

fn of_one_who_comes_twice_the_later_counts(store: &dyn Store) {
    store.put_profiles(&[(user(1), named("a")), (user(2), named("b")), (user(1), named("c"))]).expect("puts");
    assert_eq!(read(store, [1, 2]), [Some(named("c")), Some(named("b"))]);
    store.put_profiles(&[]).expect("puts nothing");
    assert_eq!(read(store, [1, 2]), [Some(named("c")), Some(named("b"))]);
}

on_both! {
    a_profile_is_put_in_place_of_the_last,
    profiles_come_in_the_order_they_are_asked_for,
    of_one_who_comes_twice_the_later_counts,
}
