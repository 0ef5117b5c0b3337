//! The description of one call in the document.

use std::collections::{BTreeMap, BTreeSet};

use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::link::LinkBuilder;
use utoipa::openapi::path::{HttpMethod, Operation, OperationBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{RefBuilder, Type};
use utoipa::openapi::{ContentBuilder, Header, HeaderBuilder, Object, Ref, Required, Response, ResponseBuilder};

use super::security;
use crate::endpoint::{Endpoint, Good, parameters};
use crate::nodes::consistency::POSITION_TITLE;
use crate::streams::events;
use crate::wire::problem::Document;
use model::error::Code;
use model::schemas;

/// The name of the one response for all problems, and of its schema. So generated clients have one type, and one place
/// in each call, for all problems.
pub(super) const PROBLEM: &str = "Problem";

/// The mark of a call whose answer has no end. Generators of clients that read each answer to its end leave the call
/// out.
pub(super) const LEFT_OUT: &str = "x-internal";

/// The method in the type of the document.
pub(super) fn method(endpoint: &Endpoint) -> HttpMethod {
    match endpoint.method {
        "POST" => HttpMethod::Post,
        "PUT" => HttpMethod::Put,
        "PATCH" => HttpMethod::Patch,
        "DELETE" => HttpMethod::Delete,
        _ => HttpMethod::Get,
    }
}

/// The call with the codes that it may answer.
pub(super) fn operation(endpoint: &Endpoint, codes: &[Code]) -> Operation {
    let names = endpoint.path.split(['{', '}']).skip(1).step_by(2);
    let of_all = endpoint.reads_shared().then(parameters::consistency).into_iter().flatten();
    let others = endpoint.parameters.iter().cloned().chain(of_all);
    let mut operation = OperationBuilder::new()
        .tag(endpoint.tag)
        .operation_id(Some(endpoint.id))
        .summary(Some(endpoint.summary))
        .description(endpoint.about)
        .securities(Some(security::taken_by(endpoint)))
        .extensions(has_no_end(endpoint).then(|| [(LEFT_OUT, true)].into_iter().collect()))
        .parameters(Some(names.filter_map(parameters::in_path).chain(others)));
    if let Some(body) = &endpoint.body {
        let content =
            ContentBuilder::new().schema(Some(body.schema.clone())).example(Some(body.example.clone())).build();
        let required = if body.required { Required::True } else { Required::False };
        let body = RequestBodyBuilder::new().required(Some(required)).content("application/json", content).build();
        operation = operation.request_body(Some(body));
    }
    let mut answers = BTreeMap::<u16, Response>::new();
    for good in &endpoint.good {
        let mut answer = answer(good, &endpoint.links);
        if endpoint.is_of_api() {
            answer.headers.insert(POSITION_TITLE.to_owned(), position().into());
        }
        // A stream in place of a page is described in words: generated clients would have one type for both.
        answers.entry(good.status).or_insert(answer);
    }
    for (status, answer) in answers {
        operation = operation.response(status.to_string(), answer);
    }
    operation.response("default", refer(codes)).build()
}

/// Whether the call has no other answer than a stream.
fn has_no_end(endpoint: &Endpoint) -> bool {
    let media_type = |good: &Good| good.body.as_ref().map(|(media_type, ..)| *media_type);
    endpoint.good.iter().all(|good| media_type(good) == Some(events::MEDIA_TYPE))
}

fn answer(good: &Good, links: &[(&'static str, Vec<(&'static str, &'static str)>)]) -> Response {
    let mut response = ResponseBuilder::new().description(good.about);
    if let Some((media_type, schema, example)) = &good.body {
        let content = ContentBuilder::new().schema(Some(schema.clone())).example(Some(example.clone())).build();
        response = response.content(*media_type, content);
    }
    for name in &good.headers {
        let (about, schema) = match *name {
            "Location" => (
                "The address of the item, relative to the address of the request",
                schemas::text(r"^(content|\.\.)/[^/]+$"),
            ),
            "Link" => (
                "The addresses of the pages `next` and `prev`, if they exist (RFC 8288), relative to the address of \
                 the request",
                Object::with_type(Type::String),
            ),
            "ETag" => (
                "Text that stands for this answer; missing for a page of more than 16 KiB that was read from the disk",
                Object::with_type(Type::String),
            ),
            _ => ("", Object::with_type(Type::String)),
        };
        response = response.header(*name, HeaderBuilder::new().schema(Some(schema)).description(Some(about)).build());
    }
    for (id, takes) in links {
        let mut link = LinkBuilder::new().operation_id(*id);
        for (name, expression) in takes {
            link = link.parameter(*name, *expression);
        }
        response = response.link(*id, link.build());
    }
    response.build()
}

/// The header of all answers of a node.
fn position() -> Header {
    let about = "On a node of a cluster: text that stands for the change, or for all that the answer shows, and for what this \
                 header has in the request; for later reads with `consistency=session`";
    HeaderBuilder::new().schema(Some(parameters::position())).description(Some(about)).build()
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
pub(super) fn problem(codes: BTreeSet<Code>) -> Response {
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
