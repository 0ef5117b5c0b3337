//! The API as an OpenAPI 3.1 document.
//!
//! It is made from the [endpoints](super::endpoint). The schemas of answers are derived from the types that are
//! written, those of requests from the types that are read. Types of `model` have theirs in `schemas`.

mod security;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::path::{HttpMethod, Operation};
use utoipa::openapi::schema::RefBuilder;
use utoipa::openapi::server::ServerBuilder;
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, InfoBuilder, License, OpenApi, OpenApiBuilder, Paths, Ref, RefOr, Response,
    ResponseBuilder,
};

use crate::endpoint::{Endpoint, Shape, parameters};
use crate::streams::events;
use crate::wire::problem::Document;
use model::error::{Code, Error, Result};

const ABOUT: &str = include_str!("about.md");

/// The name of the one response for all problems, and of its schema. So generated clients have one type, and one place
/// in each call, for all problems.
const PROBLEM: &str = "Problem";

/// The mark of a call whose answer has no end. Generators of clients that read each answer to its end leave the call
/// out.
const LEFT_OUT: &str = "x-internal";

/// The groups of calls, in the order of the document.
const GROUPS: [(&str, &str); 10] = [
    ("content", "Publish, read, edit, delete and restore items; comments on items"),
    ("timelines", "Home timelines with their markers, own pages of users, lists of topics"),
    ("notices", "What happened to users, with markers and counts of unread ones"),
    ("users", "Profiles, counts and settings of users"),
    ("relations", "Follows, requests to follow, friends, and what keeps users from seeing each other"),
    ("lists", "Lists of a user with timelines of their own"),
    ("changes", "What changed, in one order"),
    ("reactions", "Likes, favorites and the other kinds of reactions that the settings name"),
    ("streams", "Presence of users, and streams of the changes of timelines"),
    ("operations", "Health, figures, checks and documentation, for operators"),
];

/// The document about these endpoints of the server at this address.
fn document(endpoints: &[Endpoint], server: &str) -> OpenApi {
    let (mut schemas, mut codes, mut paths) = (BTreeMap::new(), BTreeSet::new(), Paths::new());
    for endpoint in endpoints.iter().filter(|endpoint| endpoint.operation.operation_id.is_some()) {
        let its = endpoint.all_codes();
        codes.extend(&its);
        schemas.extend(endpoint.schemas.iter().cloned());
        paths.add_path_operation(endpoint.info.path, vec![method(endpoint.info.method)], operation(endpoint, &its));
    }
    schemas.extend(Shape::of::<Document<'_>>().parts);
    schemas.extend(parameters::words());
    schemas.extend(model::schemas::shared());
    let info = InfoBuilder::new()
        .title("Tideline")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(ABOUT))
        .license(Some(License::builder().name("Apache-2.0").identifier(Some("Apache-2.0")).build()))
        .build();
    let tags = GROUPS.map(|(name, about)| TagBuilder::new().name(name).description(Some(about)).build());
    let components = ComponentsBuilder::new().schemas_from_iter(schemas).response(PROBLEM, problem(codes));
    let components =
        security::schemes().into_iter().fold(components, |all, (name, scheme)| all.security_scheme(name, scheme));
    let server = ServerBuilder::new().url(server).description(Some("The server of this document")).build();
    OpenApiBuilder::new()
        .info(info)
        .servers(Some([server]))
        .tags(Some(tags))
        .paths(paths)
        .components(Some(components.build()))
        .build()
}

/// The document as indented JSON.
pub(crate) fn json(endpoints: &[Endpoint], server: &str) -> Result<String> {
    document(endpoints, server)
        .to_pretty_json()
        .map_err(|e| Error::Setup(format!("cannot write the OpenAPI document: {e}")))
}

/// The method in the type of the document.
fn method(name: &str) -> HttpMethod {
    match name {
        "POST" => HttpMethod::Post,
        "PUT" => HttpMethod::Put,
        "PATCH" => HttpMethod::Patch,
        "DELETE" => HttpMethod::Delete,
        _ => HttpMethod::Get,
    }
}

/// A call with what follows from its shape: credentials, consistency, and the codes that it may answer.
fn operation(endpoint: &Endpoint, codes: &[Code]) -> Operation {
    let mut operation = endpoint.operation.clone();
    if endpoint.info.reads_shared() {
        operation.parameters.get_or_insert_default().extend(parameters::consistency().map(RefOr::T));
    }
    operation.security = Some(security::taken_by(endpoint.info.permit));
    operation.extensions = has_no_end(&operation).then(|| [(LEFT_OUT, true)].into_iter().collect());
    operation.responses.responses.insert("default".to_owned(), refer(codes).into());
    operation
}

/// Whether the call has no other answer than a stream.
fn has_no_end(operation: &Operation) -> bool {
    operation.responses.responses.values().all(|response| match response {
        RefOr::T(response) => response.content.keys().any(|media_type| media_type == events::MEDIA_TYPE),
        RefOr::Ref(_) => false,
    })
}

/// The response for all problems. The codes of the call stand beside the reference.
fn refer(codes: &[Code]) -> Ref {
    let mut by_status = BTreeMap::<u16, BTreeSet<String>>::new();
    for code in codes {
        by_status.entry(code.status()).or_default().insert(format!("`{code}`"));
    }
    let words = by_status.into_iter().map(|(status, codes)| {
        let codes: Vec<_> = codes.into_iter().collect();
        format!("{status} {}", codes.join(", "))
    });
    let place = format!("#/components/responses/{PROBLEM}");
    RefBuilder::new().ref_location(place).description(Some(words.collect::<Vec<_>>().join("; "))).build()
}

/// The response itself, with an example of each code.
fn problem(codes: BTreeSet<Code>) -> Response {
    let example = |code: Code| serde_json::to_value(Document::new(code, code.detail())).unwrap_or_default();
    let examples =
        codes.into_iter().map(|code| (code.name(), ExampleBuilder::new().value(Some(example(code))).build()));
    let schema = Ref::from_schema_name(PROBLEM);
    let content = ContentBuilder::new().schema(Some(schema)).examples_from_iter(examples).build();
    ResponseBuilder::new()
        .description(
            "The request failed. With 429 and 503, `Retry-After` has the seconds to wait before the next attempt",
        )
        .content("application/problem+json", content)
        .build()
}
