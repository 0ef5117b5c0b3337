use std::future::poll_fn;
use std::task::Waker;

use actix_web::test::TestRequest;

use super::*;
use crate::api::tests::api;
use crate::guards::auth::Permit;
use crate::wire::request_id::RequestId;
use config::Config;
use feed::backlog::Backlog;
use feed::streaming::{Kind, Streaming};
use feed::{PublishItems, Relate, SetBarrier, timeline};
use model::{Barrier, ContentId, Cursor, Entry, HostId};

fn user(raw: u64) -> UserId {
    UserId::new(raw).expect("in range")
}

fn item(id: u64) -> Entry {
    Entry::plain(Cursor { at: id, id: ContentId::new(id).expect("in range") }, user(2))
}

fn missed(id: u64) -> Event {
    Event {
        number: id,
        kind: Kind::Publish,
        entry: item(id),
        broadcast: true,
        to: None,
        given: true,
        logged: id,
        top: id,
    }
}

/// User 1 is shown user 2, whose items up to `last` are published.
fn came(last: u64) -> Arc<Api> {
    let api = api();
    api.feed().submit(Relate::of(HostId::Number(1), vec![(HostId::Number(2), None)], vec![])).expect("follows");
    (1..=last).for_each(|id| happens(&api, &[Kind::Publish], id));
    api
}

fn happens(api: &Api, kinds: &[Kind], id: u64) {
    for kind in kinds {
        let sequencer = api.feed().streaming().sequencer();
        let event = sequencer.take(*kind);
        sequencer.write_group(vec![Event { entry: item(id), broadcast: true, ..event }]);
        sequencer.end_group(true);
    }
}

/// The missed events of a stream that resumes after this place; `None` if it starts with a reset.
fn after(api: &Api, place: Cursor) -> Option<Vec<Event>> {
    let place = place.to_string().parse().expect("a cursor");
    let opened = open(api.feed(), user(1), Some(place), Visibility::Application, 1).expect("opens");
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
async fn a_restored_item_is_sent_once_and_its_place_resumes() {
    let api = came(3);
    happens(&api, &[Kind::Delete, Kind::Restore], 2);
    let missed = after(&api, item(1).cursor).expect("little");
    let told: Vec<_> = missed.iter().map(|event| (event.kind, event.entry)).collect();
    let expected = [(Kind::Publish, 2), (Kind::Publish, 3), (Kind::Delete, 2), (Kind::Mark, 2)];
    assert_eq!(told, expected.map(|(kind, id)| (kind, item(id))));
    assert_eq!(after(&api, missed[3].place()), Some(vec![]));
}

fn body(api: &Arc<Api>, missed: VecDeque<Event>) -> Pin<Box<Body>> {
    let stream = feed::events::listen(api.feed(), user(1), 1).expect("open");
    let request = TestRequest::default().to_http_request();
    let caller = api.admit(&request, &RequestId::begin(&request), Permit::default()).expect("there are no keys");
    Box::pin(Body::new(api, Opened { reader: user(1), stream, text: events::COMMENT.to_owned(), missed }, None, caller))
}

fn poll(body: &mut Pin<Box<Body>>) -> Poll<Option<Bytes>> {
    let polled = body.as_mut().poll_next(&mut Context::from_waker(Waker::noop()));
    polled.map(|piece| piece.map(|Ok(bytes)| bytes))
}

#[actix_web::test]
async fn a_stream_that_cannot_catch_up_ends_with_what_it_has() {
    let api = api();
    let mut body = body(&api, [missed(11)].into());
    let _places = api.limits.blocked.take(Holder::Application, usize::MAX).expect("all free");
    assert_eq!(poll(&mut body), Poll::Ready(Some(Bytes::from_static(events::COMMENT.as_bytes()))));
    assert_eq!((poll(&mut body), poll(&mut body)), (Poll::Ready(None), Poll::Ready(None)));
}

#[test]
fn whom_a_reader_is_shown_the_streams_know_before_a_change_is_answered() {
    let api = api();
    let (feed, streams) = (api.feed(), api.feed().streaming().streams());
    let _stream = feed::events::listen(feed, user(1), 1).expect("open");
    let follow = |yes: bool| {
        let target = HostId::Number(2);
        let (follows, unfollows) = if yes { (vec![(target, None)], vec![]) } else { (vec![], vec![target]) };
        feed.submit(Relate::of(HostId::Number(1), follows, unfollows)).expect("a change");
    };
    let bar = |who, target, barrier, yes| {
        feed.submit(SetBarrier { user: HostId::Number(who), target: HostId::Number(target), barrier, raised: yes })
            .expect("a change");
    };
    let changes: [(&dyn Fn(), bool); 15] = [
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
        (&|| bar(2, 1, Barrier::Block, true), false),
        (&|| bar(2, 1, Barrier::Block, false), false),
        (&|| follow(true), true),
        (&|| bar(1, 2, Barrier::Block, true), false),
    ];
    for (place, (change, shown)) in changes.into_iter().enumerate() {
        change();
        assert_eq!(streams.has_listeners([user(2)]), shown, "change {place}");
        assert_eq!(timeline::authors(feed.read(), user(1)).expect("reads").contains(&user(2)), shown, "change {place}");
    }
}

/// User 1 follows user 2, and one item is imported.
fn import(feed: &Feed, json: &str) {
    feed.submit(Relate::of(HostId::Number(1), vec![(HostId::Number(2), None)], vec![])).expect("follows");
    feed.import(vec![serde_json::from_str(json).expect("a draft")]).expect("imports");
}

#[test]
fn imported_items_are_a_gap() {
    let api = api();
    let (_, place) = api.feed().streaming().sequencer().mark();
    let missed = |after| {
        let end = api.feed().streaming().sequencer().end();
        feed::events::missed(api.feed(), user(1), after, end).expect("reads").map(|missed| missed.len())
    };
    assert_eq!((missed(place), missed(Cursor::OLDEST)), (Some(0), None));
    let item = r#"{"author_id":2,"content_id":11,"published_at":1000}"#;
    import(api.feed(), item);
    let (_, behind) = api.feed().streaming().sequencer().mark();
    assert_eq!((missed(place), missed(behind)), (None, Some(0)));
    import(api.feed(), item);
    assert_eq!(missed(behind), Some(0), "once more is no change");
}

#[test]
fn a_trimmed_or_unknown_place_is_a_reset_before_the_rest() {
    let api = api();
    let feed = api.feed();
    feed.submit(Relate::of(HostId::Number(1), vec![(HostId::Number(2), None)], vec![])).expect("follows");
    let (_, begin) = feed.streaming().sequencer().mark();
    let mut cursors = Vec::new();
    for id in 1..=8 {
        let draft = format!(r#"{{"author_id":2,"content_id":{id}}}"#);
        let published =
            feed.submit(PublishItems::all(vec![serde_json::from_str(&draft).expect("a draft")])).expect("publishes");
        cursors.push(published[0].0.cursor());
    }
    let restarted = || {
        let (backlog, streaming) = (Arc::new(Backlog::new(10)), Arc::new(Streaming::new(1000)));
        Feed::new(Arc::clone(feed.store()), backlog, streaming, &Config::default()).expect("opens")
    };
    let missed = |feed: &Feed, after| {
        let end = feed.streaming().sequencer().end();
        feed::events::missed(feed, user(1), after, end).expect("reads").map(|missed| missed.len())
    };
    // Places that this log never had: of items, and of events with another number or time.
    let unknown = |feed: &Feed| {
        let (end, newest) = feed.streaming().sequencer().mark();
        let [first] = &feed.store().logged(0, 1).expect("reads")[..] else { panic!("no event") };
        let number = |number: u64, at| Cursor { at, id: ContentId::new((1 << 62) | number).expect("in range") };
        [
            Cursor::OLDEST,
            Cursor { id: ContentId::MAX, ..cursors[3] },
            Cursor { id: ContentId::new(100).expect("in range"), ..cursors[7] },
            Cursor { at: cursors[7].at + 1, id: ContentId::MIN },
            Cursor { at: u64::MAX >> 1, ..cursors[7] },
            Cursor { at: newest.at + 1, ..newest },
            number(end, newest.at),
            number(end + 1000, newest.at + 1000),
            number(0, first.times().0),
        ]
    };
    for feed in [feed, &restarted()] {
        assert_eq!(
            [begin, cursors[0], cursors[4], cursors[7]].map(|after| missed(feed, after)),
            [8, 7, 3, 0].map(Some)
        );
        assert_eq!(unknown(feed).map(|after| missed(feed, after)), [None; 9]);
    }
    // The newest three stay; one more does no harm.
    feed::events::trim(feed, 3, 10).expect("trims");
    assert_eq!(missed(feed, cursors[4]), Some(3));
    feed::events::trim(feed, 3, 5).expect("trims");
    for feed in [feed, &restarted()] {
        assert_eq!(
            [begin, cursors[3], cursors[5], cursors[7]].map(|after| missed(feed, after)),
            [None, None, Some(2), Some(0)]
        );
        assert_eq!(unknown(feed).map(|after| missed(feed, after)), [None; 9]);
    }
}

#[actix_web::test]
async fn missed_items_are_read_as_the_client_takes_them() {
    let api = api();
    let streams = api.feed().streaming().streams();
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
