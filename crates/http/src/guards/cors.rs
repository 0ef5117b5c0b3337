//! Permission for pages of other origins to read answers (CORS): those in `server.allowed_origins`. Pages act with a
//! token of their own, never with the credentials that a browser adds by itself.

use actix_web::http::Method;
use actix_web::http::StatusCode;
use actix_web::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HeaderValue, ORIGIN, VARY,
};
use actix_web::{HttpRequest, HttpResponse};

use super::web_pages::Access;

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
/// Headers of requests that a page may send, besides those that CORS always allows.
const HEADERS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, If-None-Match, Last-Event-ID, Tideline-Position, Traceparent, Tracestate, X-Request-Id",
);
/// Headers of answers that a page may read, besides those that CORS always allows.
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "ETag, Link, Location, Retry-After, Tideline-Position, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id",
);
/// How long a browser may remember the permission, seconds: the longest that common browsers take.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

impl Access {
    /// The answer to the question of a browser before it sends a request of a page; `None` if the request is no such
    /// question, or the origin has no permission.
    pub(crate) fn preflight(&self, request: &HttpRequest) -> Option<HttpResponse> {
        let asks = request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        self.permitted(request).filter(|_| asks)?;
        let mut response = HttpResponse::build(StatusCode::NO_CONTENT);
        response.insert_header((ACCESS_CONTROL_ALLOW_METHODS, METHODS));
        response.insert_header((ACCESS_CONTROL_ALLOW_HEADERS, HEADERS));
        response.insert_header((ACCESS_CONTROL_MAX_AGE, MAX_AGE));
        for name in [ACCESS_CONTROL_REQUEST_METHOD, ACCESS_CONTROL_REQUEST_HEADERS] {
            response.append_header((VARY, HeaderValue::from(name)));
        }
        Some(response.finish())
    }

    /// Lets the page that sent a request read its answer, if its origin has permission. `Vary` keeps a cache from giving
    /// the answer to a page of another origin.
    pub(crate) fn permit(&self, request: &HttpRequest, response: &mut HttpResponse) {
        if self.origins.is_empty() {
            return;
        }
        let headers = response.headers_mut();
        headers.append(VARY, HeaderValue::from(ORIGIN));
        if let Some(origin) = self.permitted(request) {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        }
    }

    /// The origin of a request, if there is one and it has permission.
    fn permitted<'a>(&self, request: &'a HttpRequest) -> Option<&'a HeaderValue> {
        let mut origins = request.headers().get_all(ORIGIN);
        let origin = origins.next().filter(|_| origins.next().is_none())?;
        let text = origin.to_str().ok()?;
        self.origins.iter().any(|allowed| allowed.is(text)).then_some(origin)
    }
}
