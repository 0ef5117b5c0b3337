//! The console: the page at `/`, on which people see a timeline and use the server.
//!
//! Its files are in `console/`, and the binary has them as they are: there is no build step. They load nothing from
//! other servers, and their policy forbids that. The address of each file has a version, so that browsers keep it; all
//! addresses are relative, so the console works below any path.

use std::sync::LazyLock;

use actix_web::http::StatusCode;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETAG, EntityTag, Header, IfNoneMatch, LOCATION, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use xxhash_rust::xxh3::xxh3_128;

use super::answer_memory;
use super::call::{Answer, Call};
use super::endpoint::{Endpoint, get, group};
use super::problem::Problem;

/// The calls of this file. They have no description: they are parts of a page.
pub(super) fn endpoints() -> Vec<Endpoint> {
    let calls = [
        get("/", start, "", ""),
        get("/console/{version}/{file}", part, "", ""),
        get("/console/{version}/{folder}/{file}", part, "", ""),
    ];
    group("operations", calls)
}

/// The files by their paths in `console/`.
macro_rules! files {
    ($($path:literal)+) => {
        [$(($path, include_bytes!(concat!("../../console/", $path)) as &[u8])),+]
    };
}

/// The parts of the page. A test compares them with the directory.
static FILES: &[(&str, &[u8])] = &files! {
    "api.js"
    "backups.js"
    "box.js"
    "chart.js"
    "check.js"
    "compose.js"
    "console.css"
    "dashboard.js"
    "feed.js"
    "feedlist.js"
    "feeds.js"
    "icon.svg"
    "icons.js"
    "item.js"
    "keys.js"
    "main.js"
    "metrics.js"
    "pages.js"
    "parts.js"
    "people.js"
    "route.js"
    "session.js"
    "signin.js"
    "stream.js"
    "texts.js"
    "texts/en.js"
    "texts/zh.js"
    "theme.js"
    "vendor/hooks.js"
    "vendor/htm.js"
    "vendor/preact.js"
    "view.js"
};

static PAGE: &str = include_str!("../../console/index.html");

/// Distinguishes the files of one release from those of another.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let all: Vec<_> =
        FILES.iter().flat_map(|(path, bytes)| [path.as_bytes(), bytes]).chain([PAGE.as_bytes()]).collect();
    format!("{:032x}", xxh3_128(&all.concat()))
});

/// `data:` is for small pictures of users. Pictures of other servers are not shown: those servers would learn who reads.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// `GET /`: the page, or without the console a redirect to the description of the API.
async fn start(call: Call) -> Answer {
    call.no_query()?;
    if !call.api.config().server.console {
        let text = concat!(
            "Tideline ",
            env!("CARGO_PKG_VERSION"),
            ". The calls of the API are below v1/. The page docs shows them and can send them. openapi.json describes \
             them for programs.\n"
        );
        // Relative, because a proxy may have removed a prefix. Temporary, because the console may be switched on.
        let mut response = HttpResponseBuilder::new(StatusCode::TEMPORARY_REDIRECT);
        return Ok(response.insert_header((LOCATION, "docs")).content_type("text/plain; charset=utf-8").body(text));
    }
    // Whether the page must ask for credentials. Otherwise it would have to send a request that may be refused.
    let access = if call.api.gate.is_open() { "open" } else { "keys" };
    let tag = EntityTag::new_strong(format!("{}-{access}", *VERSION));
    let mut response = answer(&call.request, &tag, "no-cache");
    response.insert_header((CONTENT_SECURITY_POLICY, POLICY)).insert_header((REFERRER_POLICY, "no-referrer"));
    if is_known(&call.request, &tag) {
        return Ok(response.finish());
    }
    let page = PAGE.replace("{version}", &VERSION).replace("{access}", access);
    Ok(response.content_type("text/html; charset=utf-8").body(page))
}

/// `GET /console/{version}/{file}`. A page of an earlier release may still ask for its version of a part. It gets this
/// one, and its browser does not keep it.
async fn part(call: Call) -> Answer {
    call.no_query()?;
    let mut segments = call.request.path().splitn(4, '/').skip(2);
    let (version, path) = (segments.next().unwrap_or_default(), segments.next().unwrap_or_default());
    let found = FILES.iter().find(|(known, _)| *known == path && call.api.config().server.console);
    let Some((_, bytes)) = found else { return Err(Problem::route_not_found(None)) };
    let tag = EntityTag::new_strong(format!("{}-{path}", *VERSION));
    let keep = if version == *VERSION { "public, max-age=31536000, immutable" } else { "no-cache" };
    let mut response = answer(&call.request, &tag, keep);
    if is_known(&call.request, &tag) {
        return Ok(response.finish());
    }
    let response = response.content_type(media_type(path)).finish();
    Ok(answer_memory::shared(response, Bytes::from_static(bytes)))
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        _ => "image/svg+xml",
    }
}

/// Whether the client has the file with this tag.
fn is_known(request: &HttpRequest, tag: &EntityTag) -> bool {
    match IfNoneMatch::parse(request) {
        Ok(IfNoneMatch::Any) => true,
        Ok(IfNoneMatch::Items(known)) => known.iter().any(|known| known.weak_eq(tag)),
        Err(_) => false,
    }
}

/// The head of an answer: 304 for a client that has the file.
fn answer(request: &HttpRequest, tag: &EntityTag, keep: &'static str) -> HttpResponseBuilder {
    let status = if is_known(request, tag) { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
    let mut response = HttpResponse::build(status);
    response.insert_header((CACHE_CONTROL, keep)).insert_header((ETAG, tag.to_string()));
    response.insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"));
    response
}
