//! Refused values of each field of a body: of a wrong type or out of range.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use regex::Regex;
use serde_json::{Map, Value};

use super::calls::{CALLS, Call, resolved};
use crate::server::Server;

/// Values that no field with text takes. A field with an id takes some numbers.
const NO_TEXTS: &[&str] = &[
    "0",
    "-1",
    "1.5",
    "1e3",
    "true",
    "[1]",
    "{}",
    "9223372036854775808",
    "18446744073709551616",
    r#""\ud800""#,
    "\"\u{1}\"",
    "\"a\nb\"",
];
/// Texts, each of which some field does not take.
const TEXTS: &[&str] = &[
    "",
    "a\0b",
    "\n",
    "\u{7f}",
    "1\u{85}",
    "x",
    "1",
    "01",
    " 1",
    "Post",
    "a b",
    "é",
    "1-0",
    "-1-1",
    "01-1",
    "1-1-1",
    " 1-1",
    "of_33_characters_0123456789_abcde",
];
/// Values that no field with attachments takes.
const NO_MEDIA: &[&str] = &[
    "1",
    "\"x\"",
    "{}",
    "[1]",
    "[[]]",
    "[{}]",
    r#"[{"type":"a"}]"#,
    r#"[{"url":"u"}]"#,
    r#"[{"type":1,"url":"u"}]"#,
    r#"[{"type":"a","url":"u","url":"u"}]"#,
    r#"[{"type":"a","url":"u","x":{"y":1,"y":1}}]"#,
    r#"[{"type":"a","url":"\ud800"}]"#,
    r#"[{"$serde_json::private::RawValue":"{\"type\":\"a\",\"url\":\"u\"}"}]"#,
    r#"[{"type":{"$serde_json::private::RawValue":"\"a\""},"url":"u"}]"#,
];
/// Values that no field with any object takes.
const NO_EXTRA: &[&str] = &[
    "1",
    "\"x\"",
    "[1]",
    "true",
    r#"{"a":1,"a":2}"#,
    r#"{"a":{"b":1,"b":1}}"#,
    r#"{"a":[{"b":1,"b":1}]}"#,
    r#"{"a":"\udc00"}"#,
    r#"{"a":01}"#,
    r#"{"a":NaN}"#,
];

/// The only object of a body that takes any other field.
const MEDIA_ITEM: &str = "#/components/schemas/MediaItem";

/// Values of a body that a schema forbids, as JSON or as something that is no JSON.
fn forbidden(schema: &'static Value) -> Vec<String> {
    let mut schema = resolved(schema);
    if !schema["oneOf"].is_null() {
        schema = resolved(&schema["oneOf"][0]);
    }
    let types = schema["type"].as_array().map_or(std::slice::from_ref(&schema["type"]), Vec::as_slice);
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let bound = |name: &str| schema[name].as_i64().map(i128::from);
    let mut bad = match types[0].as_str() {
        Some("boolean") => owned(&["1", "\"true\"", "[]"]),
        Some("integer") => owned(&["1.5", "\"5\"", "true", "[]", "{}", "1e400"]),
        Some("string") => owned(NO_TEXTS),
        Some("array") if schema["items"]["$ref"] == MEDIA_ITEM => owned(NO_MEDIA),
        Some("array") => owned(&["1", "\"t\"", "{}", "[null]"]),
        Some("object") if schema["properties"].is_null() => {
            let nested = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
            owned(NO_EXTRA).into_iter().chain([nested(33), nested(3000)]).collect()
        }
        _ => panic!("there are no bad values for {schema}"),
    };
    bad.extend(bound("minimum").map(|least| (least - 1).to_string()));
    bad.extend(bound("maximum").map(|most| (most + 1).to_string()));
    bad.extend(bound("maxLength").map(|most| format!("\"{}\"", "x".repeat(usize::try_from(most + 1).unwrap()))));
    bad.extend(bound("minItems").map(|_| "[]".to_owned()));
    if let Some(words) = schema["enum"].as_array() {
        bad.extend(["\"\"", "\"x\"", &words[0].to_string().to_uppercase()].map(str::to_owned));
    }
    if let Some(pattern) = schema["pattern"].as_str() {
        let pattern = Regex::new(pattern).unwrap();
        bad.extend(TEXTS.iter().filter(|text| !pattern.is_match(text)).map(|text| Value::from(*text).to_string()));
        // A length in characters; ids have a bound in bytes.
        bad.extend(bound("maxLength").map(|most| format!("\"{}\"", "é".repeat(usize::try_from(most).unwrap()))));
    } else if bound("minLength") == Some(1) {
        bad.push("\"\"".to_owned());
    }
    let items = resolved(&schema["items"]);
    if items["type"] == "string" {
        bad.extend(forbidden(items).iter().map(|item| format!("[{item}]")));
        let too_many = (1..=bound("maxItems").unwrap() + 1).map(|item| format!("\"{item}\""));
        bad.push(format!("[{}]", too_many.collect::<Vec<_>>().join(",")));
    }
    bad
}

/// An object with a field of another value, which need not be JSON.
fn with(good: &Map<String, Value>, name: &str, value: &str) -> String {
    let others = good.iter().filter(|(other, _)| *other != name);
    let fields = others.map(|(other, value)| format!("\"{other}\":{value},")).collect::<String>();
    format!("{{{fields}\"{name}\":{value}}}")
}

/// A place for an object in the body of a call.
struct Place<'a> {
    server: &'a Server,
    call: &'a Call,
    /// The body around the object.
    around: [String; 2],
    /// The name of the object in the details of problems.
    name: String,
}

impl Place<'_> {
    fn refused(&self, object: &str) -> Value {
        let body = format!("{}{object}{}", self.around[0], self.around[1]);
        refused(self.server, &self.call.method, &self.call.filled(&self.call.path), &body)
    }

    /// Objects with a bad or missing field, or with one of `foreign`.
    fn bad_objects(&self, schema: &'static Value, good: &Map<String, Value>, foreign: &BTreeSet<&String>) {
        let fields = schema["properties"].as_object().unwrap();
        for name in foreign.iter().filter(|name| !fields.contains_key(**name)) {
            self.refused(&with(good, name, "1"));
        }
        for name in schema["required"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap()) {
            let others = good.iter().filter(|(other, _)| *other != name);
            let others: Map<_, _> = others.map(|(name, value)| (name.clone(), value.clone())).collect();
            self.refused(&Value::from(others).to_string());
            self.refused(&with(good, name, "null"));
        }
        for (name, schema) in fields {
            let items = resolved(&schema["items"]);
            if !items["properties"].is_null() && schema["items"]["$ref"] != MEDIA_ITEM {
                let first = &good[name][0];
                let around = [format!("{{\"{name}\":[{first},"), "]}".to_owned()];
                let place = Place { around, name: format!("{name}[1]: "), ..*self };
                place.bad_objects(items, first.as_object().unwrap(), foreign);
                let lists = ["null", "{}", "1", "\"\"", "[]", "[1]", "[null]", "[[66]]"].map(str::to_owned);
                for bad in lists.into_iter().chain([format!("[{first},{{}}]"), format!("[{first}")]) {
                    self.refused(&with(good, name, &bad));
                }
            } else {
                for bad in forbidden(schema) {
                    let problem = self.refused(&with(good, name, &bad));
                    let is_json = serde_json::from_str::<Value>(&bad).is_ok();
                    assert!(!is_json || names(&problem, &format!("{}{name}", self.name)), "{name} {bad}: {problem}");
                }
            }
        }
    }
}

fn refused(server: &Server, method: &str, path: &str, body: &str) -> Value {
    server.call(method, path, body).problem(&format!("{method} {path} {body}"), 400, "invalid_body")
}

/// Whether a problem names a field.
fn names(problem: &Value, field: &str) -> bool {
    let rest = problem["detail"].as_str().unwrap().strip_prefix(field);
    rest.is_some_and(|rest| rest.starts_with([':', '[']))
}

/// Every bad value of every field.
pub(crate) fn bad_fields(server: &Server) {
    let with_fields = || CALLS.iter().filter(|call| !call.schema["properties"].is_null());
    let known = with_fields().flat_map(|call| call.schema["properties"].as_object().unwrap().keys()).collect();
    for call in with_fields() {
        let place = Place { server, call, around: [String::new(), String::new()], name: String::new() };
        place.bad_objects(call.schema, &serde_json::from_str(&call.body).unwrap(), &known);
    }
    let refused = |method: &str, path: &str, bad: &str| refused(server, method, path, bad);
    let date = refused("POST", "/v1/content", r#"{"author_id":66,"published_at":"2026-01-01T00:00:00Z"}"#);
    assert_eq!(
        date["detail"],
        "published_at: invalid type: string \"2026-01-01T00:00:00Z\", expected whole milliseconds since 1970"
    );
    let list = refused("POST", "/v1/users/1/following/batch", r#"{"follow":[66],"unfollow":[67,"\u0000"]}"#);
    assert!(names(&list, "unfollow[1]"), "{list}");
    times_to_come(server);
    for lists in ["{}", r#"{"follow":[]}"#, r#"{"follow":null}"#, r#"{"follow":66}"#] {
        refused("POST", "/v1/users/1/following/batch", lists);
    }
    // serde takes an array for a struct; this is no item.
    refused("POST", "/v1/content", r#"[66,77,1,"post","x",null,[],null,null,true]"#);
    refused("POST", "/v1/content/batch", r#"{"items":[[66,77,1,"post","x",null,[],null,null,true]]}"#);
    refused("PUT", "/v1/users/1/following/66", "[5]");
    refused("PUT", "/v1/users/1", r#"["Ann",null,{}]"#);
    refused("PATCH", "/v1/content/10", r#"["changed",[],{}]"#);
}

/// Times too far ahead of the clock, in every field that takes a time: in other units, and the largest.
fn times_to_come(server: &Server) {
    let now = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    for (at, looks) in [
        (now + 3_600_000, None),
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
