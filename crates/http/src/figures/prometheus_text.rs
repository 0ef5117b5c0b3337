//! The page of `/metrics`.

use actix_web::HttpResponse;

use crate::wire::reply::Answer;
use model::metrics::Page;

/// The text format that every version of Prometheus reads.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The answer with figures.
pub(crate) fn answer(page: Page) -> Answer {
    Ok(HttpResponse::Ok().content_type(TEXT).body(page.0))
}
