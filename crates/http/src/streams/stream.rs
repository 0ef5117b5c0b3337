//! `/v1/users/{uid}/stream`: server-sent events.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Context, Poll};

use super::events;
use super::response::{self, Piece, Source};
use crate::prelude::*;
use feed::streaming::{Event, Item, Stream};
use feed::{events::Happened, timeline, visibility};
use kv::Tier;
use model::{ShownSources, UserId};

/// Items read at once for a client that catches up.
const STEP: usize = 8;
/// Bytes sent to the connection at once, unless one event alone is larger.
const PIECE: usize = 16 << 10;

endpoints! { "streams" = "Presence of users, and streams of the changes of timelines":
    let about = "The `data` of an event, as in the table of the call `listen`";
    let data = shape::named("EventData", schemas::any_object().description(Some(about)).build());
    let last = parameters::header(
        "Last-Event-ID",
        "The cursor of an item, or another `id` of this stream: the stream begins with the events after it. It begins \
         with a `reset` instead if more than 1,000 items were missed, if the missed events are not all known, or if \
         the log of events does not have this place. An empty value counts as none",
        schemas::text(&format!("^$|{}", schemas::cursor_pattern())),
        "1689089522000-32850",
    );

    /// Stream the changes of the home timeline
    ///
    /// Each event has a name, and JSON in `data`:
    ///
    /// | event | meaning | data |
    /// |---|---|---|
    /// | `content` | an item was published or restored; `id` is its cursor | `Content`, with `viewer` |
    /// | `edit` | an item was edited | `Content`, with `viewer` |
    /// | `delete` | an item was deleted | `ContentRef` |
    /// | `notice` | a notice of the user came | `Notice` |
    /// | `marker` | a marker of the user moved, perhaps on another device | `{of, list?, cursor}`; `of` is `timeline`, `list` or `notices` |
    /// | `reset` | events were left out: load the timeline again, and keep the stream open | `{}` |
    ///
    /// An `id` without an event is a newer place to resume from. After some silence the server sends a comment line. The
    /// stream ends when the server stops, or when the client does not read. A user can have at most
    /// `server.max_streams_per_user` open streams. The schema describes the `data` of one event.
    ///
    /// The answer has no end. A generated client that reads each answer to its end would wait for ever: read the stream with an
    /// HTTP client that gives an answer as it arrives.
    get("/v1/users/{uid}/stream", listen, "listen")
        .for_users(TokenUse::Own)
        .with_token_in_query()
        .not_for_read_keys()
        .query([last])
        .answers_in(events::MEDIA_TYPE, 200, "Events, without an end", data, example("EventData"))
        .refuses(&[Code::InvalidHeader, Code::UnknownCursor, Code::CrossOrigin, Code::StreamLimit, Code::Stopping]);
}

/// `GET /v1/users/{uid}/stream`
pub(crate) async fn listen(call: Call) -> Answer {
    call.api.admission.access.check_stream(&call.request)?;
    let user = call.user()?;
    let after = response::last_event_id(&call)?;
    let Some(place) = response::place(&call)? else { return Ok(response::head(events::MEDIA_TYPE)) };
    let most = call.api.config().server.max_streams_per_user;
    let visibility = call.visibility();
    let reader = call.find_or_give(&user).await?;
    let (api, holder) = (Arc::clone(&call.api), call.caller.holder);
    let open = move |feed: &Feed| {
        let after = after.map(|after| visibility::find_place(feed.read(), &after, visibility)).transpose()?;
        let stream = feed::events::listen(feed, reader, most)?;
        let (position, place) = stream.start();
        let missed = after.map(|after| feed::events::missed(feed, reader, after, position)).transpose()?;
        let (text, missed) = match missed {
            None => (events::place(place), Vec::new()),
            Some(None) => (events::reset(place)?, Vec::new()),
            Some(Some(missed)) => (events::COMMENT.to_owned(), missed),
        };
        Ok::<_, Error>((Some(text.into()), Events { api, holder, reader, stream, missed: missed.into() }))
    };
    let opened = call.run(Wants::Read, open).await?;
    let heartbeat = call.api.config().presence.heartbeat.get();
    response::answer(&call, place, (events::MEDIA_TYPE, Some(heartbeat)), opened)
}

/// The events of an open stream. All that were missed precede the new ones.
struct Events {
    api: Arc<Api>,
    holder: Holder,
    reader: UserId,
    stream: Stream,
    /// Events while the client was away.
    missed: VecDeque<Event>,
}

impl Events {
    /// New events as text, as many as there are for a piece.
    fn poll_new(&self, context: &mut Context<'_>) -> Poll<Option<String>> {
        let mut text = String::new();
        while text.len() < PIECE {
            let added = match self.stream.poll(context) {
                Poll::Pending if text.is_empty() => return Poll::Pending,
                Poll::Pending => break,
                Poll::Ready(Some(Item::Frame(frame))) => {
                    events::write(&frame, self.reader, self.api.feed().reaction_kinds(), &mut text)
                }
                Poll::Ready(Some(Item::Note(note))) => {
                    text.push_str(note.text());
                    Ok(())
                }
                Poll::Ready(Some(Item::Reset(place))) => events::reset(place).map(|reset| text.push_str(&reset)),
                // The text so far is sent before the end.
                Poll::Ready(None) => return Poll::Ready(Some(text).filter(|text| !text.is_empty())),
            };
            if added.is_err() {
                return Poll::Ready(None);
            }
        }
        Poll::Ready(Some(text))
    }
}

impl Source for Events {
    async fn next(&mut self) -> Option<Piece> {
        while !self.missed.is_empty() {
            let (missed, reader) = (std::mem::take(&mut self.missed), self.reader);
            // If it cannot be read, the client reconnects, and resumes after its last event.
            let read = move |feed: &Feed| part(feed, reader, missed);
            let (piece, rest) = response::catch_up(&self.api, self.holder, read).await.ok()?;
            self.missed = rest;
            if !piece.bytes.is_empty() {
                return Some(piece);
            }
        }
        poll_fn(|context| self.poll_new(context)).await.map(Piece::from)
    }
}

/// The next missed events by authors that the client is shown now, and the events after them: as many as fill a piece, or
/// one event if memory is short. So a slow client holds no more than a part in memory. The piece is empty only at the end.
fn part(feed: &Feed, user: UserId, mut rest: VecDeque<Event>) -> Result<(Piece, VecDeque<Event>)> {
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
    Ok((Piece { bytes: text.into(), memory: Some(held) }, rest))
}

/// Whether a user with these sources is shown an event now.
fn is_shown(feed: &Feed, user: UserId, sources: &ShownSources, event: &Event) -> Result<bool> {
    let event = feed::events::on_present_paths(feed, event)?;
    let author = event.entry.author;
    let comes = event.paths().any(|path| sources.admits(path, event.entry.kind));
    if !comes || event.to.is_none() || author == user || sources.has(author) {
        return Ok(comes);
    }
    Ok(feed::restrictions::tables::silences(feed.store(), &[(user, author)], Tier::Disk)? == [false])
}
