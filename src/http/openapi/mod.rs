//! The API as an OpenAPI 3.1 document.
//!
//! Each handler file has a sister here that describes its calls, one after the other, with [`Call`]. What follows
//! from the shape of a call (the parameters of its path, the problems of a body, of a change, of an id) is added
//! there, so a description says only what is particular. The schemas of answers are derived from the very types
//! that are written, in `show`; those of requests are in `schemas`. A test below compares the calls described with
//! the routes served.

mod barriers;
mod call;
mod content;
mod markers;
mod operations;
mod parameters;
mod problems;
mod reactions;
mod relations;
mod schemas;
mod timelines;
mod users;

use std::collections::BTreeMap;

use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, License, OpenApi, OpenApiBuilder, Paths};

use self::call::{Call, Parts};
use crate::error::{Error, Result};

const ABOUT: &str = include_str!("about.md");

/// The groups of calls, in the order of the page.
const TAGS: [(&str, &str); 6] = [
    ("content", "Publish, read, edit and delete items"),
    ("timelines", "Lists of content around a user"),
    ("users", "Profiles and counts"),
    ("relations", "Who follows, mutes, or hides from whom"),
    ("reactions", "Likes and favorites"),
    ("operations", "For those who run the server"),
];

/// All calls.
fn calls() -> Vec<Call> {
    let themes = [
        content::calls(),
        timelines::calls(),
        markers::calls(),
        users::calls(),
        relations::calls(),
        barriers::calls(),
        reactions::calls(),
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
    let schemas: BTreeMap<_, _> = parts.schemas.into_iter().collect();
    let components = ComponentsBuilder::new().schemas_from_iter(schemas).responses_from_iter(parts.responses).build();
    OpenApiBuilder::new().info(info).tags(Some(tags)).paths(paths).components(Some(components)).build()
}

/// The document as JSON, for people to read too.
pub fn json() -> Result<String> {
    document().to_pretty_json().map_err(|e| Error::Setup(format!("the description of the API: {e}")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use actix_web::App;
    use actix_web::test::init_service;
    use serde_json::Value;

    use super::*;
    use crate::backlog::Backlog;
    use crate::config;
    use crate::feed::{Feed, Rules};
    use crate::http::Api;
    use crate::store::Store;
    use crate::store::memory::Memory;
    use crate::worker::Figures;

    /// Parts of the page `/docs`, which is described as a whole.
    const PARTS_OF_THE_PAGE: [&str; 3] = ["/docs/start.js", "/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css"];

    fn as_json() -> Value {
        serde_json::from_str(&json().expect("a document")).expect("JSON")
    }

    /// Every object and array of a document, and what it is in.
    fn walk<'a>(value: &'a Value, see: &mut impl FnMut(&'a Value)) {
        see(value);
        match value {
            Value::Object(fields) => fields.values().for_each(|value| walk(value, see)),
            Value::Array(items) => items.iter().for_each(|value| walk(value, see)),
            _ => {}
        }
    }

    fn operations(document: &Value) -> impl Iterator<Item = (String, &Value)> {
        let paths = document["paths"].as_object().expect("paths");
        paths.iter().flat_map(|(path, item)| {
            let operations = item.as_object().expect("methods").iter();
            operations.map(move |(method, operation)| (format!("{} {path}", method.to_uppercase()), operation))
        })
    }

    #[actix_web::test]
    async fn all_that_is_served_is_described_and_nothing_else() {
        let store = Arc::new(Store::Memory(Memory::new()));
        let rules = Rules { include_own: false, active_for: 1000, follow_limit: 1000 };
        let feed = Arc::new(Feed::new(store, Arc::new(Backlog::new(10)), rules));
        let api = Arc::new(Api::new(feed, Figures::default(), &config::Server::default(), 10));
        init_service(App::new().configure(|config| crate::http::configure(&api, config))).await;
        let routes = api.requests.all();
        let served: BTreeSet<_> = routes
            .iter()
            .filter(|route| route.path != "other" && !PARTS_OF_THE_PAGE.contains(&route.path))
            .map(|route| format!("{} {}", route.method, route.path))
            .collect();
        let document = as_json();
        let described: BTreeSet<_> = operations(&document).map(|(name, _)| name).collect();
        assert_eq!(described, served);
        assert!(served.len() > 10, "{served:?}");
    }

    #[test]
    fn it_is_a_whole_document_of_version_3_1() {
        let text = json().expect("a document");
        let read: OpenApi = serde_json::from_str(&text).expect("an OpenAPI document");
        let document = as_json();
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
        let tags: Vec<_> = TAGS.iter().map(|(name, _)| *name).collect();
        for (name, call) in operations(&document) {
            assert!(call["summary"].as_str().is_some_and(|summary| !summary.is_empty()), "{name}: no summary");
            assert!(tags.contains(&call["tags"][0].as_str().expect("a tag")), "{name}: a tag that is not in the list");
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
                assert_eq!(media_types.is_none(), status == "204", "{name} {status}");
                for (media_type, content) in media_types.into_iter().flatten() {
                    let has_example = content.get("example").or(content.get("examples")).is_some();
                    assert!(has_example && content.get("schema").is_some(), "{name} {status} {media_type}");
                    assert_eq!(media_type == "application/problem+json", status.as_str() >= "400", "{name} {status}");
                }
            }
        }
    }
}
