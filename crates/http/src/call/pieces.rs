//! Answers that are made piece by piece, as their connections ask for them.

use std::future::{Future, ready};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use actix_web::HttpResponseBuilder;
use actix_web::body::{BodySize, MessageBody};
use actix_web::http::header::CACHE_CONTROL;
use actix_web::web::Bytes;

use crate::api::Api;
use crate::connections::answer_memory::Counted;
use crate::connections::paced::{HoldsPlaces, Paced};
use crate::limits::Places;
use crate::pools::Wants;
use crate::wire::problem::Problem;
use crate::wire::reply::Answer;

/// Makes the next piece on a thread that may block; an empty one at the end.
pub(crate) type NextPiece = Box<dyn FnMut() -> Result<Vec<u8>, Problem> + Send>;

type Making = Pin<Box<dyn Future<Output = Result<(NextPiece, Vec<u8>), Problem>>>>;

/// A body of pieces. The next one is made when the connection asks for it, so a slow client holds neither a thread nor more
/// memory than two pieces.
struct Pieces {
    api: Arc<Api>,
    making: Making,
    /// The length of all pieces, if it is known.
    length: Option<u64>,
    sent: u64,
    is_over: bool,
    /// The name of the answer for the server log.
    what: &'static str,
    place: Places,
}

/// An answer of pieces, with the length of all if it is known. The first piece is made before the head, so that the answer
/// is a problem if there is none. Holds a place of a limit, which bounds the memory of such answers.
pub(crate) async fn answer(
    api: &Arc<Api>,
    mut response: HttpResponseBuilder,
    (what, length): (&'static str, Option<u64>),
    place: Places,
    next: NextPiece,
) -> Answer {
    response.insert_header((CACHE_CONTROL, "no-store"));
    let first = make(api, next).await?;
    let (making, api): (Making, _) = (Box::pin(ready(Ok(first))), Arc::clone(api));
    let timeout = api.limits.timeout;
    let pieces = Pieces { api, making, length, sent: 0, is_over: false, what, place };
    let mut answer = response.body(Paced::new(pieces, timeout));
    // Its memory is bounded by the number of such answers.
    answer.extensions_mut().insert(Counted);
    Ok(answer.map_into_boxed_body())
}

fn make(api: &Arc<Api>, mut next: NextPiece) -> Making {
    let api = Arc::clone(api);
    Box::pin(async move { api.run_admitted(Wants::Read, move || next().map(|piece| (next, piece))).await? })
}

impl HoldsPlaces for Pieces {
    fn are_wanted(&self) -> bool {
        self.place.are_wanted()
    }
}

impl MessageBody for Pieces {
    type Error = io::Error;

    fn size(&self) -> BodySize {
        self.length.map_or(BodySize::Stream, BodySize::Sized)
    }

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, io::Error>>> {
        if self.is_over || self.length == Some(self.sent) {
            return Poll::Ready(None);
        }
        let made = match self.making.as_mut().poll(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(made) => made,
        };
        let what = self.what;
        let (next, piece) = made.map_err(|error| {
            tracing::error!(%error, "{what} could not be read to its end; its client gets an incomplete answer");
            io::Error::from(io::ErrorKind::Other)
        })?;
        if piece.is_empty() {
            self.is_over = true;
            return Poll::Ready(self.length.map(|_| Err(io::ErrorKind::UnexpectedEof.into())));
        }
        self.sent += piece.len() as u64;
        let api = Arc::clone(&self.api);
        self.making = make(&api, next);
        Poll::Ready(Some(Ok(piece.into())))
    }
}
