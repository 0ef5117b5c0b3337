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
use model::{Page, Position, ShownId};

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
    /// Why writing stopped.
    refused: Option<Error>,
}

impl Text {
    /// An empty text.
    pub(crate) fn new(room: Option<MemoryReservation>) -> Self {
        Self { last: Vec::with_capacity(FIRST_BYTES), pieces: VecDeque::new(), room, refused: None }
    }

    /// Room for about this many bytes, which are not counted.
    pub(crate) fn of_about(bytes: usize) -> Self {
        Self { last: Vec::with_capacity(bytes.max(FIRST_BYTES)), pieces: VecDeque::new(), room: None, refused: None }
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
        if self.room.is_none() {
            // Directly into the buffer: JSON is written a few bytes at a time, so each extra step costs.
            return serde_json::to_writer(&mut self.last, value).map_err(Problem::internal);
        }
        let written = serde_json::to_writer(&mut Counting(self), value);
        match self.refused.take() {
            Some(refused) => Err(refused.into()),
            None => written.map_err(Problem::internal),
        }
    }

    /// Adds a part of a JSON text.
    #[inline]
    pub(crate) fn push(&mut self, part: &str) -> Result<(), Problem> {
        if self.room.is_none() {
            self.last.extend_from_slice(part.as_bytes());
            return Ok(());
        }
        self.push_counted(part)
    }

    fn push_counted(&mut self, part: &str) -> Result<(), Problem> {
        let written = Counting(self).write_all(part.as_bytes());
        match self.refused.take() {
            Some(refused) => Err(refused.into()),
            None => written.map_err(Problem::internal),
        }
    }

    /// Adds a number.
    pub(crate) fn number(&mut self, number: u64) -> Result<(), Problem> {
        self.push(itoa::Buffer::new().format(number))
    }

    /// Adds an id, as a string.
    pub(crate) fn id(&mut self, id: ShownId<'_>) -> Result<(), Problem> {
        match id {
            ShownId::Number(raw) => {
                self.push("\"")?;
                self.number(raw)?;
                self.push("\"")
            }
            ShownId::Name(_) => self.write(&id),
        }
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
        let Self { last, mut pieces, room, .. } = self;
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
struct Counting<'a>(&'a mut Text);

impl io::Write for Counting<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Text { last, pieces, room, refused } = &mut *self.0;
        let mut rest = bytes;
        while !rest.is_empty() {
            if last.len() == PIECE {
                let whole = std::mem::replace(last, Vec::with_capacity(PIECE));
                pieces.push_back(whole.into());
            }
            let (now, later) = rest.split_at(rest.len().min(PIECE - last.len()));
            if let Err(full) = room.as_mut().map_or(Ok(()), |room| room.grow(now.len())) {
                *refused = Some(full);
                return Err(io::ErrorKind::OutOfMemory.into());
            }
            last.extend_from_slice(now);
            rest = later;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A value as JSON text.
pub(crate) fn text(value: &impl Serialize) -> Result<String, Problem> {
    serde_json::to_string(value).map_err(Problem::internal)
}

/// A value as bytes of JSON text.
pub(crate) fn encode(value: &impl Serialize) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::with_capacity(FIRST_BYTES);
    serde_json::to_writer(&mut bytes, value).map_err(Problem::internal)?;
    Ok(bytes)
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
