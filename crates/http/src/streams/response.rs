//! Answers that are streams: each holds a place, sends pieces as they come, and ends with its connection.

use std::convert::Infallible;
use std::fmt::Display;
use std::future::pending;
use std::str::FromStr;
use std::sync::Arc;

use actix_web::body::{BodyStream, MessageBody};
use actix_web::http::header::CACHE_CONTROL;
use actix_web::http::{Method, Version};
use actix_web::web::Bytes;
use actix_web::{HttpResponse, HttpResponseBuilder};
use futures_util::stream::{StreamExt as _, unfold};

use crate::api::Api;
use crate::call::Call;
use crate::connections::accepted::Seat;
use crate::connections::watch::Watch;
use crate::guards::auth::Caller;
use crate::limits::Places;
use crate::wire::problem::Problem;
use crate::wire::reply::Answer;
use feed::streaming::Share;
use model::error::Code;

/// The bytes that a stream sends at once.
pub(crate) struct Piece {
    pub(crate) bytes: Bytes,
    /// Counts the bytes until the connection asks for more.
    pub(crate) memory: Option<Share>,
}

impl From<String> for Piece {
    fn from(text: String) -> Self {
        Self { bytes: text.into(), memory: None }
    }
}

/// Where the pieces of a stream come from.
pub(crate) trait Source: 'static {
    /// The next piece, once there is one; `None` at the end.
    async fn next(&mut self) -> Option<Piece>;
}

/// A place for a stream; `None` if the request is for the headers alone.
pub(crate) fn place(call: &Call) -> Result<Option<Places>, Problem> {
    if call.api.is_stopping() {
        return Err(Code::Stopping.into());
    }
    if call.request.method() == Method::HEAD {
        Ok(None)
    } else {
        Ok(Some(call.api.limits.streams.take(call.caller.holder, 1)?))
    }
}

/// The place after which a client resumes, by the header `Last-Event-ID`; `None` if that is missing or empty.
pub(crate) fn last_event_id<T: FromStr<Err: Display>>(call: &Call) -> Result<Option<T>, Problem> {
    let wrong = |what: &str| Problem::new(Code::InvalidHeader, format_args!("last-event-id: {what}"));
    let mut values = call.request.headers().get_all("last-event-id");
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(wrong("given twice"));
    }
    if value.is_empty() {
        return Ok(None);
    }
    let text = std::str::from_utf8(value.as_bytes()).map_err(|_| wrong("expected UTF-8"))?;
    text.parse().map(Some).map_err(|e| wrong(&format!("{e}, not \"{text}\"")))
}

/// The headers alone.
pub(crate) fn head(media_type: &'static str) -> HttpResponse {
    headers(media_type).finish()
}

/// The answer with the pieces of a source. The place is free when both the stream and the connection have ended.
pub(crate) fn answer(call: &Call, place: Places, media_type: &'static str, source: impl Source) -> Answer {
    let mut response = headers(media_type);
    response.force_close();
    let Some(seat) = Seat::of(&call.request) else {
        return Err(Problem::internal("the connection is not registered"));
    };
    let client = seat.keep(place).map(Watch::new);
    let mut response = response.body(body(&call.api, call.caller.clone(), client, source));
    // HTTP/1.0 has no chunks: the body is sent as it is, and the end of the connection ends it.
    response.head_mut().no_chunking(call.request.version() < Version::HTTP_11);
    Ok(response)
}

fn headers(media_type: &'static str) -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response.content_type(media_type);
    response.insert_header((CACHE_CONTROL, "no-store")).insert_header(("x-accel-buffering", "no"));
    response
}

/// The body of a stream of this caller.
pub(super) fn body(
    api: &Arc<Api>,
    caller: Caller,
    client: Option<Watch>,
    source: impl Source,
) -> impl MessageBody<Error = Infallible> + 'static {
    let stream = Stream { api: Arc::clone(api), caller, client, source, held: None };
    let pieces = unfold(stream, |mut stream| async { Some((Ok(stream.next().await?), stream)) });
    BodyStream::new(pieces.fuse())
}

struct Stream<S> {
    api: Arc<Api>,
    /// The stream ends when the credentials of its sender are no longer valid.
    caller: Caller,
    /// Detects that the client closes its end: pieces then have no receiver.
    client: Option<Watch>,
    source: S,
    /// Counts the piece that the connection has.
    held: Option<Share>,
}

impl<S: Source> Stream<S> {
    async fn next(&mut self) -> Option<Bytes> {
        // The connection has taken the last piece.
        self.held = None;
        if !self.api.admission.gate.still_admits(&self.caller) {
            return None;
        }
        let is_closed = async {
            match &self.client {
                Some(client) => client.closed().await,
                None => pending().await,
            }
        };
        let Piece { bytes, memory } = tokio::select! {
            biased;
            () = is_closed => return None,
            piece = self.source.next() => piece.filter(|_| self.api.admission.gate.still_admits(&self.caller))?,
        };
        self.held = memory;
        Some(bytes)
    }
}
