//! `/v1/users/{uid}/stream`: server-sent events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use actix_web::HttpResponse;
use actix_web::body::{BodySize, MessageBody};
use actix_web::http::header::CACHE_CONTROL;
use actix_web::http::{Method, Version};
use actix_web::web::Bytes;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::api::Api;
use super::call::{Answer, Call};
use super::connections::Held;
use super::events;
use super::problem::Problem;
use crate::feed::Feed;
use crate::live::{Event, Item, Share, Stream};
use crate::model::{Cursor, UserId};

/// Items that are read at once for a client that catches up.
const STEP: usize = 8;
/// What goes to the connection at once, bytes, unless one event alone is larger.
const PIECE: usize = 16 << 10;

/// `GET /v1/users/{uid}/stream`
pub(super) async fn listen(call: Call) -> Answer {
    let user = call.user()?;
    call.no_query()?;
    let after = last_event_id(&call)?;
    if call.api.is_stopping() {
        return Err(Problem::stopping());
    }
    let mut response = HttpResponse::Ok();
    response.content_type(events::MEDIA_TYPE);
    response.insert_header((CACHE_CONTROL, "no-store")).insert_header(("x-accel-buffering", "no"));
    if call.request.method() == Method::HEAD {
        return Ok(response.finish());
    }
    let place = call.api.limits.streams.take(1)?;
    let most = call.api.streams_per_user;
    let opened = call.block(move |feed| open(feed, user, after, most)).await?;
    // The connection ends with the stream, and the stream's place is free when both have ended.
    response.force_close();
    match call.request.conn_data::<Held>() {
        Some(connection) => connection.keep(place),
        None => return Err(Problem::internal("nothing is known of this connection")),
    }
    let mut response = response.body(Body::new(&call.api, user, opened));
    // HTTP/1.0 knows no chunks: the body is sent as it is, and the end of the connection ends it.
    response.head_mut().no_chunking(call.request.version() < Version::HTTP_11);
    Ok(response)
}

/// The item or place after which a client wants to go on; an empty header is none.
fn last_event_id(call: &Call) -> Result<Option<Cursor>, Problem> {
    let wrong = |what: &str| Problem::invalid_header(format_args!("last-event-id: {what}"));
    let mut values = call.request.headers().get_all("last-event-id");
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(wrong("given twice"));
    }
    if value.is_empty() {
        return Ok(None);
    }
    let text = value.to_str().map_err(|_| wrong("a cursor is plain text"))?;
    text.parse().map(Some).map_err(|e| wrong(&format!("{e}, not \"{text}\"")))
}

struct Opened {
    stream: Stream,
    /// What to begin with.
    text: String,
    /// What happened while the client was away.
    missed: VecDeque<Event>,
}

fn open(feed: &Feed, user: UserId, after: Option<Cursor>, most: usize) -> Result<Opened, Problem> {
    let stream = feed.listen(user, most)?;
    let (position, place) = stream.start();
    let missed = after.map(|after| feed.missed(user, after, position)).transpose()?;
    let (text, missed) = match missed {
        None => (events::place(place), Vec::new()),
        Some(None) => (events::reset(place)?, Vec::new()),
        Some(Some(missed)) => (events::COMMENT.to_owned(), missed),
    };
    Ok(Opened { stream, text, missed: missed.into() })
}

/// Some of what a client missed.
struct Part {
    /// As it goes out; empty only at the end.
    text: String,
    /// What counts it.
    memory: Share,
    /// The events that come after it.
    rest: VecDeque<Event>,
}

type Reading = Pin<Box<dyn Future<Output = Result<Part, Problem>>>>;

/// An open stream on its way to the client.
struct Body {
    api: Arc<Api>,
    user: UserId,
    /// What goes out next.
    text: String,
    /// What the client missed; before all that is new.
    catch_up: Option<Reading>,
    /// Counts what was missed and is in `text`, or with the connection: until that asks for more.
    held: Option<Share>,
    stream: Stream,
    /// Nothing comes after `text`.
    over: bool,
    heartbeat: Interval,
}

impl Body {
    fn new(api: &Arc<Api>, user: UserId, opened: Opened) -> Self {
        let mut heartbeat = interval(api.heartbeat);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        heartbeat.reset();
        let (api, stream) = (Arc::clone(api), opened.stream);
        let text = opened.text;
        let mut body = Self { api, user, text, catch_up: None, held: None, stream, over: false, heartbeat };
        body.catch_up(opened.missed);
        body
    }

    /// Begins to read the next part of what the client missed, if there is any. Not all of it at once: a
    /// client that reads slowly is not to hold more than a part in memory.
    fn catch_up(&mut self, missed: VecDeque<Event>) {
        let (api, user) = (Arc::clone(&self.api), self.user);
        self.catch_up = (!missed.is_empty()).then(|| -> Reading { Box::pin(read_part(api, user, missed)) });
    }

    /// Gathers what there is to send; false once the stream is over.
    fn gather(&mut self, context: &mut Context<'_>) -> bool {
        // Taken out, for what has ended must not be asked again.
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
                    // The next one is read when the connection asks for more.
                    if self.catch_up.is_some() && !self.text.is_empty() {
                        return true;
                    }
                }
                // The client comes back, and goes on from the last event it got.
                Poll::Ready(Err(_)) => return false,
            }
        }
        while self.text.len() < PIECE {
            match self.stream.poll(context) {
                Poll::Pending => break,
                Poll::Ready(Some(Item::Frame(frame))) => self.text.push_str(frame.text()),
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

/// Waits for a turn to read what a client missed: what is read is larger than what of it goes out at once.
async fn read_part(api: Arc<Api>, user: UserId, missed: VecDeque<Event>) -> Result<Part, Problem> {
    let turn = api.limits.catching_up.wait_for(1).await?;
    api.block(move |feed| {
        let part = part(feed, user, missed);
        drop(turn);
        part
    })
    .await
}

/// The next events that a client missed, of those whose authors it is shown by now: as many as make a
/// piece, or one where memory is short.
fn part(feed: &Feed, user: UserId, mut rest: VecDeque<Event>) -> Result<Part, Problem> {
    let memory = feed.live().streams().memory();
    let room = memory.reserve(PIECE);
    let most = if room.is_some() { PIECE } else { 1 };
    let authors = feed.shown_to(user)?;
    let mut text = String::new();
    while text.len() < most && !rest.is_empty() {
        let step: Vec<Event> = rest.iter().take(if room.is_some() { STEP } else { 1 }).copied().collect();
        let mut full = false;
        for (event, happened) in step.iter().zip(feed.happened(&step)?) {
            let is_shown = authors.binary_search(&event.entry.author).is_ok();
            let next = if is_shown { events::told(event, happened)? } else { None }.unwrap_or_default();
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

impl MessageBody for Body {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        // What was handed over last is on its way.
        self.held = None;
        self.over = self.over || !self.gather(context);
        if !self.text.is_empty() {
            self.heartbeat.reset();
            // What ended meanwhile ends at the next look.
            return Poll::Ready(Some(Ok(std::mem::take(&mut self.text).into())));
        }
        if self.over {
            return Poll::Ready(None);
        }
        self.heartbeat.poll_tick(context).map(|_| Some(Ok(Bytes::from_static(events::COMMENT.as_bytes()))))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Waker;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::http::api::tests::api;
    use crate::live::{Flight, Kind};
    use crate::model::{Barrier, ContentId, Draft, Entry, Publish};
    use crate::store::Tier;

    fn user(raw: u64) -> UserId {
        UserId::new(raw).expect("in range")
    }

    fn item(id: u64) -> Entry {
        Entry { cursor: Cursor { at: id, id: ContentId::new(id).expect("in range") }, author: user(2) }
    }

    fn missed(id: u64) -> Event {
        Event { kind: Kind::Publish, entry: item(id), logged: id, place: item(id).cursor }
    }

    /// User 1 is shown user 2, of whom items up to this one came.
    fn came(last: u64) -> Arc<Api> {
        let api = api();
        api.feed().relate(user(1), &[(user(2), None)], &[]).expect("follows");
        (1..=last).for_each(|id| happens(&api, &[Kind::Publish], id));
        api
    }

    fn happens(api: &Api, kinds: &[Kind], id: u64) {
        kinds.iter().for_each(|kind| api.feed().live().sequencer().changed(*kind, item(id)));
    }

    /// What a stream begins with that goes on after this place; `None` if that is a reset.
    fn after(api: &Api, place: Cursor) -> Option<Vec<Event>> {
        let opened = open(api.feed(), user(1), Some(place), 1).expect("opens");
        (opened.text == events::COMMENT).then(|| opened.missed.into())
    }

    fn count(api: &Api) -> Option<usize> {
        after(api, item(1).cursor).map(|missed| missed.len())
    }

    #[actix_web::test]
    async fn missed_items_are_counted_and_other_events_bounded() {
        let api = came(1001);
        assert_eq!(count(&api), Some(1000));
        (0..2997).for_each(|_| happens(&api, &[Kind::Edit], 2));
        happens(&api, &[Kind::Delete, Kind::Restore, Kind::Edit], 3);
        assert_eq!(count(&api), Some(4000));
        happens(&api, &[Kind::Delete], 3);
        assert_eq!(count(&api), None);
    }

    #[actix_web::test]
    async fn one_item_more_is_too_much_whether_it_came_or_came_back() {
        for kind in [Kind::Publish, Kind::Restore] {
            let api = came(1001);
            happens(&api, &[Kind::Edit], 1);
            assert_eq!(count(&api), Some(1001));
            happens(&api, &[kind], 1002);
            assert_eq!(count(&api), None, "{kind:?}");
        }
    }

    #[actix_web::test]
    async fn what_came_back_comes_once_and_leads_on_from_there() {
        let api = came(3);
        happens(&api, &[Kind::Delete, Kind::Restore], 2);
        let missed = after(&api, item(1).cursor).expect("little");
        let told: Vec<_> = missed.iter().map(|event| (event.kind, event.entry)).collect();
        let expected = [(Kind::Publish, 2), (Kind::Publish, 3), (Kind::Delete, 2), (Kind::Mark, 2)];
        assert_eq!(told, expected.map(|(kind, id)| (kind, item(id))));
        assert_eq!(after(&api, missed[3].place), Some(vec![]));
    }

    fn body(api: &Arc<Api>, missed: VecDeque<Event>) -> Pin<Box<Body>> {
        let stream = api.feed().listen(user(1), 1).expect("open");
        Box::pin(Body::new(api, user(1), Opened { stream, text: events::COMMENT.to_owned(), missed }))
    }

    fn poll(body: &mut Pin<Box<Body>>) -> Poll<Option<Bytes>> {
        let polled = body.as_mut().poll_next(&mut Context::from_waker(Waker::noop()));
        polled.map(|piece| piece.map(|Ok(bytes)| bytes))
    }

    #[actix_web::test]
    async fn a_stream_that_cannot_catch_up_ends_with_what_it_has() {
        let api = api();
        let mut body = body(&api, [missed(11)].into());
        let _places = api.limits.blocked.take(usize::MAX).expect("all free");
        assert_eq!(poll(&mut body), Poll::Ready(Some(Bytes::from_static(events::COMMENT.as_bytes()))));
        assert_eq!((poll(&mut body), poll(&mut body)), (Poll::Ready(None), Poll::Ready(None)));
    }

    #[test]
    fn whom_a_reader_is_shown_the_streams_know_before_a_change_is_answered() {
        let api = api();
        let (feed, streams) = (api.feed(), api.feed().live().streams());
        let _stream = feed.listen(user(1), 1).expect("open");
        let follow = |yes: bool| {
            let (follows, unfollows) = if yes { (vec![(user(2), None)], vec![]) } else { (vec![], vec![user(2)]) };
            feed.relate(user(1), &follows, &unfollows).expect("a change");
        };
        let bar = |who, target, barrier, yes| {
            feed.set_barrier(user(who), user(target), barrier, yes).expect("a change");
        };
        let changes: [(&dyn Fn(), bool); 11] = [
            (&|| follow(true), true),
            (&|| bar(1, 2, Barrier::Mute, true), false),
            (&|| bar(2, 1, Barrier::Hide, true), false),
            (&|| bar(1, 2, Barrier::Mute, false), false),
            (&|| bar(2, 1, Barrier::Hide, false), true),
            (&|| bar(2, 1, Barrier::Mute, true), true),
            (&|| bar(1, 2, Barrier::Hide, true), true),
            (&|| follow(false), false),
            (&|| bar(1, 2, Barrier::Mute, true), false),
            (&|| follow(true), false),
            (&|| bar(1, 2, Barrier::Mute, false), true),
        ];
        for (place, (change, shown)) in changes.into_iter().enumerate() {
            change();
            assert_eq!(streams.has_listeners(user(2)), shown, "change {place}");
            assert_eq!(feed.shown_to(user(1)).expect("reads").contains(&user(2)), shown, "change {place}");
        }
    }

    /// Has user 1 follow user 2, of whom there is then an item that the log knows nothing of.
    fn import(feed: &Feed, json: &str) -> Publish {
        feed.relate(user(1), &[(user(2), None)], &[]).expect("follows");
        let draft: Draft = serde_json::from_str(json).expect("a draft");
        let id = draft.content_id.expect("named");
        feed.import(vec![draft]).expect("imports");
        let content = feed.contents(&[id], Tier::Disk).expect("reads").remove(0);
        Publish { content: Arc::unwrap_or_clone(content), time_given: true, id_made: false }
    }

    /// What a reader missed who asks for it while an item is being written once more, which ends so.
    fn rewritten(feed: &Feed, item: &Publish, end: impl FnOnce(Flight<'_>) + Send) -> Option<Vec<Cursor>> {
        let flight = feed.live().sequencer().begin(&mut [item.clone()]);
        thread::scope(|scope| {
            let (began, writing) = (Instant::now(), Duration::from_millis(50));
            scope.spawn(move || {
                thread::sleep(writing);
                end(flight);
            });
            let missed = feed.missed(user(1), Cursor::OLDEST, 0).expect("reads");
            assert!(began.elapsed() >= writing, "nobody knew yet");
            missed.map(|missed| missed.iter().map(|event| event.entry.cursor).collect())
        })
    }

    #[test]
    fn what_is_being_published_once_more_is_missed_unless_it_makes_an_event() {
        let api = api();
        let item = import(api.feed(), r#"{"author_id":2,"content_id":11,"published_at":1000}"#);
        let missed = |end: &(dyn Fn(Flight<'_>) + Sync)| rewritten(api.feed(), &item, end);
        let cursor = item.content.cursor();
        assert_eq!(missed(&|flight| drop(flight)), Some(vec![cursor]), "a repeat: the log will never have it");
        assert_eq!(missed(&|_| thread::sleep(Duration::from_secs(2))), None, "nobody waits for ever");
        assert_eq!(missed(&|mut flight| flight.commit(item.content.entry())), Some(vec![]), "now the log has it");
    }

    #[actix_web::test]
    async fn what_was_missed_is_read_as_it_is_taken_and_counts_as_long() {
        let api = api();
        let streams = api.feed().live().streams();
        let used = || usize::try_from(streams.usage().memory.used).expect("fits");
        for (id, size) in [(11, 60_000), (12, 1000)] {
            let text = "x".repeat(size);
            let item = format!(r#"{{"author_id":2,"content_id":{id},"published_at":{id},"text":"{text}"}}"#);
            import(api.feed(), &item);
        }
        for (id, is_short, some) in [(11, false, 1..=1), (12, false, STEP + 1..=16), (12, true, 1..=1)] {
            let _others = is_short.then(|| streams.memory().hold(64 << 20));
            let before = used();
            let mut body = body(&api, vec![missed(id); 40].into());
            let (mut seen, mut greatest) = (0, 0);
            while seen < 40 {
                let piece = poll_fn(|context| body.as_mut().poll_next(context)).await;
                let Some(Ok(piece)) = piece else { panic!("{seen}") };
                let events = String::from_utf8_lossy(&piece).matches("event: content").count();
                let held = used() - before;
                assert!(events == 0 || held <= piece.len() && held + 3 >= piece.len(), "{held} {}", piece.len());
                (seen, greatest) = (seen + events, greatest.max(events));
            }
            assert!(seen == 40 && some.contains(&greatest), "{id} {is_short}: {greatest} at once");
            drop(body);
            assert_eq!(used(), before);
        }
    }
}
