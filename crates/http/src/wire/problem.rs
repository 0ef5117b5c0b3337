//! Turns errors into problem documents (RFC 9457), for all answers.

use std::fmt::Display;

use actix_web::http::StatusCode;
use actix_web::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use utoipa::ToSchema;

use super::request_id::RequestId;
use model::error::{Code, Error};

/// Most characters of a detail, which may quote the request.
const MAX_DETAIL: usize = 400;

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

/// A body that the call does not accept.
pub(crate) fn invalid_body(detail: impl Display) -> Error {
    Error::refused(Code::InvalidBody, detail)
}

/// A query that the call does not accept.
pub(crate) fn invalid_parameter(detail: impl Display) -> Error {
    Error::refused(Code::InvalidParameter, detail)
}

/// More bytes than `limit`; `what` names the object.
pub(crate) fn body_too_large(what: impl Display, limit: usize) -> Error {
    Error::refused(Code::BodyTooLarge, format_args!("{what} is larger than its limit of {limit} bytes"))
}

/// No such path; `meant` is a similar path that exists.
pub(crate) fn route_not_found(meant: Option<&str>) -> Error {
    let meant = meant.map(|path| format!(". Without the slash at its end it exists: \"{path}\""));
    Error::refused(Code::RouteNotFound, format_args!("{}{}", Code::RouteNotFound.detail(), meant.unwrap_or_default()))
}

/// The code of an error that a client gets.
pub(crate) fn code(error: &Error) -> Code {
    error.code().unwrap_or(Code::Internal)
}

/// The answer to the request with this id. A fault of the server is logged here, once; the client learns nothing of it.
pub(crate) fn respond(error: &Error, request: &HttpRequest, id: &RequestId) -> HttpResponse {
    let code = code(error);
    let detail = match error {
        Error::Refused { detail, .. } => detail.as_str(),
        cause => {
            let request_id = id.as_str();
            tracing::error!(request_id, method = %request.method(), path = request.path(), %cause, "a request failed");
            code.detail()
        }
    };
    let detail = detail.char_indices().nth(MAX_DETAIL).map_or(detail, |(end, _)| &detail[..end]);
    let status = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = HttpResponse::build(status);
    if code == Code::NoCredentials {
        response.insert_header((WWW_AUTHENTICATE, "Bearer"));
    }
    if code.is_passing() {
        response.insert_header((RETRY_AFTER, 1));
    }
    let body = serde_json::to_vec(&Document::new(code, detail)).unwrap_or_default();
    response.content_type("application/problem+json").body(body)
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

    async fn document(error: Error) -> (u16, Option<String>, Value) {
        let request = TestRequest::default().to_http_request();
        let response = respond(&error, &request, &RequestId::begin(&request));
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
        tracing::subscriber::with_default(log, || respond(&Error::internal("the cause"), &request, &id));
        let line: Value = serde_json::from_slice(&lines.0.lock()).expect("one line");
        assert_eq!((&line["fields"]["request_id"], &line["fields"]["cause"]), (&"abc".into(), &"the cause".into()));
    }

    #[actix_web::test]
    async fn a_long_detail_is_cut_at_a_character() {
        let (_, _, document) = document(invalid_body("é".repeat(10_000)).at("items[1]")).await;
        let detail = document["detail"].as_str().expect("text");
        assert!(detail.starts_with("items[1]: é"));
        assert_eq!(detail.chars().count(), MAX_DETAIL);
    }
}
