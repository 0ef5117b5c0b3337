//! What a web page may make a browser send: nothing that its user could not.
//!
//! A page of another origin may send a browser here, to any address that the browser reaches, so also to one of
//! the loopback. It may not read the answer, but a change would have been made, or a stream be open. Browsers say where
//! a request comes from: `Sec-Fetch-Site`, where they trust the connection, and `Origin` with every change and with
//! every stream of a script. What is no browser says neither.
//!
//! A page may also give the name of its own server this server's address ("DNS rebinding"), and then be of the same
//! origin. Then the request names a host that is not ours.

use actix_web::HttpRequest;
use actix_web::http::header::{AsHeaderName, HOST, ORIGIN};

use super::problem::Problem;
use crate::config::{Authority, Host, HostName, Origin, PageOrigin, Server};

/// How the page that sends a request stands to this server, as the browser sees it.
const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// Whose requests are taken.
#[derive(Debug)]
pub(super) struct Access {
    hosts: Vec<HostName>,
    origins: Vec<Origin>,
}

impl Access {
    pub(super) fn new(config: &Server) -> Self {
        Self { hosts: config.allowed_hosts.clone(), origins: config.allowed_origins.clone() }
    }

    /// Refuses a request for a host that is none of this server's, and a change that comes from a page of another
    /// origin. What proxies add (`X-Forwarded-Host`) does not count: a page could send it too.
    pub(super) fn check(&self, request: &HttpRequest) -> Result<(), Problem> {
        for host in hosts(request) {
            let host = host.unwrap_or_default();
            if !Authority::read(host).is_some_and(|named| self.is_ours(named.host)) {
                return Err(Problem::misdirected_request(host));
            }
        }
        if request.method().is_safe() || self.may_act(request) {
            return Ok(());
        }
        Err(Problem::cross_origin(origin(request), "send changes"))
    }

    /// Refuses a stream that a page of another origin opens. The browser shows it nothing of the stream, but the user
    /// would be online by it, and each one takes a place of the user's.
    pub(super) fn check_stream(&self, request: &HttpRequest) -> Result<(), Problem> {
        if self.may_act(request) { Ok(()) } else { Err(Problem::cross_origin(origin(request), "open streams")) }
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

/// The hosts that a request names: that of its target, where this is a whole address, and that of its header. There
/// is none in a request of HTTP/1.0 that no browser has sent.
fn hosts(request: &HttpRequest) -> impl Iterator<Item = Option<&str>> {
    let target = request.uri().authority().map(|authority| Some(authority.as_str()));
    target.into_iter().chain(values(request, HOST))
}

/// Which origin a page says that it has.
fn origin(request: &HttpRequest) -> Option<&str> {
    values(request, ORIGIN).next().flatten()
}

/// The values of a header; `None` for one that is no text.
fn values(request: &HttpRequest, name: impl AsHeaderName) -> impl Iterator<Item = Option<&str>> {
    request.headers().get_all(name).map(|value| value.to_str().ok())
}

/// Whether a page of this origin was served by the host and port that a request is sent to. The scheme does not
/// count: in front of a server of plain HTTP there may be a proxy for HTTPS.
fn is_served_at(origin: &str, request: &HttpRequest) -> bool {
    let Some(origin) = PageOrigin::read(origin) else { return false };
    let port = |authority: Authority<'_>| authority.port.or(origin.default_port());
    let is_here = |named: Authority<'_>| named.host == origin.authority.host && port(named) == port(origin.authority);
    let mut hosts = hosts(request).peekable();
    hosts.peek().is_some() && hosts.all(|host| host.and_then(Authority::read).is_some_and(is_here))
}
