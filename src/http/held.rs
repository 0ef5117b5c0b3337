//! Large answers: counted against a limit until their clients have taken them.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::HttpResponse;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::web::Bytes;

use super::limits::{Gate, Places};
use super::problem::Problem;

/// Answers up to this size, bytes, are as good as free: there is one a connection at most.
const SMALL: u64 = 16 << 10;
/// A large answer goes to the connection in pieces of this size, bytes, so that no more than one or
/// two of them are in its buffer while the client does not read.
const PIECE: usize = 16 << 10;

/// A body with the memory set aside for it.
struct Held {
    rest: Bytes,
    _memory: Places,
}

impl MessageBody for Held {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.rest.len() as u64)
    }

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let piece = self.rest.len().min(PIECE);
        Poll::Ready(Some(Ok(self.rest.split_to(piece))))
    }
}

/// Sets memory aside for an answer, if it is a large one, until it is sent.
pub(super) fn hold(response: HttpResponse, memory: &Gate) -> Result<HttpResponse, Problem> {
    let size = match response.body().size() {
        BodySize::Sized(size) if size > SMALL => usize::try_from(size).unwrap_or(usize::MAX),
        _ => return Ok(response),
    };
    let memory = memory.take(size)?;
    Ok(response.map_body(|_, body| match body.try_into_bytes() {
        Ok(rest) => BoxBody::new(Held { rest, _memory: memory }),
        Err(body) => body,
    }))
}

#[cfg(test)]
mod tests {
    use actix_web::body::to_bytes;
    use actix_web::http::StatusCode;

    use super::*;

    fn answer(bytes: usize) -> HttpResponse {
        HttpResponse::build(StatusCode::OK).body(vec![7; bytes])
    }

    #[actix_web::test]
    async fn a_large_answer_counts_until_it_is_sent() {
        let memory = Gate::new(100_000, 1);
        let small = hold(answer(16 << 10), &memory).expect("small");
        assert_eq!(memory.fill().used, 0);
        let large = hold(answer(60_000), &memory).expect("fits");
        assert_eq!(memory.fill().used, 60_000);
        assert_eq!(large.body().size(), BodySize::Sized(60_000));
        assert!(hold(answer(60_000), &memory).is_err());
        assert_eq!(to_bytes(large.into_body()).await.expect("bytes"), vec![7; 60_000]);
        assert_eq!(memory.fill().used, 0);
        assert!(hold(answer(200_000), &memory).is_ok(), "more than there is passes alone");
        drop(small);
    }
}
