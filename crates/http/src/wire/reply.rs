//! Successful answers: JSON objects and pages.

use std::collections::VecDeque;
use std::fmt::Display;
use std::io::{self, Write as _};

use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, EntityTag, Header as _, HeaderValue, IfNoneMatch, LINK};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use serde::Serialize;

use super::problem::Problem;
use super::query::{Kept, escaped};
use crate::connections::answer_memory::{self, MemoryReservation, PIECE};
use model::error::Error;
use model::{Page, Position};

/// The result of a handler.
pub(crate) type Answer = Result<HttpResponse, Problem>;

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Bytes for a page of ids, so that its buffer grows at most once or twice.
const FIRST_BYTES: usize = 2048;

/// A text of fewer parts is short: one with all that is shown of 64 KiB of content.
const SHORT: usize = (128 << 10) / PIECE;

/// JSON text as it is written: in one part or, if its memory is counted, in pieces sent in order.
pub(crate) struct Text {
    last: Vec<u8>,
    pieces: VecDeque<Bytes>,
    /// Counts the pieces; `None` for a text that is certainly short.
    room: Option<MemoryReservation>,
}

impl Text {
    /// An empty text.
    pub(crate) fn new(room: Option<MemoryReservation>) -> Self {
        Self { last: Vec::with_capacity(FIRST_BYTES), pieces: VecDeque::new(), room }
    }

    /// Room for about this many bytes, which are not counted.
    pub(crate) fn of_about(bytes: usize) -> Self {
        Self { last: Vec::with_capacity(bytes.max(FIRST_BYTES)), pieces: VecDeque::new(), room: None }
    }

    /// Reserves memory for the whole text, which is about as large as its source. Fails before any write.
    pub(crate) fn reserve_writing(&mut self) -> Result<(), Error> {
        self.room.as_mut().map_or(Ok(()), |room| room.reserve(2 * room.used()))
    }

    /// Bytes reserved.
    pub(crate) fn used(&self) -> usize {
        self.room.as_ref().map_or(0, MemoryReservation::used)
    }

    /// Releases the memory of the source.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        if let Some(room) = &mut self.room {
            room.shrink(bytes);
        }
    }

    /// Adds a value as JSON.
    pub(crate) fn write(&mut self, value: &impl Serialize) -> Result<(), Problem> {
        let written = match self.room {
            // Directly into the buffer: JSON is written a few bytes at a time, so each extra step costs.
            None => serde_json::to_writer(&mut self.last, value),
            Some(_) => serde_json::to_writer(&mut *self, value),
        };
        written.map_err(|error| failed(error.into()))
    }

    /// Adds a part of a JSON text.
    pub(crate) fn push(&mut self, part: &str) -> Result<(), Problem> {
        self.write_all(part.as_bytes()).map_err(failed)
    }

    /// Adds the elements of a list, with commas between them.
    pub(crate) fn each<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(T, &mut Self) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.push(",")?;
            }
            write(item, self)?;
        }
        Ok(())
    }

    /// Whether it takes little time to put the text together. A text whose memory is not counted is in one part.
    pub(crate) fn is_short(&self) -> bool {
        self.pieces.len() < SHORT
    }

    /// The text in one part. Its memory is not counted any more.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        if self.pieces.is_empty() {
            return self.last;
        }
        let parts: Vec<&[u8]> = self.pieces.iter().map(Bytes::as_ref).chain([self.last.as_slice()]).collect();
        parts.concat()
    }

    /// Ends a response with this text.
    pub(crate) fn answer(self, mut response: HttpResponseBuilder) -> HttpResponse {
        let Self { last, mut pieces, room } = self;
        response.insert_header((CONTENT_TYPE, JSON));
        match room {
            Some(room) if !pieces.is_empty() => {
                pieces.push_back(last.into());
                answer_memory::in_pieces(response, pieces, room)
            }
            _ => response.body(last),
        }
    }
}

/// Writes in pieces, and reserves their memory.
impl io::Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(room) = &mut self.room else {
            self.last.extend_from_slice(bytes);
            return Ok(bytes.len());
        };
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.last.len() == PIECE {
                let whole = std::mem::replace(&mut self.last, Vec::with_capacity(PIECE));
                self.pieces.push_back(whole.into());
            }
            let (now, later) = rest.split_at(rest.len().min(PIECE - self.last.len()));
            room.grow(now.len()).map_err(io::Error::other)?;
            self.last.extend_from_slice(now);
            rest = later;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Why a text could not be written: mostly there is no room for it.
fn failed(error: io::Error) -> Problem {
    match error.downcast::<Error>() {
        Ok(refused) => refused.into(),
        Err(error) => Problem::internal(error),
    }
}

/// A value as JSON text.
pub(crate) fn text(value: &impl Serialize) -> Result<String, Problem> {
    serde_json::to_string(value).map_err(Problem::internal)
}

/// A value as bytes of JSON text.
pub(crate) fn encode(value: &impl Serialize) -> Result<Vec<u8>, Problem> {
    serde_json::to_vec(value).map_err(Problem::internal)
}

/// Ends a response with JSON text.
pub(crate) fn body(mut response: HttpResponseBuilder, json: Vec<u8>) -> HttpResponse {
    response.insert_header((CONTENT_TYPE, JSON)).body(json)
}

/// 200 with a value.
pub(crate) fn ok(value: &impl Serialize) -> Answer {
    with(StatusCode::OK, value)
}

/// This status with a value.
pub(crate) fn with(status: StatusCode, value: &impl Serialize) -> Answer {
    Ok(body(HttpResponseBuilder::new(status), encode(value)?))
}

/// A list without pages, in the order of the call.
#[derive(Serialize)]
pub(crate) struct Items<T> {
    pub(crate) items: T,
}

/// 200 with a list without pages.
pub(crate) fn items<T: Serialize>(items: &[T]) -> Answer {
    ok(&Items { items })
}

/// 204.
pub(crate) fn nothing() -> Answer {
    Ok(HttpResponse::NoContent().finish())
}

/// 200 with a page of a list, and its neighbours in a `Link` header.
pub(crate) fn page<T: Serialize, I: Display>(page: Page<T, I>, kept: &Kept) -> Answer {
    let mut text = Text::new(None);
    let ends = write_page(page, &mut text, |item, text| text.write(&item))?;
    Ok(text_page(text, &ends, kept))
}

/// Writes a page, each item by `write`. Returns only its neighbours.
pub(crate) fn write_page<T, I: Display>(
    page: Page<T, I>,
    text: &mut Text,
    write: impl FnMut(T, &mut Text) -> Result<(), Problem>,
) -> Result<Page<(), I>, Problem> {
    let Page { items, next, prev } = page;
    text.push(r#"{"items":["#)?;
    text.each(items, write)?;
    text.push(r#"],"next":"#)?;
    text.write(&next)?;
    text.push(r#","prev":"#)?;
    text.write(&prev)?;
    text.push("}")?;
    Ok(Page { items: Vec::new(), next, prev })
}

/// 200 with a written page.
pub(crate) fn text_page<I: Display>(text: Text, ends: &Page<(), I>, kept: &Kept) -> HttpResponse {
    let mut response = HttpResponseBuilder::new(StatusCode::OK);
    if let Some(links) = links(ends, kept) {
        response.insert_header((LINK, links));
    }
    text.answer(response)
}

/// Whether the client has the answer with this tag.
pub(crate) fn is_known(request: &HttpRequest, tag: &HeaderValue) -> bool {
    let Some(tag) = tag.to_str().ok().and_then(|tag| tag.parse::<EntityTag>().ok()) else { return false };
    match IfNoneMatch::parse(request) {
        Ok(IfNoneMatch::Any) => true,
        Ok(IfNoneMatch::Items(known)) => known.iter().any(|known| known.weak_eq(&tag)),
        Err(_) => false,
    }
}

/// The header of the links to the neighbours of a page, if it has some. The links are relative to the address of the request,
/// because a proxy may have removed a prefix from that.
pub(crate) fn links<I: Display>(page: &Page<(), I>, kept: &Kept) -> Option<HeaderValue> {
    // A list between two bounds keeps them; with one bound, the page moves on from it.
    let (before, after) = kept.before.as_ref().zip(kept.after.as_ref()).unzip();
    let link = |place: &Option<Position<I>>, parameter, rel, other, bound: Option<&String>| {
        let place = escaped(place.as_ref()?);
        let bound = bound.map(|bound| format!("&{other}={bound}")).unwrap_or_default();
        Some(format!("<?{}{parameter}={place}{bound}>; rel=\"{rel}\"", kept.start))
    };
    let next = link(&page.next, "before", "next", "after", after);
    let prev = link(&page.prev, "after", "prev", "before", before);
    let links: Vec<_> = next.into_iter().chain(prev).collect();
    // Escaped, it has only characters that a header takes.
    HeaderValue::try_from(links.join(", ")).ok().filter(|links| !links.is_empty())
}
