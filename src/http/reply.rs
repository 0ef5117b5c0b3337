//! Good answers: JSON objects and pages of them.

use std::fmt::{Display, Write};

use actix_web::http::StatusCode;
use actix_web::http::header::LINK;
use actix_web::{HttpResponse, HttpResponseBuilder};
use serde::Serialize;

use super::call::{Answer, Call};
use super::problem::Problem;
use super::query::Kept;
use crate::model::{Page, Position};

/// Room for a page of ids, so that its buffer grows at most once or twice.
const FIRST_BYTES: usize = 2048;

/// One page.
#[derive(Serialize)]
#[serde(bound = "T: Serialize")]
struct PageBody<'a, T, I: Display> {
    items: &'a [T],
    next: Option<Position<I>>,
    prev: Option<Position<I>>,
}

/// A value as JSON text.
pub(super) fn encode(value: &impl Serialize) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::with_capacity(FIRST_BYTES);
    serde_json::to_writer(&mut bytes, value).map_err(Problem::internal)?;
    Ok(bytes)
}

/// Ends a response with JSON text.
pub(super) fn body(mut response: HttpResponseBuilder, json: Vec<u8>) -> HttpResponse {
    response.content_type("application/json").body(json)
}

/// 200 with a value.
pub(super) fn ok(value: &impl Serialize) -> Answer {
    Ok(body(HttpResponseBuilder::new(StatusCode::OK), encode(value)?))
}

/// 200 with a page of the list that `call` asks for, and its neighbours in a `Link` header.
pub(super) fn page<T: Serialize, I: Display + Copy>(call: &Call, page: &Page<T, I>, kept: Kept<I>) -> Answer {
    let json = encode(&PageBody { items: &page.items, next: page.next, prev: page.prev })?;
    let mut response = HttpResponseBuilder::new(StatusCode::OK);
    if page.next.is_some() || page.prev.is_some() {
        response.insert_header((LINK, links(call.request.uri().path(), page, kept)));
    }
    Ok(body(response, json))
}

fn links<T, I: Display>(path: &str, page: &Page<T, I>, kept: Kept<I>) -> String {
    let mut links = String::with_capacity(192);
    // A list between two bounds stays between them; with one bound alone, the page moves on from it.
    let bounds = kept.span.before.as_ref().zip(kept.span.after.as_ref());
    let (before, after) = bounds.unzip();
    for (place, parameter, rel, other, bound) in
        [(&page.next, "before", "next", "after", after), (&page.prev, "after", "prev", "before", before)]
    {
        if let Some(place) = place {
            let comma = if links.is_empty() { "" } else { ", " };
            // Writing to a string does not fail.
            let _ = write!(links, "{comma}<{path}?{kept}{parameter}={place}");
            let _ = bound.map_or(Ok(()), |bound| write!(links, "&{other}={bound}"));
            let _ = write!(links, ">; rel=\"{rel}\"");
        }
    }
    links
}
