//! How much a read waits for on a node of a cluster, before it reads.
//!
//! A server without a cluster has every acknowledged change, so it waits for nothing. It checks the parameter and the
//! header all the same, so that a client is written once for both.

use actix_web::http::header::HeaderName;
use actix_web::{HttpRequest, HttpResponse};

use crate::wire::problem::invalid_parameter;
use crate::wire::query::{self, CONSISTENCY};
use cluster::{Node, Position};
use config::Consistency;
use model::error::{Code, Error, Result};

/// In a request: the position that the read must have, or several ones separated by commas. In an answer: a position that
/// has the change, or all that the answer shows, and all that the positions of the request have. So a client that sends
/// what its last answer had never goes back, and compares nothing.
pub(crate) const POSITION: HeaderName = HeaderName::from_static("tideline-position");
/// The header of the position, as the documentation writes it.
pub(crate) const POSITION_TITLE: &str = "Tideline-Position";

/// Most positions in a request, and most characters of one. Those of later versions may be longer than today's.
const MOST: usize = 100;
const LONGEST: usize = 100;
/// The form of one or several positions.
pub(crate) const POSITION_PATTERN: &str = "^[0-9A-Za-z._~-]{1,100}(, ?[0-9A-Za-z._~-]{1,100}){0,99}$";

/// The consistency that a read asks for: by its parameter, or else by the setting of the node. A client that names no position
/// has not chosen `session` itself, and gets the stronger `strict`.
pub(crate) fn of(request: &HttpRequest, setting: Consistency) -> Result<Wanted> {
    let position = position(request)?;
    match query::values(request.query_string(), CONSISTENCY).next() {
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
pub(crate) enum Wanted {
    /// All that any node acknowledged before the read.
    All,
    /// All below this position.
    Position(Position),
    /// Those that are there.
    Nothing,
}

/// Adds a position to an answer: that of the node which gave it, together with what the request has.
pub(crate) fn show(node: &Node, request: &HttpRequest, response: &mut HttpResponse) {
    let of_owner = response.headers().get(POSITION).and_then(|value| value.to_str().ok()?.parse().ok());
    let own = of_owner.unwrap_or_else(|| node.shown());
    // One of another log is told no longer.
    let asked = position(request).ok().flatten().filter(|asked| asked.log == own.log);
    if let Ok(value) = asked.map_or(own, |asked| own.and(asked)).to_string().try_into() {
        response.headers_mut().insert(POSITION, value);
    }
}

fn asked(text: &str, position: Option<Position>) -> Result<Wanted> {
    let wrong = |e| invalid_parameter(format_args!("{CONSISTENCY}: {e}, not \"{text}\""));
    match (text.parse().map_err(wrong)?, position) {
        (Consistency::Strict, _) => Ok(Wanted::All),
        (Consistency::Session, Some(position)) => Ok(Wanted::Position(position)),
        (Consistency::Session, None) => {
            Err(wrong_header("consistency=session needs this header, with the value that it had in the last answer"))
        }
        (Consistency::Local, _) => Ok(Wanted::Nothing),
    }
}

/// The position that a request names. One that this version cannot read is of no log.
pub(crate) fn position(request: &HttpRequest) -> Result<Option<Position>> {
    let (mut known, mut count) = (None::<Position>, 0);
    for value in request.headers().get_all(POSITION) {
        let text = value.to_str().unwrap_or_default();
        for text in text.split(',').map(|text| text.trim_matches([' ', '\t'])) {
            count += 1;
            let is_plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._~-".contains(&b));
            if !is_plain || text.is_empty() || text.len() > LONGEST || count > MOST {
                return Err(wrong_header(
                    "expected what this header had in an answer; several values are separated by commas",
                ));
            }
            let read = text.parse().unwrap_or(Position::ELSEWHERE);
            known = Some(known.map_or(read, |known| known.and(read)));
        }
    }
    Ok(known)
}

fn wrong_header(what: &str) -> Error {
    Error::refused(Code::InvalidHeader, format_args!("{POSITION}: {what}"))
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn wanted(uri: &str, positions: &[&str], setting: Consistency) -> Option<Wanted> {
        let request = positions
            .iter()
            .fold(TestRequest::with_uri(uri), |request, position| request.append_header((POSITION, *position)));
        of(&request.to_http_request(), setting).ok()
    }

    const AT: Position = Position { log: 0xA1, place: 7 };

    #[test]
    fn the_parameter_comes_before_the_setting() {
        use Consistency::{Local, Session, Strict};
        let at = &*AT.to_string();
        for setting in [Strict, Session, Local] {
            assert_eq!(wanted("/?consistency=strict", &[at], setting), Some(Wanted::All));
            assert_eq!(wanted("/?limit=1&consistency=session", &[at], setting), Some(Wanted::Position(AT)));
            assert_eq!(wanted("/?consistency=%6cocal", &[], setting), Some(Wanted::Nothing));
        }
        assert_eq!(wanted("/", &[at], Strict), Some(Wanted::All));
        assert_eq!(wanted("/", &[at], Session), Some(Wanted::Position(AT)));
        assert_eq!(wanted("/", &[], Session), Some(Wanted::All), "no position, no promise to weaken");
        assert_eq!(wanted("/", &[at], Local), Some(Wanted::Nothing));
    }

    #[test]
    fn several_positions_are_one_that_has_all() {
        let text = |place| Position { place, ..AT }.to_string();
        let both = Some(Wanted::Position(Position { place: 300, ..AT }));
        let uri = "/?consistency=session";
        for positions in [[text(300), text(7)], [text(7), text(300)]] {
            let [one, other] = &positions;
            assert_eq!(wanted(uri, &[one, other], Consistency::Strict), both);
            for between in [",", ", ", " ,\t"] {
                assert_eq!(wanted(uri, &[&positions.join(between)], Consistency::Strict), both);
            }
        }
        let elsewhere = Some(Wanted::Position(Position::ELSEWHERE));
        let other = Position { log: 5, place: 9 }.to_string();
        for unknown in ["42", "v2~of.a-later_version", &format!("{AT}, {other}"), &format!("{AT},42")] {
            let unknown = unknown.replace('_', "-");
            assert_eq!(wanted(uri, &[&unknown], Consistency::Strict), elsewhere, "{unknown}");
        }
        let many = vec![AT.to_string(); MOST].join(",");
        assert_eq!(wanted(uri, &[&many], Consistency::Strict), Some(Wanted::Position(AT)));
    }

    #[test]
    fn a_wrong_parameter_or_header_is_refused_always() {
        for uri in ["/?consistency=", "/?consistency=Strict", "/?consistency=session"] {
            assert_eq!(wanted(uri, &[], Consistency::Local), None, "{uri}");
        }
        let (long, many) = ("7".repeat(LONGEST + 1), vec!["7"; MOST + 1].join(","));
        for bad in ["", "+1", "7 8", "7,", ",7", "a,,b", "\"7\"", "7;8", &long, &many] {
            for uri in ["/", "/?consistency=local", "/?consistency=session"] {
                assert_eq!(wanted(uri, &[bad], Consistency::Local), None, "{uri} {bad:?}");
            }
        }
        let is_said = |number: usize| POSITION_PATTERN.contains(&format!(",{number}}}"));
        assert!(is_said(LONGEST) && is_said(MOST - 1));
    }
}
