//! Names: ids that are no numbers.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::calls::CALLS;
use super::listener::Listener;
use super::model::{content_cursor, user_cursor};
use super::walk::List;
use crate::server::Server;
use crate::server::host_ids::escaped;

/// Ids that a careless reader changes, takes for another, or takes for no id; `|` is between them.
const HOSTILE: &str = "alice|Alice|a/b|/|%|%2F|%00|..|.|a?b#c&d=e|batch|following|restore|user_id|null|0|-0|-1|+1|042|1.0\
    |1e3|0x10| 1|1 |\u{feff}1|\u{200b}1|\u{ff11}|\u{661}|9223372036854775808|18446744073709551614\
    |18446744073709551615|1-1|-| | x |x |a,b|,|\\|\\,|\"|}|{\"content_id\":1}|é|e\u{301}|\u{212a}|K|ﬁ|fi\
    |🌊|👩\u{200d}👩\u{200d}👧|שלום|\u{202e}evil|f47ac10b-58cc-4372-a567-0e02b2c3d479\
    |did:plc:z72i7hdynmk6r22z27h6tvur";

fn hostile() -> Vec<String> {
    let long = ["x".repeat(128), "x".repeat(127), "é".repeat(64), "🌊".repeat(32), "%".repeat(128)];
    HOSTILE.split('|').map(str::to_owned).chain(long).collect()
}

/// As a part of a list of ids.
fn listed(id: &str) -> String {
    escaped(&id.replace('\\', "\\\\").replace(',', "\\,"))
}

fn of_user(id: &str, rest: &str) -> String {
    format!("/v1/users/{}{rest}", escaped(id))
}

fn of_item(id: &str, rest: &str) -> String {
    format!("/v1/content/{}{rest}", escaped(id))
}

/// The names in the order of the list, each of a user and of an item by that user. All items have the same time. The
/// reader follows all of them, and two numbers.
fn village() -> Server {
    let server = Server::start();
    for id in hostile() {
        let relation =
            server.call("PUT", &of_user("reader", &format!("/following/{}", escaped(&id))), r#"{"since":7}"#);
        let relation = relation.expect(200);
        assert_eq!((&relation["user_id"], &relation["target_id"]), (&json!("reader"), &json!(id)));
    }
    for number in ["9223372036854775807", "1"] {
        server.call("PUT", &of_user("reader", &format!("/following/{number}")), r#"{"since":7}"#).expect(200);
        publish(&server, number);
    }
    hostile().iter().rev().for_each(|id| publish(&server, id));
    server
}

fn publish(server: &Server, id: &str) {
    let new_item = json!({"content_id": id, "author_id": id, "ref_id": id, "published_at": 100, "text": id,
        "topics": [id.chars().take(64).collect::<String>(), "all"]});
    let reply = server.call("POST", "/v1/content", new_item.to_string());
    let item = reply.expect(201);
    assert_eq!([&item["content_id"], &item["author_id"], &item["ref_id"]], [id; 3]);
    let location = reply.header("location").unwrap().to_owned();
    assert_eq!(server.get(&format!("/v1/{location}")), item, "{location}");
    assert_eq!(server.call("POST", "/v1/content", new_item.to_string()).expect(200), item);
}

/// Numbers by value, then names in the order in which the server saw them; newest first.
fn newest_first() -> Vec<String> {
    let numbers = ["1", "9223372036854775807"].map(str::to_owned);
    numbers.into_iter().chain(hostile()).rev().collect()
}

fn rows(server: &Server) -> BTreeMap<String, Value> {
    let tables = server.tables();
    let rows = tables.as_object().unwrap().iter();
    rows.map(|(name, table)| (name.clone(), table["rows_estimate"].clone())).collect()
}

#[test]
fn names_are_given_back_as_they_came_and_in_their_order() {
    let mut server = village();
    for restart in [false, true] {
        if restart {
            server = server.restart("KILL", &[]);
        }
        for (path, of_users) in [
            ("/v1/users/reader/timeline", false),
            ("/v1/topics/all/content", false),
            ("/v1/users/reader/following", true),
        ] {
            let items = server.get(&format!("{path}?limit=100"))["items"].as_array().unwrap().clone();
            let id = if of_users { "user_id" } else { "content_id" };
            let ids: Vec<_> = items.iter().map(|item| item[id].as_str().unwrap().to_owned()).collect();
            assert_eq!(ids, newest_first(), "{path}");
            if of_users {
                List { server: &server, path, items: &items, cursor: user_cursor }.walk("");
            } else if !restart {
                let all = List { server: &server, path, items: &items, cursor: content_cursor };
                all.walk("");
            }
        }
    }
    let verified = server.get("/v1/admin/users/reader/timeline/verify");
    assert_eq!((&verified["exact"], &verified["compared"]), (&json!(true), &json!(newest_first().len())));
}

#[test]
fn each_name_is_one_user_and_one_item_in_every_call() {
    let server = village();
    let all = newest_first();
    let ids: Vec<_> = all.iter().map(|id| listed(id)).collect();
    let found = server.get(&format!("/v1/content?ids={}", ids.join(",")));
    let found: Vec<_> = found["items"].as_array().unwrap().iter().map(|item| item["content_id"].clone()).collect();
    assert_eq!(json!(found), json!(all));
    let found = server.get(&of_user("reader", &format!("/relations?targets={}", ids.join(","))));
    for (relation, id) in found["items"].as_array().unwrap().iter().zip(&all) {
        assert_eq!((&relation["target_id"], &relation["relation"]), (&json!(id), &json!("following")));
    }
    for id in all {
        let page = server.get(&of_user(&id, "/content"));
        let item = page["items"][0].clone();
        assert_eq!(
            (page["items"].as_array().unwrap().len(), &item["content_id"], &item["text"]),
            (1, &json!(id), &json!(id))
        );
        let cursor = content_cursor(&item);
        let marker = json!({"cursor": cursor});
        assert_eq!(server.call("PUT", &of_user(&id, "/marker"), marker.to_string()).expect(200), marker);
        assert_eq!(server.get(&of_user(&id, "/marker")), marker);
        for side in ["before", "after"] {
            let beside = server.get(&of_user(&id, &format!("/content?{side}={}", escaped(&cursor))));
            assert_eq!(beside["items"], json!([]), "{id}");
            let (back, place) = if side == "before" { ("after", &beside["prev"]) } else { ("before", &beside["next"]) };
            let path = of_user(&id, &format!("/content?{back}={}", escaped(place.as_str().unwrap())));
            assert_eq!(server.get(&path)["items"], page["items"], "{path}");
        }
        let profile = json!({"nickname": id.chars().take(100).collect::<String>()});
        assert_eq!(server.call("PUT", &of_user(&id, ""), profile.to_string()).expect(200)["user_id"], id);
        assert_eq!(server.get(&of_item(&id, ""))["author_id"], id);
        assert_eq!(server.get(&of_user(&id, ""))["nickname"], profile["nickname"]);
        let reacted = server.call("PUT", &of_item(&id, &format!("/reactions/like/{}", escaped(&id))), "").expect(200);
        assert_eq!(
            (&reacted["content_id"], &reacted["user_id"], &reacted["counts"]["reactions"]["like"]),
            (&json!(id), &json!(id), &json!(1))
        );
        assert_eq!(server.get(&of_item(&id, "/reactions/like"))["items"][0]["user_id"], id);
        assert_eq!(server.get(&of_user(&id, "/reactions/like"))["items"][0]["content_id"], id);
        let comment = json!({"author_id": id, "text": "c"}).to_string();
        let reply = server.call("POST", &of_item(&id, "/comments"), comment);
        let comment = reply.expect(201);
        assert_eq!((&comment["ref_id"], &comment["author_id"]), (&json!(id), &json!(id)));
        assert_eq!(reply.header("location").unwrap(), format!("../{}", comment["content_id"].as_str().unwrap()));
        assert_eq!(server.get(&of_item(&id, "/comments"))["items"][0]["content_id"], comment["content_id"]);
        assert_eq!(server.get(&of_user(&id, "/comments"))["items"][0]["ref_id"], id);
        assert_eq!(server.call("PATCH", &of_item(&id, ""), r#"{"text":"edited"}"#).expect(200)["content_id"], id);
        assert_eq!(server.call("DELETE", &of_item(&id, ""), "").status, 204);
        server.call("GET", &of_item(&id, ""), "").problem(&id, 404, "content_not_found");
        assert_eq!(server.call("POST", &of_item(&id, "/restore"), "").expect(200)["text"], "edited");
        for list in ["mutes", "hidden-from", "blocks"] {
            let path = of_user(&id, &format!("/{list}"));
            assert_eq!(server.call("PUT", &format!("{path}/batch%20"), "").expect(200)["user_id"], id);
            assert_eq!(server.get(&path)["items"][0]["user_id"], "batch ");
        }
        let explained = server.get(&format!("/v1/admin/users/reader/timeline/explain?content_id={}", escaped(&id)));
        assert_eq!([&explained["reason"], &explained["author_id"], &explained["content_id"]], ["listed", &id, &id]);
        let followers = server.get(&of_user(&id, "/followers?viewer=reader"));
        assert_eq!(followers["items"], json!([{"user_id": "reader", "since": 7, "relation": "none"}]));
    }
    assert_eq!(server.get("/v1/admin/users/reader/timeline/verify")["exact"], true);
}

#[test]
fn a_read_of_unknown_names_leaves_no_row() {
    let server = Server::start();
    server.follow(1, 2, 5);
    server.publish(10, 2, 10);
    server.get("/v1/users/1/timeline");
    let before = rows(&server);
    for (number, name) in hostile().iter().enumerate() {
        for call in CALLS.iter().filter(|call| call.method == "GET" && !call.path.ends_with("/stream")) {
            let path = call.slots().fold(call.path.clone(), |path, slot| match slot {
                "{kind}" => path.replace(slot, "like"),
                "{topic}" | "{list}" => path.replace(slot, "all"),
                slot => path.replace(slot, &escaped(name)),
            });
            let query = call.query.iter().filter_map(|parameter| match &*parameter.name {
                "viewer" | "content_id" => Some(format!("{}={}", parameter.name, escaped(name))),
                "ids" | "targets" => Some(format!("{}={},3", parameter.name, listed(name))),
                _ => None,
            });
            let reply = server.call("GET", &format!("{path}?{}", query.collect::<Vec<_>>().join("&")), "");
            let named = ["/v1/content/", "/v1/admin/backups/"];
            let may_be_missing = named.iter().any(|start| path.starts_with(start)) || path.contains("/lists/all");
            let nothing = reply.status == 404 && may_be_missing;
            assert!(nothing || reply.status == 200 || !path.starts_with("/v1/"), "{path}: {reply:?}");
        }
        let item = of_item(name, "");
        server.call("DELETE", &item, "").problem(name, 404, "content_not_found");
        server.call("PATCH", &item, r#"{"text":"x"}"#).problem(name, 404, "content_not_found");
        server.call("POST", &format!("{item}/restore"), "").problem(name, 404, "content_not_found");
        server.call("POST", &format!("{item}/comments"), r#"{"author_id":"a"}"#).problem(
            name,
            404,
            "content_not_found",
        );
        let reaction = format!("{item}/reactions/like/{}", escaped(name));
        server.call("PUT", &reaction, "").problem(name, 404, "content_not_found");
        for list in ["following", "mutes", "hidden-from", "blocks"] {
            let other = &hostile()[(number + 1) % hostile().len()];
            let relation =
                server.call("DELETE", &of_user(name, &format!("/{list}/{}", escaped(other))), "").expect(200);
            assert_eq!([&relation["user_id"], &relation["target_id"], &relation["relation"]], [name, other, "none"]);
            let itself = server.call("PUT", &of_user(name, &format!("/{list}/{}", escaped(name))), "");
            assert_eq!(itself.status, 422, "{name}");
        }
        let cursor = escaped(&format!("10-{name}"));
        for side in ["before", "after"] {
            let path = format!("/v1/users/1/timeline?{side}={cursor}");
            server.call("GET", &path, "").problem(name, 400, "unknown_cursor");
        }
        server.call("PUT", &of_user(name, "/presence"), r#"{"online":false}"#).expect(200);
    }
    assert_eq!(rows(&server), before);
}

#[test]
fn a_cursor_can_be_built_from_any_name_that_was_mentioned() {
    let server = Server::start();
    server.follow(1, 2, 5);
    let post = |id: &str| {
        let new_item = json!({"content_id": id, "author_id": 2, "published_at": 100}).to_string();
        server.call("POST", "/v1/content", new_item).expect(201);
    };
    let seen = |name: &str| drop(server.call("PUT", &of_user(name, ""), "{}").expect(200));
    let ids = |query: &str| {
        let page = server.get(&format!("/v1/users/1/timeline?view=ids&{query}"));
        let items = page["items"].as_array().unwrap().clone();
        items.iter().map(|item| item["content_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    seen("b");
    post("z");
    seen("m");
    post("a");
    post("77");
    seen("0");
    assert_eq!(ids(""), ["a", "z", "77"]);
    for (cursor, older) in [
        ("99-0", vec![]),
        ("100-1", vec![]),
        ("100-78", vec!["77"]),
        ("100-9223372036854775807", vec!["77"]),
        ("100-b", vec!["77"]),
        ("100-z", vec!["77"]),
        ("100-m", vec!["z", "77"]),
        ("100-a", vec!["z", "77"]),
        ("100-0", vec!["a", "z", "77"]),
        ("101-b", vec!["a", "z", "77"]),
    ] {
        assert_eq!(ids(&format!("before={cursor}")), older, "{cursor}");
        let newer = ["a", "z", "77"].into_iter().take_while(|id| !older.contains(id) && cursor != format!("100-{id}"));
        assert_eq!(ids(&format!("after={cursor}")), newer.collect::<Vec<_>>(), "{cursor}");
    }
    for unknown in ["100-A", "100-z%20", "100-", "1-1-1"] {
        let code = if unknown == "100-" { "invalid_parameter" } else { "unknown_cursor" };
        let reply = server.call("GET", &format!("/v1/users/1/timeline?before={unknown}"), "");
        reply.problem(unknown, 400, code);
    }
    seen("A");
    assert_eq!(ids("before=100-A"), ["a", "z", "77"]);
}

#[test]
fn a_number_as_text_and_as_a_number_are_one_id_and_no_name_is() {
    let server = Server::start();
    for (text, is_number) in [
        ("7", true),
        ("07", false),
        ("+7", false),
        ("7.0", false),
        ("７", false),
        ("7 ", false),
        ("9223372036854775807", true),
    ] {
        let new_item = |id: Value| json!({"content_id": id, "author_id": text, "published_at": 5}).to_string();
        server.call("POST", "/v1/content", new_item(json!(text))).expect(201);
        if let (true, Ok(number)) = (is_number, text.parse::<u64>()) {
            let again = new_item(json!(number)).replace(&format!("\"{text}\""), text);
            assert_eq!(server.call("POST", "/v1/content", again).expect(200)["content_id"], text);
        }
        assert_eq!(server.get(&of_user(text, "/content"))["items"].as_array().unwrap().len(), 1, "{text:?}");
    }
    for refused in ["0", "-1", "7.5", "1e3", "9223372036854775808", "null", "true", "\"\"", "\"a\\u0000\""] {
        for body in [format!(r#"{{"author_id":{refused}}}"#), format!(r#"{{"author_id":1,"ref_id":[{refused}]}}"#)] {
            server.call("POST", "/v1/content", &body).problem(&body, 400, "invalid_body");
        }
    }
}

#[test]
fn a_stream_resumes_after_any_name() {
    let server = Server::start();
    server.call("PUT", "/v1/users/reader/following/%7D", "").expect(200);
    let mut listener = Listener::open(&server, "reader", None);
    let mut places = Vec::new();
    for id in hostile() {
        let new_item = json!({"content_id": id, "author_id": "}", "published_at": 100}).to_string();
        server.call("POST", "/v1/content", new_item).expect(201);
        let came = listener.event();
        assert_eq!(
            (&*came.event, &came.data["content_id"], &came.data["author_id"]),
            ("content", &json!(id), &json!("}"))
        );
        assert_eq!(came.id == Some(format!("100-{id}")), !id.ends_with(' '), "{came:?}");
        places.push(came.id.unwrap());
    }
    for (place, next) in places.iter().zip(&hostile()[1..]) {
        let came = Listener::open(&server, "reader", Some(place)).event();
        assert_eq!(came.data["content_id"], json!(next), "after {place:?}");
    }
    for id in hostile() {
        server.call("PUT", &of_item(&id, "/reactions/like/reader"), "").expect(200);
        server.call("PATCH", &of_item(&id, ""), r#"{"text":"}"}"#).expect(200);
        let edited = listener.event();
        assert_eq!((&*edited.event, &edited.data["content_id"]), ("edit", &json!(id)));
        assert_eq!(edited.data["viewer"], json!({"reactions": ["like"]}), "{id}");
    }
}

#[test]
fn a_stream_of_a_name_that_nobody_mentioned_is_that_users_stream() {
    let server = Server::start();
    let path = of_user("new/é ", "");
    let mut listener = Listener::open(&server, path.trim_start_matches("/v1/users/"), None);
    let online = || server.get(&format!("{path}/presence"));
    assert_eq!(online(), json!({"user_id": "new/é ", "online": true}));
    assert_eq!(server.get("/v1/users/new/presence")["online"], false);
    let follow = server.call("PUT", &format!("{path}/following/author"), "").expect(200);
    assert_eq!((&follow["user_id"], &follow["target_id"]), (&json!("new/é "), &json!("author")));
    for id in ["first", "second"] {
        let new_item = json!({"content_id": id, "author_id": "author"}).to_string();
        server.call("POST", "/v1/content", new_item).expect(201);
        let came = listener.event();
        assert_eq!((&*came.event, &came.data["content_id"]), ("content", &json!(id)));
    }
    assert_eq!(server.get(&format!("{path}/timeline"))["items"].as_array().unwrap().len(), 2);
    drop(listener);
    crate::server::wait_until("still online", || online()["online"] == false);
    let said = server.call("PUT", &format!("{path}/presence"), r#"{"online":true}"#).expect(200);
    assert_eq!((&said["user_id"], &said["online"]), (&json!("new/é "), &json!(true)));
    assert_eq!(online(), said);
}

#[test]
fn a_server_of_numbers_refuses_new_names_and_keeps_those_it_has() {
    let server = village();
    server.call("PUT", "/v1/users/1/following/alice", "").expect(200);
    server.call("PUT", "/v1/users/111/lists/close", "").expect(200);
    let settings = [("TIDELINE__IDS__ACCEPT", "numbers")];
    let server = server.restart("TERM", &settings);
    let before = rows(&server);
    for call in CALLS.iter() {
        for slot in call.slots().filter(|slot| !["{kind}", "{topic}", "{list}", "{name}"].contains(slot)) {
            for name in ["nobody", "00042"] {
                let path = format!("{}?{}", call.filled(&call.path.replace(slot, name)), call.needed("").join("&"));
                server.call(&call.method, &path, &call.body).problem(&path, 400, "invalid_id");
            }
        }
    }
    for (method, path, body) in [
        ("GET", "/v1/content?ids=1,nobody", ""),
        ("GET", "/v1/users/1/relations?targets=nobody", ""),
        ("GET", "/v1/users/1/followers?viewer=nobody", ""),
        ("GET", "/v1/admin/users/1/timeline/explain?content_id=nobody", ""),
        ("POST", "/v1/content", r#"{"author_id":"nobody"}"#),
        ("POST", "/v1/content", r#"{"author_id":1,"content_id":"new"}"#),
        ("POST", "/v1/content", r#"{"author_id":1,"ref_id":"nobody"}"#),
        ("POST", "/v1/content/batch", r#"{"items":[{"author_id":1},{"author_id":"nobody"}]}"#),
        ("POST", "/v1/content/1/comments", r#"{"author_id":"nobody"}"#),
        ("POST", "/v1/users/1/following/batch", r#"{"follow":["nobody"]}"#),
        ("POST", "/v1/users/1/following/batch", r#"{"unfollow":[2,"nobody"]}"#),
    ] {
        server.call(method, path, body).problem(&format!("{method} {path} {body}"), 400, "invalid_id");
    }
    assert_eq!(rows(&server), before);
    let page = server.get("/v1/users/1/timeline?limit=1");
    assert_eq!(page["items"][0]["author"]["user_id"], "alice");
    // A cursor is of a page, also if a name stands there.
    let path = format!("/v1/users/1/timeline?before={}", page["prev"].as_str().unwrap());
    assert_eq!(server.get(&path)["items"], json!([]));
    server.call("GET", "/v1/users/1/timeline?before=5-nobody", "").problem("unknown", 400, "unknown_cursor");
    let mut listener = Listener::open(&server, 1, Some("100-a/b"));
    assert_eq!(listener.event().data["content_id"], "alice");
    server.call("DELETE", "/v1/users/1/following/alice", "").expect(200);
    assert_eq!(server.get("/v1/users/1/timeline")["items"], json!([]));
}
