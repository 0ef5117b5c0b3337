//! Request bodies: read up to a limit, and parsed strictly.

use std::collections::HashSet;
use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use actix_web::mime::Mime;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use tokio::time::Instant;

use crate::connections::serve::Upload;
use crate::connections::turns;
use crate::limits::Places;
use crate::wire::problem::{body_too_large, invalid_body};
use model::ExternalId;
use model::error::{Code, Error, Result};
use model::priority::Pace;

/// A client that has a turn for a large body, and has not sent the body within this time, loses the turn. It may go on,
/// but delays no others.
const SOON: Duration = Duration::from_secs(2);

/// While others find no memory, a body of which less than this comes within that time is given up.
const LEAST: usize = 1 << 10;

/// Bytes of a body that are together in memory while it comes. A larger buffer would be moved as it grows, or need new pages
/// of the system: both take milliseconds of an event loop.
const PIECE: usize = turns::BYTES;

/// A body as received, with its reserved memory.
#[derive(Debug)]
pub(crate) struct Body {
    /// Each has [`PIECE`] bytes, but for the last one.
    pieces: Vec<Vec<u8>>,
    /// Bytes of all pieces together.
    len: usize,
    memory: Places,
    /// The turn of a large body, until the body is processed.
    pub(crate) turn: Option<Places>,
}

impl Body {
    /// An empty body.
    pub(crate) fn new(memory: Places, turn: Option<Places>) -> Self {
        Self { pieces: Vec::new(), len: 0, memory, turn }
    }

    /// Reads a body of at most `limit` bytes. It ends after `announced` bytes if the client announces its length, because
    /// the HTTP server finds no end if the client also offers another protocol. Memory is reserved as bytes arrive, so a
    /// client that only announces many bytes, or sends them slowly, takes no memory from others.
    pub(crate) async fn read(
        upload: Upload,
        limit: usize,
        announced: Option<usize>,
        memory: Places,
        turn: Option<Places>,
    ) -> Result<Self> {
        let mut body = Self::new(memory, turn);
        let mut late = pin!(tokio::time::sleep(SOON));
        let (mut since_others, mut expected) = (0, LEAST);
        while announced.is_none_or(|announced| body.len < announced) {
            let next = poll_fn(|context| {
                let next = upload.poll_next(context);
                while (next.is_pending() || body.turn.is_some()) && late.as_mut().poll(context).is_ready() {
                    body.turn = None;
                    if body.len < expected && body.memory.are_wanted() {
                        return Poll::Ready(Some(Err(Code::BodyTimeout.into())));
                    }
                    expected = body.len + LEAST;
                    late.as_mut().reset(Instant::now() + SOON);
                }
                let unreadable = |e| invalid_body(format_args!("the body cannot be read: {e}"));
                next.map(|part| part.map(|part| part.map_err(unreadable)))
            });
            let Some(part) = next.await else { break };
            let mut part = part?;
            part.truncate(announced.map_or(usize::MAX, |announced| announced - body.len));
            let len = body.len + part.len();
            if len > limit {
                return Err(body_too_large("the body", limit));
            }
            let counted = body.memory.amount();
            if len > counted {
                // Doubled, because the answer to a batch of publishes takes this memory over and is longer.
                body.memory.grow_to(len.max((2 * counted).min(limit)))?;
            }
            body.append(&part);
            since_others += part.len();
            if since_others >= turns::BYTES {
                since_others = 0;
                // It ends otherwise only with the thread.
                let _ = turns::next().await;
            }
        }
        Ok(body)
    }

    fn append(&mut self, mut part: &[u8]) {
        self.len += part.len();
        while !part.is_empty() {
            let mut last = self.pieces.pop_if(|piece| piece.len() < PIECE).unwrap_or_default();
            let (now, later) = part.split_at(part.len().min(PIECE - last.len()));
            let wanted = last.len() + now.len();
            if wanted > last.capacity() {
                let doubled = (2 * last.len()).min(self.memory.amount()).min(PIECE);
                // From the second piece on the full size: more will come.
                let size = if self.pieces.is_empty() { wanted.max(doubled) } else { PIECE };
                last.reserve_exact(size - last.len());
            }
            last.extend_from_slice(now);
            self.pieces.push(last);
            part = later;
        }
    }

    /// Its bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether to read it as JSON takes little time.
    pub(crate) fn is_small(&self) -> bool {
        self.len <= PIECE
    }

    /// Puts the pieces together. For a large body that is work for a thread that may block.
    fn whole(&mut self) -> &[u8] {
        let mut pieces = std::mem::take(&mut self.pieces).into_iter();
        let mut whole = pieces.next().unwrap_or_default();
        whole.reserve_exact(self.len - whole.len());
        let mut pace = Pace::default();
        // The memory of each is free before the next one is copied.
        for piece in pieces {
            pace.step();
            whole.extend_from_slice(&piece);
        }
        self.pieces.push(whole);
        &self.pieces[0]
    }

    /// Reads it as a JSON object. If it may be left out, no body is an empty object, and so are `null` and the `[]` that PHP
    /// writes for one.
    pub(crate) fn json<'a, T: Deserialize<'a>>(&'a mut self, may_be_left_out: bool) -> Result<T> {
        let bytes = self.whole();
        if may_be_left_out && matches!(bytes.trim_ascii(), b"" | b"null" | b"[]") {
            return object("{}");
        }
        if bytes.is_empty() {
            return Err(invalid_body("this call needs a JSON object as its body"));
        }
        let text = std::str::from_utf8(bytes);
        object(text.map_err(|e| invalid_body(format_args!("the body is not UTF-8: {e}")))?)
    }

    /// Drops the body, and keeps its memory for the answer.
    pub(crate) fn into_memory(self) -> Places {
        self.memory
    }
}

/// Refuses a body that is announced as another type than plain JSON. A body without a type is read as JSON, and so are
/// the types that common clients set by default: a form by `curl -d`, text by `fetch`.
pub(crate) fn check_type(request: &HttpRequest) -> Result<()> {
    // Several headers are as one with commas between their values, of which a type has none.
    let shown = |name| {
        let values: Vec<_> =
            request.headers().get_all(name).map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        (!values.is_empty()).then(|| values.join(", "))
    };
    let is_plain = |encodings: &String| encodings.split(',').all(|one| one.trim().eq_ignore_ascii_case("identity"));
    if let Some(encoding) = shown(CONTENT_ENCODING).filter(|encodings| !is_plain(encodings)) {
        let detail = format_args!("content-encoding: expected a body without compression, not \"{encoding}\"");
        return Err(Error::refused(Code::UnsupportedMediaType, detail));
    }
    let Some(named) = shown(CONTENT_TYPE) else { return Ok(()) };
    let json = named.parse::<Mime>().is_ok_and(|mime| {
        let is_json = mime.type_() == "application"
            && (mime.subtype() == "json" || mime.suffix().is_some_and(|suffix| suffix == "json"));
        let is_unasked = ["application/x-www-form-urlencoded", "text/plain"].contains(&mime.essence_str());
        (is_json || is_unasked)
            && mime.get_param("charset").is_none_or(|set| set.as_str().eq_ignore_ascii_case("utf-8"))
    });
    let detail = || format!("content-type: expected application/json, in UTF-8, not \"{named}\"");
    if json { Ok(()) } else { Err(Error::refused(Code::UnsupportedMediaType, detail())) }
}

/// Parses a JSON object. Refuses an array with the fields in order, which serde would accept.
pub(crate) fn object<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T> {
    if !text.trim_start_matches([' ', '\t', '\r', '\n']).starts_with('{') {
        return Err(invalid_body("expected a JSON object"));
    }
    serde_json::from_str(text).map_err(|error| fault::<T>(text, &error))
}

/// The problem of a text that is no `T`, with the field at fault. The text is parsed again for the field, only after an
/// error.
fn fault<'a, T: Deserialize<'a>>(text: &'a str, error: &serde_json::Error) -> Error {
    if !error.is_data() {
        return invalid_body(error);
    }
    // The field says where; the column of an item in a batch would be that within the item.
    let reason = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let detail = reason.strip_suffix(&place).unwrap_or(&reason);
    let detail = detail.replace("expected a map", "expected an object").replace("there are no fields", "expected none");
    let problem = invalid_body(detail);
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
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// The users of both lists of a batch, in their order. Refuses none, more than `most`, and one that occurs twice.
pub(crate) fn check_batch(
    names: &str,
    first: &[ExternalId],
    second: &[ExternalId],
    most: usize,
) -> Result<Vec<ExternalId>> {
    if !(1..=most).contains(&(first.len() + second.len())) {
        return Err(invalid_body(format_args!("{names}: expected 1 to {most} ids in total")));
    }
    let mut seen = HashSet::new();
    match first.iter().chain(second).find(|user| !seen.insert(*user)) {
        Some(twice) => Err(invalid_body(format_args!("user {twice} occurs twice"))),
        None => Ok(first.iter().chain(second).cloned().collect()),
    }
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
