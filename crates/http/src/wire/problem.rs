//! Turns errors into problem documents (RFC 9457), for all answers.

use std::fmt::{self, Display};
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use utoipa::ToSchema;

use super::request_id::RequestId;
use model::error::{Code, Error};

/// Most characters of a detail, which may quote the request.
const MAX_DETAIL: usize = 400;

/// The reason why a request fails.
#[derive(Debug)]
pub(crate) struct Problem {
    code: Code,
    detail: String,
    /// The cause, for the log only.
    cause: Option<String>,
    /// The methods of the resource, if the request used another.
    allow: Option<String>,
    /// Seconds to wait before the next attempt, if another may succeed.
    retry_after: u64,
}

/// A problem document (RFC 9457). `code` is for programs, `detail` for people.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct Document<'a> {
    r#type: String,
    title: String,
    status: u16,
    detail: &'a str,
    code: &'a str,
}

impl<'a> Document<'a> {
    pub(crate) fn new(code: Code, detail: &'a str) -> Self {
        let r#type = format!("urn:tideline:problem:{code}");
        Self { r#type, title: code.title(), status: code.status(), detail, code: code.name() }
    }
}

impl From<Code> for Problem {
    /// With the detail of the code itself.
    fn from(code: Code) -> Self {
        Self::new(code, code.detail())
    }
}

impl fmt::Display for Problem {
    /// For the log: with the cause, if there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.cause.as_ref().unwrap_or(&self.detail))
    }
}

impl Problem {
    pub(crate) fn code(&self) -> Code {
        self.code
    }

    /// The reason for people.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    pub(crate) fn new(code: Code, detail: impl Display) -> Self {
        Self { code, detail: detail.to_string(), cause: None, allow: None, retry_after: 1 }
    }

    /// A fault of the server. The cause goes to the log, not to the caller.
    pub(crate) fn internal(cause: impl Display) -> Self {
        Self { cause: Some(cause.to_string()), ..Code::Internal.into() }
    }

    /// A body that the call does not accept.
    pub(crate) fn invalid_body(detail: impl Display) -> Self {
        Self::new(Code::InvalidBody, detail)
    }

    /// A query that the call does not accept.
    pub(crate) fn invalid_parameter(detail: impl Display) -> Self {
        Self::new(Code::InvalidParameter, detail)
    }

    /// More bytes than `limit`; `what` names the object.
    pub(crate) fn body_too_large(what: impl Display, limit: usize) -> Self {
        Self::new(Code::BodyTooLarge, format_args!("{what} is larger than its limit of {limit} bytes"))
    }

    /// No such path; `meant` is a similar path that exists.
    pub(crate) fn route_not_found(meant: Option<&str>) -> Self {
        let meant = meant.map(|path| format!(". Without the slash at its end it exists: \"{path}\""));
        Self::new(Code::RouteNotFound, format_args!("{}{}", Code::RouteNotFound.detail(), meant.unwrap_or_default()))
    }

    /// The request names a foreign host.
    pub(crate) fn misdirected_request(host: &str) -> Self {
        let detail = format_args!(
            "\"{host}\" is not a name of this server. If clients should use this name, add it to server.allowed_hosts"
        );
        Self::new(Code::MisdirectedRequest, detail)
    }

    /// The action `what` of a page of another origin, which is named if the browser sent it.
    pub(crate) fn cross_origin(origin: Option<&str>, what: &str) -> Self {
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
        Self::new(Code::CrossOrigin, detail)
    }

    /// The path exists, for other methods.
    pub(crate) fn method_not_allowed(allow: &str) -> Self {
        let detail = format_args!("this path allows only {allow}");
        Self { allow: Some(allow.to_owned()), ..Self::new(Code::MethodNotAllowed, detail) }
    }

    /// Too many requests for a limit of `rate` a second; the next one is admitted after `wait`.
    pub(crate) fn rate_limited(setting: &str, rate: u32, wait: Duration) -> Self {
        let detail =
            format_args!("these are more than {rate} requests a second ({setting}). Wait as long as Retry-After says");
        let retry_after = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        Self { retry_after: retry_after.max(1), ..Self::new(Code::RateLimited, detail) }
    }

    /// This problem, with the place in the request before the detail.
    pub(crate) fn at(mut self, place: impl Display) -> Self {
        self.detail = format!("{place}: {}", self.detail);
        self
    }

    /// The answer to the request with this id. A fault of the server is logged here, once.
    pub(crate) fn respond(&self, request: &HttpRequest, id: &RequestId) -> HttpResponse {
        if let Some(cause) = &self.cause {
            let request_id = id.as_str();
            tracing::error!(request_id, method = %request.method(), path = request.path(), %cause, "a request failed");
        }
        let detail = match self.detail.char_indices().nth(MAX_DETAIL) {
            Some((end, _)) => &self.detail[..end],
            None => &self.detail,
        };
        let status = StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = HttpResponse::build(status);
        if let Some(allow) = &self.allow {
            response.insert_header((ALLOW, allow.as_str()));
        }
        if self.code == Code::NoCredentials {
            response.insert_header((WWW_AUTHENTICATE, "Bearer"));
        }
        if self.code.is_passing() {
            response.insert_header((RETRY_AFTER, self.retry_after));
        }
        let body = serde_json::to_vec(&Document::new(self.code, detail)).unwrap_or_default();
        response.content_type("application/problem+json").body(body)
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused { code, detail } => Self::new(code, detail),
            Error::NotCached | Error::Corrupt(_) | Error::Storage(_) | Error::Panicked(_) | Error::Setup(_) => {
                Self::internal(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use actix_web::body::to_bytes;
    use actix_web::test::TestRequest;
    use parking_lot::Mutex;
    use serde_json::Value;

    use super::*;

    async fn document(problem: impl Into<Problem>) -> (u16, Option<String>, Value) {
        let request = TestRequest::default().to_http_request();
        let response = problem.into().respond(&request, &RequestId::begin(&request));
        let retry = response.headers().get(RETRY_AFTER).map(|value| value.to_str().expect("text").to_owned());
        let status = response.status().as_u16();
        let bytes = to_bytes(response.into_body()).await.expect("body");
        (status, retry, serde_json::from_slice(&bytes).expect("JSON"))
    }

    #[actix_web::test]
    async fn each_error_has_its_status() {
        for code in Code::ALL.iter().copied() {
            let (found, retry, document) = document(Error::refused(code, "why")).await;
            assert_eq!((found, retry.as_deref()), (code.status(), [429, 503].contains(&found).then_some("1")));
            let expected = serde_json::json!({"type": format!("urn:tideline:problem:{code}"), "title": code.title(),
                "status": found, "detail": "why", "code": code.name()});
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
    async fn a_fault_is_logged_with_the_id_of_its_request() {
        #[derive(Clone, Default)]
        struct Lines(Arc<Mutex<Vec<u8>>>);
        impl io::Write for Lines {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.lock().extend_from_slice(bytes);
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let lines = Lines::default();
        let writer = lines.clone();
        let log = tracing_subscriber::fmt().json().with_writer(move || writer.clone()).finish();
        let request = TestRequest::default().insert_header(("x-request-id", "abc")).to_http_request();
        let id = RequestId::begin(&request);
        tracing::subscriber::with_default(log, || Problem::internal("the cause").respond(&request, &id));
        let line: Value = serde_json::from_slice(&lines.0.lock()).expect("one line");
        assert_eq!((&line["fields"]["request_id"], &line["fields"]["cause"]), (&"abc".into(), &"the cause".into()));
    }

    #[actix_web::test]
    async fn a_long_detail_is_cut_at_a_character() {
        let (_, _, document) = document(Problem::invalid_body("é".repeat(10_000)).at("items[1]")).await;
        let detail = document["detail"].as_str().expect("text");
        assert!(detail.starts_with("items[1]: é"));
        assert_eq!(detail.chars().count(), MAX_DETAIL);
    }
}
