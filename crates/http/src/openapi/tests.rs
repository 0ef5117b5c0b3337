//! Checks the document against OpenAPI and against itself.

use std::collections::BTreeSet;

use serde_json::Value;
use utoipa::openapi::OpenApi;

use crate::{ENDPOINTS, description};

/// Parts of the page `/docs`, which has one description, a redirect to it, and the console.
const PARTS_OF_PAGES: [&str; 6] = [
    "/",
    "/console/{version}/{file}",
    "/docs/",
    "/docs/start.js",
    "/docs/swagger-ui-bundle.js",
    "/docs/swagger-ui.css",
];

fn as_json() -> Value {
    serde_json::from_str(&description(".").expect("a document")).expect("JSON")
}

/// Visits a value, and every value inside it.
fn walk<'a>(value: &'a Value, see: &mut impl FnMut(&'a Value)) {
    see(value);
    match value {
        Value::Object(fields) => fields.values().for_each(|value| walk(value, see)),
        Value::Array(items) => items.iter().for_each(|value| walk(value, see)),
        _ => {}
    }
}

/// Calls that only nodes of a cluster answer.
const OF_CLUSTERS: [&str; 2] = ["/v1/admin/cluster/digests", "/v1/admin/cluster/digests/{id}"];
/// Calls of `tideline backup` and `tideline standby`.
const OF_COMMANDS: [&str; 6] = [
    "/v1/admin/backups/{name}/copy",
    "/v1/admin/standby/copies",
    "/v1/admin/standby/handover",
    "/v1/admin/standby/log",
    "/v1/admin/standby/progress",
    "/v1/admin/standby/seal",
];

fn operations(document: &Value) -> impl Iterator<Item = (String, &Value)> {
    let paths = document["paths"].as_object().expect("paths");
    paths.iter().flat_map(|(path, item)| {
        let operations = item.as_object().expect("methods").iter();
        operations.map(move |(method, operation)| (format!("{} {path}", method.to_uppercase()), operation))
    })
}

#[test]
fn only_the_parts_of_pages_and_the_calls_between_servers_are_not_described() {
    let hidden: BTreeSet<_> = ENDPOINTS.iter().filter(|call| !call.is_described()).map(|call| call.info.path).collect();
    assert_eq!(hidden, PARTS_OF_PAGES.into_iter().chain(OF_CLUSTERS).chain(OF_COMMANDS).collect());
}

#[test]
fn it_is_a_whole_document_of_version_3_1() {
    // The reader takes no schema that allows everything in another form.
    let text = description(".").expect("a document").replace("Properties\": {}", "Properties\": true");
    let read: OpenApi = serde_json::from_str(&text).expect("an OpenAPI document");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(serde_json::to_value(read).expect("JSON"), document, "reads back as what was written");
    assert_eq!(document["openapi"], "3.1.0");
    let (mut used, mut links) = (BTreeSet::new(), BTreeSet::new());
    walk(&document, &mut |value| {
        if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
            let pointer = reference.strip_prefix('#').expect("a reference inside of the document");
            assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
            used.insert(reference.to_owned());
        }
        for link in value.get("links").and_then(Value::as_object).into_iter().flat_map(|links| links.values()) {
            links.extend(link["operationId"].as_str());
        }
    });
    for kind in ["schemas", "responses"] {
        for name in document["components"][kind].as_object().expect("parts").keys() {
            assert!(used.contains(&format!("#/components/{kind}/{name}")), "nothing uses {kind}/{name}");
        }
    }
    let ids: Vec<_> = operations(&document).map(|(_, call)| call["operationId"].as_str().expect("an id")).collect();
    let distinct: BTreeSet<_> = ids.iter().copied().collect();
    assert_eq!(distinct.len(), ids.len(), "an id twice");
    assert!(links.is_subset(&distinct), "links to what is not there: {:?}", links.difference(&distinct));
}

#[test]
fn every_call_is_described_in_full() {
    let document = as_json();
    let tags: Vec<_> = document["tags"].as_array().expect("tags").iter().map(|tag| &tag["name"]).collect();
    let whole = regex::Regex::new("^(([45][0-9]{2} `[a-z_]+`(, `[a-z_]+`)*)(; |$))+$").expect("a pattern");
    for (name, call) in operations(&document) {
        assert!(call["summary"].as_str().is_some_and(|summary| !summary.is_empty()), "{name}: no summary");
        assert!(tags.contains(&&call["tags"][0]), "{name}: a group without a description");
        let parameters = call["parameters"].as_array().cloned().unwrap_or_default();
        let named: Vec<_> =
            parameters.iter().filter(|p| p["in"] == "path").map(|p| p["name"].as_str().expect("text")).collect();
        let in_path: Vec<_> = name.split(['{', '}']).skip(1).step_by(2).collect();
        assert_eq!(named, in_path, "{name}");
        for (status, response) in call["responses"].as_object().expect("responses") {
            let response = response["$ref"].as_str().map_or(response, |reference| {
                document.pointer(reference.trim_start_matches('#')).expect("checked elsewhere")
            });
            let media_types = response["content"].as_object();
            assert_eq!(media_types.is_none(), ["204", "304"].contains(&&**status), "{name} {status}");
            for (media_type, content) in media_types.into_iter().flatten() {
                let has_example = content.get("example").or(content.get("examples")).is_some_and(|it| !it.is_null());
                assert!(has_example && content.get("schema").is_some(), "{name} {status} {media_type}");
                assert_eq!(media_type == "application/problem+json", status == "default", "{name} {status}");
            }
        }
        // Statuses, each with its codes.
        let problems = call["responses"]["default"]["description"].as_str().expect("which problems");
        assert!(whole.is_match(problems) && problems.contains("500 `internal`"), "{name}: {problems}");
    }
}

#[test]
fn every_call_says_which_credentials_it_takes() {
    let document = as_json();
    let schemes = document["components"]["securitySchemes"].as_object().expect("schemes");
    let mut used = BTreeSet::new();
    for (name, call) in operations(&document) {
        let taken: Vec<_> =
            call["security"].as_array().unwrap_or_else(|| panic!("{name}: no security")).iter().collect();
        let names = taken.iter().flat_map(|one| one.as_object().expect("a requirement").keys());
        used.extend(names.inspect(|scheme| assert!(schemes.contains_key(*scheme), "{name}: {scheme}")));
    }
    assert_eq!(used, schemes.keys().collect(), "a scheme that no call takes");
    let of = |path: &str, method: &str| document["paths"][path][method]["security"].to_string();
    assert_eq!(of("/healthz", "get"), "[]");
    assert_eq!(of("/v1/content", "post"), r#"[{"fullKey":[]}]"#);
    assert_eq!(of("/v1/users/{uid}/marker", "put"), r#"[{"fullKey":[]},{"userToken":["marker"]}]"#);
}

fn is_null(schema: &Value) -> bool {
    schema["type"] == "null"
}

/// The schemas of this name and of those that it leads to.
fn reached(document: &Value, from: &Value, found: &mut BTreeSet<String>) {
    walk(from, &mut |part| {
        if let Some(place) = part.get("$ref").and_then(Value::as_str)
            && found.insert(place.trim_start_matches("#/components/schemas/").to_owned())
        {
            reached(document, document.pointer(place.trim_start_matches('#')).expect("checked elsewhere"), found);
        }
    });
}

#[test]
fn generated_clients_send_all_fields_and_wait_for_no_end() {
    let document = as_json();
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    // Generators make maps of objects with both, and leave the properties out.
    walk(&document, &mut |part| {
        let is_object = part["properties"].is_object() && part["type"] == "object";
        assert!(!(is_object && part.get("additionalProperties").is_some()), "{part}");
        assert!(!part["additionalProperties"].is_boolean(), "{part}");
    });
    // Two names that differ only by case are one type, and one file.
    let schemes = document["components"]["securitySchemes"].as_object().expect("schemes");
    let mut names = BTreeSet::new();
    for name in schemas.keys().chain(schemes.keys()) {
        assert!(names.insert(name.to_lowercase()), "{name} twice");
    }
    let mut sent = BTreeSet::new();
    for (name, call) in operations(&document) {
        reached(&document, &call["requestBody"], &mut sent);
        let media_types = call["responses"]["200"]["content"].as_object();
        let has_no_end =
            media_types.is_some_and(|types| types.keys().all(|media_type| media_type == "text/event-stream"));
        assert_eq!(call.get("x-internal").is_some(), has_no_end, "{name}");
    }
    for name in &sent {
        let required = schemas[name]["required"].as_array().cloned().unwrap_or_default();
        for (field, schema) in schemas[name]["properties"].as_object().into_iter().flatten() {
            let types = [schema["type"].as_array(), schema["oneOf"].as_array()].into_iter().flatten().flatten();
            let allows_null = types.into_iter().any(|way| way == "null" || is_null(way));
            assert_eq!(allows_null, !required.contains(&field.as_str().into()), "{name}.{field}");
        }
    }
    assert!(sent.len() > 15, "{sent:?}");
}

/// The part of `value` that a schema of this document forbids, by the keywords used in it. Fields beyond the properties
/// are forbidden, unless the schema allows more.
fn misfit(document: &Value, schema: &Value, value: &Value, place: &str) -> Option<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(reference.trim_start_matches('#')).expect("checked elsewhere");
        return misfit(document, target, value, place);
    }
    if schema.as_object().is_some_and(serde_json::Map::is_empty) {
        return None;
    }
    if let [whole, narrowed] = schema["allOf"].as_array().map_or(&[][..], Vec::as_slice) {
        let mut narrowed = narrowed.clone();
        narrowed["additionalProperties"] = true.into();
        return misfit(document, whole, value, place).or_else(|| misfit(document, &narrowed, value, place));
    }
    if let Some(ways) = schema.get("anyOf").or(schema.get("oneOf")).and_then(Value::as_array) {
        let faults = ways.iter().map(|way| misfit(document, way, value, place));
        return faults.collect::<Option<Vec<_>>>().map(|faults| faults.join(", and "));
    }
    let (kind, fits) = match value {
        Value::Null => ("null", true),
        Value::Bool(_) => ("boolean", true),
        Value::Number(_) if schema["type"] == "number" => ("number", true),
        Value::Number(number) => ("integer", !number.is_f64()),
        Value::String(text) => {
            let matches = |pattern| regex::Regex::new(pattern).expect("a pattern").is_match(text);
            ("string", schema["pattern"].as_str().is_none_or(matches))
        }
        Value::Array(items) => {
            let fault = items.iter().find_map(|item| misfit(document, &schema["items"], item, &format!("{place}[]")));
            if fault.is_some() {
                return fault;
            }
            ("array", true)
        }
        Value::Object(fields) => {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            if let Some(missing) = required.into_iter().find(|name| !fields.contains_key(*name)) {
                return Some(format!("{place} has no {missing}"));
            }
            let beyond = &schema["additionalProperties"];
            let fault = fields.iter().find_map(|(name, field)| {
                let place = format!("{place}.{name}");
                match schema["properties"].get(name).or(beyond.as_object().map(|_| beyond)) {
                    Some(known) => misfit(document, known, field, &place),
                    None => (beyond != true).then(|| format!("{place} is not described")),
                }
            });
            if fault.is_some() {
                return fault;
            }
            ("object", true)
        }
    };
    let types = &schema["type"];
    let of_type = types.as_array().map_or(types == kind, |types| types.contains(&kind.into()));
    let allowed = schema["enum"].as_array().is_none_or(|allowed| allowed.contains(value));
    (!(fits && of_type && allowed)).then(|| format!("{place}: {value}"))
}

#[test]
fn examples_are_as_the_schemas_say() {
    let document = as_json();
    let mut seen = 0;
    walk(&document, &mut |value| {
        // As the answer of a call, the document itself is only named.
        let Some(schema) = value.get("schema").filter(|schema| schema["$ref"] != "#/components/schemas/Description")
        else {
            return;
        };
        let several = value.get("examples").and_then(Value::as_object).into_iter().flat_map(|all| all.values());
        for example in several.map(|example| &example["value"]).chain(value.get("example")) {
            assert_eq!(misfit(&document, schema, example, ""), None, "{example}");
            seen += 1;
        }
    });
    assert!(seen > 100, "{seen}");
}
