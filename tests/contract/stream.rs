//! `GET /v1/users/{uid}/stream`

use serde_json::json;

use super::listener::{Listener, Sent};
use super::model::content_cursor;
use super::town::{KINDS, Town};

/// The next event on the stream of user 1. It must be this one, with the item's state if the item is live.
#[track_caller]
fn expect(listener: &mut Listener, town: &Town, name: &str, id: u64) -> Sent {
    let sent = listener.event();
    assert_eq!((sent.event.as_str(), &sent.data["content_id"]), (name, &id.to_string().into()), "{sent:?}");
    if town.model.items.contains_key(&id) {
        assert_eq!(sent.data, town.model.viewed(id, 1), "{name}");
    } else {
        let item = &town.model.deleted[&id];
        let short = json!({"content_id": item["content_id"], "author_id": item["author_id"],
            "published_at": item["published_at"]});
        assert_eq!((name, &sent.data), ("delete", &short));
    }
    let cursor = (name == "content").then(|| content_cursor(&sent.data));
    assert_eq!(sent.id, cursor, "only what came is a place");
    sent
}

#[test]
fn a_stream_tells_what_happens_in_the_timeline_and_nothing_else() {
    let mut town = Town::new();
    let mut listener = Listener::open(&town.server, 1, None);
    assert!(listener.head.starts_with("HTTP/1.1 200 "), "{}", listener.head);
    for header in ["content-type: text/event-stream", "cache-control: no-store", "x-accel-buffering: no"] {
        assert!(listener.head.contains(&format!("{header}\r\n")), "{}", listener.head);
    }
    let mut next = 40;
    // Publishes an item that user 1 must not see, then one that it must: the second comes next.
    let mut unseen = |town: &mut Town, listener: &mut Listener, author: u64, broadcast: bool| {
        town.publish(json!({"content_id": next, "author_id": author, "broadcast": broadcast}));
        town.publish(json!({"content_id": next + 1, "author_id": 4, "published_at": 200, "text": "seen"}));
        expect(listener, town, "content", next + 1);
        next += 2;
    };
    unseen(&mut town, &mut listener, 5, true);
    unseen(&mut town, &mut listener, 2, false);
    unseen(&mut town, &mut listener, 1, true);
    town.comment(10, json!({"author_id": 2, "text": "in no timeline"}));
    for quiet in [42, 20] {
        town.edit(quiet, json!({"text": "still in none"}));
        town.delete(quiet);
        town.restore(quiet);
    }
    town.edit(41, json!({"text": "then"}));
    expect(&mut listener, &town, "edit", 41);
    town.edit(40, json!({"text": "of a stranger"}));
    town.react("like", 41, 1);
    town.delete(40);
    town.delete(41);
    expect(&mut listener, &town, "delete", 41);
    town.restore(40);
    // The second restore changes nothing.
    (0..2).for_each(|_| town.restore(41));
    expect(&mut listener, &town, "content", 41);
    town.mute(1, 2);
    unseen(&mut town, &mut listener, 2, true);
    town.unmute(1, 2);
    town.hide(2, 1);
    unseen(&mut town, &mut listener, 2, true);
    town.unhide(2, 1);
    town.unfollow(1, 3);
    unseen(&mut town, &mut listener, 3, true);
    town.follow(1, 5, 500);
    let id = town.publish(json!({"author_id": 5, "published_at": 1, "text": "late, and news all the same"}));
    expect(&mut listener, &town, "content", id);
    let loud = town.comment(11, json!({"author_id": 2, "text": "for all", "broadcast": true}));
    expect(&mut listener, &town, "content", loud);
    // Likes of others' items and profiles are no events.
    town.react("like", 10, 6);
    town.profile(2, json!({"nickname": "Anna"}));
    town.read_to(1, 170, 1);
    let moved = listener.event();
    assert_eq!((moved.event.as_str(), moved.data), ("marker", json!({"of": "timeline", "cursor": "170-1"})));
    listener.is_quiet();
    // The reader's own reactions to an item come with the next event of the item.
    town.edit(10, json!({"text": "liked by another"}));
    expect(&mut listener, &town, "edit", 10);
    town.react("like", 12, 1);
    town.react("favorite", 30, 1);
    for id in [12, 30] {
        town.edit(id, json!({"text": "marked"}));
        expect(&mut listener, &town, "edit", id);
    }
    listener.is_quiet();
    town.check("a stream changes nothing");
}

#[test]
fn a_suspension_resets_every_stream() {
    let mut town = Town::new();
    let [mut shown, mut other] = [1, 2].map(|user| Listener::open(&town.server, user, None));
    town.publish(json!({"content_id": 40, "author_id": 2, "published_at": 200}));
    let before = expect(&mut shown, &town, "content", 40).id;
    town.suspend(2);
    assert_eq!(shown.event().event, "reset");
    town.publish(json!({"content_id": 41, "author_id": 2, "published_at": 210}));
    town.edit(40, json!({"text": "unseen"}));
    town.delete(10);
    let quiet = town.publish(json!({"content_id": 42, "author_id": 3, "published_at": 220}));
    let meanwhile = expect(&mut shown, &town, "content", quiet).id;
    for place in [&before, &meanwhile] {
        let mut again = Listener::open(&town.server, 1, place.as_deref());
        if *place == before {
            assert_eq!(again.event().event, "reset");
        }
        again.is_quiet();
    }
    town.unsuspend(2);
    assert_eq!(shown.event().event, "reset");
    let mut again = Listener::open(&town.server, 1, meanwhile.as_deref());
    assert_eq!(again.event().event, "reset");
    town.edit(41, json!({"text": "seen"}));
    [&mut shown, &mut again].into_iter().for_each(|listener| drop(expect(listener, &town, "edit", 41)));
    [shown, again].iter_mut().for_each(Listener::is_quiet);
    // This reader follows neither of them.
    (0..2).for_each(|_| assert_eq!(other.event().event, "reset"));
    other.is_quiet();
}

#[test]
fn a_stream_goes_on_where_it_was_cut() {
    let mut town = Town::new();
    let mut listener = Listener::open(&town.server, 1, None);
    town.publish(json!({"content_id": 40, "author_id": 2, "published_at": 200}));
    let last = expect(&mut listener, &town, "content", 40).id;
    drop(listener);
    for id in 41..50 {
        town.publish(json!({"content_id": id, "author_id": 2 + id % 3, "published_at": 160 + id}));
    }
    for user in [1, 2] {
        town.react("favorite", 40 + user, user);
    }
    town.delete(45);
    // A place can be used any number of times.
    for _ in 0..2 {
        let mut listener = Listener::open(&town.server, 1, last.as_deref());
        for id in (41..50).filter(|id| *id != 45) {
            expect(&mut listener, &town, "content", id);
        }
        expect(&mut listener, &town, "delete", 45);
        listener.is_quiet();
    }
    let mut listener = Listener::open(&town.server, 1, Some("209-49"));
    expect(&mut listener, &town, "delete", 45);
    town.publish(json!({"content_id": 60, "author_id": 2, "published_at": 300}));
    expect(&mut listener, &town, "content", 60);
}

#[test]
fn every_item_of_the_timeline_is_a_place_also_after_a_restart() {
    let mut town = Town::new();
    town.publish(json!({"content_id": 40, "author_id": 2, "published_at": 200}));
    town.server = town.server.restart("KILL", &[KINDS]);
    let oldest_first: Vec<u64> = town.model.timeline(1).into_iter().rev().collect();
    assert_eq!(oldest_first, [10, 11, 12, 21, 30, 40]);
    // The events missed are those published later, whatever their times.
    let published = [10, 11, 12, 30, 21, 40];
    for (place, id) in published.iter().enumerate() {
        let after = content_cursor(&town.model.items[id]);
        let mut listener = Listener::open(&town.server, 1, Some(&after));
        for later in &published[place + 1..] {
            expect(&mut listener, &town, "content", *later);
        }
        listener.is_quiet();
    }
    town.check("after a crash");
}
