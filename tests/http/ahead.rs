//! Times ahead of the clock, from before such times were refused: they stay, and no new ones are accepted.

use serde_json::{Value, json};

use crate::server::{Reply, Server, wait_until};

/// A time in the year 2096.
const TO_COME: u64 = 4_000_000_000_000;
const MARKER: &str = "/v1/users/1/marker";
const UNREAD: &str = "/v1/users/1/timeline/unread";

/// A server that accepts this time, as before the rule.
fn before() -> Server {
    Server::with(&[("TIDELINE__CONTENT__MAX_AHEAD", "36500d")])
}

/// A server on its data directory, with the rule.
fn updated(server: Server) -> Server {
    server.restart("TERM", &[])
}

fn publish(server: &Server, item: &Value) -> Reply {
    server.call("POST", "/v1/content", item.to_string())
}

fn batch(server: &Server, items: &[&Value]) -> Reply {
    server.call("POST", "/v1/content/batch", json!({ "items": items }).to_string())
}

fn mark(server: &Server, cursor: &str) -> Reply {
    server.call("PUT", MARKER, json!({ "cursor": cursor }).to_string())
}

fn unread(server: &Server) -> u64 {
    server.get(UNREAD)["count"].as_u64().unwrap()
}

#[test]
fn items_too_far_ahead_stay_and_repeat_but_new_ones_are_refused() {
    let server = before();
    let item = json!({"content_id": 5, "author_id": 2, "published_at": TO_COME, "text": "late"});
    let comment = json!({"content_id": 6, "author_id": 3, "published_at": TO_COME + 1});
    publish(&server, &item).expect(201);
    server.call("POST", "/v1/content/5/comments", comment.to_string()).expect(201);
    server.follow(1, 2, TO_COME);
    let server = updated(server);
    assert_eq!(server.ids("/v1/users/1/timeline"), [5]);
    assert_eq!(server.ids("/v1/content/5/comments"), [6]);
    let since = server.get("/v1/users/1/following")["items"][0]["since"].clone();
    assert_eq!(since, TO_COME);

    // A repeat gets the same answer as ever, alone and in a batch.
    assert_eq!(publish(&server, &item).expect(200)["text"], "late");
    server.call("POST", "/v1/content/5/comments", comment.to_string()).expect(200);
    batch(&server, &[&item]).expect(200);
    let new = |id: u64| json!({"content_id": id, "author_id": 2, "published_at": 1000 + id});
    let answer = batch(&server, &[&new(7), &item, &new(8)]).expect(201);
    let ids: Vec<&str> =
        answer["items"].as_array().unwrap().iter().map(|i| i["content_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["7", "5", "8"]);
    let follow = |target: u64, since: u64| {
        server.call("PUT", &format!("/v1/users/1/following/{target}"), json!({ "since": since }).to_string())
    };
    assert_eq!(follow(2, TO_COME).expect(200)["since"], TO_COME);

    // A call that differs in any field is new, and refused.
    let mut other = item.clone();
    other["text"] = json!("later");
    publish(&server, &other).problem("another text", 400, "time_ahead");
    other = item.clone();
    other["published_at"] = json!(TO_COME + 1);
    publish(&server, &other).problem("another time", 400, "time_ahead");
    batch(&server, &[&new(9), &item, &other]).problem("twice", 400, "invalid_body");
    other["content_id"] = json!(10);
    let problem = batch(&server, &[&new(9), &item, &other]).problem("a new one", 400, "time_ahead");
    assert!(problem["detail"].as_str().unwrap().starts_with("items[2].published_at: "), "{problem}");
    follow(2, TO_COME + 1).problem("another time", 400, "time_ahead");
    follow(3, TO_COME).problem("another user", 400, "time_ahead");
    assert_eq!(server.ids("/v1/users/1/timeline"), [5, 8, 7], "nothing of a batch that was refused");

    // A deleted item cannot be repeated, a restored one can. A follow that has ended is new.
    server.call("DELETE", "/v1/content/5", "");
    publish(&server, &item).problem("deleted", 400, "time_ahead");
    server.call("POST", "/v1/content/5/restore", "").expect(200);
    publish(&server, &item).expect(200);
    server.call("DELETE", "/v1/users/1/following/2", "").expect(200);
    follow(2, TO_COME).problem("no longer followed", 400, "time_ahead");
}

/// Sets the marker to an item ahead of the clock, and removes the item.
fn mark_ahead(server: &Server) {
    server.follow(1, 9, 10);
    server.publish(7, 9, TO_COME);
    mark(server, &format!("{TO_COME}-7")).expect(200);
    for path in ["/v1/content/7", "/v1/users/1/following/9"] {
        assert!([200, 204].contains(&server.call("DELETE", path, "").status), "{path}");
    }
}

#[test]
fn a_marker_ahead_counts_as_at_the_newest_item_until_it_moves_on_from_there() {
    let server = before();
    server.follow(1, 2, 10);
    for id in 1..=3 {
        server.publish(id, 2, 1000 + id);
    }
    mark_ahead(&server);
    assert_eq!(server.get(MARKER)["cursor"], format!("{TO_COME}-7"));
    let server = updated(server);
    assert_eq!(unread(&server), 0);
    assert_eq!(server.get(MARKER)["cursor"], "1003-3");
    server.publish(4, 2, 1004);
    assert_eq!((unread(&server), server.get(MARKER)["cursor"].clone()), (0, json!("1004-4")));
    assert_eq!(mark(&server, "1002-2").expect(200)["cursor"], "1004-4", "not back");
    server.publish(5, 2, 1005);
    assert_eq!(unread(&server), 1, "what comes after a move is not read");
    assert_eq!(mark(&server, "1005-5").expect(200)["cursor"], "1005-5");
    assert_eq!(unread(&server), 0);
}

#[test]
fn a_marker_ahead_that_nobody_has_looked_at_moves_to_where_it_is_put() {
    for (place, then) in [("1002-2", "1003-3"), ("1003-3", "1003-3"), ("1500-1", "1500-1")] {
        let server = before();
        server.follow(1, 2, 10);
        for id in 1..=3 {
            server.publish(id, 2, 1000 + id);
        }
        mark_ahead(&server);
        let server = updated(server);
        assert_eq!(mark(&server, place).expect(200)["cursor"], then, "{place}");
        server.publish(4, 2, 2000);
        assert_eq!(unread(&server), 1, "{place}");
    }
}

#[test]
fn a_marker_ahead_over_an_empty_timeline_is_none() {
    let server = before();
    mark_ahead(&server);
    let server = updated(server);
    assert_eq!(server.get(MARKER)["cursor"], Value::Null);
    assert_eq!(mark(&server, "5-5").expect(200)["cursor"], "5-5");
    server.follow(1, 2, 10);
    server.publish(1, 2, 1000);
    assert_eq!((unread(&server), server.get(MARKER)["cursor"].clone()), (1, json!("5-5")));
}

#[test]
fn an_item_ahead_can_be_marked_as_read_and_deleted() {
    let server = before();
    server.follow(1, 2, 10);
    server.publish(1, 2, 1001);
    server.publish(5, 2, TO_COME);
    let server = updated(server);
    let top = format!("{TO_COME}-5");
    assert_eq!(unread(&server), 2);
    // An item ahead of the clock can be marked as read, another place there cannot.
    assert_eq!(mark(&server, &top).expect(200)["cursor"], top);
    mark(&server, &format!("{TO_COME}-6")).problem("no item", 400, "time_ahead");
    assert_eq!((unread(&server), server.get(MARKER)["cursor"].clone()), (0, json!(top)));
    server.publish(2, 2, 1002);
    assert_eq!(mark(&server, "1001-1").expect(200)["cursor"], top);
    server.call("DELETE", "/v1/content/5", "");
    assert_eq!(server.get(MARKER)["cursor"], "1002-2");
    assert_eq!(mark(&server, "1001-1").expect(200)["cursor"], "1002-2");
    server.publish(3, 2, 1003);
    assert_eq!(unread(&server), 1);
}

#[test]
fn places_of_pages_may_be_of_any_time() {
    let server = before();
    server.follow(1, 2, 10);
    server.publish(1, 2, 1001);
    server.publish(5, 2, TO_COME);
    let server = updated(server);
    for (query, ids) in [
        (format!("before={TO_COME}-9"), vec![5, 1]),
        (format!("after={TO_COME}-1"), vec![]),
        (format!("after={TO_COME}-1&before={TO_COME}-9"), vec![5]),
        (format!("after={TO_COME}-5"), vec![]),
        ("before=9223372036854775807-1".to_owned(), vec![5, 1]),
    ] {
        assert_eq!(server.ids(&format!("/v1/users/1/timeline?{query}")), ids, "{query}");
    }
}

#[test]
fn nothing_comes_below_a_reader_who_was_shown_an_item_ahead() {
    let server = Server::start();
    server.follow(1, 2, 10);
    let given = |id: u64| {
        let body = json!({"author_id": 2, "content_id": id});
        let item = server.call("POST", "/v1/content", body.to_string()).expect(201);
        (item["published_at"].as_u64().unwrap(), format!("{}-{id}", item["published_at"]))
    };
    let read = |query: &str| server.get(&format!("/v1/users/1/timeline?view=ids&{query}"));
    let ids = |page: &Value| -> Vec<u64> {
        let items = page["items"].as_array().unwrap().iter();
        items.map(|item| item["content_id"].as_str().unwrap().parse().unwrap()).collect()
    };
    let ahead = json!({"author_id": 2, "content_id": 9, "published_at": given(1).0 + 300_000});
    publish(&server, &ahead).expect(201);
    let first = given(2).1;

    // It is shown at once, but `prev` and pages upwards stay below it.
    let page = read("limit=20");
    assert_eq!((ids(&page), page["prev"].as_str(), unread(&server)), (vec![9, 2, 1], Some(&*first), 3));
    let reply = server.call("GET", "/v1/users/1/timeline", "");
    assert!(reply.header("link").unwrap().contains(&format!("after={first}>; rel=\"prev\"")), "{reply:?}");
    let up = read(&format!("after={first}"));
    assert_eq!((ids(&up), up["prev"].as_str()), (vec![], Some(&*first)));
    let alone = read("limit=1");
    let between = alone["prev"].as_str().unwrap();
    assert_eq!(ids(&alone), [9]);
    assert_eq!(ids(&read(&format!("before={}", alone["next"].as_str().unwrap()))), [2, 1]);
    let second = given(3).1;
    let up = read(&format!("after={first}"));
    assert_eq!((ids(&up), up["prev"].as_str()), (vec![3], Some(&*second)));
    let above = ids(&read(&format!("after={between}")));
    assert!(above.contains(&3) && !above.contains(&9), "{above:?} above {between}");
    assert_eq!(ids(&read(&format!("after={first}&before=9223372036854775807-1"))), [9, 3]);
    // Nothing else on the page: all newer items are above `prev`.
    let server = server.restart("KILL", &[]);
    let page = server.get("/v1/users/1/timeline?view=ids");
    assert_eq!((ids(&page), page["prev"].as_str()), (vec![9, 3, 2, 1], Some(&*second)));
}

#[test]
fn an_item_ahead_comes_upwards_when_its_time_has_come() {
    let server = Server::start();
    server.follow(1, 2, 10);
    let now = server.call("POST", "/v1/content", r#"{"author_id":3}"#).expect(201)["published_at"].as_u64().unwrap();
    publish(&server, &json!({"author_id": 2, "content_id": 9, "published_at": now + 400})).expect(201);
    wait_until("it does not come by itself", || server.ids("/v1/users/1/timeline?after=0-1") == [9]);
    let item = server.call("POST", "/v1/content", r#"{"author_id":2}"#).expect(201);
    assert!(item["published_at"].as_u64().unwrap() >= now + 400);
}

#[test]
fn the_bound_is_a_setting() {
    for (setting, ahead, status) in
        [("1h", 3_500_000, 201), ("1h", 3_700_000, 400), ("1s", 60_000, 400), ("10m", 540_000, 201)]
    {
        let server = Server::with(&[("TIDELINE__CONTENT__MAX_AHEAD", setting)]);
        let now =
            server.call("POST", "/v1/content", r#"{"author_id":1}"#).expect(201)["published_at"].as_u64().unwrap();
        let item = json!({"author_id": 1, "published_at": now + ahead});
        assert_eq!(publish(&server, &item).status, status, "{setting} {ahead}");
    }
}
