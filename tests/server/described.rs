//! Holds each answer against the OpenAPI document: a call may answer only the codes that its entry names.

use std::sync::OnceLock;

use serde_json::Value;

use super::{Reply, program};

/// Codes that come before the call is known, or hold for all calls alike; the document does not repeat them.
const OF_ALL_CALLS: [&str; 10] = [
    "invalid_path",
    "no_credentials",
    "bad_credentials",
    "not_permitted",
    "cross_origin",
    "route_not_found",
    "method_not_allowed",
    "misdirected_request",
    "rate_limited",
    // A standby answers so to all.
    "standby",
];

/// The OpenAPI document of the program.
pub(crate) fn document() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| serde_json::from_slice(&program().arg("openapi").output().unwrap().stdout).unwrap())
}

/// Whether a path without a query is one of these, such as `/v1/users/{uid}`.
pub(crate) fn fits(template: &str, path: &str) -> bool {
    let (segments, given): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
    let mut pairs = segments.iter().zip(&given);
    segments.len() == given.len() && pairs.all(|(segment, given)| segment == given || segment.starts_with('{'))
}

/// The reads of JSON below a path of the document, with these values of slots and of parameters that a call needs; those for
/// which a value is missing are left out. Whether each is a list of pages. Notices are not among them: they are of the time of a call.
pub(crate) fn reads(below: &str, values: &[(&str, &str)]) -> Vec<(String, bool)> {
    let gets = document()["paths"].as_object().unwrap().iter().filter(|(path, _)| path.starts_with(below));
    let filled = |(path, call): (&String, &Value)| {
        call["get"]["responses"]["200"]["content"].get("application/json").filter(|_| !path.contains("/notices"))?;
        let (mut target, mut is_list) = (path.clone(), false);
        for parameter in call["get"]["parameters"].as_array()? {
            let name = parameter["name"].as_str()?;
            is_list |= name == "before";
            if parameter["required"] == true {
                let (_, value) = values.iter().find(|(known, _)| *known == name)?;
                match parameter["in"] == "path" {
                    true => target = target.replace(&format!("{{{name}}}"), value),
                    false => target += &format!("?{name}={value}"),
                }
            }
        }
        Some((target, is_list))
    };
    let found: Vec<_> = gets.filter_map(filled).collect();
    assert!(!found.is_empty(), "no read below {below}");
    found
}

/// The paths of all relations of a user to an item, each with the example of the body of its PUT.
pub(crate) fn relations_to_items(user: &str, item: &str) -> Vec<(String, Value)> {
    let of_both = |path: &str| path.contains("{uid}") && path.contains("{content_id}");
    let paths = document()["paths"].as_object().unwrap().iter();
    let relations = paths.filter(|(path, calls)| of_both(path) && calls.get("put").is_some());
    let filled = |(path, calls): (&String, &Value)| {
        let slots = [("{uid}", user), ("{content_id}", item), ("{kind}", "like")];
        let path = slots.iter().fold(path.clone(), |path, (slot, value)| path.replace(slot, value));
        (path, calls["put"]["requestBody"]["content"]["application/json"]["example"].clone())
    };
    let found: Vec<_> = relations.map(filled).collect();
    assert!(!found.is_empty());
    found
}

/// Fails if the document does not say that this call answers this problem.
pub(super) fn check(method: &str, path: &str, reply: &Reply) {
    if reply.header("content-type") != Some("application/problem+json") || reply.bytes.is_empty() {
        return;
    }
    let problem: Value = serde_json::from_slice(&reply.bytes).unwrap();
    let code = problem["code"].as_str().unwrap();
    if OF_ALL_CALLS.contains(&code) {
        return;
    }
    let path = path.split('?').next().unwrap();
    let method = if method == "HEAD" { "get".to_owned() } else { method.to_lowercase() };
    let paths = document()["paths"].as_object().unwrap().iter();
    let mut calls = paths.filter(|(template, item)| fits(template, path) && item.get(&method).is_some()).peekable();
    let listed = |(_, item): (&String, &Value)| {
        item[&method]["responses"]["default"]["description"].as_str().unwrap().contains(&format!("`{code}`"))
    };
    let described = calls.peek().is_none() || calls.any(listed);
    assert!(described, "{method} {path}: its entry in crates/http needs .refuses(&[…]) with the code {code}");
}
