//! The description of the API, for programs and as a page.
//!
//! The page is Swagger UI, stored in the binary as its published archive. It loads nothing from other servers, and its
//! policy forbids that. Its addresses are relative, so it works below any path. Swagger UI shows a stream only when it
//! has ended; `docs.js` shows the events as they arrive.

use std::io::{Cursor, Read};
use std::sync::OnceLock;

use actix_web::HttpResponseBuilder;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, LOCATION};
use actix_web::web::Bytes;
use parking_lot::Mutex;
use serde_json::json;
use utoipa::openapi::Object;
use utoipa::openapi::schema::Type;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::ZipArchive;

use super::answer_memory;
use super::call::{Answer, Call};
use super::endpoint::{Endpoint, get, group};
use super::openapi::{self, Shape};
use super::pools::Wants;
use super::problem::Problem;

/// The calls of this file. The parts of the page have no description of their own.
pub(super) fn endpoints() -> Vec<Endpoint> {
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

/// `GET /openapi.json`
pub(super) async fn description(call: Call) -> Answer {
    static JSON: OnceLock<Bytes> = OnceLock::new();
    call.no_query()?;
    let json = match JSON.get() {
        Some(json) => json,
        None => {
            let json = openapi::json().map_err(Problem::from)?;
            JSON.get_or_init(|| json.into())
        }
    };
    let response = HttpResponseBuilder::new(StatusCode::OK).content_type("application/json").finish();
    Ok(answer_memory::shared(response, json.clone()))
}

/// `GET /docs/`: redirects, because the relative addresses of the page would be wrong here.
pub(super) async fn page_with_slash(call: Call) -> Answer {
    call.no_query()?;
    Ok(HttpResponseBuilder::new(StatusCode::PERMANENT_REDIRECT).insert_header((LOCATION, "../docs")).finish())
}

/// `GET /docs`
pub(super) async fn page(call: Call) -> Answer {
    call.no_query()?;
    let page = Bytes::from_static(include_bytes!("docs.html"));
    let mut response = HttpResponseBuilder::new(StatusCode::OK);
    response.insert_header((CONTENT_SECURITY_POLICY, POLICY));
    Ok(response.content_type("text/html; charset=utf-8").body(page))
}

/// `GET /docs/start.js`
pub(super) async fn start(call: Call) -> Answer {
    call.no_query()?;
    Ok(part("text/javascript; charset=utf-8", Bytes::from_static(include_bytes!("docs.js"))))
}

/// `GET /docs/swagger-ui.css`
pub(super) async fn style(call: Call) -> Answer {
    static STYLE: OnceLock<Bytes> = OnceLock::new();
    call.no_query()?;
    unpacked(&call, &STYLE, "swagger-ui.css", "text/css; charset=utf-8").await
}

/// `GET /docs/swagger-ui-bundle.js`
pub(super) async fn script(call: Call) -> Answer {
    static SCRIPT: OnceLock<Bytes> = OnceLock::new();
    call.no_query()?;
    unpacked(&call, &SCRIPT, "swagger-ui-bundle.js", "text/javascript; charset=utf-8").await
}

/// A file of Swagger UI. It is unpacked once, on a thread that may block, and kept: the two files take 1.7 MB, and all
/// answers share them.
async fn unpacked(call: &Call, kept: &'static OnceLock<Bytes>, name: &'static str, media_type: &str) -> Answer {
    if kept.get().is_none() {
        call.run(Wants::Read, move |_| -> Result<(), Problem> {
            static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
            let _turn = ONE_AT_A_TIME.lock();
            if kept.get().is_none() {
                let bytes = unpack(name).map_err(Problem::internal)?;
                kept.get_or_init(|| bytes);
            }
            Ok(())
        })
        .await?;
    }
    Ok(part(media_type, kept.get().cloned().unwrap_or_default()))
}

fn unpack(name: &str) -> Result<Bytes, String> {
    let mut archive = ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED)).map_err(|e| e.to_string())?;
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).map_err(|e| e.to_string())?;
        let path = file.enclosed_name().unwrap_or_default();
        // Below a folder with the version in its name.
        if path.iter().skip(1).eq(["dist", name]) {
            let mut bytes = Vec::with_capacity(usize::try_from(file.size()).unwrap_or_default());
            file.read_to_end(&mut bytes).map_err(|e| e.to_string())?;
            return Ok(bytes.into());
        }
    }
    Err(format!("Swagger UI has no {name}"))
}

fn part(media_type: &str, bytes: Bytes) -> actix_web::HttpResponse {
    let mut response = HttpResponseBuilder::new(StatusCode::OK);
    response.insert_header((CACHE_CONTROL, "max-age=3600"));
    answer_memory::shared(response.content_type(media_type).finish(), bytes)
}
