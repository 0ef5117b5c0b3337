//! The id of a request: in the answer, and in each line of the log about the request.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};

pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The context of a trace (W3C Trace Context): version, trace, span, flags.
pub(crate) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Longest id that a client may give, bytes.
const LONGEST: usize = 128;

/// The start of each id made here. Differs between two runs of the server.
static RUN: LazyLock<u64> = LazyLock::new(|| fastrand::Rng::new().u64(..));
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The id of a request: the trace of its `traceparent`, else its `X-Request-Id`, else one of the server.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(HeaderValue);

impl RequestId {
    /// Reads or makes the id of a new request.
    pub(crate) fn begin(request: &HttpRequest) -> Self {
        let headers = request.headers();
        Self(traced(headers).or_else(|| given(headers)).unwrap_or_else(made))
    }

    /// The id as text.
    pub(crate) fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    /// Tells the client.
    pub(crate) fn show(self, response: &mut HttpResponse) {
        response.headers_mut().insert(X_REQUEST_ID, self.0);
    }
}

/// The only value of a header.
fn single(headers: &HeaderMap, name: HeaderName) -> Option<&HeaderValue> {
    let mut values = headers.get_all(name);
    values.next().filter(|_| values.next().is_none())
}

/// The trace of a `traceparent`.
fn traced(headers: &HeaderMap) -> Option<HeaderValue> {
    HeaderValue::from_str(trace(single(headers, TRACEPARENT)?.to_str().ok()?)?).ok()
}

/// The id of the trace in a `traceparent`, if all of it is well-formed. Versions after 00 may append more.
fn trace(value: &str) -> Option<&str> {
    let mut parts = value.splitn(5, '-');
    let [version, trace, span, flags] = [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
    let is_hex = |part: &str, len| part.len() == len && part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let is_id = |part: &str, len| is_hex(part, len) && part.bytes().any(|b| b != b'0');
    let is_known = is_hex(version, 2) && version != "ff" && (version != "00" || parts.next().is_none());
    (is_known && is_id(trace, 32) && is_id(span, 16) && is_hex(flags, 2)).then_some(trace)
}

/// An `X-Request-Id` of visible ASCII characters.
fn given(headers: &HeaderMap) -> Option<HeaderValue> {
    let value = single(headers, X_REQUEST_ID)?;
    let bytes = value.as_bytes();
    let good = (1..=LONGEST).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic);
    good.then(|| value.clone())
}

/// A new id: this run, and a number.
fn made() -> HeaderValue {
    let id = format!("{:016x}-{:x}", *RUN, NEXT.fetch_add(1, Ordering::Relaxed));
    HeaderValue::try_from(id).unwrap_or_else(|_| HeaderValue::from_static("-"))
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    /// The place of the trace's id in the next.
    const TRACE: std::ops::Range<usize> = 3..35;
    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn id(headers: &[(&str, &str)]) -> String {
        let request = headers.iter().fold(TestRequest::default(), |request, header| request.append_header(*header));
        let request = request.to_http_request();
        RequestId::begin(&request).as_str().to_owned()
    }

    #[test]
    fn an_id_that_is_not_well_formed_is_replaced() {
        let long = "a".repeat(LONGEST + 1);
        for bad in ["", "a b", "a\tb", "é", &long] {
            let id = id(&[("x-request-id", bad)]);
            assert!(id.len() >= 18 && id != bad, "{bad:?}: {id:?}");
        }
        let two = id(&[("x-request-id", "a"), ("x-request-id", "b")]);
        assert!(two.len() >= 18, "{two}");
        assert_ne!(id(&[]), id(&[]));
    }

    #[test]
    fn a_traceparent_is_read_strictly() {
        let with = |from: &str, to: &str| PARENT.replacen(from, to, 1);
        for good in [PARENT.to_owned(), with("00-", "01-"), with("00-", "cc-") + "-more"] {
            assert_eq!(trace(&good), Some(&PARENT[TRACE]), "{good}");
        }
        for bad in [
            String::new(),
            PARENT[..54].to_owned(),
            format!("{PARENT}-more"),
            format!("{PARENT}0"),
            with("00-", "cc-") + "0",
            with("00-", "ff-"),
            with("0a", "0A"),
            with("0a", "0g"),
            with("-b7", "_b7"),
            with("-b7", "-b-"),
            with(&PARENT[TRACE], &"0".repeat(32)),
            with("b7ad6b7169203331", "0000000000000000"),
        ] {
            assert_eq!(trace(&bad), None, "{bad}");
        }
    }
}
