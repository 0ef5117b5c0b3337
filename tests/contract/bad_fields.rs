//! Refused values of each field: of a wrong type or out of range.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::server::Server;

/// Every bad value of every field.
pub(crate) fn bad_fields(server: &Server) {
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
        server.call(method, path, bad).problem(&format!("{method} {path} {bad}"), 400, "invalid_body")
    };
    // If the body is JSON, the problem names the field.
    let names = |problem: &Value, name: &str, bad: &str| {
        let detail = problem["detail"].as_str().unwrap();
        let is_json = serde_json::from_str::<Value>(bad).is_ok();
        let is_named = detail.strip_prefix(name).is_some_and(|rest| rest.starts_with([':', '[']));
        assert!(!is_json || is_named, "{bad}: {detail}");
    };
    for (name, values) in fields {
        for value in *values {
            let bad = format!(r#"{{"author_id":66,"{name}":{value}}}"#);
            // The call gives `ref_id` and `kind` of a comment.
            let comment = refused("POST", "/v1/content/10/comments", &bad);
            if !["ref_id", "kind"].contains(name) {
                names(&comment, name, &bad);
            }
            names(&refused("POST", "/v1/content", &bad), name, &bad);
            let batch = format!(r#"{{"items":[{{"author_id":66}},{bad}]}}"#);
            names(&refused("POST", "/v1/content/batch", &batch), &format!("items[1]: {name}"), &batch);
            if ["text", "media", "extra"].contains(name) {
                refused("PATCH", "/v1/content/10", &format!(r#"{{"{name}":{value}}}"#));
            }
        }
    }
    for value in id.iter().chain(&["null"]) {
        refused("POST", "/v1/content", &format!(r#"{{"author_id":{value}}}"#));
        refused("POST", "/v1/content/10/comments", &format!(r#"{{"author_id":{value}}}"#));
        for list in [format!(r#"{{"follow":[66,{value}]}}"#), format!(r#"{{"follow":[66],"unfollow":[{value}]}}"#)] {
            refused("POST", "/v1/users/1/following/batch", &list);
        }
    }
    let places =
        ["null", "1", "[]", "{}", r#""""#, r#""1""#, r#""1-0""#, r#""-1-1""#, r#""01-1""#, r#""1-1-1""#, r#"" 1-1""#];
    for value in places {
        refused("PUT", "/v1/users/1/marker", &format!(r#"{{"cursor":{value}}}"#));
    }
    refused("PUT", "/v1/users/1/marker", "{}");
    for (name, values) in [
        ("nickname", [&text[..], &["\"\"", &long(201)]].concat()),
        ("avatar", [&text[..], &["\"\"", &long(2049)]].concat()),
        ("extra", extra.to_vec()),
    ] {
        for value in values {
            let bad = format!(r#"{{"{name}":{value}}}"#);
            names(&refused("PUT", "/v1/users/1", &bad), name, &bad);
        }
    }
    for value in time {
        let bad = format!(r#"{{"since":{value}}}"#);
        names(&refused("PUT", "/v1/users/1/following/66", &bad), "since", &bad);
    }
    let date = refused("POST", "/v1/content", r#"{"author_id":66,"published_at":"2026-01-01T00:00:00Z"}"#);
    assert_eq!(
        date["detail"],
        "published_at: invalid type: string \"2026-01-01T00:00:00Z\", expected whole milliseconds since 1970"
    );
    let list = refused("POST", "/v1/users/1/following/batch", r#"{"follow":[66],"unfollow":[67,"x"]}"#);
    names(&list, "unfollow[1]", "{}");
    times_to_come(server);
    refused("POST", "/v1/content", "{}");
    refused("POST", "/v1/content/10/comments", "{}");
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
    refused("PUT", "/v1/users/1", r#"["Ann",null,{}]"#);
    refused("PUT", "/v1/users/1/mutes/66", "[]");
    refused("PATCH", "/v1/content/10", r#"["changed",[],{}]"#);
}

/// Times too far ahead of the clock, in every field that takes a time: in other units, and the largest.
fn times_to_come(server: &Server) {
    let now = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    for (at, looks) in [
        (now + 660_000, None),
        (now * 1000, Some("microseconds")),
        (now * 1_000_000, Some("nanoseconds")),
        (i64::MAX as u64, None),
    ] {
        let item = format!(r#"{{"author_id":66,"published_at":{at}}}"#);
        for (method, path, body, name) in [
            ("POST", "/v1/content", item.clone(), "published_at"),
            ("POST", "/v1/content", item.replace('}', r#","content_id":66}"#), "published_at"),
            ("POST", "/v1/content/10/comments", item.clone(), "published_at"),
            (
                "POST",
                "/v1/content/batch",
                format!(r#"{{"items":[{{"author_id":66}},{item}]}}"#),
                "items[1].published_at",
            ),
            ("PUT", "/v1/users/1/following/66", format!(r#"{{"since":{at}}}"#), "since"),
            // A user who is followed already, since another time.
            ("PUT", "/v1/users/1/following/2", format!(r#"{{"since":{at}}}"#), "since"),
            ("PUT", "/v1/content/10/reactions/like/6", format!(r#"{{"since":{at}}}"#), "since"),
            ("PUT", "/v1/users/1/marker", format!(r#"{{"cursor":"{at}-66"}}"#), "cursor"),
            // An existing item, at another time.
            ("PUT", "/v1/users/1/marker", format!(r#"{{"cursor":"{at}-10"}}"#), "cursor"),
        ] {
            let what = format!("{method} {path} {body}");
            let problem = server.call(method, path, &body).problem(&what, 400, "time_ahead");
            let detail = problem["detail"].as_str().unwrap();
            assert!(detail.starts_with(&format!("{name}: {at} lies ")), "{what}: {detail}");
            assert!(detail.contains("milliseconds since 1970"), "{what}: {detail}");
            let clock = detail.split_once("clock (").and_then(|(_, rest)| rest.split(')').next());
            let clock: u64 = clock.and_then(|clock| clock.parse().ok()).unwrap_or_else(|| panic!("no clock: {detail}"));
            assert!((now..now + 600_000).contains(&clock), "{what}: {detail}");
            let unit = detail.split_once("this value looks like ").map(|(_, unit)| unit);
            assert_eq!(unit, looks, "{what}: {detail}");
        }
    }
}
