//! The console, on which people see a timeline and use the server: the page at `/` and its parts.
//!
//! Its files are in `console/`. They load nothing from other servers, and their policy forbids that. The address of each part
//! has a version, so that browsers keep it; all addresses are relative, so the console works below any path.

use std::sync::{LazyLock, OnceLock};

use actix_web::http::header::{CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use super::web_files::{WebFile, kept};
use crate::prelude::*;
use crate::wire::problem::route_not_found;

const PAGE: &str = include_str!("../../../../console/index.html");
const STYLE: &str = include_str!("../../../../console/console.css");
/// All modules.
const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/console.js"));

static SCRIPT_FILE: LazyLock<WebFile> = LazyLock::new(|| WebFile::new("text/javascript; charset=utf-8", SCRIPT));
static STYLE_FILE: LazyLock<WebFile> = LazyLock::new(|| WebFile::new("text/css; charset=utf-8", STYLE));

/// Distinguishes the files of one release from those of another.
static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{:032x}", xxh3_128([PAGE, STYLE, SCRIPT].concat().as_bytes())));

/// Users choose the addresses of avatars. So the page shows no picture of this server: a user could make the browsers of
/// readers call the API. It shows those of the origins in the settings, because an operator may want their servers to
/// learn who reads. A `data:` picture loads nothing and runs no script, not even as SVG.
const POLICY: &str = "default-src 'self'; img-src data:{avatars}; object-src 'none'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// The documentation of this release.
const DOCS: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/v", env!("CARGO_PKG_VERSION"), "/");

/// The page of a server that asks for credentials, and that of one that does not; made of the settings at the first
/// request. A process has one server, whose settings stay; only its keys may come and go.
static PAGES: [OnceLock<WebFile>; 2] = [const { OnceLock::new() }; 2];

endpoints! { "operations", open:
    /// The console
    get("/", start, "");

    /// A part of the console
    get("/console/{version}/{file}", part, "");
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
    let part = match path {
        "main.js" if call.api.config().server.console => &SCRIPT_FILE,
        "console.css" if call.api.config().server.console => &STYLE_FILE,
        _ => return Err(route_not_found(None)),
    };
    let keep = if version == *VERSION { "public, max-age=31536000, immutable" } else { "no-cache" };
    part.answer(&call.request, kept(keep))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the script left as it was would be an error of the browser, or a module too early.
    #[test]
    fn the_script_has_each_module_once_after_those_that_it_needs() {
        let modules: Vec<_> = SCRIPT.split("\n// ").skip(1).filter_map(|module| module.split_once(".js\n")).collect();
        assert!(modules.len() > 50, "{}", modules.len());
        let mut before = Vec::new();
        for (path, rest) in modules {
            let path = format!("{path}.js");
            assert_eq!(SCRIPT.matches(&format!("\nmodules[\"{path}\"] = ")).count(), 1, "{path}");
            let (module, _) = rest.split_once("\n})();").expect(&path);
            for needed in module.split(" = modules[\"").skip(1).filter_map(|rest| rest.split_once("\"]")) {
                assert!(before.iter().any(|known| known == needed.0), "{path} needs {}", needed.0);
            }
            before.push(path);
        }
        assert!(!["\nimport ", "\nexport ", "import{", "export{"].iter().any(|left| SCRIPT.contains(left)));
    }
}
