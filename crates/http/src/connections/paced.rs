//! Large answers, which a client must take at a least speed: a slow client keeps no places of others.

use std::cell::RefCell;
use std::error::Error;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::body::{BodySize, MessageBody};
use actix_web::rt;
use actix_web::web::Bytes;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::limits::Places;

/// A client has the timeout of a request, and one second more for each of these bytes.
const SLOWEST: u64 = 64 << 10;
/// How often the speed is looked at. While others are refused such places, a client that took nothing for so long loses them.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// A body that is dropped, with the places that it holds, when its client takes it too slowly. The time in which the server makes its parts
/// does not count.
pub(crate) struct Paced<B> {
    state: Rc<RefCell<State<B>>>,
    size: BodySize,
    timer: JoinHandle<()>,
}

struct State<B> {
    body: Option<Pin<Box<B>>>,
    /// None of the quota of those that the body holds: they tell whether others want such places.
    places: Places,
    sent: u64,
    /// Since when the connection has the last part, and how long it had those before.
    since: Option<Instant>,
    waited: Duration,
}

impl<B: MessageBody + 'static> Paced<B> {
    /// A body, which holds such places, of an answer to a request with this timeout.
    pub(crate) fn new(body: B, places: Places, timeout: Duration) -> Self {
        let size = body.size();
        let (body, since) = (Some(Box::pin(body)), Some(Instant::now()));
        let state = Rc::new(RefCell::new(State { body, places, sent: 0, since, waited: Duration::ZERO }));
        let (late, every) = (Rc::clone(&state), LOOK_EVERY.min(timeout));
        let timer = rt::spawn(async move {
            loop {
                tokio::time::sleep(every).await;
                let mut state = late.borrow_mut();
                if state.is_too_slow(timeout, every) {
                    state.body = None;
                    return;
                }
            }
        });
        Self { state, size, timer }
    }
}

impl<B> State<B> {
    fn is_too_slow(&self, timeout: Duration, every: Duration) -> bool {
        let Some(waits) = self.since.map(|since| since.elapsed()) else { return false };
        let is_late = self.waited + waits > timeout + Duration::from_secs(self.sent / SLOWEST);
        is_late || waits >= every && self.places.are_wanted()
    }
}

impl<B: MessageBody> MessageBody for Paced<B> {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        self.size
    }

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let state = &mut *self.state.borrow_mut();
        state.waited += state.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        // The connection ends, so the client sees that the answer is cut short.
        let Some(body) = &mut state.body else {
            return Poll::Ready(Some(Err(Box::new(io::Error::from(io::ErrorKind::TimedOut)))));
        };
        let next = body.as_mut().poll_next(context);
        if let Poll::Ready(Some(Ok(part))) = &next {
            state.sent += part.len() as u64;
            state.since = Some(Instant::now());
        }
        next.map(|part| part.map(|part| part.map_err(Into::into)))
    }
}

impl<B> Drop for Paced<B> {
    fn drop(&mut self) {
        // The timer has the state until it has ended.
        self.state.borrow_mut().body = None;
        self.timer.abort();
    }
}
