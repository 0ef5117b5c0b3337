//! The console: the page at `/`, on which people see a timeline and use the server.
//!
//! Its files are in `console/`, and the binary has them as they are: there is no build step. They load nothing from
//! other servers, and their policy forbids that. The address of each file has a version, so that browsers keep it; all
//! addresses are relative, so the console works below any path.

use std::collections::HashMap;
use std::sync::LazyLock;

use actix_web::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY};
use actix_web::{HttpResponse, HttpResponseBuilder};
use xxhash_rust::xxh3::xxh3_128;

use super::call::{Answer, Call};
use super::endpoint::{Endpoint, get, group};
use super::problem::Problem;
use super::web_files::WebFile;
use crate::config::AvatarOrigin;

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
static SOURCES: &[(&str, &[u8])] = &files! {
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

/// The parts as they are served, by their paths.
static PARTS: LazyLock<HashMap<&str, WebFile>> =
    LazyLock::new(|| SOURCES.iter().map(|(path, bytes)| (*path, WebFile::new(media_type(path), *bytes))).collect());

static PAGE: &str = include_str!("../../console/index.html");

/// The page, as the settings want it.
#[derive(Debug)]
pub(super) struct Pages {
    open: WebFile,
    guarded: WebFile,
    policy: String,
}

impl Pages {
    /// With the avatars of these origins.
    pub(super) fn new(avatars: &[AvatarOrigin]) -> Self {
        let avatars: String = avatars.iter().map(|origin| format!(" {origin}")).collect();
        // `access` tells the page whether it must ask for credentials. Otherwise it would have to send a request that may
        // be refused.
        let page = |access: &str| {
            let text = PAGE.replace("{version}", &VERSION).replace("{access}", access);
            WebFile::new("text/html; charset=utf-8", text.replace("{avatars}", avatars.trim_start()))
        };
        Self { open: page("open"), guarded: page("keys"), policy: POLICY.replace("{avatars}", &avatars) }
    }
}

/// Distinguishes the files of one release from those of another.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let all: Vec<_> =
        SOURCES.iter().flat_map(|(path, bytes)| [path.as_bytes(), bytes]).chain([PAGE.as_bytes()]).collect();
    format!("{:032x}", xxh3_128(&all.concat()))
});

/// Users choose the addresses of avatars. So the page shows no picture of this server: a user could make the browsers of
/// readers call the API. It shows those of the origins in the settings, because an operator may want their servers to
/// learn who reads. A `data:` picture loads nothing and runs no script, not even as SVG.
const POLICY: &str = "default-src 'self'; img-src data:{avatars}; object-src 'none'; base-uri 'none'; form-action 'none'; \
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
        let mut response = HttpResponse::TemporaryRedirect();
        return Ok(response.insert_header((LOCATION, "docs")).content_type("text/plain; charset=utf-8").body(text));
    }
    let Pages { open, guarded, policy } = &call.api.console;
    let page = if call.api.gate.is_open() { open } else { guarded };
    let mut response = kept("no-cache");
    response.insert_header((CONTENT_SECURITY_POLICY, policy.as_str())).insert_header((REFERRER_POLICY, "no-referrer"));
    page.answer(&call.request, response)
}

/// `GET /console/{version}/{file}`. A page of an earlier release may still ask for its version of a part. It gets this
/// one, and its browser does not keep it.
async fn part(call: Call) -> Answer {
    call.no_query()?;
    let mut segments = call.request.path().splitn(4, '/').skip(2);
    let (version, path) = (segments.next().unwrap_or_default(), segments.next().unwrap_or_default());
    let Some(part) = PARTS.get(path).filter(|_| call.api.config().server.console) else {
        return Err(Problem::route_not_found(None));
    };
    let keep = if version == *VERSION { "public, max-age=31536000, immutable" } else { "no-cache" };
    part.answer(&call.request, kept(keep))
}

/// An answer that browsers keep so.
fn kept(how: &'static str) -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response.insert_header((CACHE_CONTROL, how));
    response
}

fn media_type(path: &str) -> &'static str {
    if path.ends_with(".css") { "text/css; charset=utf-8" } else { "text/javascript; charset=utf-8" }
}
