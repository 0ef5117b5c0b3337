//! The feed of changes: `GET /v1/changes`.

use std::collections::HashSet;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::listener::Listener;
use crate::server::{PATIENCE, Server, SetOnDrop};

/// All changes behind a position, page by page, and the position at the end.
fn all(server: &Server, after: Option<&str>, query: &str) -> (Vec<Value>, String) {
    let (mut found, mut at) = (Vec::new(), after.map(str::to_owned));
    loop {
        let after = at.as_ref().map(|at| format!("&after={at}")).unwrap_or_default();
        let page = server.get(&format!("/v1/changes?{query}{after}"));
        let position = page["position"].as_str().expect("a position").to_owned();
        let items = page["items"].as_array().expect("items");
        found.extend(items.iter().cloned());
        if items.is_empty() && at.as_ref() == Some(&position) {
            return (found, position);
        }
        at = Some(position);
    }
}

/// A change without its position and time.
fn told(change: &Value) -> String {
    let field = |name: &str| change.get(name).map(|value| format!(" {}", value.as_str().expect("text")));
    let fields = ["user_id", "target_id", "content_id", "kind", "list"].map(|name| field(name).unwrap_or_default());
    format!("{}{}", change["type"].as_str().expect("a type"), fields.concat())
}

fn put(server: &Server, path: &str, body: Value) {
    let status = server.call("PUT", path, body.to_string()).status;
    assert!([200, 201, 204].contains(&status), "PUT {path}: {status}");
}

fn delete(server: &Server, path: &str) {
    let status = server.call("DELETE", path, "").status;
    assert!([200, 204].contains(&status), "DELETE {path}: {status}");
}

const ITEM: &str = r#"{"content_id":"50","author_id":"1","text":"a","kind":"photo","to":["9"],"broadcast":true}"#;
const OTHER: &str = r#"{"content_id":"51","author_id":"1","text":"c"}"#;
/// Calls, each with the changes that it makes.
const CALLS: &[(&str, &str, &str, &[&str])] = &[
    ("POST", "/v1/content", ITEM, &["content.published 1 50 photo"]),
    ("PATCH", "/v1/content/50", r#"{"text":"b"}"#, &["content.edited 1 50 photo"]),
    ("PUT", "/v1/users/2/following/1", "{}", &["follow.created 2 1"]),
    ("PUT", "/v1/users/2/following/1", r#"{"except":["photo","video"]}"#, &["follow.changed 2 1"]),
    ("PUT", "/v1/users/2/following/1", r#"{"except":["video","photo"]}"#, &[]),
    ("PUT", "/v1/content/50/reactions/like/2", "{}", &["reaction.created 2 1 50 like"]),
    ("DELETE", "/v1/content/50/reactions/like/2", "", &["reaction.removed 2 1 50 like"]),
    ("PUT", "/v1/users/2/mutes/1", "", &["mute.created 2 1"]),
    ("DELETE", "/v1/users/2/mutes/1", "", &["mute.removed 2 1"]),
    ("PUT", "/v1/users/2/hidden-from/3", "", &["hide.created 2 3"]),
    ("DELETE", "/v1/users/2/hidden-from/3", "", &["hide.removed 2 3"]),
    ("PUT", "/v1/users/1/blocks/2", "", &["follow.removed 2 1", "block.created 1 2"]),
    ("DELETE", "/v1/users/1/blocks/2", "", &["block.removed 1 2"]),
    ("PUT", "/v1/users/1/settings", r#"{"approve_followers":true}"#, &["settings.changed 1"]),
    ("PUT", "/v1/users/2/following/1", "{}", &["follow.requested 2 1"]),
    ("PUT", "/v1/users/1/follow-requests/2", "", &["follow.created 2 1"]),
    ("PUT", "/v1/users/3/following/1", "{}", &["follow.requested 3 1"]),
    ("DELETE", "/v1/users/1/follow-requests/3", "", &["follow.request_removed 3 1"]),
    ("PUT", "/v1/users/2", r#"{"nickname":"Bo"}"#, &["profile.changed 2"]),
    ("PUT", "/v1/users/2/lists/close", "{}", &["list.changed 2 close"]),
    ("PUT", "/v1/users/2/lists/close/members/1", "{}", &["list_member.created 2 1 close"]),
    ("PUT", "/v1/users/2/lists/close/members/1", r#"{"only":["photo","video"]}"#, &["list_member.changed 2 1 close"]),
    ("PUT", "/v1/users/2/lists/close/members/1", r#"{"only":["video","photo"]}"#, &[]),
    ("PUT", "/v1/users/2/lists/close/marker", r#"{"cursor":"7-50"}"#, &["marker.moved 2 close"]),
    ("PUT", "/v1/users/2/marker", r#"{"cursor":"7-50"}"#, &["marker.moved 2"]),
    ("DELETE", "/v1/users/2/lists/close/members/1", "", &["list_member.removed 2 1 close"]),
    ("DELETE", "/v1/users/2/lists/close", "", &["list.deleted 2 close"]),
    ("PUT", "/v1/users/1/suspension", "", &["user.suspended 1"]),
    ("DELETE", "/v1/users/1/suspension", "", &["user.unsuspended 1"]),
    ("DELETE", "/v1/users/9/content/50", "", &["content.taken_off 1 9 50 photo"]),
    ("DELETE", "/v1/content/50", "", &["content.deleted 1 50 photo"]),
    ("POST", "/v1/content/50/restore", "", &["content.restored 1 50 photo"]),
    ("DELETE", "/v1/content/50?purge=true", "", &["content.deleted 1 50 photo", "content.purged 1 50 photo"]),
    ("POST", "/v1/content", OTHER, &["content.published 1 51 post"]),
    ("DELETE", "/v1/content/51", "", &["content.deleted 1 51 post"]),
    ("DELETE", "/v1/content/51?purge=true", "", &["content.purged 1 51 post"]),
    ("DELETE", "/v1/content/51?purge=true", "", &[]),
];

#[test]
fn every_kind_of_change_is_told_once_and_in_order() {
    let server = Server::start();
    assert_eq!(server.get("/v1/changes")["items"], json!([]));
    let (mut expected, mut end) = (Vec::new(), None);
    for (method, path, body, effects) in CALLS {
        let status = server.call(method, path, body).status;
        assert!(status < 300, "{method} {path}: {status}");
        let (new, position) = all(&server, end.as_deref(), "");
        assert_eq!(new.iter().map(told).collect::<Vec<_>>(), *effects);
        expected.extend(effects.iter().map(|effect| (*effect).to_owned()));
        end = Some(position);
    }
    // A repeat of what holds already is no change.
    put(&server, "/v1/users/2/following/1", json!({}));
    server.call("POST", "/v1/content", ITEM);
    delete(&server, "/v1/users/2/mutes/1");
    let (new, _) = all(&server, end.as_deref(), "");
    assert_eq!(new, Vec::<Value>::new());

    let (whole, _) = all(&server, None, "");
    assert_eq!(whole.iter().map(told).collect::<Vec<_>>(), expected);
    assert!(whole.is_sorted_by_key(|change| change["at"].as_u64()));
    for limit in [1, 2, 7] {
        assert_eq!(all(&server, None, &format!("limit={limit}")).0, whole);
    }
    for (place, change) in whole.iter().enumerate() {
        assert_eq!(all(&server, change["position"].as_str(), "limit=10").0, whole[place + 1..]);
    }
    let (follows, _) = all(&server, None, "types=follow.created,follow.removed&limit=1");
    let of = |change: &&Value| ["follow.created", "follow.removed"].map(Value::from).contains(&change["type"]);
    assert_eq!(follows, whole.iter().filter(of).cloned().collect::<Vec<_>>());
    assert_eq!(server.get("/v1/changes?after=newest"), json!({"items": [], "position": end}));

    let server = server.restart("KILL", &[]);
    assert_eq!(all(&server, None, "").0, whole);
    put(&server, "/v1/users/2/mutes/4", json!({}));
    let (new, _) = all(&server, end.as_deref(), "");
    assert_eq!(new.iter().map(told).collect::<Vec<_>>(), ["mute.created 2 4"]);
}

#[test]
fn imported_rows_are_told_one_by_one() {
    let data = TempDir::new().expect("temp dir");
    let file = |name: &str, text: &str| {
        let path = data.path().join(name);
        fs::write(&path, text).expect("writes");
        path.to_str().expect("text").to_owned()
    };
    let follows = file("f", "1,2\n1,3\n");
    let content =
        file("c", "{\"content_id\":5,\"author_id\":2}\n{\"content_id\":6,\"author_id\":2,\"kind\":\"photo\"}\n");
    let place = TempDir::new().expect("temp dir");
    crate::server::run(&["import", "--follows", &follows, "--content", &content], &place, &[]);
    let server = Server::on(place, &[]);
    let mut changes: Vec<_> = all(&server, None, "").0.iter().map(told).collect();
    changes.sort();
    let expected =
        ["content.published 2 5 post", "content.published 2 6 photo", "follow.created 1 2", "follow.created 1 3"];
    assert_eq!(changes, expected);
}

#[test]
fn positions_of_other_histories_are_refused() {
    let server = Server::start();
    let problem = |server: &Server, after: &str, status, code: &str| {
        server.call("GET", &format!("/v1/changes?after={after}"), "").problem(after, status, code)
    };
    let own = server.get("/v1/changes?after=newest")["position"].as_str().expect("text").to_owned();
    problem(&server, "0123456789abcdef-0", 400, "invalid_parameter");
    let beyond = own.replace("-0", "-1");
    problem(&server, &beyond, 400, "invalid_parameter");
    for wrong in ["7", "x-1", &format!("{own}0x"), &own.to_uppercase().replace('-', "_")] {
        problem(&server, wrong, 400, "invalid_parameter");
    }
    server.call("GET", "/v1/changes?types=follow", "").problem("a type", 400, "invalid_parameter");
    server.call("GET", "/v1/changes?limit=1001", "").problem("a limit", 400, "invalid_parameter");
    put(&server, "/v1/users/1/mutes/2", json!({}));
    // A copy may lack changes that readers know.
    let (_, data) = server.stop("TERM");
    fs::remove_file(data.path().join("RUN")).expect("removes");
    let server = Server::on(data, &[]);
    problem(&server, &own, 410, "changes_gone");
    assert_eq!(all(&server, None, "").0, Vec::<Value>::new(), "a new history begins");
    let end = server.get("/v1/changes?after=newest")["position"].as_str().expect("text").to_owned();
    put(&server, "/v1/users/1/mutes/3", json!({}));
    assert_eq!(all(&server, Some(&end), "").0.len(), 1);
    let server = server.restart("TERM", &[]);
    assert_eq!(all(&server, None, "").0.len(), 1, "nothing comes before the beginning of the history");

    let server = server.restart("TERM", &[("TIDELINE__CHANGES__KEEP", "0s")]);
    problem(&server, &end, 410, "changes_gone");
    server.call("GET", "/v1/changes", "").problem("none are kept", 410, "changes_gone");
    // Nobody is told of these follows, so no position from before leads over them.
    put(&server, "/v1/users/1/following/3", json!({}));
    let server = server.restart("TERM", &[("TIDELINE__CHANGES__KEEP", "7d")]);
    problem(&server, &end, 410, "changes_gone");
    assert_eq!(all(&server, None, "").0, Vec::<Value>::new());
    put(&server, "/v1/users/1/following/4", json!({}));
    assert_eq!(all(&server, None, "").0.iter().map(told).collect::<Vec<_>>(), ["follow.created 1 4"]);
}

#[test]
fn each_change_is_there_before_its_answer_and_none_comes_behind_a_reader() {
    let server = Server::start();
    let over = AtomicBool::new(false);
    let mut at = all(&server, Some("newest"), "").1;
    std::thread::scope(|threads| {
        let _over = SetOnDrop(&over);
        let reader = threads.spawn(|| {
            let mut found = Vec::new();
            while !over.load(Ordering::Relaxed) {
                let (new, position) = all(&server, Some(&at), "limit=5");
                found.extend(new);
                at = position;
                std::thread::sleep(Duration::from_millis(1));
            }
            found.extend(all(&server, Some(&at), "").0);
            found
        });
        let writers: Vec<_> = (1..=6_u64)
            .map(|writer| {
                let server = &server;
                threads.spawn(move || {
                    let mut at = all(server, Some("newest"), "").1;
                    for n in 0..40_u64 {
                        let id = 1000 * writer + n;
                        let change = match n % 3 {
                            0 => {
                                server.publish(id, writer, id);
                                format!("content.published {writer} {id} post")
                            }
                            1 => {
                                put(server, &format!("/v1/users/{writer}/mutes/{id}"), json!({}));
                                format!("mute.created {writer} {id}")
                            }
                            _ => {
                                put(server, &format!("/v1/content/{}/reactions/like/{writer}", id - 2), json!({}));
                                format!("reaction.created {writer} {writer} {} like", id - 2)
                            }
                        };
                        let (new, position) = all(server, Some(&at), "");
                        assert!(new.iter().any(|new| told(new) == change), "{change} is not there");
                        at = position;
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().expect("writes"));
        over.store(true, Ordering::Relaxed);
        let found = reader.join().expect("reads");
        let (whole, _) = all(&server, None, "");
        assert_eq!(whole.len(), 240);
        assert_eq!(found, whole);
        assert_eq!(whole.iter().map(told).collect::<HashSet<_>>().len(), 240, "each once");
    });
}

#[test]
fn a_stream_has_the_changes_as_they_come_and_resumes() {
    let server = Server::with(&[("TIDELINE__PRESENCE__HEARTBEAT", "1s")]);
    for n in 1..=200 {
        put(&server, &format!("/v1/users/1/mutes/{}", n + 1), json!({}));
    }
    let (whole, end) = all(&server, None, "");
    let mut listener = Listener::of_changes(&server, "", None);
    assert!(listener.head.contains("content-type: text/event-stream\r\n"), "{}", listener.head);
    let mut next = |change: &Value| {
        let sent = listener.event();
        assert_eq!((&*sent.event, sent.id.as_deref()), ("change", change["position"].as_str()));
        assert_eq!(&sent.data, change);
    };
    whole.iter().for_each(&mut next);
    put(&server, "/v1/users/1/mutes/999", json!({}));
    let (new, _) = all(&server, Some(&end), "");
    next(&new[0]);
    listener.is_quiet();

    // It goes on where it was, whatever `after` says, and knows its place though it is asked for other types.
    let middle = whole[150]["position"].as_str();
    let mut listener = Listener::of_changes(&server, "after=newest", middle);
    assert_eq!(listener.event().data, whole[151]);
    let mut listener = Listener::of_changes(&server, "types=follow.created", None);
    let place = listener.block(PATIENCE).expect("a place");
    assert_eq!((&*place.event, place.id.as_deref()), ("", new[0]["position"].as_str()));
    put(&server, "/v1/users/1/following/2", json!({}));
    assert_eq!(listener.event().data["type"], "follow.created");

    for (query, last, status) in [("", "0123456789abcdef-0", "400"), ("", "7", "400"), ("after=x", "", "400")] {
        let listener = Listener::of_changes(&server, query, Some(last));
        assert!(listener.head.starts_with(&format!("HTTP/1.1 {status} ")), "{}", listener.head);
    }
    // A client that takes the answer for a stream, and asks for none.
    let headers = [("last-event-id", "7")];
    server.call_as("GET", "/v1/changes", "", &headers).problem("a page", 400, "invalid_header");
    let mut listener = Listener::of_changes(&server, "after=newest", None);
    let (_, data) = server.stop("TERM");
    assert!(listener.ends());
    drop(data);
}
