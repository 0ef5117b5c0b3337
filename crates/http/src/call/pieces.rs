//! Answers that are made piece by piece, as their connections ask for them.

use std::io::{self, Read};
use std::sync::Arc;

use actix_web::HttpResponseBuilder;
use actix_web::body::{BodyStream, SizedStream};
use actix_web::http::header::CACHE_CONTROL;
use actix_web::web::Bytes;
use futures_util::stream::try_unfold;

use crate::api::Api;
use crate::connections::answer_memory::paced;
use crate::limits::Places;
use crate::pools::Wants;
use crate::wire::reply::Answer;
use model::error::{Error, Result};

/// Bytes of a long answer that are read at once.
const PIECE: u64 = 256 << 10;

/// Makes the next piece on a thread that may block; an empty one at the end.
pub(crate) type NextPiece = Box<dyn FnMut() -> Result<Vec<u8>> + Send>;

/// An answer of pieces, with the name of the answer for the server log, and the length of all if it is known. The first piece
/// is made before the head, so that the answer is a problem if there is none. Each further one is made when the connection asks
/// for the one before it, so a slow client holds neither a thread nor more memory than two pieces. Holds a place of a limit,
/// which bounds the memory of such answers, until the last piece goes out.
pub(crate) async fn answer(
    api: &Arc<Api>,
    mut response: HttpResponseBuilder,
    (what, length): (&'static str, Option<u64>),
    place: Places,
    next: NextPiece,
) -> Answer {
    response.insert_header((CACHE_CONTROL, "no-store"));
    let (places, api) = (place.none(), Arc::clone(api));
    let (next, first) = make(&api, next).await?;
    // One piece ahead: who has the last one, holds no place any more.
    let state = (!first.is_empty()).then_some((first, next, place));
    let pieces = try_unfold(state, move |state| {
        let api = Arc::clone(&api);
        async move {
            let Some((piece, next, place)) = state else { return Ok(None) };
            let (next, following) = make(&api, next).await.map_err(|error| {
                tracing::error!(%error, "{what} could not be read to its end; its client gets an incomplete answer");
                io::Error::from(io::ErrorKind::Other)
            })?;
            let rest = (!following.is_empty()).then_some((following, next, place));
            Ok::<_, io::Error>(Some((Bytes::from(piece), rest)))
        }
    });
    // Its memory is bounded by the number of such answers.
    let answer = match length {
        Some(length) => response.body(SizedStream::new(length, pieces)),
        None => response.body(BodyStream::new(pieces)),
    };
    Ok(paced(answer, &places))
}

/// The pieces of what can be read.
pub(crate) fn of(mut read: impl Read + Send + 'static) -> NextPiece {
    Box::new(move || {
        let mut piece = Vec::new();
        read.by_ref().take(PIECE).read_to_end(&mut piece).map_err(Error::internal)?;
        Ok(piece)
    })
}

async fn make(api: &Arc<Api>, mut next: NextPiece) -> Result<(NextPiece, Vec<u8>)> {
    api.pools.run(Wants::Read, move || next().map(|piece| (next, piece))).await?
}
