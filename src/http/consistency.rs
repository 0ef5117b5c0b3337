//! How much a read waits for on a node of a cluster, before it reads.
//!
//! A server without a cluster has every acknowledged change, so it waits for nothing. It checks the parameter and the
//! header all the same, so that a client is written once for both.

use actix_web::http::header::HeaderName;
use actix_web::{HttpRequest, HttpResponse};

use super::call::Call;
use super::problem::Problem;
use super::query;
use crate::cluster::Node;
use crate::config::Consistency;
use crate::error::Code;

/// The parameter of every read.
pub(super) const PARAMETER: &str = "consistency";
/// In a request: the position that the read must have. In an answer: a position that has the change, or all that the
/// answer shows.
pub(super) const POSITION: HeaderName = HeaderName::from_static("tideline-position");
/// The same as the documentation writes it.
pub(super) const POSITION_TITLE: &str = "Tideline-Position";

/// Most digits of a position.
const DIGITS: usize = 19;
/// The form of a position.
pub(super) const POSITION_PATTERN: &str = "^[0-9]{1,19}$";

/// Refuses a wrong header, and the parameter if it is given and wrong.
pub(super) fn check(request: &HttpRequest, parameter: Option<&str>) -> Result<(), Problem> {
    let position = position(request)?;
    parameter.map_or(Ok(()), |text| asked(text, position).map(drop))
}

/// The consistency that a read asks for: by its parameter, or else by the setting of the node. A client that names no position
/// has not chosen `session` itself, and gets the stronger `strict`.
pub(super) fn of(request: &HttpRequest, setting: Consistency) -> Result<Wanted, Problem> {
    let position = position(request)?;
    match query::values(request.query_string(), PARAMETER).next() {
        Some(text) => asked(&text, position),
        None => Ok(match (setting, position) {
            (Consistency::Local, _) => Wanted::Nothing,
            (Consistency::Session, Some(position)) => Wanted::Position(position),
            (Consistency::Session | Consistency::Strict, _) => Wanted::All,
        }),
    }
}

/// The changes that a read must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All that any node acknowledged before the read.
    All,
    /// All below this position.
    Position(u64),
    /// Those that are there.
    Nothing,
}

/// Waits until this node has the changes that a read must have.
pub(super) async fn wait(call: &Call) -> Result<(), Problem> {
    let Some(node) = &call.api.node else { return Ok(()) };
    match of(&call.request, call.api.config().cluster.consistency)? {
        Wanted::All => Ok(call.in_time(node.barrier()).await??),
        Wanted::Position(position) => Ok(call.in_time(node.reach(position)).await??),
        Wanted::Nothing => Ok(()),
    }
}

/// Adds the position of the node to an answer, unless the answer is that of another node and has its position.
pub(super) fn show(node: &Node, response: &mut HttpResponse) {
    if !response.headers().contains_key(POSITION) {
        response.headers_mut().insert(POSITION, node.shown().into());
    }
}

fn asked(text: &str, position: Option<u64>) -> Result<Wanted, Problem> {
    let wrong = |e| Problem::invalid_parameter(format_args!("{PARAMETER}: {e}, not \"{text}\""));
    match (text.parse().map_err(wrong)?, position) {
        (Consistency::Strict, _) => Ok(Wanted::All),
        (Consistency::Session, Some(position)) => Ok(Wanted::Position(position)),
        (Consistency::Session, None) => Err(wrong_header(
            "consistency=session needs this header, with the value that it had in the answer to the last change",
        )),
        (Consistency::Local, _) => Ok(Wanted::Nothing),
    }
}

/// The position that a request names.
pub(super) fn position(request: &HttpRequest) -> Result<Option<u64>, Problem> {
    let mut values = request.headers().get_all(POSITION);
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(wrong_header("given twice"));
    }
    let is_plain = |text: &&str| text.len() <= DIGITS && text.bytes().all(|b| b.is_ascii_digit());
    let text = value.to_str().ok().filter(is_plain);
    let number = text.and_then(|text| text.parse().ok());
    number.map(Some).ok_or_else(|| wrong_header("expected a whole number, as in the answer to a change"))
}

fn wrong_header(what: &str) -> Problem {
    Problem::new(Code::InvalidHeader, format_args!("{POSITION}: {what}"))
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn wanted(uri: &str, positions: &[&str], setting: Consistency) -> Option<Wanted> {
        let request = positions
            .iter()
            .fold(TestRequest::with_uri(uri), |request, position| request.append_header((POSITION, *position)));
        let request = request.to_http_request();
        let wanted = of(&request, setting).ok();
        let parameter = query::values(request.query_string(), PARAMETER).next();
        assert_eq!(check(&request, parameter.as_deref()).is_ok(), wanted.is_some(), "{uri} {positions:?}");
        wanted
    }

    #[test]
    fn the_parameter_comes_before_the_setting() {
        use Consistency::{Local, Session, Strict};
        for setting in [Strict, Session, Local] {
            assert_eq!(wanted("/?consistency=strict", &["7"], setting), Some(Wanted::All));
            assert_eq!(wanted("/?limit=1&consistency=session", &["7"], setting), Some(Wanted::Position(7)));
            assert_eq!(wanted("/?consistency=%6cocal", &[], setting), Some(Wanted::Nothing));
        }
        assert_eq!(wanted("/", &["7"], Strict), Some(Wanted::All));
        assert_eq!(wanted("/", &["007"], Session), Some(Wanted::Position(7)));
        assert_eq!(wanted("/", &[], Session), Some(Wanted::All), "no position, no promise to weaken");
        assert_eq!(wanted("/", &["7"], Local), Some(Wanted::Nothing));
        let last = "9".repeat(DIGITS);
        assert_eq!(wanted("/", &[&last], Session), Some(Wanted::Position(9_999_999_999_999_999_999)));
        assert!(POSITION_PATTERN.contains(&format!(",{DIGITS}}}")));
    }

    #[test]
    fn a_wrong_parameter_or_header_is_refused_always() {
        for uri in ["/?consistency=", "/?consistency=Strict", "/?consistency=session"] {
            assert_eq!(wanted(uri, &[], Consistency::Local), None, "{uri}");
        }
        for bad in ["", "-1", "+1", "1.0", "0x7", "7 8", "abc", "10000000000000000000"] {
            for uri in ["/", "/?consistency=local", "/?consistency=session"] {
                assert_eq!(wanted(uri, &[bad], Consistency::Local), None, "{uri} {bad:?}");
            }
        }
        assert_eq!(wanted("/", &["7", "7"], Consistency::Local), None);
    }
}
