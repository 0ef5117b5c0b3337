//! `/v1/users/{uid}/stream`: server-sent events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, MessageBody};
use actix_web::web::Bytes;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::{events, response};
use crate::api::Api;
use crate::call::Call;
use crate::calls::show;
use crate::connections::watch::Watch;
use crate::endpoint::{Endpoint, get, group};
use crate::endpoint::{Shape, parameters};
use crate::guards::auth::{ACCESS_TOKEN, Caller, TokenUse};
use crate::limits::Holder;
use crate::pools::Wants;
use crate::wire::problem::Problem;
use crate::wire::reply::Answer;
use feed::streaming::{Event, Item, Share, Stream};
use feed::{Feed, Happened, Visibility, sight, timeline};
use model::error::Code;
use model::schemas;
use model::store::Tier;
use model::{HostId, Position, ShownSources, UserId};

/// Items read at once for a client that catches up.
const STEP: usize = 8;
/// Bytes sent to the connection at once, unless one event alone is larger.
const PIECE: usize = 16 << 10;

const EVENTS: &str = "Each event has a name, and JSON in `data`:\n\n\
    | event | meaning | data |\n\
    |---|---|---|\n\
    | `content` | an item was published or restored; `id` is its cursor | `Content`, with `viewer` |\n\
    | `edit` | an item was edited | `Content`, with `viewer` |\n\
    | `delete` | an item was deleted | `ContentRef` |\n\
    | `notice` | a notice of the user came | `Notice` |\n\
    | `marker` | a marker of the user moved, perhaps on another device | `{of, list?, cursor}`; `of` is `timeline`, `list` \
    or `notices` |\n\
    | `reset` | events were left out: load the timeline again, and keep the stream open | `{}` |\n\n\
    An `id` without an event is a newer place to resume from. After some silence the server sends a comment line. The \
    stream ends when the server stops, or when the client does not read. A user can have at most \
    `server.max_streams_per_user` open streams. The schema describes the `data` of one event.\n\n\
    The answer has no end. A generated client that reads each answer to its end would wait for ever: read the stream with an \
    HTTP client that gives an answer as it arrives.";

/// The calls of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let about = "The `data` of an event, as in the table of the call `listen`";
    let data = Shape::named("EventData", schemas::any_object().description(Some(about)).build());
    let last = parameters::header(
        "Last-Event-ID",
        "The cursor of an item, or another `id` of this stream: the stream begins with the events after it. It begins \
         with a `reset` instead if more than 1,000 items were missed, if the missed events are not all known, or if \
         the log of events does not have this place. An empty value counts as none",
        schemas::text(&format!("^$|{}", schemas::cursor_pattern())),
        "1689089522000-32850",
    );
    let call = get("/v1/users/{uid}/stream", listen, "listen", "Stream the changes of the home timeline")
        .about(EVENTS)
        .for_users(TokenUse::Own)
        .with_token_in_query()
        .not_for_read_keys()
        .query([last])
        .answers_in(events::MEDIA_TYPE, 200, "Events, without an end", data, show::example())
        .refuses(&[Code::InvalidHeader, Code::UnknownCursor, Code::CrossOrigin, Code::StreamLimit, Code::Stopping]);
    group("streams", [call])
}

/// `GET /v1/users/{uid}/stream`
pub(crate) async fn listen(call: Call) -> Answer {
    call.api.access.check_stream(&call.request)?;
    let user = call.user()?;
    // The gate has checked its value, if it counts.
    let [_] = call.query([ACCESS_TOKEN])?;
    let after = last_event_id(&call)?;
    let Some(place) = response::place(&call)? else { return Ok(response::head()) };
    let most = call.api.config().server.max_streams_per_user;
    let sight = call.sight();
    let reader = call.find_or_give(&user).await?;
    let opened = call.run(Wants::Read, move |feed| open(feed, reader, after, sight, most)).await?;
    response::answer(&call, place, |client| Body::new(&call.api, opened, client, call.caller.clone()))
}

/// The item or place after which a client resumes; `None` for an empty header.
fn last_event_id(call: &Call) -> Result<Option<Position<HostId>>, Problem> {
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

struct Opened {
    reader: UserId,
    stream: Stream,
    /// The first text.
    text: String,
    /// Events while the client was away.
    missed: VecDeque<Event>,
}

fn open(
    feed: &Feed,
    user: UserId,
    after: Option<Position<HostId>>,
    sight: Visibility,
    most: usize,
) -> Result<Opened, Problem> {
    let after = after.map(|after| sight::find_place(feed.read(), &after, sight)).transpose()?;
    let stream = feed::events::listen(feed, user, most)?;
    let (position, place) = stream.start();
    let missed = after.map(|after| feed::events::missed(feed, user, after, position)).transpose()?;
    let (text, missed) = match missed {
        None => (events::place(place), Vec::new()),
        Some(None) => (events::reset(place)?, Vec::new()),
        Some(Some(missed)) => (events::COMMENT.to_owned(), missed),
    };
    Ok(Opened { reader: user, stream, text, missed: missed.into() })
}

/// A part of the missed events.
struct Part {
    /// The text to send; empty only at the end.
    text: String,
    /// Counts the text.
    memory: Share,
    /// The events after it.
    rest: VecDeque<Event>,
}

type Reading = Pin<Box<dyn Future<Output = Result<Part, Problem>>>>;

/// The body of an open stream.
struct Body {
    api: Arc<Api>,
    reader: UserId,
    /// The text to send next.
    text: String,
    /// The missed events; they precede all new ones.
    catch_up: Option<Reading>,
    /// Counts the missed events in `text`, or in the connection until that asks for more.
    held: Option<Share>,
    stream: Stream,
    /// Detects that the client closes its end: events then have no receiver.
    client: Option<Watch>,
    /// The stream ends when the credentials of its sender are no longer valid.
    caller: Caller,
    /// Whether `text` is the last.
    over: bool,
    heartbeat: Interval,
}

impl Body {
    fn new(api: &Arc<Api>, opened: Opened, client: Option<Watch>, caller: Caller) -> Self {
        let mut heartbeat = interval(api.config().presence.heartbeat.get());
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        heartbeat.reset();
        let Opened { reader, stream, text, missed } = opened;
        let api = Arc::clone(api);
        let (catch_up, held, over) = (None, None, false);
        let mut body = Self { api, reader, text, catch_up, held, stream, client, caller, over, heartbeat };
        body.catch_up(missed);
        body
    }

    /// Starts to read the next part of the missed events, if any. A slow client must not hold more than a part in
    /// memory.
    fn catch_up(&mut self, missed: VecDeque<Event>) {
        let (api, whose) = (Arc::clone(&self.api), (self.reader, self.caller.holder));
        self.catch_up = (!missed.is_empty()).then(|| -> Reading { Box::pin(read_part(api, whose, missed)) });
    }

    /// Gathers the text to send; false if the stream is over.
    fn gather(&mut self, context: &mut Context<'_>) -> bool {
        // Taken out, because a finished future must not be polled again.
        while let Some(mut reading) = self.catch_up.take() {
            match reading.as_mut().poll(context) {
                Poll::Pending => {
                    self.catch_up = Some(reading);
                    return true;
                }
                Poll::Ready(Ok(part)) => {
                    self.text.push_str(&part.text);
                    self.held = Some(part.memory);
                    self.catch_up(part.rest);
                    // The next part is read when the connection asks for more.
                    if self.catch_up.is_some() && !self.text.is_empty() {
                        return true;
                    }
                }
                // The client reconnects, and resumes after its last event.
                Poll::Ready(Err(_)) => return false,
            }
        }
        while self.text.len() < PIECE {
            match self.stream.poll(context) {
                Poll::Pending => break,
                Poll::Ready(Some(Item::Frame(frame))) => {
                    let kinds = self.api.feed().reaction_kinds();
                    if events::write(&frame, self.reader, kinds, &mut self.text).is_err() {
                        return false;
                    }
                }
                Poll::Ready(Some(Item::Note(note))) => self.text.push_str(note.text()),
                Poll::Ready(Some(Item::Reset(place))) => match events::reset(place) {
                    Ok(reset) => self.text.push_str(&reset),
                    Err(_) => return false,
                },
                Poll::Ready(None) => return false,
            }
        }
        true
    }
}

/// Waits for a turn to read missed events, because the read takes more memory than the part that is sent.
async fn read_part(api: Arc<Api>, (user, holder): (UserId, Holder), missed: VecDeque<Event>) -> Result<Part, Problem> {
    let turn = api.limits.catching_up.wait_for(holder, 1).await;
    api.run(holder, Wants::Read, move |feed| {
        let part = part(feed, user, missed);
        drop(turn);
        part
    })
    .await
}

/// The next missed events by authors that the client is shown now: as many as fill a piece, or one event if memory is
/// short.
fn part(feed: &Feed, user: UserId, mut rest: VecDeque<Event>) -> Result<Part, Problem> {
    let memory = feed.streaming().streams().memory();
    let room = memory.reserve(PIECE);
    let most = if room.is_some() { PIECE } else { 1 };
    let authors = timeline::authors(feed.read(), user)?;
    let mut text = String::new();
    while text.len() < most && !rest.is_empty() {
        let step: Vec<Event> = rest.iter().take(if room.is_some() { STEP } else { 1 }).cloned().collect();
        let mut full = false;
        let (happened, ids) = feed.read().named(feed::events::happened(feed, &step, Some(user))?)?;
        for (event, happened) in step.iter().zip(happened) {
            let is_elsewhere = match &happened {
                Some(Happened::TakenOff(entry, still)) => still.iter().any(|path| authors.admits(*path, entry.kind)),
                _ => false,
            };
            let is_shown = !is_elsewhere && is_shown(feed, user, &authors, event)?;
            let next = if is_shown { events::told(event, happened, &ids, feed.reaction_kinds())? } else { None }
                .unwrap_or_default();
            full = !text.is_empty() && text.len() + next.len() > most;
            if full {
                break;
            }
            text.push_str(&next);
            rest.pop_front();
        }
        if full {
            break;
        }
    }
    let held = memory.hold(text.len());
    drop(room);
    Ok(Part { text, memory: held, rest })
}

/// Whether a user with these sources is shown an event now.
fn is_shown(feed: &Feed, user: UserId, sources: &ShownSources, event: &Event) -> Result<bool, Problem> {
    let event = feed::events::on_present_paths(feed, event)?;
    let author = event.entry.author;
    let comes = event.paths().any(|path| sources.admits(path, event.entry.kind));
    if !comes || event.to.is_none() || author == user || sources.has(author) {
        return Ok(comes);
    }
    Ok(feed.store().silences(&[(user, author)], Tier::Disk)? == [false])
}

impl MessageBody for Body {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        // The previous text is sent.
        self.held = None;
        if self.client.as_ref().is_some_and(|client| client.is_closed(context)) {
            return Poll::Ready(None);
        }
        self.over = self.over || !self.api.gate.still_admits(&self.caller) || !self.gather(context);
        if !self.text.is_empty() {
            self.heartbeat.reset();
            // If the stream is over, the next poll ends it.
            return Poll::Ready(Some(Ok(std::mem::take(&mut self.text).into())));
        }
        if self.over {
            return Poll::Ready(None);
        }
        self.heartbeat.poll_tick(context).map(|_| Some(Ok(Bytes::from_static(events::COMMENT.as_bytes()))))
    }
}

#[cfg(test)]
mod tests;
