//! Errors as problem documents (RFC 9457): the one place that knows which error has which status.

use std::fmt::Display;

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, RETRY_AFTER};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::Error;

/// A detail may quote what was sent; not at any length.
const MAX_DETAIL: usize = 400;

/// Why a request gets no good answer.
#[derive(Debug)]
pub(super) struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: String,
    /// What only the log may say.
    cause: Option<String>,
    /// The methods of a resource that was asked for another one.
    allow: Option<String>,
}

/// A problem document (RFC 9457). `code` is for programs, `detail` for people.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(super) struct Document<'a> {
    r#type: String,
    title: String,
    status: u16,
    detail: &'a str,
    code: &'a str,
}

impl<'a> Document<'a> {
    pub(super) fn new(status: u16, code: &'a str, detail: &'a str) -> Self {
        Self { r#type: format!("urn:tideline:problem:{code}"), title: title(code), status, detail, code }
    }
}

impl Problem {
    fn new(status: StatusCode, code: &'static str, detail: impl Display) -> Self {
        Self { status, code, detail: detail.to_string(), cause: None, allow: None }
    }

    /// The server's own fault. The caller learns nothing of the cause; the log gets it.
    pub(super) fn internal(cause: impl Display) -> Self {
        let detail = "the server failed on this request; its log has the cause";
        Self { cause: Some(cause.to_string()), ..Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail) }
    }

    /// A body that is not what the call takes.
    pub(super) fn invalid_body(detail: impl Display) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_body", detail)
    }

    /// A query that is not what the call takes.
    pub(super) fn invalid_parameter(detail: impl Display) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_parameter", detail)
    }

    /// A header that is not what the call takes.
    pub(super) fn invalid_header(detail: impl Display) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_header", detail)
    }

    /// A path segment that should be an id.
    pub(super) fn invalid_id(detail: impl Display) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_id", detail)
    }

    /// A path segment that should be a kind of reaction.
    pub(super) fn invalid_kind(text: &str) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "invalid_kind",
            format_args!("kind: expected \"like\" or \"favorite\", not \"{text}\""),
        )
    }

    /// A path segment that should be a topic.
    pub(super) fn invalid_topic(detail: impl Display) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_topic", detail)
    }

    /// More bytes than `limit`; `what` says of what.
    pub(super) fn body_too_large(what: impl Display, limit: usize) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "body_too_large",
            format_args!("{what} may have at most {limit} bytes"),
        )
    }

    /// No such path, unless this one is meant.
    pub(super) fn route_not_found(meant: Option<&str>) -> Self {
        let meant = meant.map(|path| format!("; without the slash at its end, \"{path}\", there is"));
        let detail = format_args!("there is nothing at this path{}", meant.unwrap_or_default());
        Self::new(StatusCode::NOT_FOUND, "route_not_found", detail)
    }

    /// A path that is no text, whatever it might lead to.
    pub(super) fn invalid_path() -> Self {
        let detail = "the path has a % without two hexadecimal digits, or is not UTF-8";
        Self::new(StatusCode::BAD_REQUEST, "invalid_path", detail)
    }

    /// The request is for a host that is none of this server's.
    pub(super) fn misdirected_request(host: &str) -> Self {
        let detail = format_args!(
            "\"{host}\" is not a name of this server. If clients should use this name, add it to server.allowed_hosts"
        );
        Self::new(StatusCode::MISDIRECTED_REQUEST, "misdirected_request", detail)
    }

    /// What a page of another origin may not do, and of which one if the browser says so.
    pub(super) fn cross_origin(origin: Option<&str>, what: &str) -> Self {
        let detail = match origin {
            Some("null") => {
                format!("pages without an origin may not {what}; serve the page under an http or https address")
            }
            Some(origin) => format!(
                "pages of the origin \"{origin}\" may not {what}. To allow this origin, add it to server.allowed_origins"
            ),
            None => format!("pages of other origins may not {what}"),
        };
        Self::new(StatusCode::FORBIDDEN, "cross_origin", detail)
    }

    /// The path is there, for other methods.
    pub(super) fn method_not_allowed(allow: &str) -> Self {
        let detail = format_args!("this path takes {allow}");
        Self {
            allow: Some(allow.to_owned()),
            ..Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail)
        }
    }

    /// The request took longer than the settings allow. A change may have been made all the same.
    pub(super) fn timeout() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "timeout", "the request took too long")
    }

    /// The body did not come within the time that the settings give a request. Nothing was changed.
    pub(super) fn body_timeout() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", "the body of the request took too long to arrive")
    }

    /// A body that is announced as what this server does not read.
    pub(super) fn unsupported_media_type(detail: impl Display) -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail)
    }

    /// As many requests as the settings allow wait for the disk already.
    pub(super) fn overloaded() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", "too many requests at once")
    }

    /// The server is on its way down.
    pub(super) fn stopping() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", "the server is stopping")
    }

    /// The storage takes no more changes before the server is started again.
    pub(super) fn needs_restart() -> Self {
        let detail = "the storage engine has stopped taking changes for good; the server has to be restarted";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "storage_stopped", detail)
    }

    /// The same problem with its place in the request put before the detail.
    pub(super) fn at(mut self, place: impl Display) -> Self {
        self.detail = format!("{place}: {}", self.detail);
        self
    }

    /// The answer to `request`. A problem of the server's own making is logged here, once.
    pub(super) fn respond(&self, request: &HttpRequest) -> HttpResponse {
        if let Some(cause) = &self.cause {
            tracing::error!(method = %request.method(), path = request.path(), %cause, "request failed");
        }
        let detail = match self.detail.char_indices().nth(MAX_DETAIL) {
            Some((end, _)) => &self.detail[..end],
            None => &self.detail,
        };
        let document = Document::new(self.status.as_u16(), self.code, detail);
        let mut response = HttpResponse::build(self.status);
        if let Some(allow) = &self.allow {
            response.insert_header((ALLOW, allow.as_str()));
        }
        if [StatusCode::SERVICE_UNAVAILABLE, StatusCode::TOO_MANY_REQUESTS].contains(&self.status) {
            response.insert_header((RETRY_AFTER, "1"));
        }
        let body = serde_json::to_vec(&document).unwrap_or_default();
        response.content_type("application/problem+json").body(body)
    }
}

/// `content_exists` as people read it: `Content exists`.
fn title(code: &str) -> String {
    let mut title = code.replace('_', " ");
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    title
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Invalid { code, detail } => Self::new(StatusCode::BAD_REQUEST, code, detail),
            Error::Refused { code, detail } => Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail),
            Error::NotFound { code, detail } => Self::new(StatusCode::NOT_FOUND, code, detail),
            Error::Conflict { code, detail } => Self::new(StatusCode::CONFLICT, code, detail),
            Error::TooMany { code, detail } => Self::new(StatusCode::TOO_MANY_REQUESTS, code, detail),
            Error::Unavailable { code, detail } => Self::new(StatusCode::SERVICE_UNAVAILABLE, code, detail),
            Error::NotCached | Error::Corrupt(_) | Error::Storage(_) | Error::Panicked(_) | Error::Setup(_) => {
                Self::internal(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use actix_web::body::to_bytes;
    use actix_web::test::TestRequest;
    use serde_json::Value;

    use super::*;

    async fn document(problem: impl Into<Problem>) -> (u16, Option<String>, Value) {
        let response = problem.into().respond(&TestRequest::default().to_http_request());
        let retry = response.headers().get(RETRY_AFTER).map(|value| value.to_str().expect("text").to_owned());
        let status = response.status().as_u16();
        let bytes = to_bytes(response.into_body()).await.expect("body");
        (status, retry, serde_json::from_slice(&bytes).expect("JSON"))
    }

    #[actix_web::test]
    async fn each_error_has_its_status() {
        for (error, status) in [
            (Error::invalid("a_code", "why"), 400),
            (Error::NotFound { code: "a_code", detail: "why".to_owned() }, 404),
            (Error::conflict("a_code", "why"), 409),
            (Error::refused("a_code", "why"), 422),
            (Error::TooMany { code: "a_code", detail: "why".to_owned() }, 429),
            (Error::unavailable("a_code", "why"), 503),
        ] {
            let (found, retry, document) = document(error).await;
            assert_eq!((found, retry.as_deref()), (status, [429, 503].contains(&status).then_some("1")));
            let expected = serde_json::json!({"type": "urn:tideline:problem:a_code", "title": "A code",
                "status": status, "detail": "why", "code": "a_code"});
            assert_eq!(document, expected);
        }
    }

    #[actix_web::test]
    async fn the_servers_own_faults_stay_inside() {
        for error in [
            Error::Corrupt("secret".to_owned()),
            Error::Storage("secret".to_owned()),
            Error::Setup("secret".to_owned()),
            Error::NotCached,
        ] {
            let (status, _, document) = document(error).await;
            assert_eq!((status, &document["code"]), (500, &Value::from("internal")));
            assert!(!document.to_string().contains("secret"), "{document}");
        }
    }

    #[actix_web::test]
    async fn a_long_detail_is_cut_at_a_character() {
        let (_, _, document) = document(Problem::invalid_body("é".repeat(10_000)).at("items[1]")).await;
        let detail = document["detail"].as_str().expect("text");
        assert!(detail.starts_with("items[1]: é"));
        assert_eq!(detail.chars().count(), MAX_DETAIL);
    }
}
