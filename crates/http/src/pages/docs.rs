//! The description of the API, for programs and as a page.
//!
//! The page is Swagger UI, from `swagger-ui/`. It loads nothing from other servers, and its policy forbids that. Its
//! addresses are relative, so it works below any path. Swagger UI shows a stream only when it has ended; `docs.js` shows
//! the events as they arrive.

use std::sync::{LazyLock, OnceLock};

use actix_web::http::header::{CONTENT_SECURITY_POLICY, LOCATION};

use super::web_files::{WebFile, kept};
use crate::endpoint::{get, group};
use crate::prelude::*;

/// The calls of this file. The parts of the page have no description of their own.
pub(crate) fn endpoints(description: fn(&str) -> Result<String>) -> Vec<Endpoint> {
    let any_object = shape::named("Description", schemas::any_object().build());
    let calls = [
        get("/openapi.json", move |call| document(call, description), "getDescription", "This document")
            .answers_in("application/json", 200, "An OpenAPI 3.1 document", any_object, json!({"openapi": "3.1.0"}))
            .never_waits(),
        get("/docs", page, "getDocs", "This document as a web page\n\nThe page needs no connection to the internet.")
            .answers_text("A page that shows the calls and can send them", "text/html", "<!doctype html>")
            .never_waits(),
        get("/docs/", page_with_slash, "", ""),
        get("/docs/start.js", |call| part(call, &START), "", ""),
        get("/docs/swagger-ui.css", |call| part(call, &SWAGGER_STYLE), "", ""),
        get("/docs/swagger-ui-bundle.js", |call| part(call, &SWAGGER_SCRIPT), "", ""),
    ];
    group("operations", "", calls.map(Endpoint::open))
}

/// `data:` is for the pictures in the style sheet. The script also sets styles. Frames are forbidden, because another
/// page could trick its readers into pressing hidden buttons.
const POLICY: &str =
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

static PAGE: LazyLock<WebFile> =
    LazyLock::new(|| WebFile::new("text/html; charset=utf-8", &include_bytes!("docs.html")[..]));
static START: LazyLock<WebFile> = LazyLock::new(|| WebFile::new(SCRIPT, &include_bytes!("docs.js")[..]));
static SWAGGER_STYLE: LazyLock<WebFile> =
    LazyLock::new(|| WebFile::of_gzip("text/css; charset=utf-8", &include_bytes!("swagger-ui/swagger-ui.css.gz")[..]));
static SWAGGER_SCRIPT: LazyLock<WebFile> =
    LazyLock::new(|| WebFile::of_gzip(SCRIPT, &include_bytes!("swagger-ui/swagger-ui-bundle.js.gz")[..]));

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// `GET /openapi.json`
async fn document(call: Call, description: fn(&str) -> Result<String>) -> Answer {
    static JSON: OnceLock<WebFile> = OnceLock::new();
    let json = match JSON.get() {
        Some(json) => json,
        None => {
            // Relative to the address of the document, because a proxy may serve it below a prefix.
            let json = description(".")?;
            JSON.get_or_init(|| WebFile::new("application/json", json))
        }
    };
    json.answer(&call.request, HttpResponse::Ok())
}

/// `GET /docs/`: redirects, because the relative addresses of the page would be wrong here.
async fn page_with_slash(_: Call) -> Answer {
    Ok(HttpResponse::PermanentRedirect().insert_header((LOCATION, "../docs")).finish())
}

/// `GET /docs`
async fn page(call: Call) -> Answer {
    let mut response = HttpResponse::Ok();
    response.insert_header((CONTENT_SECURITY_POLICY, POLICY));
    PAGE.answer(&call.request, response)
}

/// Answers with a file that the page loads.
async fn part(call: Call, file: &'static WebFile) -> Answer {
    file.answer(&call.request, kept("max-age=3600"))
}
