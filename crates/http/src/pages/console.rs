//! The console: the page at `/` and its parts.

use std::sync::OnceLock;

use actix_web::HttpResponse;
use actix_web::http::header::{CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY};
use serde_json::Value;

use super::console_files::{PAGE, PARTS, POLICY, VERSION};
use super::web_files::{WebFile, kept};
use crate::call::Call;
use crate::endpoint::{Endpoint, get, group};
use crate::wire::problem::Problem;
use crate::wire::reply::Answer;

/// The documentation of this release.
const DOCS: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/v", env!("CARGO_PKG_VERSION"), "/");

/// The page of a server that asks for credentials, and that of one that does not; made of the settings at the first
/// request. A process has one server, whose settings stay; only its keys may come and go.
static PAGES: [OnceLock<WebFile>; 2] = [const { OnceLock::new() }; 2];

/// The calls of this file. They have no description: they are parts of a page.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let calls = [get("/", start, "", ""), get("/console/{version}/{file}", part, "", "")];
    group("operations", calls.map(Endpoint::open))
}

/// `GET /`: the page, or without the console a redirect to the description of the API.
async fn start(call: Call) -> Answer {
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
    let origins = &call.api.config().server.avatar_origins;
    let avatars: String = origins.iter().map(|origin| format!(" {origin}")).collect();
    // `access` tells the page whether it must ask for credentials. Otherwise it would have to send a request that may be
    // refused.
    let is_open = call.api.admission.gate.is_open();
    let page = PAGES[usize::from(is_open)].get_or_init(|| {
        let access = if is_open { "open" } else { "keys" };
        let kinds: Value = call.api.feed().reaction_kinds().iter().map(|(_, name)| name).collect();
        // As the value of an attribute.
        let kinds = kinds.to_string().replace('&', "&amp;").replace('"', "&quot;");
        let text = PAGE
            .replace("{version}", &VERSION)
            .replace("{access}", access)
            .replace("{avatars}", avatars.trim_start())
            .replace("{docs}", DOCS)
            .replace("{reactions}", &kinds);
        WebFile::new("text/html; charset=utf-8", text)
    });
    let mut response = kept("no-cache");
    response.insert_header((CONTENT_SECURITY_POLICY, POLICY.replace("{avatars}", &avatars)));
    response.insert_header((REFERRER_POLICY, "no-referrer"));
    page.answer(&call.request, response)
}

/// `GET /console/{version}/{file}`. A page of an earlier release may still ask for its version of a part. It gets this
/// one, and its browser does not keep it.
async fn part(call: Call) -> Answer {
    let mut segments = call.request.path().splitn(4, '/').skip(2);
    let (version, path) = (segments.next().unwrap_or_default(), segments.next().unwrap_or_default());
    let Some(part) = PARTS.get(path).filter(|_| call.api.config().server.console) else {
        return Err(Problem::route_not_found(None));
    };
    let keep = if version == *VERSION { "public, max-age=31536000, immutable" } else { "no-cache" };
    part.answer(&call.request, kept(keep))
}
