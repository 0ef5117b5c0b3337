//! Memory of answers. It is reserved before a large answer is read, and counted until the client has received it.

use std::convert::Infallible;

use actix_web::body::{BodySize, BoxBody, MessageBody, SizedStream};
use actix_web::http::Method;
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use futures_util::stream::{StreamExt as _, iter};

use crate::limits::{Holder, Places, Quota};
use model::error::{Code, Error, Result};

/// Answers up to this size, bytes, are not counted: a connection has at most one.
pub(crate) const SMALL: usize = 16 << 10;
/// A large answer goes to the connection in pieces of this size, bytes. So the connection buffers only one or two of
/// them while the client does not read.
pub(crate) const PIECE: usize = 16 << 10;
/// Memory is reserved in steps of this size, bytes: an answer grows a few bytes at a time.
const STEP: usize = 64 << 10;
/// This fraction of all memory is kept for answers in progress: 12 MiB, more than a page of 100 items of 64 KiB takes.
const LAST: usize = 16;

/// Begins to reserve memory for an answer. Fails if little memory is free, before anything is read. Otherwise clients that
/// retry often would each have an answer read and half written in vain.
pub(crate) fn begin(quota: &Quota, holder: Holder) -> Result<Places> {
    quota.take_and_leave(holder, STEP, quota.limit() / LAST)
}

/// Reserves memory for so many bytes in all, or fails. A single answer that needs more than there is passes alone.
pub(crate) fn reserve(memory: &mut Places, bytes: usize) -> Result<()> {
    if bytes <= memory.amount() {
        return Ok(());
    }
    memory.grow_to(bytes.saturating_add(STEP - 1) / STEP * STEP).map_err(|_| overloaded())
}

fn overloaded() -> Error {
    Error::refused(
        Code::Overloaded,
        "too many large answers are being sent. Send the request again later, or request fewer items",
    )
}

/// A body of bytes whose memory is counted until the client has all of them; `None` for bytes that all answers share.
fn in_pieces(bytes: Bytes, memory: Option<Places>) -> impl MessageBody + 'static {
    let size = bytes.len();
    let pieces = iter((0..size).step_by(PIECE)).map(move |at| {
        let _held = &memory;
        Ok::<_, Infallible>(bytes.slice(at..size.min(at + PIECE)))
    });
    SizedStream::new(size as u64, pieces)
}

/// Lets the connection of an answer look whether others want such places as the answer holds.
pub(crate) fn paced(mut response: HttpResponse, places: &Places) -> HttpResponse {
    response.extensions_mut().insert(places.none());
    response
}

/// A response of bytes whose memory is reserved.
pub(crate) fn reserved(mut response: HttpResponseBuilder, bytes: Bytes, memory: Places) -> HttpResponse {
    let places = memory.none();
    paced(response.body(in_pieces(bytes, Some(memory))), &places)
}

/// A response of bytes that all such responses share. Only the part in transit to a client takes memory.
pub(crate) fn shared(mut response: HttpResponseBuilder, bytes: Bytes) -> HttpResponse {
    response.body(in_pieces(bytes, None))
}

/// Reserves memory for a large answer that is not counted yet, until it is sent. The answer to a change is never
/// refused, because the change is made. Its size is that of a body, and bodies are counted.
pub(crate) fn hold(
    request: &HttpRequest,
    response: HttpResponse,
    holder: Holder,
    quota: &Quota,
) -> Result<HttpResponse> {
    if !matches!(response.body().size(), BodySize::Sized(size) if size > SMALL as u64) {
        return Ok(response);
    }
    let (response, body) = response.into_parts();
    // All others are counted, or shared.
    let bytes = match body.try_into_bytes() {
        Ok(bytes) => bytes,
        Err(body) => return Ok(response.set_body(body)),
    };
    let memory = match *request.method() {
        Method::GET | Method::HEAD => quota.take(holder, bytes.len())?,
        _ => quota.take_quietly(holder, bytes.len()).unwrap_or_else(|| quota.none(holder)),
    };
    let places = memory.none();
    Ok(paced(response.set_body(BoxBody::new(in_pieces(bytes, Some(memory)))), &places))
}
