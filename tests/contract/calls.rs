//! All calls of the API with good requests, from the OpenAPI document and its examples. A new call needs nothing here.

use std::cmp::Reverse;
use std::fs;
use std::sync::LazyLock;

use kv::FORMAT;
use regex::Regex;
use serde_json::{Value, json};

use super::town::Town;
use crate::server::described::{document, fits};

/// Parts of the page `/docs`, a redirect to it, and the console: the only calls that the document does not have. A unit
/// test in `crates/http/src/openapi` compares the same list with the endpoints.
const PARTS_OF_PAGES: [&str; 6] =
    ["/", "/console/any/main.js", "/docs/", "/docs/start.js", "/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js"];

/// One call of the API.
pub(crate) struct Call {
    pub(crate) method: String,
    /// Whether it refuses a cursor with an unknown name.
    pub(crate) knows_cursors: bool,
    /// With slots such as `{uid}` in it.
    pub(crate) path: String,
    /// The methods that the path allows, in the order of the alphabet.
    pub(crate) allow: Vec<String>,
    /// The slots of the path, each with a good value.
    slots: Vec<(String, String)>,
    /// The parameters of the query.
    pub(crate) query: Vec<Parameter>,
    /// A good body; empty for a call without one.
    pub(crate) body: String,
    /// Whether the body may be left out.
    pub(crate) body_optional: bool,
    /// The schema of the body; `null` for a call without one.
    pub(crate) schema: &'static Value,
}

/// A parameter of a query.
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) schema: &'static Value,
    pub(crate) good: String,
}

/// Every call.
pub(crate) static CALLS: LazyLock<Vec<Call>> = LazyLock::new(|| {
    let mut calls = Vec::new();
    for (path, item) in document()["paths"].as_object().unwrap() {
        let methods = item.as_object().unwrap();
        calls.extend(methods.iter().map(|(method, operation)| Call::new(path, methods.keys(), method, operation)));
    }
    assert!(calls.len() > 40, "the document has only {} calls", calls.len());
    calls.extend(PARTS_OF_PAGES.map(|path| Call::new(path, ["get".to_owned()].iter(), "get", &Value::Null)));
    calls
});

impl Call {
    fn new<'a>(path: &str, methods: impl Iterator<Item = &'a String>, method: &str, operation: &'static Value) -> Self {
        let mut allow: Vec<_> = methods.map(|method| method.to_uppercase()).collect();
        if allow.contains(&"GET".to_owned()) {
            allow.push("HEAD".to_owned());
        }
        allow.sort();
        let parameters = || operation["parameters"].as_array().into_iter().flatten();
        let slots = parameters().filter(|parameter| parameter["in"] == "path").map(|parameter| {
            let example = parameter["example"].as_str().unwrap().to_owned();
            (format!("{{{}}}", parameter["name"].as_str().unwrap()), example)
        });
        let query = parameters().filter(|parameter| parameter["in"] == "query").map(Parameter::new);
        // A call that takes nothing but an empty object has no body in the document.
        let codes = operation["responses"]["default"]["description"].as_str().unwrap_or_default();
        let content = &operation["requestBody"]["content"]["application/json"];
        let body = match &content["example"] {
            Value::Null if codes.contains("`invalid_body`") => "{}".to_owned(),
            Value::Null => String::new(),
            example => example.to_string(),
        };
        Self {
            knows_cursors: codes.contains("`unknown_cursor`"),
            method: method.to_uppercase(),
            path: path.to_owned(),
            allow,
            slots: slots.collect(),
            query: query.collect(),
            body,
            body_optional: operation["requestBody"]["required"] != true,
            schema: resolved(&content["schema"]),
        }
    }

    /// A path of this call with good values in the places of its slots.
    pub(crate) fn filled(&self, path: &str) -> String {
        self.slots.iter().fold(path.to_owned(), |path, (slot, good)| path.replace(slot, good))
    }

    /// Whether a path leads to this call, if no other fits better.
    pub(crate) fn fits(&self, path: &str) -> bool {
        fits(&self.path, path)
    }

    /// The required parameters but one, each with a good value.
    pub(crate) fn needed(&self, but: &str) -> Vec<String> {
        let needed = self.query.iter().filter(|parameter| parameter.required && parameter.name != but);
        needed.map(|parameter| format!("{}={}", parameter.name, parameter.good)).collect()
    }

    /// The path and the query of a good request.
    pub(crate) fn target(&self) -> String {
        let query = self.needed("").join("&");
        // A block of another user than the one whom the other calls follow, which it would refuse.
        let path = self.path.replace("/blocks/{target}", "/blocks/201");
        format!("{}{}{query}", self.filled(&path), if query.is_empty() { "" } else { "?" })
    }

    /// The slots of the path.
    pub(crate) fn slots(&self) -> impl Iterator<Item = &str> {
        self.slots.iter().map(|(slot, _)| slot.as_str())
    }
}

impl Parameter {
    fn new(parameter: &'static Value) -> Self {
        let schema = resolved(&parameter["schema"]);
        let name = parameter["name"].as_str().unwrap().to_owned();
        let pattern = schema["pattern"].as_str().map(|pattern| Regex::new(pattern).unwrap());
        let texts = ["111", "1689089522000-32850"].map(Value::from);
        let fitting = texts.iter().find(|text| pattern.as_ref().is_some_and(|it| it.is_match(text.as_str().unwrap())));
        let given = [&parameter["example"], &schema["enum"][0], &schema["minimum"]].into_iter();
        let good = given.chain(fitting).find(|good| !good.is_null());
        let good = good.unwrap_or_else(|| panic!("the parameter {name} needs an example in crates/http"));
        let good = good.to_string().trim_matches('"').to_owned();
        Self { name, required: parameter["required"] == true, schema, good }
    }
}

/// A schema itself, where there may be a reference to it.
pub(crate) fn resolved(schema: &'static Value) -> &'static Value {
    let target = schema["$ref"].as_str().map(|place| document().pointer(place.trim_start_matches('#')).unwrap());
    target.unwrap_or(schema)
}

/// A town with the users, the list and the backup of the examples, and an item of each of the two that paths name.
pub(crate) fn town() -> Town {
    let mut town = Town::new();
    town.model.users.extend([66, 111, 200, 211, 222]);
    for (id, author) in [(32849, 111), (32850, 200)] {
        town.publish(json!({"content_id": id, "author_id": author, "published_at": 1_689_089_522_000_u64}));
    }
    // To approve a follower again succeeds.
    town.follow(200, 111, 90);
    town.put_list(111, "close", json!({"title": "Close friends", "exclusive": true}));
    let backup = town.server.data().path().join("backups/20261122T143000.123Z");
    fs::create_dir_all(backup.join("db")).unwrap();
    fs::write(backup.join("FORMAT"), format!("tideline format {FORMAT}\n")).unwrap();
    let facts = json!({"name": "", "begun_at": 0, "took_ms": 0, "format": FORMAT, "release": "0", "files": 1, "bytes": 18,
        "sequence": 0});
    fs::write(backup.join("BACKUP"), facts.to_string()).unwrap();
    fs::write(backup.join("VERDICT"), json!({"verified_at": 0, "total": 0, "findings": []}).to_string()).unwrap();
    town
}

/// All calls in an order in which each of them succeeds: what a call removes, no later call needs, except that a
/// restore comes after its delete.
pub(crate) fn in_turn() -> Vec<&'static Call> {
    let mut calls: Vec<_> = CALLS.iter().collect();
    calls.sort_by_key(|call| {
        let rank = match &*call.method {
            // Afterwards changes that name the user are refused.
            "DELETE" if call.path == "/v1/users/{uid}" => 4,
            "DELETE" => 2,
            _ if call.path.ends_with("/restore") => 3,
            "GET" => 1,
            _ => 0,
        };
        // `/a/b` before `/a`.
        (rank, Reverse(&call.path))
    });
    calls
}
