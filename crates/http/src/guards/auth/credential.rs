//! The credential of a request: a key or a token, in the header `Authorization` or, for a stream, in the query.

use std::borrow::Cow;

use actix_web::HttpRequest;
use actix_web::http::header::AUTHORIZATION;

use super::Refusal;
use crate::wire::query;
use model::error::Code;

/// The name of the parameter with a token (RFC 6750, section 2.3).
pub(crate) const ACCESS_TOKEN: &str = "access_token";
/// Most bytes of a credential.
const LONGEST: usize = 8 << 10;

/// A key or a token that a request has.
pub(super) struct Credential<'a> {
    pub(super) text: Cow<'a, str>,
    /// Whether it is from the query, where only a token may be.
    pub(super) in_query: bool,
}

impl<'a> Credential<'a> {
    /// The one credential of a request. `in_query` allows the query beside the header.
    pub(super) fn of(request: &'a HttpRequest, in_query: bool) -> Result<Self, Refusal> {
        let mut headers = request.headers().get_all(AUTHORIZATION);
        let (header, again) = (headers.next(), headers.next());
        let mut tokens = query::values(request.query_string(), ACCESS_TOKEN).filter(|_| in_query);
        let (token, more) = (tokens.next(), tokens.next());
        let credential = match (header, token) {
            (Some(_), Some(_)) => return Err(Refusal::bad("credentials in the header and in the query")),
            (Some(header), None) => {
                let text = header.to_str().map_err(|_| Refusal::bad("a header that is not ASCII"))?;
                Self { text: bearer(text).ok_or(MISSING)?.into(), in_query: false }
            }
            (None, Some(text)) if !text.is_empty() => Self { text, in_query: true },
            (None, _) => return Err(MISSING),
        };
        if again.is_some() || more.is_some() {
            return Err(Refusal::bad("more than one credential"));
        }
        if credential.text.len() > LONGEST { Err(Refusal::bad("longer than 8 KiB")) } else { Ok(credential) }
    }
}

const MISSING: Refusal = Refusal { code: Code::NoCredentials, reason: "no bearer credentials" };

/// The credential of a header such as `Bearer abc`.
fn bearer(header: &str) -> Option<&str> {
    let (scheme, rest) = header.split_once(' ')?;
    let text = rest.trim_matches(' ');
    (scheme.eq_ignore_ascii_case("bearer") && !text.is_empty()).then_some(text)
}
