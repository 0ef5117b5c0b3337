//! Answers that are streams of server-sent events: each holds a place, and ends with its connection.

use actix_web::body::MessageBody;
use actix_web::http::header::CACHE_CONTROL;
use actix_web::http::{Method, Version};
use actix_web::{HttpResponse, HttpResponseBuilder};

use super::events;
use crate::call::Call;
use crate::connections::accepted::Seat;
use crate::connections::watch::Watch;
use crate::limits::Places;
use crate::wire::problem::Problem;
use crate::wire::reply::Answer;
use model::error::Code;

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

/// The headers alone.
pub(crate) fn head() -> HttpResponse {
    headers().finish()
}

/// The answer with the body that is made with the client's end of the connection. The place is free when both the stream
/// and the connection have ended.
pub(crate) fn answer<B: MessageBody + 'static>(
    call: &Call,
    place: Places,
    body: impl FnOnce(Option<Watch>) -> B,
) -> Answer {
    let mut response = headers();
    response.force_close();
    let Some(seat) = Seat::of(&call.request) else {
        return Err(Problem::internal("the connection is not registered"));
    };
    let client = seat.keep(place).map(Watch::new);
    let mut response = response.body(body(client));
    // HTTP/1.0 has no chunks: the body is sent as it is, and the end of the connection ends it.
    response.head_mut().no_chunking(call.request.version() < Version::HTTP_11);
    Ok(response)
}

fn headers() -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response.content_type(events::MEDIA_TYPE);
    response.insert_header((CACHE_CONTROL, "no-store")).insert_header(("x-accel-buffering", "no"));
    response
}
