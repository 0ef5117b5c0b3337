//! Answers that are streams: each holds a place, sends pieces as they come, and ends with its connection.

use std::convert::Infallible;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use actix_web::body::BodyStream;
use actix_web::http::Method;
use actix_web::http::header::CACHE_CONTROL;
use actix_web::web::Bytes;
use futures_util::stream::{StreamExt as _, iter, unfold};
use tokio::time::timeout;

use super::events;
use crate::connections::connection::Connection;
use crate::limits::Places;
use crate::prelude::*;
use feed::streaming::Share;

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

/// The origin of the pieces of a stream.
pub(crate) trait Source: 'static {
    /// The next piece behind the first, once there is one; `None` at the end.
    async fn next(&mut self) -> Option<Piece>;
}

/// A place for a stream; `None` if the request is for the headers alone.
pub(crate) fn place(call: &Call) -> Result<Option<Places>> {
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
pub(crate) fn last_event_id<T: FromStr<Err: Display>>(call: &Call) -> Result<Option<T>> {
    let wrong = |what: &str| Error::refused(Code::InvalidHeader, format_args!("last-event-id: {what}"));
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

/// Reads events or changes that a client has missed, in its turn: a read takes more memory than what is sent of it.
pub(crate) async fn catch_up<T: Send + 'static>(
    api: &Arc<Api>,
    holder: Holder,
    read: impl FnOnce(&Feed) -> Result<T> + Send + 'static,
) -> Result<T> {
    let turn = api.limits.catching_up.wait_for(holder, 1).await;
    let read = move |feed: &Feed| {
        let found = read(feed);
        drop(turn);
        found
    };
    api.run(holder, Wants::Read, read).await
}

/// The headers alone.
pub(crate) fn head(media_type: &'static str) -> HttpResponse {
    headers(media_type).finish()
}

/// The answer with a first piece, if there is one, and those of a source. After a time without one the client gets a comment, if
/// `silence` says so. It ends with its connection, or when the credentials of its sender are no longer valid. The place is free
/// when both the stream and the connection have ended.
pub(crate) fn answer(
    call: &Call,
    place: Places,
    (media_type, silence): (&'static str, Option<Duration>),
    (first, source): (Option<Piece>, impl Source),
) -> Answer {
    let mut response = headers(media_type);
    response.force_close();
    let Some(connection) = Connection::of(&call.request) else {
        return Err(Error::internal("the connection is not registered"));
    };
    connection.begin_stream(place);
    if connection.flow.has_ended.get() {
        return Ok(response.finish());
    }
    let (api, caller) = (Arc::clone(&call.api), call.caller.clone());
    // A piece that is read meanwhile stays when a comment comes first.
    let pieces = iter(first).chain(unfold(source, |mut source| async { Some((source.next().await?, source)) }));
    let pieces = unfold((Box::pin(pieces), None), move |(mut pieces, held)| {
        // The connection has taken the last piece.
        drop(held);
        let (api, caller) = (Arc::clone(&api), caller.clone());
        async move {
            let admits = |_: &Piece| api.admission.gate.still_admits(&caller);
            if !api.admission.gate.still_admits(&caller) {
                return None;
            }
            let next = match silence {
                Some(silence) => timeout(silence, pieces.next()).await,
                None => Ok(pieces.next().await),
            };
            let comment = |_| Some(events::COMMENT.to_owned().into());
            let Piece { bytes, memory } = next.unwrap_or_else(comment).filter(admits)?;
            Some((Ok::<_, Infallible>(bytes), (pieces, memory)))
        }
    });
    Ok(response.body(BodyStream::new(pieces.fuse())))
}

fn headers(media_type: &'static str) -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response.content_type(media_type);
    response.insert_header((CACHE_CONTROL, "no-store")).insert_header(("x-accel-buffering", "no"));
    response
}
