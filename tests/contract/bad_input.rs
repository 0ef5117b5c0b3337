//! Every kind of bad input at every call: a 4xx with its code, and nothing changed.

use super::bad_fields::bad_fields;
use super::calls::{CALLS, Call, Query, filled};
use super::town::Town;
use crate::server::Server;

/// Texts that are no ids.
const NO_IDS: &[&str] =
    &["0", "-1", "+1", "01", "1.0", "1e3", "abc", "0x10", "%201", "1%20", "%EF%BC%91", "9223372036854775808", "%22"];
/// Bytes that are no query on their own: bad escapes, bad UTF-8, unknown names.
const NO_QUERIES: &[&str] =
    &["nonsense=1", "nonsense", "a=1&a=1", "=", "%", "%2", "%zz=1", "nonsense=%ff", "%ff", "limit=%c3", "Limit=1"];
/// Texts that are no cursors.
const NO_CURSORS: &[&str] =
    &["", "1", "-", "1-", "-1", "1-0", "0-0", "01-1", "1-01", "a-1", "1-1-1", "1%20-1", "9223372036854775808-1"];
/// Texts that are no objects for any call.
const NO_OBJECTS: &[&[u8]] = &[
    b" ",
    b"null",
    b"true",
    b"1",
    b"\"x\"",
    b"[]",
    b"[1]",
    b"{",
    b"}",
    b"{}{}",
    b"{} x",
    b"{,}",
    b"{\"nonsense\":1}",
    b"{'a':1}",
    b"{\"a\"}",
    b"\xef\xbb\xbf{}",
    b"{\"\xff\":1}",
    b"\xff\xfe{}",
    b"\x00",
    b"{\"text\":NaN}",
];

#[test]
fn bad_input_is_refused_everywhere_and_changes_nothing() {
    let mut town = Town::new();
    town.model.users.insert(66);
    let before = town.seen();
    let server = &town.server;
    for call in CALLS {
        bad_paths(server, call);
        bad_queries(server, call);
        if !call.body.is_empty() {
            bad_bodies(server, call);
        }
        bad_methods(server, call);
    }
    bad_fields(server);
    town.check("after all that was refused");
    assert_eq!(town.seen(), before);
    // Without the bad parts the same calls succeed.
    for Call { method, path, query, body, .. } in CALLS {
        // A GET of a stream does not end.
        let method = if path.ends_with("/stream") { &"HEAD" } else { method };
        let reply = server.call(method, &format!("{}?{}", filled(path), query.needed()), body);
        assert!((200..300).contains(&reply.status), "{method} {path}: {reply:?}");
        if *method == "DELETE" && *path == "/v1/content/{content_id}" {
            server.call("GET", "/v1/content/10", "").problem("deleted", 404, "content_not_found");
        }
    }
    assert_ne!(town.seen(), before);
}

#[test]
fn a_slash_too_many_is_told() {
    let server = Server::start();
    for call in CALLS.iter().filter(|call| !["/", "/docs", "/docs/"].contains(&call.path)) {
        for slashes in ["/", "//"] {
            let path = filled(call.path);
            let told = server.call(call.method, &format!("{path}{slashes}"), call.body);
            let told = told.problem(&format!("{path}{slashes}"), 404, "route_not_found");
            assert!(told["detail"].as_str().unwrap().contains(&format!("\"{path}\"")), "{told}");
        }
    }
    for path in ["/v1/nowhere/", "/v1/", "/v1//content/", "//"] {
        let told = server.call("GET", path, "").problem(path, 404, "route_not_found");
        assert!(!told["detail"].as_str().unwrap().contains('"'), "{told}");
    }
}

fn bad_paths(server: &Server, call: &Call) {
    let Call { method, path, query, body, .. } = *call;
    for slot in ["{uid}", "{target}", "{content_id}"].into_iter().filter(|slot| path.contains(slot)) {
        for no_id in NO_IDS.iter().chain(&["%ff", "1%2f2", "%"]) {
            let bad = format!("{}?{}", filled(&path.replace(slot, no_id)), query.needed());
            server.call(method, &bad, body).problem(&format!("{method} {bad}"), 400, "invalid_id");
        }
    }
    for bad in ["/", "/x", "//"] {
        let bad = format!("{}{bad}", filled(path));
        if bad == "/docs/" {
            continue; // leads to the page
        }
        // Another call may exist below a path that ends in an id or a list.
        let reply = server.call(method, &bad, body);
        assert!(matches!(reply.status, 400 | 404 | 405), "{method} {bad}: {}", reply.status);
    }
}

fn bad_methods(server: &Server, call: &Call) {
    for wrong in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        if !call.allow.split(", ").any(|allowed| allowed == wrong) {
            let reply = server.call(wrong, &call.filled(), call.body);
            reply.problem(&format!("{wrong} {}", call.path), 405, "method_not_allowed");
            assert_eq!(reply.header("allow"), Some(call.allow), "{wrong} {}", call.path);
        }
    }
}

fn bad_queries(server: &Server, call: &Call) {
    let Call { method, query, body, .. } = *call;
    let path = call.filled();
    let needed = query.needed();
    let refused = |bad: &str| {
        let whole = if bad.contains(needed) || needed.is_empty() { bad.to_owned() } else { format!("{needed}&{bad}") };
        let whole = format!("{path}?{whole}");
        server.call(method, &whole, body).problem(&format!("{method} {whole}"), 400, "invalid_parameter");
    };
    NO_QUERIES.iter().for_each(|bad| refused(bad));
    let each = |name: &str, values: &[&str]| values.iter().for_each(|value| refused(&format!("{name}={value}")));
    let pages = matches!(query, Query::ContentPage | Query::UserPage | Query::PlainPage);
    if pages {
        each("limit", &["", "0", "101", "-1", "+1", "01", "1.0", "abc", "%31x", "99999999999999999999"]);
        each("before", NO_CURSORS);
        each("after", NO_CURSORS);
        ["limit=1&limit=1", "before=1-1&before=1-1", "after=1-1&%61fter=1-1"].into_iter().for_each(refused);
    }
    match query {
        Query::ContentPage => each("view", &["", "FULL", "id", "ids,full", "view"]),
        Query::UserPage => each("viewer", NO_IDS),
        Query::PlainPage => ["viewer=1", "view=full"].into_iter().for_each(refused),
        Query::Ids => each("view", &["", "none"]),
        Query::Depth => each("depth", &["", "0", "100001", "-1", "1.5", "all"]),
        Query::Nothing | Query::Targets | Query::ContentId => {}
    }
    if query == Query::ContentPage {
        refused("viewer=1");
    }
    if query == Query::UserPage {
        refused("view=full");
        refused("viewer=1&viewer=2");
    }
    // Required parameters.
    let name = needed.split('=').next().unwrap_or_default();
    let bare = |bad: &str| {
        let whole = format!("{path}?{bad}");
        server.call(method, &whole, body).problem(&format!("{method} {whole}"), 400, "invalid_parameter");
    };
    if !name.is_empty() {
        bare("");
        bare(name);
        bare(&format!("{name}=1&{name}=1"));
        NO_IDS.iter().for_each(|no_id| bare(&format!("{name}={no_id}")));
    }
    if matches!(query, Query::Ids | Query::Targets) {
        for list in [",", "1,", ",1", "1,,2", "1,0", "1,x", "1%202", "1;2"] {
            bare(&format!("{name}={list}"));
        }
        bare(&format!("{name}=1{}", ",2".repeat(100)));
    }
    if query == Query::ContentId {
        bare("content_id=1,2");
    }
}

fn bad_bodies(server: &Server, call: &Call) {
    let Call { method, body, .. } = *call;
    let path = call.filled();
    let refused = |what: &str, bad: &[u8]| {
        server.call(method, &path, bad).problem(&format!("{method} {path} {what}"), 400, "invalid_body");
    };
    for bad in NO_OBJECTS {
        refused(&String::from_utf8_lossy(bad), bad);
    }
    if !call.body_optional() {
        refused("empty", b"");
    }
    let inner = body.trim_start_matches('{').trim_end_matches('}');
    let deep = format!("{{{inner},\"x\":{}{}}}", "[".repeat(3000), "]".repeat(3000));
    let first = inner.split(':').next().unwrap_or_default();
    for bad in [
        format!("{{{inner},\"nonsense\":1}}"),
        format!("{{{inner},{inner}}}"),
        format!("{{{inner},}}"),
        format!("{{{inner}"),
        format!("{{{inner}}}}}"),
        format!("{{{inner}}}\u{0}"),
        format!("[{{{inner}}}]"),
        format!("{{{first}:{{}}}}"),
        format!("{{{first}:-1.5}}"),
        deep,
    ] {
        refused(&bad[..bad.len().min(80)], bad.as_bytes());
    }
}

#[test]
fn unknown_paths_are_problems_too() {
    let server = Server::start();
    for path in [
        "/v1",
        "/v1/",
        "/v2/content",
        "/v1/users",
        "/v1/users//timeline",
        "/v1/users/1/timeline/",
        "/v1/content/1/2",
        "/..",
        "//",
    ] {
        server.call("GET", path, "").problem(path, 404, "route_not_found");
        server.call("POST", path, "{}").problem(path, 404, "route_not_found");
    }
}

#[test]
fn bodies_have_a_limit() {
    let server = Server::with(&[("TIDELINE__SERVER__BODY_LIMIT", "1000")]);
    let sized = |bytes: usize| {
        let empty = r#"{"author_id":1,"content_id":5,"text":""}"#;
        empty.replace("\"\"", &format!("\"{}\"", "x".repeat(bytes - empty.len())))
    };
    server.call("POST", "/v1/content", sized(1001)).problem("1001", 413, "body_too_large");
    server.call("POST", "/v1/content", sized(3_000_000)).problem("3 MB", 413, "body_too_large");
    server.call("POST", "/v1/content/5/comments", sized(1001)).problem("comment", 413, "body_too_large");
    server.call("PATCH", "/v1/content/5", sized(1001)).problem("edit", 413, "body_too_large");
    server.call("PUT", "/v1/users/1/following/2", sized(1001)).problem("follow", 413, "body_too_large");
    server.call("PUT", "/v1/users/1", sized(1001)).problem("profile", 413, "body_too_large");
    server.call("PUT", "/v1/users/1/mutes/2", sized(1001)).problem("mute", 413, "body_too_large");
    server.call("POST", "/v1/users/1/following/batch", sized(1001)).problem("follows", 413, "body_too_large");
    let batch = |item: String| format!(r#"{{"items":[{{"author_id":1}},{item}]}}"#);
    let problem = server.call("POST", "/v1/content/batch", batch(sized(1001))).problem("item", 413, "body_too_large");
    assert!(problem["detail"].as_str().unwrap().contains("items[1]"), "{problem}");
    let padded = format!("{}{}", batch(sized(1000)), " ".repeat(256_000));
    server.call("POST", "/v1/content/batch", padded).problem("batch", 413, "body_too_large");
    assert!(server.ids("/v1/users/1/content").is_empty());
    server.call("POST", "/v1/content/batch", batch(sized(1000))).expect(201);
    server.call("POST", "/v1/content", sized(1000)).expect(200);
}
