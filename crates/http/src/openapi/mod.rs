//! The API as an OpenAPI 3.1 document.
//!
//! It is made from the [endpoints](super::endpoint). The schemas of answers are derived from the types that are
//! written, those of requests from the types that are read. Types of `model` have theirs in `schemas`.

mod operation;
mod security;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use utoipa::openapi::server::ServerBuilder;
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, License, OpenApi, OpenApiBuilder, Paths};

use crate::endpoint::{Endpoint, Shape, parameters};
use crate::wire::problem::Document;
use model::error::{Error, Result};

const ABOUT: &str = include_str!("about.md");

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
    for endpoint in endpoints.iter().filter(|endpoint| !endpoint.id.is_empty()) {
        let its = endpoint.all_codes();
        codes.extend(&its);
        schemas.extend(endpoint.schemas.iter().cloned());
        let operation = operation::operation(endpoint, &its);
        paths.add_path_operation(endpoint.path, vec![operation::method(endpoint)], operation);
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
    let components =
        ComponentsBuilder::new().schemas_from_iter(schemas).response(operation::PROBLEM, operation::problem(codes));
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
