//! Notices over HTTP: kinds and fields, filters, groups, pages, the marker and the count of unread ones.

use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::listener::Listener;
use crate::server::Server;

const NOTICES: &str = "/v1/users/1/notices";

fn list(server: &Server, query: &str) -> Value {
    server.get(&format!("{NOTICES}{query}"))
}

/// Kind, actor and items of each notice.
fn told(page: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let item = |notice: &Value| {
        let fields = ["kind", "reaction", "content_id", "on"].map(|name| text(&notice[name]));
        format!("{} {}", fields.join(" "), text(&notice["actor"]["user_id"]))
    };
    page["items"].as_array().expect("items").iter().map(item).collect()
}

fn publish(server: &Server, item: Value) {
    server.call("POST", "/v1/content", item.to_string()).expect(201);
}

fn put(server: &Server, path: &str) {
    server.call("PUT", path, "{}").expect(200);
}

#[test]
fn notices_are_grouped_paged_counted_and_marked() {
    let server = Server::start();
    publish(&server, json!({"author_id": 1, "content_id": 7}));
    for who in 2..12 {
        put(&server, &format!("/v1/content/7/reactions/like/{who}"));
    }
    // Each reaction is a millisecond later than the one before, so their times may be ahead of the clock.
    sleep(Duration::from_millis(20));
    put(&server, "/v1/users/2/following/1");
    put(&server, "/v1/users/3/following/1");
    let grouped = list(&server, "?group=true");
    let items = grouped["items"].as_array().expect("items");
    let counts: Vec<_> = items.iter().map(|group| (&group["kind"], &group["count"])).collect();
    assert_eq!(counts, [(&json!("follow"), &json!(2)), (&json!("reaction"), &json!(10))]);
    let actors: Vec<_> =
        items[1]["actors"].as_array().expect("actors").iter().map(|who| who["user_id"].clone()).collect();
    assert_eq!(actors, ["11", "10", "9", "8", "7", "6", "5", "4"]);
    assert!(items[1]["oldest"].as_u64() <= items[1]["newest"].as_u64() && items[1].get("at").is_none());
    let first = list(&server, "?group=true&limit=1");
    let next = first["next"].as_str().expect("more");
    assert_eq!(list(&server, &format!("?group=true&limit=1&before={next}"))["items"][0]["count"], 10);
    let (mut seen, mut query) = (Vec::new(), "?limit=5".to_owned());
    loop {
        let page = list(&server, &query);
        seen.extend(told(&page));
        let Some(next) = page["next"].as_str() else { break };
        query = format!("?limit=5&before={next}");
    }
    assert_eq!(seen, told(&list(&server, "")));
    let newer =
        list(&server, &format!("?limit=1&after={}", list(&server, "")["items"][1]["cursor"].as_str().expect("one")));
    assert_eq!(told(&newer), ["follow - - - 3"]);
    let unread = || server.get("/v1/users/1/notices/unread");
    assert_eq!(unread(), json!({"count": 12, "capped": false}));
    let mark = |cursor: &str| server.call("PUT", "/v1/users/1/notices/marker", json!({ "cursor": cursor }).to_string());
    assert_eq!(server.get("/v1/users/1/notices/marker"), json!({"cursor": null}));
    let marked = mark(next).expect(200);
    assert_eq!((&marked["cursor"], unread()), (&json!(next), json!({"count": 1, "capped": false})));
    let top = list(&server, "")["items"][0]["cursor"].as_str().expect("one").to_owned();
    mark(&top).expect(200);
    assert_eq!((mark(next).expect(200)["cursor"].clone(), unread()["count"].clone()), (json!(top), json!(0)));
    for bad in ["5-5", "x", "1-1-0-9-2-"] {
        let refused = server.call("GET", &format!("{NOTICES}?before={bad}"), "");
        let detail = refused.problem(bad, 400, "invalid_parameter")["detail"].to_string();
        let (_, example) = detail.split_once("such as \\\"").expect("an example");
        let (example, _) = example.split_once("\\\"").expect("its end");
        server.get(&format!("{NOTICES}?before={example}"));
    }
    let unknown = format!("{NOTICES}?before=5-4-0-1-2-nothing");
    server.call("GET", &unknown, "").problem("unknown", 400, "unknown_cursor");
    mark("9000000000000000000-1-0-1-2-").problem("ahead", 400, "time_ahead");
}

#[test]
fn a_poll_upwards_misses_nothing_below_times_that_have_not_come() {
    let server = Server::start();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_millis() as u64;
    let follow = |who: u64, body: Value| {
        server.call("PUT", &format!("/v1/users/{who}/following/1"), body.to_string()).expect(200);
    };
    follow(2, json!({"since": now + 300_000}));
    for (who, query) in [(3, ""), (4, "?limit=1"), (5, "?group=true")] {
        let prev = list(&server, query)["prev"].as_str().expect("a place").to_owned();
        follow(who, json!({}));
        let page = list(&server, &format!("?after={prev}"));
        assert!(told(&page).contains(&format!("follow - - - {who}")), "{query}: {page}");
        assert!(!told(&page).contains(&"follow - - - 2".to_owned()), "{query}: {page}");
    }
    assert_eq!(told(&list(&server, ""))[0], "follow - - - 2", "on all other pages");
}

#[test]
fn mentions_are_part_of_a_publish_and_bounded() {
    let server = Server::start();
    let item = |mentions: Value| json!({"author_id": 1, "content_id": 5, "mentions": mentions}).to_string();
    let made = server.call("POST", "/v1/content", item(json!([2, "ann"]))).expect(201);
    assert_eq!(made["mentions"], json!(["2", "ann"]));
    server.call("POST", "/v1/content", item(json!([2, "ann"]))).expect(200);
    server.call("POST", "/v1/content", item(json!([2]))).problem("fewer", 409, "content_exists");
    server.call("POST", "/v1/content", item(json!([2, 2]))).problem("twice", 400, "invalid_body");
    server.call("POST", "/v1/content", item(json!((1..=51).collect::<Vec<_>>()))).problem("many", 400, "invalid_body");
}

#[test]
fn a_server_without_notices_keeps_none() {
    let server = Server::with(&[("TIDELINE__NOTICES__KEEP", "0s")]);
    server.call("PUT", "/v1/users/2/following/1", "{}").expect(200);
    assert_eq!(list(&server, ""), json!({"items": [], "next": null, "prev": null}));
}

#[test]
fn streams_tell_of_notices_and_of_markers() {
    let server = Server::start();
    publish(&server, json!({"author_id": 1, "content_id": "mine"}));
    server.call("PUT", "/v1/users/ben", json!({"nickname": "Ben"}).to_string()).expect(200);
    server.call("PUT", "/v1/users/1/settings", json!({"approve_followers": true}).to_string()).expect(200);
    let (mut told, mut other) = (Listener::open(&server, 1, None), Listener::open(&server, "ben", None));
    let mut notice = |what: &str| {
        let sent = told.event();
        assert_eq!((sent.event.as_str(), sent.id), ("notice", None), "{what}: {:?}", sent.data);
        assert_eq!(sent.data, list(&server, "?limit=1")["items"][0], "{what}");
        sent.data
    };
    put(&server, "/v1/content/mine/reactions/like/ben");
    let like = notice("like");
    assert_eq!((&like["kind"], &like["reaction"]), (&json!("reaction"), &json!("like")));
    assert_eq!(like["actor"], json!({"user_id": "ben", "nickname": "Ben", "avatar": null}));
    // Repeats, what is taken back, and what the user does not see or has done are no news.
    put(&server, "/v1/content/mine/reactions/like/ben");
    server.call("DELETE", "/v1/content/mine/reactions/like/ben", "").expect(200);
    put(&server, "/v1/content/mine/reactions/like/1");
    publish(&server, json!({"author_id": 1, "content_id": "own", "mentions": [1]}));
    publish(&server, json!({"author_id": 9, "content_id": "quiet", "mentions": [1], "audience": "followers"}));
    put(&server, "/v1/users/1/mutes/8");
    publish(&server, json!({"author_id": 8, "content_id": "muted", "mentions": [1]}));
    let comment = json!({"author_id": "ben", "text": "c"}).to_string();
    server.call("POST", "/v1/content/mine/comments", comment).expect(201);
    assert_eq!(notice("comment")["on"], "mine");
    publish(&server, json!({"author_id": "ben", "content_id": "r", "kind": "repost", "ref_id": "mine"}));
    notice("repost");
    publish(&server, json!({"author_id": "ben", "content_id": "m", "mentions": [1]}));
    notice("mention");
    put(&server, "/v1/users/ben/following/1");
    assert_eq!(notice("request")["kind"], "follow_request");
    put(&server, "/v1/users/1/follow-requests/ben");
    let follow = notice("follow");
    let approved = other.event();
    assert_eq!((approved.event.as_str(), &approved.data["kind"]), ("notice", &json!("request_approved")));
    put(&server, "/v1/users/cleo/following/1");
    assert_eq!(notice("another request")["kind"], "follow_request");
    let mut cleo = Listener::open(&server, "cleo", None);
    server.call("PUT", "/v1/users/cleo/following/1", json!({"approved": true}).to_string()).expect(200);
    assert_eq!(notice("a key approves")["kind"], "follow");
    assert_eq!(cleo.event().data["kind"], "request_approved");
    let mark = |path: &str, cursor: &Value| {
        server.call("PUT", path, json!({ "cursor": cursor }).to_string()).expect(200);
    };
    mark("/v1/users/1/notices/marker", &follow["cursor"]);
    mark("/v1/users/1/marker", &json!("5-mine"));
    put(&server, "/v1/users/1/lists/close");
    mark("/v1/users/1/lists/close/marker", &json!("6-7"));
    let markers = [
        json!({"of": "notices", "cursor": follow["cursor"]}),
        json!({"of": "timeline", "cursor": "5-mine"}),
        json!({"of": "list", "list": "close", "cursor": "6-7"}),
    ];
    for marker in markers {
        let sent = told.event();
        assert_eq!((sent.event.as_str(), sent.data), ("marker", marker));
    }
    // A repeat moves nothing.
    mark("/v1/users/1/notices/marker", &like["cursor"]);
    mark("/v1/users/1/marker", &json!("5-mine"));
    mark("/v1/users/1/lists/close/marker", &json!("5-7"));
    told.is_quiet();
    other.is_quiet();
}
