//! Access of web pages: a page may not make a browser send requests that the page's user could not send.
//!
//! A page of another origin can make a browser send requests to any address that the browser reaches, loopback
//! included. It cannot read the answer, but a change would be made, or a stream opened. Browsers name the source of a
//! request: in `Sec-Fetch-Site` if they trust the connection, and in `Origin` with every change and every stream of a
//! script. Other clients send neither header.
//!
//! A page can also bind the name of its own server to this server's address ("DNS rebinding"). The page then has the
//! same origin, but its requests name a foreign host.

use actix_web::HttpRequest;
use actix_web::http::header::{AsHeaderName, HOST, ORIGIN};

use config::{Authority, Host, HostName, Origin, PageOrigin, Server};
use model::error::{Code, Error, Result};

/// The header with the relation of the page that sends a request to this server, as the browser sees it.
const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// The hosts and origins whose requests are accepted.
#[derive(Debug)]
pub(crate) struct Access {
    hosts: Vec<HostName>,
    pub(super) origins: Vec<Origin>,
}

impl Access {
    pub(crate) fn new(config: &Server) -> Self {
        Self { hosts: config.allowed_hosts.clone(), origins: config.allowed_origins.clone() }
    }

    /// Refuses a change from a page of another origin, and a request for a foreign host if the server has no keys: a page
    /// under a foreign name has no key. Headers of proxies (`X-Forwarded-Host`) are ignored, because a page can send them
    /// too.
    pub(crate) fn check(&self, request: &HttpRequest, has_keys: bool) -> Result<()> {
        for host in hosts(request).filter(|_| !has_keys) {
            let host = host.unwrap_or_default();
            if !Authority::read(host).is_some_and(|named| self.is_ours(named.host)) {
                return Err(misdirected_request(host));
            }
        }
        if request.method().is_safe() || self.may_act(request) {
            return Ok(());
        }
        Err(cross_origin(origin(request), "send changes"))
    }

    /// Refuses a stream that a page of another origin opens. The page cannot read the stream, but the stream would make
    /// the user online and count against the user's limit.
    pub(crate) fn check_stream(&self, request: &HttpRequest) -> Result<()> {
        if self.may_act(request) { Ok(()) } else { Err(cross_origin(origin(request), "open streams")) }
    }

    fn is_ours(&self, host: Host<'_>) -> bool {
        matches!(host, Host::Address(_)) || host == Host::Name("localhost") || self.hosts.iter().any(|own| own.is(host))
    }

    fn may_act(&self, request: &HttpRequest) -> bool {
        let mut sites = values(request, SEC_FETCH_SITE).peekable();
        let origins = || values(request, ORIGIN);
        let from_here = if sites.peek().is_some() {
            sites.all(|site| matches!(site, Some("same-origin" | "none")))
        } else {
            origins().all(|origin| origin.is_some_and(|origin| is_served_at(origin, request)))
        };
        let is_allowed = |origin: &str| self.origins.iter().any(|allowed| allowed.is(origin));
        from_here || (origins().next().is_some() && origins().all(|origin| origin.is_some_and(is_allowed)))
    }
}

/// The request names a foreign host.
fn misdirected_request(host: &str) -> Error {
    let detail = format_args!(
        "\"{host}\" is not a name of this server. If clients should use this name, add it to server.allowed_hosts"
    );
    Error::refused(Code::MisdirectedRequest, detail)
}

/// The action `what` of a page of another origin, which is named if the browser sent it.
fn cross_origin(origin: Option<&str>, what: &str) -> Error {
    let detail = match origin {
        Some("null") => {
            format!("pages without an origin may not {what}; serve the page under an http or https address")
        }
        Some(origin) => format!(
            "pages of the origin \"{origin}\" may not {what}. To allow this origin, add it to \
             server.allowed_origins"
        ),
        None => format!("pages of other origins may not {what}"),
    };
    Error::refused(Code::CrossOrigin, detail)
}

/// The hosts that a request names: in its target, if this is an absolute address, and in its header. A request of
/// HTTP/1.0 may name none; no browser sends such a request.
fn hosts(request: &HttpRequest) -> impl Iterator<Item = Option<&str>> {
    let target = request.uri().authority().map(|authority| Some(authority.as_str()));
    target.into_iter().chain(values(request, HOST))
}

/// The origin of the page, as the request states it.
fn origin(request: &HttpRequest) -> Option<&str> {
    values(request, ORIGIN).next().flatten()
}

/// The values of a header; `None` for a value that is not text.
fn values(request: &HttpRequest, name: impl AsHeaderName) -> impl Iterator<Item = Option<&str>> {
    request.headers().get_all(name).map(|value| value.to_str().ok())
}

/// Whether a page of this origin was served by the host and port of the request. The scheme is ignored, because a proxy
/// for HTTPS may be in front of a server of plain HTTP.
fn is_served_at(origin: &str, request: &HttpRequest) -> bool {
    let Some(origin) = PageOrigin::read(origin) else { return false };
    let port = |authority: Authority<'_>| authority.port.or(origin.default_port());
    let is_here = |named: Authority<'_>| named.host == origin.authority.host && port(named) == port(origin.authority);
    let mut hosts = hosts(request).peekable();
    hosts.peek().is_some() && hosts.all(|host| host.and_then(Authority::read).is_some_and(is_here))
}
