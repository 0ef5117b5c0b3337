//! Every kind of bad input at every call: a 4xx with its code, and nothing changed.

use std::collections::BTreeSet;

use percent_encoding::percent_decode_str;
use regex::Regex;
use serde_json::Value;

use super::bad_fields::bad_fields;
use super::calls::{CALLS, Call, Parameter, in_turn, town};
use crate::server::Server;

/// Texts that are no ids: control characters, and bytes that are no UTF-8.
const NO_IDS: &[&str] = &[
    "%00",
    "a%00b",
    "%0A",
    "1%0d",
    "%1f",
    "%7f",
    "%C2%85",
    "%C2%9f1",
    "%ff",
    "1%c3",
    "%C0%AF",
    "%ED%A0%80",
    "%",
    "1%2",
    "%zz",
];
/// Bytes that are no query on their own: bad escapes, bad UTF-8, unknown names.
const NO_QUERIES: &[&str] =
    &["nonsense=1", "nonsense", "a=1&a=1", "=", "%", "%2", "%zz=1", "nonsense=%ff", "%ff", "limit=%c3", "Limit=1"];
/// Texts that are no cursors.
const NO_CURSORS: &[&str] = &[
    "",
    "1",
    "-",
    "1-",
    "-1",
    "01-1",
    "a-1",
    "1%20-1",
    "%201-1",
    "9223372036854775808-1",
    "1-%00",
    "1-%C2%85",
    "1-%ff",
];
/// Texts that are no lists of ids.
const NO_LISTS: &[&str] = &[",", "1,", ",1", "1,,2", "%5C,,", "1,%00", "1,%ff,2", "1,%C2%85"];
/// Cursors with the id of no user and no item.
const UNKNOWN_CURSORS: &[&str] = &["1-0", "0-0", "1-01", "1-1-1", "1-%20", "1-9223372036854775808", "1-%F0%9F%8C%8A"];
/// Bodies that are none, and so refused only where a call needs one.
const NO_BODIES: &[&[u8]] = &[b"", b" ", b"null", b"[]"];
/// Texts that are no objects for any call.
const NO_OBJECTS: &[&[u8]] = &[
    b"true",
    b"1",
    b"\"x\"",
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
    let town = town();
    let before = town.seen();
    let server = &town.server;
    for call in CALLS.iter() {
        bad_paths(server, call);
        bad_queries(server, call);
        if !call.body.is_empty() {
            bad_bodies(server, call);
        }
        bad_methods(server, call);
        if call.method != "GET" {
            conditions(server, call);
        }
    }
    bad_fields(server);
    town.check("after all that was refused");
    assert_eq!(town.seen(), before);
    // Without the bad parts the same calls succeed.
    for call in in_turn() {
        let (method, path) = (&call.method, call.target());
        // A GET of a stream does not end.
        let sent = if path.ends_with("/stream") { "HEAD" } else { method };
        let reply = server.call(sent, &path, &call.body);
        // This server has no secret for tokens.
        let has_no_secret = reply.status == 409 && path == "/v1/admin/tokens";
        assert!((200..300).contains(&reply.status) || has_no_secret, "{method} {path}: {reply:?}");
        if method == "DELETE" && call.path == "/v1/content/{content_id}" {
            server.call("GET", &path, "").problem("deleted", 404, "content_not_found");
        }
    }
    assert_ne!(town.seen(), before);
}

#[test]
fn a_slash_too_many_is_told() {
    let server = Server::start();
    for call in CALLS.iter().filter(|call| !["/", "/docs", "/docs/"].contains(&&*call.path)) {
        for slashes in ["/", "//"] {
            let path = call.filled(&call.path);
            let told = server.call(&call.method, &format!("{path}{slashes}"), &call.body);
            let told = told.problem(&format!("{path}{slashes}"), 404, "route_not_found");
            assert!(told["detail"].as_str().unwrap().contains(&format!("\"{path}\"")), "{told}");
        }
    }
    for path in ["/v1/nowhere/", "/v1/", "/v1//content/", "//"] {
        let told = server.call("GET", path, "").problem(path, 404, "route_not_found");
        assert!(!told["detail"].as_str().unwrap().contains('"'), "{told}");
    }
}

/// Texts of more than 128 bytes, also after a time.
fn too_long() -> [String; 3] {
    ["x".repeat(129), format!("1-{}", "x".repeat(129)), "%C3%A9".repeat(64) + "x"]
}

fn bad_paths(server: &Server, call: &Call) {
    let Call { method, path, body, .. } = call;
    for slot in call.slots().filter(|slot| !["{kind}", "{topic}", "{list}", "{name}"].contains(slot)) {
        for no_id in NO_IDS.iter().copied().chain(too_long().iter().map(String::as_str)) {
            let bad = format!("{}?{}", call.filled(&path.replace(slot, no_id)), call.needed("").join("&"));
            server.call(method, &bad, body).problem(&format!("{method} {bad}"), 400, "invalid_id");
        }
    }
    for bad in ["/", "/x", "//"] {
        let bad = format!("{}{bad}", call.filled(path));
        if bad == "/docs/" {
            continue; // leads to the page
        }
        // Another call may exist below a path that ends in an id or a list.
        let reply = server.call(method, &bad, body);
        assert!(matches!(reply.status, 400 | 404 | 405), "{method} {bad}: {}", reply.status);
    }
}

fn bad_methods(server: &Server, call: &Call) {
    // `batch` is also an id.
    let ways = CALLS.iter().filter(|other| other.fits(&call.filled(&call.path)));
    let allow: BTreeSet<&str> = ways.flat_map(|other| &other.allow).map(String::as_str).collect();
    for wrong in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        if !allow.contains(wrong) {
            let reply = server.call(wrong, &call.filled(&call.path), &call.body);
            reply.problem(&format!("{wrong} {}", call.path), 405, "method_not_allowed");
            let told: Vec<_> = reply.header("allow").unwrap().split(", ").collect();
            assert_eq!(told.len(), allow.len(), "{wrong} {}", call.path);
            assert_eq!(told.into_iter().collect::<BTreeSet<_>>(), allow, "{wrong} {}", call.path);
        }
    }
}

/// A change under a condition, which a client relies on and the server cannot look at.
fn conditions(server: &Server, call: &Call) {
    for condition in
        [("if-match", "\"x\""), ("if-none-match", "*"), ("if-unmodified-since", "Tue, 15 Nov 1994 12:45:26 GMT")]
    {
        let reply = server.call_as(&call.method, &call.target(), &call.body, &[condition]);
        reply.problem(&format!("{} {} {condition:?}", call.method, call.path), 400, "invalid_header");
    }
}

fn bad_queries(server: &Server, call: &Call) {
    let (method, path) = (&call.method, call.filled(&call.path));
    // A bad part, with the other required parameters.
    let refused = |name: &str, bad: &str| {
        let query: Vec<_> = call.needed(name).into_iter().chain([bad.to_owned()]).collect();
        let whole = format!("{path}?{}", query.join("&"));
        server.call(method, &whole, &call.body).problem(&format!("{method} {whole}"), 400, "invalid_parameter");
    };
    NO_QUERIES.iter().for_each(|bad| refused("", bad));
    for Parameter { name, good, .. } in CALLS.iter().flat_map(|call| &call.query) {
        if !call.query.iter().any(|known| known.name == *name) {
            refused("", &format!("{name}={good}"));
        }
    }
    for Parameter { name, required, schema, good } in &call.query {
        bad_values(schema).iter().for_each(|bad| refused(name, &format!("{name}={bad}")));
        if ["ids", "targets"].contains(&&**name) {
            let long = [format!("1{}", ",2".repeat(100)), format!("1,{}", "x".repeat(129))];
            let bad = NO_LISTS.iter().copied().chain(long.iter().map(String::as_str));
            bad.for_each(|bad| refused(name, &format!("{name}={bad}")));
        }
        let is_cursor = ["before", "after"].contains(&&**name)
            && !["/v1/changes", "/v1/admin/history"].contains(&path.as_str())
            && !path.ends_with("/notices");
        // A user may have been erased since a list of users was shown.
        for unknown in UNKNOWN_CURSORS.iter().filter(|_| is_cursor) {
            let whole = format!("{path}?{name}={unknown}");
            let reply = server.call(method, &whole, &call.body);
            match call.knows_cursors {
                true => drop(reply.problem(&format!("{method} {whole}"), 400, "unknown_cursor")),
                false => assert_ne!(reply.status, 400, "{method} {whole}"),
            }
        }
        refused(name, &format!("{name}={good}&{name}={good}"));
        refused(name, &format!("{name}={good}&%{:x}{}={good}", name.as_bytes()[0], &name[1..]));
        if *required {
            refused(name, "");
            refused(name, name);
        }
    }
}

/// Values of a query that a schema forbids.
fn bad_values(schema: &Value) -> Vec<String> {
    if let (Some(least), Some(most)) = (schema["minimum"].as_i64(), schema["maximum"].as_i64()) {
        let beyond = [(least - 1).to_string(), (most + 1).to_string()];
        let numbers = ["", "-1", "+1", "01", "1.0", "1.5", "abc", "%31x", "99999999999999999999"];
        return numbers.map(str::to_owned).into_iter().chain(beyond).collect();
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<_> = words.iter().map(|word| word.as_str().unwrap()).collect();
        let (first, all) = (words[0], words.join(","));
        return [String::new(), first.to_uppercase(), format!("{first}x"), first[1..].to_owned(), all].to_vec();
    }
    if schema["type"] == "boolean" {
        return ["", "1", "True", "truex", "true,false", "%31", "yes"].map(str::to_owned).to_vec();
    }
    let pattern = schema["pattern"].as_str().unwrap_or_else(|| panic!("there are no bad values for {schema}"));
    let pattern = Regex::new(pattern).unwrap();
    let fits = |text: &&&str| percent_decode_str(text).decode_utf8().is_ok_and(|text| pattern.is_match(&text));
    let texts = NO_IDS.iter().chain(NO_CURSORS.iter().filter(|text| !fits(text))).map(|text| (*text).to_owned());
    // A text that may be longer than an id has a bound of its own.
    let too_long = match schema["maxLength"].as_u64().filter(|most| *most > 128) {
        Some(most) => vec!["x".repeat(most as usize + 1)],
        None => too_long().to_vec(),
    };
    texts.chain(too_long).collect()
}

fn bad_bodies(server: &Server, call: &Call) {
    let (method, path) = (&call.method, call.filled(&call.path));
    let refused = |what: &str, bad: &[u8]| {
        server.call(method, &path, bad).problem(&format!("{method} {path} {what}"), 400, "invalid_body");
    };
    for bad in NO_OBJECTS {
        refused(&String::from_utf8_lossy(bad), bad);
    }
    for none in NO_BODIES.iter().filter(|_| !call.body_optional) {
        refused(&String::from_utf8_lossy(none), none);
    }
    let whole = &call.body;
    let inner = &whole[1..whole.len() - 1];
    let comma = if inner.is_empty() { "" } else { "," };
    let deep = format!("{{{inner}{comma}\"x\":{}{}}}", "[".repeat(3000), "]".repeat(3000));
    for bad in [
        format!("{{{inner}{comma}\"nonsense\":1}}"),
        format!("{{{inner},{inner}}}"),
        format!("{{{inner},}}"),
        format!("{{{inner}"),
        format!("{whole}}}"),
        format!("{whole}\u{0}"),
        format!("[{whole}]"),
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
    server.call("POST", "/v1/users/1/following/batch", sized(256_001)).problem("follows", 413, "body_too_large");
    server.call("POST", "/v1/users/1/following/batch", sized(1001)).problem("no follows", 400, "invalid_body");
    let batch = |item: String| format!(r#"{{"items":[{{"author_id":1}},{item}]}}"#);
    let problem = server.call("POST", "/v1/content/batch", batch(sized(1001))).problem("item", 413, "body_too_large");
    assert!(problem["detail"].as_str().unwrap().contains("items[1]"), "{problem}");
    let padded = format!("{}{}", batch(sized(1000)), " ".repeat(256_000));
    server.call("POST", "/v1/content/batch", padded).problem("batch", 413, "body_too_large");
    assert!(server.ids("/v1/users/1/content").is_empty());
    server.call("POST", "/v1/content/batch", batch(sized(1000))).expect(201);
    server.call("POST", "/v1/content", sized(1000)).expect(200);
}
