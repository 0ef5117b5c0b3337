//! The feed of changes as a stream of server-sent events.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, MessageBody};
use actix_web::web::Bytes;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::change::Change;
use crate::api::Api;
use crate::call::Call;
use crate::connections::watch::Watch;
use crate::guards::auth::Caller;
use crate::pools::Wants;
use crate::streams::{events, response};
use crate::wire::problem::Problem;
use crate::wire::reply::{self, Answer};
use feed::streaming::Share;
use feed::{ChangePosition, ChangesAfter, Feed};
use model::EffectKind;

/// Changes that are sent at once, and the memory that is reserved for them, bytes.
const PIECE: usize = 64;
const PIECE_BYTES: usize = 32 << 10;

/// Answers with a stream of the changes of these kinds behind a place.
pub(super) async fn follow(call: Call, after: ChangesAfter, kinds: Vec<EffectKind>) -> Answer {
    let Some(place) = response::place(&call)? else { return Ok(response::head()) };
    // The end as it was before the first read: later changes wake the reader.
    let news = call.api.end.subscribe();
    let kinds: Arc<[EffectKind]> = kinds.into();
    let first = {
        let kinds = Arc::clone(&kinds);
        call.run(Wants::Read, move |feed| read(feed, after, &kinds)).await?
    };
    response::answer(&call, place, |client| {
        let (api, caller) = (Arc::clone(&call.api), call.caller.clone());
        let at = first.end;
        // A client without changes yet learns where to resume, too.
        let text = if first.text.is_empty() { events::place(at) } else { first.text };
        let follower = Follower { api, caller, kinds, client, news, told: at };
        Body { held: None, next: Box::pin(std::future::ready(Some((follower, text, Some(first.memory))))) }
    })
}

/// Some changes as text.
struct Part {
    text: String,
    /// Counts the text.
    memory: Share,
    /// The position behind them.
    end: ChangePosition,
}

/// The next changes behind a place.
fn read(feed: &Feed, after: ChangesAfter, kinds: &[EffectKind]) -> Result<Part, Problem> {
    let memory = feed.streaming().streams().memory();
    let room = memory.reserve(PIECE_BYTES);
    let read = feed.read();
    let page = feed::events::changes(read, after, if room.is_some() { PIECE } else { 1 }, kinds)?;
    let (page, ids) = read.named(page)?;
    let mut text = String::new();
    for changed in &page.changes {
        let change = Change::new(&page, changed, &ids);
        text.push_str(&events::message("change", Some(change.position.clone()), reply::encode(&change)?)?);
    }
    Ok(Part { memory: memory.hold(text.len()), text, end: page.end })
}

/// A client of the feed of changes.
struct Follower {
    api: Arc<Api>,
    /// The stream ends when the credentials of its sender are no longer valid.
    caller: Caller,
    kinds: Arc<[EffectKind]>,
    client: Option<Watch>,
    news: watch::Receiver<u64>,
    /// The position that the client knows.
    told: ChangePosition,
}

impl Follower {
    /// Waits for the next text to send; `None` at the end of the stream.
    async fn next(mut self) -> Option<Next> {
        let mut at = self.told;
        let silent_until = Instant::now() + self.api.config().presence.heartbeat.get();
        loop {
            if self.api.is_stopping() || !self.api.gate.still_admits(&self.caller) {
                return None;
            }
            self.news.borrow_and_update();
            // The client reconnects; a problem that stays is its answer then.
            let part = self.part(at).await.ok()?;
            let is_end = part.end == at;
            at = part.end;
            if !part.text.is_empty() {
                self.told = at;
                return Some((self, part.text, Some(part.memory)));
            }
            if !is_end {
                continue;
            }
            let Self { news, client, .. } = &mut self;
            tokio::select! {
                changed = news.changed() => changed.ok()?,
                () = closed(client.as_ref()) => return None,
                () = sleep_until(silent_until) => {
                    // Changes of other kinds were passed.
                    let text = if at == self.told { events::COMMENT.to_owned() } else { events::place(at) };
                    self.told = at;
                    return Some((self, text, None));
                }
            }
        }
    }

    async fn part(&self, at: ChangePosition) -> Result<Part, Problem> {
        let turn = self.api.limits.catching_up.wait_for(self.caller.holder, 1).await;
        let kinds = Arc::clone(&self.kinds);
        let look = move |feed: &Feed| {
            let part = read(feed, ChangesAfter::Position(at), &kinds);
            drop(turn);
            part
        };
        self.api.run(self.caller.holder, Wants::Read, look).await
    }
}

/// Waits until a client closes its end.
async fn closed(client: Option<&Watch>) {
    poll_fn(|context| match client.is_some_and(|client| client.is_closed(context)) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}

/// What is sent next: the client with it, the text, and the count of its memory.
type Next = (Follower, String, Option<Share>);

/// The body of the answer.
struct Body {
    next: Pin<Box<dyn Future<Output = Option<Next>>>>,
    /// Counts the text that the connection has, until it asks for more.
    held: Option<Share>,
}

impl MessageBody for Body {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        self.held = None;
        match self.next.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => {
                // A finished future must not be polled again.
                self.next = Box::pin(async { None });
                Poll::Ready(None)
            }
            Poll::Ready(Some((follower, text, held))) => {
                self.held = held;
                self.next = Box::pin(follower.next());
                Poll::Ready(Some(Ok(text.into())))
            }
        }
    }
}
