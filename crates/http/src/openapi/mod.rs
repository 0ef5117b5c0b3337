//! The API as an OpenAPI 3.1 document.
//!
//! It is made from the [endpoints](super::endpoint). The schemas of answers are derived from the types that are
//! written, those of requests from the types that are read. Types of `model` have theirs in `schemas`.

mod security;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serializer;
use serde_json::{Map, Value};

use crate::endpoint::examples::Examples;
use crate::prelude::*;
use crate::streams::events;
use crate::wire::problem::Document;

const ABOUT: &str = include_str!("about.md");

/// The name of the one response for all problems, and of its schema. So generated clients have one type, and one place
/// in each call, for all problems.
const PROBLEM: &str = "Problem";

/// The mark of a call whose answer has no end. Generators of clients that read each answer to its end leave the call
/// out.
const LEFT_OUT: &str = "x-internal";

/// The methods in the order in which the document has those of a path.
const METHODS: [&str; 5] = ["get", "put", "post", "delete", "patch"];

/// The calls of a path by the places of their methods.
#[derive(Default)]
struct PathItem(BTreeMap<Option<usize>, Value>);

impl Serialize for PathItem {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().filter_map(|(place, operation)| Some((METHODS.get((*place)?)?, operation))))
    }
}

/// The document.
#[derive(Serialize)]
struct Description {
    openapi: &'static str,
    info: Value,
    servers: [Value; 1],
    paths: BTreeMap<&'static str, PathItem>,
    components: Value,
    tags: Vec<Value>,
}

/// The document about these endpoints of the server at this address.
fn document(endpoints: &[Endpoint], server: &str) -> Description {
    let (mut schemas, mut codes, mut paths) = (Map::new(), BTreeSet::new(), BTreeMap::<_, PathItem>::new());
    for endpoint in endpoints.iter().filter(|endpoint| endpoint.is_described()) {
        let its = endpoint.all_codes();
        codes.extend(&its);
        schemas.extend(endpoint.schemas.clone());
        let place = METHODS.iter().position(|method| method.eq_ignore_ascii_case(endpoint.info.method));
        paths.entry(endpoint.info.path).or_default().0.insert(place, operation(endpoint, &its));
    }
    schemas.extend(shape::of::<Document<'_>>());
    schemas.extend(parameters::words());
    schemas.extend(model::schemas::shared().map(|(name, schema)| (name, json!(schema))));
    let operations = paths.values_mut().flat_map(|item| item.0.values_mut());
    operations.for_each(|operation| Examples(&schemas).complete(operation));
    Description {
        openapi: "3.1.0",
        info: json!({
            "title": "Tideline", "version": env!("CARGO_PKG_VERSION"), "description": ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}
        }),
        servers: [json!({"url": server, "description": "The server of this document"})],
        paths,
        components: json!({
            "schemas": schemas, "responses": {PROBLEM: problem(codes)}, "securitySchemes": security::schemes()
        }),
        tags: groups(endpoints).map(|(name, about)| json!({"name": name, "description": about})).collect(),
    }
}

/// The groups of calls, in the order in which their files are declared.
fn groups(endpoints: &[Endpoint]) -> impl Iterator<Item = (&str, &str)> {
    let mut told = BTreeSet::new();
    endpoints.iter().map(|call| call.group).filter(move |(name, about)| !about.is_empty() && told.insert(*name))
}

/// The document as indented JSON.
pub(crate) fn json(endpoints: &[Endpoint], server: &str) -> Result<String> {
    serde_json::to_string_pretty(&document(endpoints, server))
        .map_err(|e| Error::Setup(format!("cannot write the OpenAPI document: {e}")))
}

/// A call with what follows from its shape: credentials, consistency, and the codes that it may answer.
fn operation(endpoint: &Endpoint, codes: &[Code]) -> Value {
    let mut operation = endpoint.operation.clone();
    if let Some(parameters) = operation["parameters"].as_array_mut().filter(|_| endpoint.info.reads_shared()) {
        parameters.extend(parameters::consistency());
    }
    operation["security"] = json!(security::taken_by(endpoint.info.permit));
    let is_stream = |answer: &Value| answer["content"].get(events::MEDIA_TYPE).is_some();
    if endpoint.operation["responses"].as_object().is_some_and(|answers| answers.values().all(is_stream)) {
        operation[LEFT_OUT] = true.into();
    }
    operation["responses"]["default"] = refer(codes);
    operation
}

/// The response for all problems. The codes of the call stand beside the reference.
fn refer(codes: &[Code]) -> Value {
    let mut by_status = BTreeMap::<u16, BTreeSet<String>>::new();
    for code in codes {
        by_status.entry(code.status()).or_default().insert(format!("`{code}`"));
    }
    let words = by_status.into_iter().map(|(status, codes)| {
        let codes: Vec<_> = codes.into_iter().collect();
        format!("{status} {}", codes.join(", "))
    });
    let words = words.collect::<Vec<_>>().join("; ");
    json!({"$ref": format!("#/components/responses/{PROBLEM}"), "description": words})
}

/// The response itself, with an example of each code.
fn problem(codes: BTreeSet<Code>) -> Value {
    let example = |code: Code| (code.name().to_owned(), json!({"value": Document::new(code, code.detail())}));
    let examples: Map<_, _> = codes.into_iter().map(example).collect();
    json!({
        "description":
            "The request failed. With 429 and 503, `Retry-After` has the seconds to wait before the next attempt",
        "content": {"application/problem+json": {"schema": parameters::reference(PROBLEM), "examples": examples}}
    })
}
