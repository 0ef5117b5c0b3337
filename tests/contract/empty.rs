//! Empty fields and bodies are missing ones: clients write them in one way or another, as their language likes it.

use serde_json::{Map, Value, json};

use super::calls::{Call, in_turn, resolved, town};
use crate::server::Server;

/// Ways to write nothing for a value of a schema.
fn nothing(schema: &'static Value) -> &'static [&'static str] {
    let schema = resolved(schema);
    let schema = if schema["oneOf"].is_null() { schema } else { resolved(&schema["oneOf"][0]) };
    let is =
        |name: &str| schema["type"] == name || schema["type"].as_array().is_some_and(|of| of.contains(&name.into()));
    match (is("object"), is("array")) {
        (true, _) => &["null", "{}", "[]"],
        (_, true) => &["null", "[]"],
        _ => &["null"],
    }
}

/// The bodies of a call with one optional field written as nothing, and those that are nothing.
fn bodies(call: &Call) -> Vec<String> {
    let mut bodies: Vec<_> =
        ["", " ", "null", "{}", "[]"].iter().filter(|_| call.body_optional).map(|body| (*body).into()).collect();
    let good: Map<String, Value> = serde_json::from_str(&call.body).unwrap();
    let is_needed = |name: &str| call.schema["required"].as_array().is_some_and(|needed| needed.contains(&name.into()));
    let fields = call.schema["properties"].as_object().into_iter().flatten().filter(|(name, _)| !is_needed(name));
    for (name, schema) in fields {
        let others: String = good
            .iter()
            .filter(|(other, _)| *other != name)
            .map(|(other, value)| format!("\"{other}\":{value},"))
            .collect();
        bodies.extend(nothing(schema).iter().map(|nothing| format!("{{{others}\"{name}\":{nothing}}}")));
    }
    bodies
}

#[test]
fn each_optional_field_and_body_takes_each_way_to_write_nothing() {
    let town = town();
    for call in in_turn().into_iter().filter(|call| !call.body.is_empty()) {
        for body in bodies(call) {
            let reply = town.server.call(&call.method, &call.target(), &body);
            let is_fine = reply.status < 300
                || [(404, "/restore"), (409, "/admin/tokens"), (409, "/digests")]
                    .iter()
                    .any(|(status, end)| reply.status == *status && call.path.ends_with(end));
            assert!(is_fine, "{} {} {body}: {reply:?}", call.method, call.path);
        }
    }
}

#[test]
fn a_repeated_publish_may_order_its_sets_and_write_nothing_in_another_way() {
    let server = Server::start();
    let publish = |body: &str| server.call("POST", "/v1/content", body);
    let sets = |sets: Value| format!("{{\"author_id\":1,\"content_id\":5,{}", &sets.to_string()[1..]);
    let first = publish(&sets(json!({"topics": ["b", "a"], "to": [3, 2], "mentions": [8, 7]}))).expect(201);
    assert_eq!((&first["topics"], &first["to"]), (&json!(["b", "a"]), &json!(["3", "2"])), "as they came");
    assert_eq!(publish(&sets(json!({"topics": ["a", "b"], "to": [2, 3], "mentions": [7, 8]}))).expect(200), first);
    for other in [
        json!({"topics": ["a"], "to": [2, 3], "mentions": [7, 8]}),
        json!({"topics": ["a", "b"], "to": [2], "mentions": [7, 8]}),
        json!({"topics": ["a", "b"], "to": [2, 3], "mentions": [7, 9]}),
        json!({"topics": ["a", "b"], "to": [2, 3], "mentions": [7, 8], "extra": {"a": null}}),
    ] {
        publish(&sets(other.clone())).problem(&other.to_string(), 409, "content_exists");
    }
    publish(r#"{"author_id":1,"content_id":6}"#).expect(201);
    for field in ["extra", "topics", "media", "to", "mentions"] {
        for nothing in ["null", "[]"] {
            publish(&format!("{{\"author_id\":1,\"content_id\":6,\"{field}\":{nothing}}}")).expect(200);
        }
    }
    publish(r#"{"author_id":1,"content_id":6,"extra":{ }}"#).expect(200);
    // Each number comes back as it was written, also one that no double can hold.
    let numbers =
        r#"{"author_id":1,"content_id":7,"extra":{"far":[1e400,-0.10]},"media":[{"type":"a","url":"u","n":2e999}]}"#;
    assert_eq!(publish(numbers).status, 201);
    let shown = server.call("GET", "/v1/content/7", "");
    for kept in [r#""extra":{"far":[1e400,-0.10]}"#, r#""n":2e999}"#] {
        assert!(shown.text().contains(kept), "{shown:?}");
    }
}

#[test]
fn an_empty_rule_is_none() {
    let server = Server::start();
    server.call("PUT", "/v1/users/1/lists/close", "null").expect(200);
    for path in ["/v1/users/1/following/2", "/v1/users/1/lists/close/members/2"] {
        for (body, rule) in [
            (json!({"only": ["a", "b"], "except": []}), Some(("only", ["a", "b"]))),
            (json!({"only": [], "except": []}), None),
            (json!({"only": null, "except": ["b", "a"]}), Some(("except", ["b", "a"]))),
            (json!({"only": []}), None),
        ] {
            let shown = server.call("PUT", path, body.to_string()).expect(200);
            for name in ["only", "except"] {
                let kinds = rule.filter(|(of, _)| *of == name).map_or(Value::Null, |(_, kinds)| json!(kinds));
                assert_eq!(shown[name], kinds, "{path} {body}");
            }
        }
    }
}
