//! Streams that resume after restored items, after changes without places, and after places that do not exist.

use super::listener::Listener;
use crate::server::{PATIENCE, Server};

fn batch(server: &Server, ids: std::ops::RangeInclusive<u64>) {
    let items: Vec<_> = ids.map(|id| format!(r#"{{"content_id":{id},"author_id":2}}"#)).collect();
    server.call("POST", "/v1/content/batch", format!(r#"{{"items":[{}]}}"#, items.join(","))).expect(201);
}

/// Deletes and restores an item.
fn back(server: &Server, id: u64) {
    assert_eq!(server.call("DELETE", &format!("/v1/content/{id}"), "").status, 204);
    server.call("POST", &format!("/v1/content/{id}/restore"), "").expect(200);
}

/// The next block, which must give a place without an event.
fn place(listener: &mut Listener) -> String {
    let block = listener.block(PATIENCE).expect("a place");
    assert_eq!((block.event.as_str(), block.comments), ("", 0), "{block:?}");
    block.id.expect("an id")
}

/// Publishes as user 2, whom user 1 follows, and awaits the event. Returns its place.
pub(crate) fn told(server: &Server, listener: &mut Listener, id: u64) -> String {
    server.publish(id, 2, 1000 + id);
    assert_eq!(listener.content(), id);
    listener.last_id.clone().unwrap()
}

/// Resumes after a place, and must get a reset. Returns the place of the reset.
pub(crate) fn is_reset(server: &Server, place: &str) -> String {
    let mut listener = Listener::open(server, 1, Some(place));
    let sent = listener.event();
    assert_eq!(sent.event, "reset", "{place}: {sent:?}");
    listener.is_quiet();
    sent.id.unwrap()
}

/// Resumes after a place, and must get these items and no other event.
pub(crate) fn goes_on(server: &Server, place: &str, ids: &[u64]) {
    let mut listener = Listener::open(server, 1, Some(place));
    ids.iter().for_each(|id| assert_eq!(listener.content(), *id, "{place}"));
    listener.is_quiet();
}

#[test]
fn after_an_item_that_came_back_a_client_goes_on_from_there() {
    let server = Server::start();
    server.follow(1, 2, 10);
    server.follow(9, 3, 10);
    let (mut listener, mut other) = (Listener::open(&server, 1, None), Listener::open(&server, 9, None));
    let begin = place(&mut other);
    server.publish(1, 2, 1000);
    assert_eq!(listener.content(), 1);
    for ids in [2..=800, 801..=1500] {
        batch(&server, ids.clone());
        ids.for_each(|id| assert_eq!(listener.content(), id));
    }
    back(&server, 1);
    let sent = listener.event();
    // The delete is left out if the restore came before it was sent.
    let sent = if sent.event == "delete" { listener.event() } else { sent };
    assert_eq!((sent.event.as_str(), sent.id.as_deref()), ("content", Some("1000-1")), "the id is the cursor");
    let behind = place(&mut listener);
    assert_eq!(listener.last_id.as_deref(), Some(behind.as_str()));
    server.publish(1600, 2, 5);
    assert_eq!(listener.content(), 1600);
    for _ in 0..2 {
        let mut again = Listener::open(&server, 1, Some(&behind));
        assert_eq!(again.content(), 1600, "neither a reset nor what came before");
        again.is_quiet();
    }
    other.is_quiet();
    assert_eq!(other.last_id, Some(begin), "who is not shown the item hears nothing of it");
    // The item's own cursor is still the place of its publish.
    assert_eq!(Listener::open(&server, 1, Some("1000-1")).event().event, "reset");
    // So it is after a restart.
    let server = server.restart("TERM", &[]);
    let mut again = Listener::open(&server, 1, Some(&behind));
    assert_eq!(again.content(), 1600);
    again.is_quiet();
}

#[test]
fn an_item_that_came_back_while_a_client_was_away_is_a_place_too() {
    let server = Server::start();
    server.follow(1, 2, 10);
    (1..=3).for_each(|id| server.publish(id, 2, 1000 + id));
    back(&server, 1);
    back(&server, 3);
    // Item 1 was restored. Item 3 is new, in its present state. The client can resume after either.
    let mut listener = Listener::open(&server, 1, Some("1001-1"));
    assert_eq!((listener.content(), listener.content(), listener.content()), (2, 3, 1));
    let places = [place(&mut listener), place(&mut listener)];
    listener.is_quiet();
    Listener::open(&server, 1, Some(&places[1])).is_quiet();
    let mut again = Listener::open(&server, 1, Some(&places[0]));
    assert_eq!(again.content(), 3);
}

#[test]
fn only_items_are_counted_of_what_was_missed() {
    let server = Server::start();
    server.follow(1, 2, 10);
    server.publish(1, 2, 1000);
    batch(&server, 2..=1001);
    for id in 2..5 {
        server.call("PATCH", &format!("/v1/content/{id}"), r#"{"text":"new"}"#).expect(200);
    }
    back(&server, 7);
    assert_eq!(server.call("DELETE", "/v1/content/8", "").status, 204);
    let mut listener = Listener::open(&server, 1, Some("1000-1"));
    (2..=1001).filter(|id| *id != 8).for_each(|id| assert_eq!(listener.content(), id));
    let rest: Vec<_> = (0..4).map(|_| listener.event().event).collect();
    assert_eq!(rest, ["edit", "edit", "edit", "delete"]);
    listener.is_quiet();
    batch(&server, 1002..=1002);
    assert_eq!(Listener::open(&server, 1, Some("1000-1")).event().event, "reset");
}

#[test]
fn an_empty_place_is_none() {
    let server = Server::start();
    server.follow(1, 2, 10);
    server.publish(1, 2, 1000);
    let mut listener = Listener::open(&server, 1, Some(""));
    let begin = place(&mut listener);
    listener.is_quiet();
    server.publish(2, 2, 1001);
    assert_eq!(listener.content(), 2);
    let mut again = Listener::open(&server, 1, Some(&begin));
    assert_eq!(again.content(), 2);
}

#[test]
fn a_place_that_leads_to_nothing_is_a_reset() {
    let server = Server::start();
    server.follow(1, 2, 10);
    let begin = loop {
        let mut listener = Listener::open(&server, 1, None);
        listener.block(PATIENCE).unwrap();
        if let Some(place) = listener.last_id {
            break place;
        }
    };
    let server = server.restart("KILL", &[]);
    goes_on(&server, &begin, &[]);
    let mut listener = Listener::open(&server, 1, None);
    let item = told(&server, &mut listener, 7);
    server.call("POST", "/v1/content", r#"{"author_id":2,"content_id":8,"broadcast":false}"#).expect(201);
    let quiet = server.get("/v1/content/8")["published_at"].as_u64().unwrap();
    drop(listener);
    let server = server.restart("KILL", &[]);
    // All places that exist, whether or not streams show their items.
    goes_on(&server, &begin, &[7]);
    goes_on(&server, &item, &[]);
    goes_on(&server, &format!("{quiet}-8"), &[]);
    let newest = Listener::open(&server, 1, None).block(PATIENCE).unwrap().id.unwrap();
    goes_on(&server, &newest, &[]);
    let (at, number) =
        newest.split_once('-').map(|(at, id)| (at.parse::<u64>().unwrap(), id.parse::<u64>().unwrap())).unwrap();
    let places = [
        (at, number + 1),
        (at + 60_000, number + 1000),
        // Places of another server: the same number at another time.
        (at - 1, number),
        (at + 1, number),
        (at + 1, 1 << 62),
        // Missing items, older and newer than an existing one.
        (1007, 6),
        (1007, 8),
        (1006, 7),
        (1008, 7),
        (quiet, 9),
        (quiet + 60_000, 9),
        (0, 1),
        ((1 << 63) - 1, (1 << 63) - 1),
    ];
    for (at, id) in places {
        let next = is_reset(&server, &format!("{at}-{id}"));
        goes_on(&server, &next, &[]);
    }
}
