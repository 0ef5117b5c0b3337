//! Every kind of bad input at every call: a 4xx with its code, and nothing changed.

use serde_json::{Value, json};

use super::client::{Server, ids};

/// What a call takes in its query.
#[derive(Clone, Copy, PartialEq)]
enum Query {
    Nothing,
    ContentPage,
    UserPage,
    Ids,
    Targets,
    Depth,
    ContentId,
}

/// Every call: method, path with `{uid}`, `{target}` or `{content_id}` in it, query, a good body (empty for none),
/// and what the path allows.
const CALLS: &[(&str, &str, Query, &str, &str)] = &[
    ("POST", "/v1/content", Query::Nothing, r#"{"author_id":66}"#, "POST, GET, HEAD"),
    ("GET", "/v1/content", Query::Ids, "", "POST, GET, HEAD"),
    ("POST", "/v1/content/batch", Query::Nothing, r#"{"items":[{"author_id":66}]}"#, "POST"),
    ("GET", "/v1/content/{content_id}", Query::Nothing, "", "GET, HEAD, PATCH, DELETE"),
    ("PATCH", "/v1/content/{content_id}", Query::Nothing, r#"{"text":"changed"}"#, "GET, HEAD, PATCH, DELETE"),
    ("DELETE", "/v1/content/{content_id}", Query::Nothing, "", "GET, HEAD, PATCH, DELETE"),
    ("GET", "/v1/users/{uid}/timeline", Query::ContentPage, "", "GET, HEAD"),
    ("GET", "/v1/users/{uid}/content", Query::ContentPage, "", "GET, HEAD"),
    ("PUT", "/v1/users/{uid}/following/{target}", Query::Nothing, r#"{"since":5}"#, "PUT, DELETE"),
    ("DELETE", "/v1/users/{uid}/following/{target}", Query::Nothing, "", "PUT, DELETE"),
    ("POST", "/v1/users/{uid}/following/batch", Query::Nothing, r#"{"follow":[66],"unfollow":[2]}"#, "POST"),
    ("GET", "/v1/users/{uid}/following", Query::UserPage, "", "GET, HEAD"),
    ("GET", "/v1/users/{uid}/followers", Query::UserPage, "", "GET, HEAD"),
    ("GET", "/v1/users/{uid}/friends", Query::UserPage, "", "GET, HEAD"),
    ("GET", "/v1/users/{uid}/relations", Query::Targets, "", "GET, HEAD"),
    ("GET", "/v1/admin/stats", Query::Nothing, "", "GET, HEAD"),
    ("GET", "/v1/admin/users/{uid}/timeline/verify", Query::Depth, "", "GET, HEAD"),
    ("GET", "/v1/admin/users/{uid}/timeline/explain", Query::ContentId, "", "GET, HEAD"),
    ("GET", "/healthz", Query::Nothing, "", "GET, HEAD"),
    ("GET", "/readyz", Query::Nothing, "", "GET, HEAD"),
    ("GET", "/metrics", Query::Nothing, "", "GET, HEAD"),
];

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

fn world() -> Server {
    let server = Server::start();
    for (user, target, since) in [(1, 2, 10), (1, 3, 20), (2, 1, 30), (3, 2, 40)] {
        server.follow(user, target, since);
    }
    for (id, author, at) in [(10, 2, 100), (11, 3, 110), (12, 2, 120), (13, 1, 130)] {
        server.publish(id, author, at);
    }
    server
}

/// Everything that a change could show in.
fn snapshot(server: &Server) -> Value {
    let mut seen = json!({});
    for user in [1, 2, 3, 66] {
        for list in ["timeline", "content", "following", "followers", "friends"] {
            let path = format!("/v1/users/{user}/{list}?limit=100");
            seen[&path] = server.get(&path);
        }
        let verified = server.get(&format!("/v1/admin/users/{user}/timeline/verify"));
        assert_eq!(verified["exact"], true, "{verified}");
    }
    // Those reads have marked their users as seen.
    server.settle();
    seen["contents"] = server.get("/v1/content?ids=1,10,11,12,13,66,77");
    let tables = server.get("/v1/admin/stats")["tables"].take();
    seen["rows"] =
        tables.as_object().unwrap().iter().map(|(name, t)| (name.clone(), t["rows_estimate"].clone())).collect();
    seen
}

fn filled(path: &str) -> String {
    path.replace("{uid}", "1").replace("{target}", "66").replace("{content_id}", "10")
}

/// What a call needs in its query at least.
fn needed(query: Query) -> &'static str {
    match query {
        Query::Ids => "ids=10",
        Query::Targets => "targets=2",
        Query::ContentId => "content_id=10",
        _ => "",
    }
}

#[test]
fn bad_input_is_refused_everywhere_and_changes_nothing() {
    let server = world();
    let before = snapshot(&server);
    assert_eq!(ids(&before["/v1/users/1/timeline?limit=100"]), [12, 11, 10]);
    for (method, path, query, body, allow) in CALLS {
        bad_paths(&server, method, path, *query, body);
        bad_queries(&server, method, &filled(path), *query, body);
        if !body.is_empty() {
            bad_bodies(&server, method, &filled(path), body);
        }
        for wrong in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            if !allow.split(", ").any(|allowed| allowed == wrong) {
                let reply = server.call(wrong, &filled(path), body);
                reply.problem(&format!("{wrong} {path}"), 405, "method_not_allowed");
                assert_eq!(reply.header("allow"), Some(*allow), "{wrong} {path}");
            }
        }
    }
    bad_fields(&server);
    assert_eq!(snapshot(&server), before);
    // The calls are good but for what was bad about them.
    for (method, path, query, body, _) in CALLS {
        let reply = server.call(method, &format!("{}?{}", filled(path), needed(*query)), body);
        assert!((200..300).contains(&reply.status), "{method} {path}: {reply:?}");
        if *method == "DELETE" && path.starts_with("/v1/content") {
            server.call("GET", "/v1/content/10", "").problem("deleted", 404, "content_not_found");
        }
    }
    assert_ne!(snapshot(&server), before);
}

fn bad_paths(server: &Server, method: &str, path: &str, query: Query, body: &str) {
    for slot in ["{uid}", "{target}", "{content_id}"].into_iter().filter(|slot| path.contains(slot)) {
        for no_id in NO_IDS.iter().chain(&["%ff", "1%2f2", "%"]) {
            let bad = format!("{}?{}", filled(&path.replace(slot, no_id)), needed(query));
            server.call(method, &bad, body).problem(&format!("{method} {bad}"), 400, "invalid_id");
        }
    }
    for bad in ["/", "/x", "//"] {
        let bad = format!("{}{bad}", filled(path));
        // Below a path that ends in an id or a list there may be another call.
        let reply = server.call(method, &bad, body);
        assert!(matches!(reply.status, 400 | 404 | 405), "{method} {bad}: {}", reply.status);
    }
}

fn bad_queries(server: &Server, method: &str, path: &str, query: Query, body: &str) {
    let refused = |bad: &str| {
        let needed = needed(query);
        let whole = if bad.contains(needed) || needed.is_empty() { bad.to_owned() } else { format!("{needed}&{bad}") };
        let whole = format!("{path}?{whole}");
        server.call(method, &whole, body).problem(&format!("{method} {whole}"), 400, "invalid_parameter");
    };
    NO_QUERIES.iter().for_each(|bad| refused(bad));
    let each = |name: &str, values: &[&str]| values.iter().for_each(|value| refused(&format!("{name}={value}")));
    let pages = matches!(query, Query::ContentPage | Query::UserPage);
    if pages {
        each("limit", &["", "0", "101", "-1", "+1", "01", "1.0", "abc", "%31x", "99999999999999999999"]);
        each("before", NO_CURSORS);
        each("after", NO_CURSORS);
        ["limit=1&limit=1", "before=1-1&before=1-1", "after=1-1&%61fter=1-1"].into_iter().for_each(refused);
    }
    match query {
        Query::ContentPage => each("view", &["", "FULL", "id", "ids,full", "view"]),
        Query::UserPage => each("viewer", NO_IDS),
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
    // Those that must be there.
    let name = needed(query).split('=').next().unwrap_or_default();
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

fn bad_bodies(server: &Server, method: &str, path: &str, body: &str) {
    let refused = |what: &str, bad: &[u8]| {
        server.call(method, path, bad).problem(&format!("{method} {path} {what}"), 400, "invalid_body");
    };
    for bad in NO_OBJECTS {
        refused(&String::from_utf8_lossy(bad), bad);
    }
    // An empty body is a follow from now on.
    if method != "PUT" {
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
        format!("{{{first}:true}}"),
        deep,
    ] {
        refused(&bad[..bad.len().min(80)], bad.as_bytes());
    }
}

/// Field by field, what the type or range of each field refuses.
fn bad_fields(server: &Server) {
    let long = |n: usize| format!("\"{}\"", "x".repeat(n));
    let topics = format!("[{}]", ["\"t\""; 11].join(","));
    let nested = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    let id = [
        "0",
        "-1",
        "1.5",
        "1e3",
        "true",
        "\"\"",
        "\"x\"",
        "\"01\"",
        "\" 1\"",
        "[1]",
        "{}",
        "9223372036854775808",
        "18446744073709551616",
    ];
    let time = ["-1", "1.5", "\"5\"", "true", "[]", "9223372036854775808", "1e400"];
    let text = ["1", "true", "[]", "{}", r#""\ud800""#, "\"\u{1}\"", "\"a\nb\""];
    let media = [
        "1",
        "\"x\"",
        "{}",
        "[1]",
        "[[]]",
        "[{}]",
        r#"[{"type":"a"}]"#,
        r#"[{"type":1,"url":"u"}]"#,
        r#"[{"type":"a","url":"u","url":"u"}]"#,
        r#"[{"type":"a","url":"u","x":{"y":1,"y":1}}]"#,
        r#"[{"type":"a","url":"\ud800"}]"#,
        r#"[{"$serde_json::private::RawValue":"{\"type\":\"a\",\"url\":\"u\"}"}]"#,
        r#"[{"type":{"$serde_json::private::RawValue":"\"a\""},"url":"u"}]"#,
    ];
    let extra = [
        "1",
        "\"x\"",
        "[]",
        "true",
        r#"{"a":1,"a":2}"#,
        r#"{"a":{"b":1,"b":1}}"#,
        r#"{"a":[{"b":1,"b":1}]}"#,
        r#"{"a":"\udc00"}"#,
        r#"{"a":1e999}"#,
        r#"{"a":01}"#,
        r#"{"a":NaN}"#,
        &nested(33),
        &nested(3000),
    ];
    let kind = ["1", "\"\"", "\"Post\"", "\"a b\"", "\"é\"", &long(33)];
    let topic = ["1", "\"t\"", "{}", "[1]", "[null]", "[\"\"]", &topics, &format!("[{}]", long(65))];
    let flag = ["1", "\"true\"", "[]"];

    let fields: &[(&str, &[&str])] = &[
        ("content_id", &id),
        ("published_at", &time),
        ("kind", &kind),
        ("text", &text),
        ("media", &media),
        ("topics", &topic),
        ("ref_id", &id),
        ("extra", &extra),
        ("broadcast", &flag),
    ];
    let refused = |method: &str, path: &str, bad: &str| {
        server.call(method, path, bad).problem(&format!("{method} {path} {bad}"), 400, "invalid_body");
    };
    for (name, values) in fields {
        for value in *values {
            let bad = format!(r#"{{"author_id":66,"{name}":{value}}}"#);
            refused("POST", "/v1/content", &bad);
            refused("POST", "/v1/content/batch", &format!(r#"{{"items":[{{"author_id":66}},{bad}]}}"#));
            if ["text", "media", "extra"].contains(name) {
                refused("PATCH", "/v1/content/10", &format!(r#"{{"{name}":{value}}}"#));
            }
        }
    }
    for value in id.iter().chain(&["null"]) {
        refused("POST", "/v1/content", &format!(r#"{{"author_id":{value}}}"#));
        for list in [format!(r#"{{"follow":[66,{value}]}}"#), format!(r#"{{"follow":[66],"unfollow":[{value}]}}"#)] {
            refused("POST", "/v1/users/1/following/batch", &list);
        }
    }
    for value in time {
        refused("PUT", "/v1/users/1/following/66", &format!(r#"{{"since":{value}}}"#));
    }
    refused("POST", "/v1/content", "{}");
    for items in
        ["null", "{}", "1", "\"\"", "[]", "[1]", "[null]", "[[66]]", r#"[{"author_id":66},{}]"#, r#"[{"author_id":66}"#]
    {
        refused("POST", "/v1/content/batch", &format!(r#"{{"items":{items}}}"#));
    }
    for lists in
        ["{}", r#"{"follow":[]}"#, r#"{"follow":null}"#, r#"{"follow":66}"#, r#"{"follow":[[66]]}"#, r#"{"follow":{}}"#]
    {
        refused("POST", "/v1/users/1/following/batch", lists);
    }
    // serde takes an array for a struct; this is no item.
    refused("POST", "/v1/content", r#"[66,77,1,"post","x",null,[],null,null,true]"#);
    refused("POST", "/v1/content/batch", r#"{"items":[[66,77,1,"post","x",null,[],null,null,true]]}"#);
    refused("PUT", "/v1/users/1/following/66", "[5]");
    refused("PATCH", "/v1/content/10", r#"["changed",[],{}]"#);
}

#[test]
fn unknown_paths_are_problems_too() {
    let server = Server::start();
    for path in [
        "/",
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
    server.call("PATCH", "/v1/content/5", sized(1001)).problem("edit", 413, "body_too_large");
    server.call("PUT", "/v1/users/1/following/2", sized(1001)).problem("follow", 413, "body_too_large");
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
