//! Request bodies: read up to a limit, and parsed strictly.

use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::pin::pin;
use std::time::Duration;

use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use actix_web::{HttpMessage, HttpRequest};
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use utoipa::ToSchema;

use super::problem::Problem;
use crate::connections::answer_memory::MemoryReservation;
use crate::connections::attend::Upload;
use crate::connections::turns;
use crate::limits::{Places, Quota};
use model::Time;
use model::error::Code;
use model::schemas;

/// A client that has a turn for a large body, and has not sent the body within this time, loses the turn. It may go on,
/// but delays no others.
const SOON: Duration = Duration::from_secs(2);

/// A body as received, with its reserved memory.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) bytes: Vec<u8>,
    memory: Places,
    /// Bytes that `memory` covers.
    counted: usize,
    /// The gate that `memory` is from.
    quota: Quota,
    /// The turn of a large body, until the body is processed.
    pub(crate) turn: Option<Places>,
}

impl Body {
    /// Reads a body of at most `limit` bytes. It ends after `announced` bytes if the client announces its length, because
    /// the HTTP server finds no end if the client also offers another protocol. Memory is reserved as bytes arrive, so a
    /// client that only announces many bytes, or sends them slowly, takes no memory from others.
    pub(crate) async fn read(
        upload: Upload,
        limit: usize,
        announced: Option<usize>,
        memory: &Quota,
        turn: Option<Places>,
    ) -> Result<Self, Problem> {
        // A large buffer is not moved while it grows: that would cost its thread much time, and leave holes in the
        // heap. The system provides pages only for written bytes, and turns bound the rest.
        let bytes = Vec::with_capacity(if turn.is_some() { announced.unwrap_or(limit).min(limit) } else { 0 });
        let mut body = Self { bytes, memory: memory.take(0)?, counted: 0, quota: memory.clone(), turn };
        let mut late = pin!(tokio::time::sleep(SOON));
        let mut since_others = 0;
        while announced.is_none_or(|announced| body.bytes.len() < announced) {
            let next = poll_fn(|context| {
                if body.turn.is_some() && late.as_mut().poll(context).is_ready() {
                    body.turn = None;
                }
                upload.poll_next(context)
            });
            let Some(part) = next.await else { break };
            let mut part = part.map_err(|e| Problem::invalid_body(format_args!("the body cannot be read: {e}")))?;
            part.truncate(announced.map_or(usize::MAX, |announced| announced - body.bytes.len()));
            let length = body.bytes.len() + part.len();
            if length > limit {
                return Err(Problem::body_too_large("the body", limit));
            }
            if length > body.counted {
                // Doubled, so that a body of many parts is copied less often.
                let room = length.max((2 * body.counted).min(limit));
                body.memory.merge(memory.take(room - body.counted)?);
                body.counted = room;
                body.bytes.reserve_exact(room.saturating_sub(body.bytes.len()));
            }
            body.bytes.extend_from_slice(&part);
            since_others += part.len();
            if since_others >= turns::BYTES {
                since_others = 0;
                // It ends otherwise only with the thread.
                let _ = turns::next().await;
            }
        }
        Ok(body)
    }

    /// Drops the body, and keeps its memory for the answer to a request with this timeout.
    pub(crate) fn into_room(self, patience: Duration) -> MemoryReservation {
        MemoryReservation::of(&self.quota, self.memory, self.counted, patience)
    }

    /// The body as text.
    pub(crate) fn text(&self) -> Result<&str, Problem> {
        std::str::from_utf8(&self.bytes).map_err(|e| Problem::invalid_body(format_args!("the body is not UTF-8: {e}")))
    }

    /// The body as a JSON object of type `T`.
    pub(crate) fn json<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Problem> {
        if self.bytes.is_empty() {
            return Err(Problem::invalid_body("this call needs a JSON object as its body"));
        }
        object(self.text()?)
    }
}

/// Refuses a body that is announced as another type than plain JSON. A body without a type is read as JSON, and so are
/// the types that common clients set by default: a form by `curl -d`, text by `fetch`.
pub(crate) fn check_type(request: &HttpRequest) -> Result<(), Problem> {
    let shown = |name| request.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    if let Some(encoding) = shown(CONTENT_ENCODING).filter(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
        let detail = format_args!("content-encoding: expected a body without compression, not \"{encoding}\"");
        return Err(Problem::new(Code::UnsupportedMediaType, detail));
    }
    let Some(named) = shown(CONTENT_TYPE) else { return Ok(()) };
    let json = request.mime_type().ok().flatten().is_some_and(|mime| {
        let is_json = mime.type_() == "application"
            && (mime.subtype() == "json" || mime.suffix().is_some_and(|suffix| suffix == "json"));
        let is_unasked = ["application/x-www-form-urlencoded", "text/plain"].contains(&mime.essence_str());
        (is_json || is_unasked)
            && mime.get_param("charset").is_none_or(|set| set.as_str().eq_ignore_ascii_case("utf-8"))
    });
    let detail = || format!("content-type: expected application/json, in UTF-8, not \"{named}\"");
    if json { Ok(()) } else { Err(Problem::new(Code::UnsupportedMediaType, detail())) }
}

/// Parses a JSON object. Refuses an array with the fields in order, which serde would accept.
pub(crate) fn object<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Problem> {
    if !text.trim_start_matches([' ', '\t', '\r', '\n']).starts_with('{') {
        return Err(Problem::invalid_body("expected a JSON object"));
    }
    serde_json::from_str(text).map_err(|error| fault::<T>(text, &error))
}

/// The problem of a text that is no `T`, with the field at fault. The text is parsed again for the field, only after an
/// error.
fn fault<'a, T: Deserialize<'a>>(text: &'a str, error: &serde_json::Error) -> Problem {
    if !error.is_data() {
        return Problem::invalid_body(error);
    }
    // The field says where; the column of an item in a batch would be that within the item.
    let reason = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let detail = reason.strip_suffix(&place).unwrap_or(&reason);
    let detail = detail.replace("expected a map", "expected an object").replace("there are no fields", "expected none");
    let problem = Problem::invalid_body(detail);
    let is_named = |path: &str| reason.starts_with(&format!("{path}: ")) || reason.contains(&format!("field `{path}`"));
    let mut reader = serde_json::Deserializer::from_str(text);
    match serde_path_to_error::deserialize::<_, T>(&mut reader) {
        Err(same) if same.inner().to_string() == reason => {
            let path = same.path().to_string();
            if path == "." || is_named(&path) { problem } else { problem.at(path) }
        }
        _ => problem,
    }
}

/// An empty object: the path says everything.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

// A body with an optional time.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewSince)]
pub(crate) struct Since {
    #[serde(default)]
    #[schema(schema_with = schemas::given_time)]
    pub(crate) since: Option<Time>,
}

/// A JSON array of at most `MAX` elements. The first element beyond is refused, and no more are kept.
#[derive(Debug)]
pub(crate) struct UpTo<T, const MAX: usize>(pub(crate) Vec<T>);

impl<T, const MAX: usize> Default for UpTo<T, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for UpTo<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements<T, const MAX: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for Elements<T, MAX> {
            type Value = UpTo<T, MAX>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "an array of at most {MAX} elements")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = seq.next_element()? {
                    if elements.len() == MAX {
                        return Err(de::Error::custom(format_args!("expected at most {MAX} elements")));
                    }
                    elements.push(element);
                }
                Ok(UpTo(elements))
            }
        }
        deserializer.deserialize_seq(Elements(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Pair {
        a: u8,
        b: UpTo<u8, 2>,
    }

    #[actix_web::test]
    async fn while_a_large_body_comes_others_have_their_turns() {
        let quota = Quota::new(1 << 20, 1024);
        for (bytes, turns) in [(turns::BYTES - 1, 1), (turns::BYTES, 2)] {
            let (_, payload) = TestRequest::default().set_payload(vec![b' '; bytes]).to_http_parts();
            let mut reading = pin!(Body::read(Upload::new(payload, None), 1 << 20, None, &quota, None));
            let mut polls = 0;
            let body = poll_fn(|context| {
                polls += 1;
                reading.as_mut().poll(context)
            });
            assert_eq!(body.await.expect("is read").bytes.len(), bytes);
            assert_eq!(polls > 1, turns > 1, "{bytes} bytes, {polls} polls");
        }
    }

    #[test]
    fn only_an_object_is_an_object() {
        let pair: Pair = object(" \n{\"a\":1,\"b\":[2,3]}").expect("parses");
        assert_eq!((pair.a, pair.b.0), (1, vec![2, 3]));
        for bad in [
            "",
            " ",
            "null",
            "[1,[]]",
            "{\"a\":1}",
            "{\"a\":1,\"b\":[]} 1",
            "{\"a\":1,\"b\":[1,2,3]}",
            "{\"a\":1,\"b\":[],\"c\":1}",
            "{\"a\":1,\"a\":1,\"b\":[]}",
            "{\"a\":256,\"b\":[]}",
            "\u{feff}{\"a\":1,\"b\":[]}",
        ] {
            assert!(object::<Pair>(bad).is_err(), "{bad}");
        }
    }
}
