//! The API as an OpenAPI 3.1 document.
//!
//! Each handler file has a sister here that describes its calls, one after the other, with [`Call`]. What follows
//! from the shape of a call (the parameters of its path, the problems of a body, of a change, of an id) is added
//! there, so a description says only what is particular. The schemas of answers are derived from the very types
//! that are written, in `show`; those of requests are in `schemas`. A test below compares the calls described with
//! the routes served.

mod barriers;
mod call;
mod comments;
mod content;
mod markers;
mod operations;
mod parameters;
mod presence;
mod problems;
mod reactions;
mod relations;
mod schemas;
#[cfg(test)]
mod tests;
mod timelines;
mod users;

use utoipa::openapi::server::ServerBuilder;
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, License, OpenApi, OpenApiBuilder, Paths};

use self::call::{Call, Parts};
use self::problems::Problems;
use crate::error::{Error, Result};

const ABOUT: &str = include_str!("about.md");

/// The groups of calls, in the order of the page.
const TAGS: [(&str, &str); 7] = [
    ("content", "Publish, read, edit, delete and restore items; comments"),
    ("timelines", "Lists of content around a user or a topic"),
    ("users", "Profiles and counts"),
    ("relations", "Who follows, mutes, or hides from whom"),
    ("reactions", "Likes and favorites"),
    ("live", "Who is there, and what happens while they are"),
    ("operations", "For those who run the server"),
];

/// All calls.
fn calls() -> Vec<Call> {
    let themes = [
        content::calls(),
        comments::calls(),
        timelines::calls(),
        markers::calls(),
        users::calls(),
        relations::calls(),
        barriers::calls(),
        reactions::calls(),
        presence::calls(),
        operations::calls(),
    ];
    themes.into_iter().flatten().collect()
}

/// The document.
fn document() -> OpenApi {
    let mut parts = Parts::default();
    let mut paths = Paths::new();
    for call in calls() {
        let (path, method, operation) = call.build(&mut parts);
        paths.add_path_operation(path, vec![method], operation);
    }
    let info = InfoBuilder::new()
        .title("Tideline")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(ABOUT))
        .license(Some(License::builder().name("Apache-2.0").identifier(Some("Apache-2.0")).build()))
        .build();
    let tags = TAGS.map(|(name, about)| TagBuilder::new().name(name).description(Some(about)).build());
    parts.schemas.extend(parameters::words());
    parts.schemas.extend(schemas::shared());
    let components = ComponentsBuilder::new()
        .schemas_from_iter(parts.schemas)
        .response(Problems::NAME, parts.problems.response())
        .build();
    // Relative to where the document is read: a proxy may serve it below a prefix.
    let server = ServerBuilder::new().url(".").description(Some("Where this document comes from")).build();
    OpenApiBuilder::new()
        .info(info)
        .servers(Some([server]))
        .tags(Some(tags))
        .paths(paths)
        .components(Some(components))
        .build()
}

/// The document as JSON, for people to read too.
pub fn json() -> Result<String> {
    document().to_pretty_json().map_err(|e| Error::Setup(format!("the description of the API: {e}")))
}
