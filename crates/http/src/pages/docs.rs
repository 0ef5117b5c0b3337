//! The description of the API, for programs and as a page.
//!
//! The page is Swagger UI, from `swagger-ui/`. It loads nothing from other servers, and its policy forbids that. Its
//! addresses are relative, so it works below any path. Swagger UI shows a stream only when it has ended; `docs.js` shows
//! the events as they arrive.

use std::sync::{LazyLock, OnceLock};

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, LOCATION};
use serde_json::json;
use utoipa::openapi::Object;
use utoipa::openapi::schema::Type;

use super::web_files::WebFile;
use crate::call::Call;
use crate::endpoint::{Endpoint, get, group};
use crate::openapi;
use crate::openapi::Shape;
use crate::wire::problem::Problem;
use crate::wire::reply::Answer;

/// The calls of this file. The parts of the page have no description of their own.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let document = Shape::named("Description", Object::with_type(Type::Object));
    let calls = [
        get("/openapi.json", description, "getDescription", "This document")
            .answers_in("application/json", 200, "An OpenAPI 3.1 document", document, json!({"openapi": "3.1.0"}))
            .never_waits(),
        get("/docs", page, "getDocs", "This document as a web page")
            .about("The page needs no connection to the internet.")
            .answers_text("A page that shows the calls and can send them", "text/html", "<!doctype html>")
            .never_waits(),
        get("/docs/", page_with_slash, "", ""),
        get("/docs/start.js", start, "", ""),
        get("/docs/swagger-ui.css", style, "", ""),
        get("/docs/swagger-ui-bundle.js", script, "", ""),
    ];
    group("operations", calls)
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
pub(crate) async fn description(call: Call) -> Answer {
    static JSON: OnceLock<WebFile> = OnceLock::new();
    call.no_query()?;
    let json = match JSON.get() {
        Some(json) => json,
        None => {
            let json = openapi::json().map_err(Problem::from)?;
            JSON.get_or_init(|| WebFile::new("application/json", json))
        }
    };
    json.answer(&call.request, HttpResponse::Ok())
}

/// `GET /docs/`: redirects, because the relative addresses of the page would be wrong here.
pub(crate) async fn page_with_slash(call: Call) -> Answer {
    call.no_query()?;
    Ok(HttpResponse::PermanentRedirect().insert_header((LOCATION, "../docs")).finish())
}

/// `GET /docs`
pub(crate) async fn page(call: Call) -> Answer {
    call.no_query()?;
    let mut response = HttpResponse::Ok();
    response.insert_header((CONTENT_SECURITY_POLICY, POLICY));
    PAGE.answer(&call.request, response)
}

/// `GET /docs/start.js`
pub(crate) async fn start(call: Call) -> Answer {
    part(&call, &START)
}

/// `GET /docs/swagger-ui.css`
pub(crate) async fn style(call: Call) -> Answer {
    part(&call, &SWAGGER_STYLE)
}

/// `GET /docs/swagger-ui-bundle.js`
pub(crate) async fn script(call: Call) -> Answer {
    part(&call, &SWAGGER_SCRIPT)
}

fn part(call: &Call, file: &WebFile) -> Answer {
    call.no_query()?;
    let mut response = HttpResponse::Ok();
    response.insert_header((CACHE_CONTROL, "max-age=3600"));
    file.answer(&call.request, response)
}
