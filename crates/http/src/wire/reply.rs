//! Successful answers: JSON objects and pages.

use std::fmt::Display;

use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, EntityTag, Header as _, HeaderValue, IfNoneMatch, LINK};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use serde::Serialize;

use super::query::{Kept, escaped};
use crate::connections::answer_memory::{self, SMALL};
use crate::limits::Places;
use model::error::{Error, Result};
use model::{Page, Position};

/// The result of a handler.
pub(crate) type Answer = Result<HttpResponse>;

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Bytes for a page of ids, so that its buffer grows at most once or twice.
const FIRST_BYTES: usize = 2048;

/// Most bytes of a short text: one with all that is shown of 64 KiB of content.
const SHORT: usize = 128 << 10;

/// JSON text as it is written.
pub(crate) struct Text {
    bytes: Vec<u8>,
    /// Bytes of content that are in memory beside the text.
    source: usize,
    /// Counts both; `None` for a text that is certainly short.
    memory: Option<Places>,
}

impl Text {
    /// An empty text for about this many bytes. They count if there is memory for them.
    pub(crate) fn new(bytes: usize, memory: Option<Places>) -> Self {
        Self { bytes: Vec::with_capacity(bytes.max(FIRST_BYTES)), source: 0, memory }
    }

    /// A text of a source of so many bytes. Fails before any write if there is no memory for both: they are about as large.
    pub(crate) fn beside(source: usize, mut memory: Option<Places>) -> Result<Self, Error> {
        if let Some(memory) = &mut memory {
            answer_memory::reserve(memory, 2 * source)?;
        }
        Ok(Self { source, ..Self::new(source, memory) })
    }

    /// The source is not in memory any more. Gives back its memory, and what the text does not need.
    pub(crate) fn end_source(&mut self) {
        self.source = 0;
        if let Some(memory) = &mut self.memory {
            memory.shrink_to(self.bytes.len());
            self.bytes.shrink_to_fit();
        }
    }

    /// Adds a value as JSON.
    pub(crate) fn write(&mut self, value: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.bytes, value).map_err(Error::internal)?;
        self.count()
    }

    /// Adds a part of a JSON text.
    pub(crate) fn push(&mut self, part: &str) -> Result<()> {
        self.bytes.extend_from_slice(part.as_bytes());
        self.count()
    }

    fn count(&mut self) -> Result<()> {
        let Some(memory) = &mut self.memory else { return Ok(()) };
        answer_memory::reserve(memory, self.source + self.bytes.len())
    }

    /// Adds the elements of a list, with commas between them.
    pub(crate) fn each<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(T, &mut Self) -> Result<()>,
    ) -> Result<()> {
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.push(",")?;
            }
            write(item, self)?;
        }
        Ok(())
    }

    /// Whether it takes little time to copy the text.
    pub(crate) fn is_short(&self) -> bool {
        self.bytes.len() < SHORT
    }

    /// Its bytes. Their memory is not counted any more.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Ends a response with this text.
    pub(crate) fn answer(self, mut response: HttpResponseBuilder) -> HttpResponse {
        response.insert_header((CONTENT_TYPE, JSON));
        match self.memory {
            Some(memory) if self.bytes.len() > SMALL => answer_memory::reserved(response, self.bytes.into(), memory),
            _ => response.body(self.bytes),
        }
    }
}

/// A value as JSON text.
pub(crate) fn text(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(Error::internal)
}

/// A value as bytes of JSON text.
pub(crate) fn encode(value: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(Error::internal)
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
    let mut text = Text::new(0, None);
    let ends = write_page(page, &mut text, |item, text| text.write(&item))?;
    Ok(text_page(text, &ends, kept))
}

/// Writes a page, each item by `write`. Returns only its neighbours.
pub(crate) fn write_page<T, I: Display>(
    page: Page<T, I>,
    text: &mut Text,
    write: impl FnMut(T, &mut Text) -> Result<()>,
) -> Result<Page<(), I>> {
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
