use super::*;
use crate::streaming::queue::CAPACITY;
use crate::streaming::sequencer::changed;
use crate::streaming::{Kind, Streaming, Viewer};
use model::{Entry, ReactionKind, Reactions};

const MOST: usize = 4;

fn user(raw: u64) -> UserId {
    UserId::new(raw).expect("in range")
}

fn users(raw: &[u64]) -> Vec<UserId> {
    raw.iter().map(|raw| user(*raw)).collect()
}

fn sources(raw: &[u64]) -> ShownSources {
    ShownSources::new(users(raw), Vec::new())
}

/// Opens the first stream of a reader who is shown these authors.
fn opened(streaming: &Streaming, reader: u64, authors: &[u64]) -> Stream {
    let sources = sources(authors);
    streaming.streams().open(user(reader), MOST, || Some(&sources)).expect("opens").expect("has sources")
}

fn more(streaming: &Streaming, reader: u64) -> Stream {
    streaming.streams().open(user(reader), MOST, || None).expect("opens").expect("its sources are known")
}

fn change(streaming: &Streaming, reader: u64, author: u64, shown: bool) {
    let change = ShownChange { source: user(author), is_shown: shown, rule: None, is_silenced: false };
    streaming.streams().change(user(reader), &[change]);
}

/// Adds an event of an item of an author.
fn tell(streaming: &Streaming, author: u64) {
    tell_of(streaming, author, &author.to_string());
}

fn tell_of(streaming: &Streaming, author: u64, text: &str) {
    let position = streaming.sequencer().end();
    changed(streaming.sequencer(), Kind::Edit, Entry::plain(Cursor::OLDEST, user(author)));
    deliver(streaming, position, frame_of(streaming, author, text));
}

/// A frame of an event of an item on the path of its author alone.
fn frame_of(streaming: &Streaming, author: u64, text: &str) -> Frame {
    Frame::of_author(user(author), text.to_owned(), streaming.streams().memory().clone())
}

fn deliver(streaming: &Streaming, position: u64, frame: Frame) {
    streaming.streams().deliver(position, frame).expect("nobody is to be asked");
}

fn poll(stream: &Stream) -> Poll<Option<Item>> {
    stream.poll(&mut Context::from_waker(Waker::noop()))
}

fn take(stream: &Stream) -> Vec<String> {
    let mut taken = Vec::new();
    while let Poll::Ready(Some(item)) = poll(stream) {
        taken.push(match item {
            Item::Frame(frame) => frame.parts(UserId::MIN).0.to_owned(),
            Item::Note(note) => note.text().to_owned(),
            Item::Reset(_) => "reset".to_owned(),
        });
    }
    taken
}

fn is_over(stream: &Stream) -> bool {
    matches!(poll(stream), Poll::Ready(None))
}

#[test]
fn a_stream_gets_what_its_authors_do_from_its_beginning_on() {
    let streaming = Streaming::new(1000);
    let position = streaming.sequencer().end();
    changed(streaming.sequencer(), Kind::Edit, Entry::plain(Cursor::OLDEST, user(2)));
    assert!(
        streaming.streams().open(user(1), MOST, || None).expect("no refusal").is_none(),
        "its sources have changed"
    );
    assert!(!streaming.streams().has_listeners([user(2)]) && streaming.streams().readers().is_empty());
    let (one, other) = (opened(&streaming, 1, &[2, 3]), opened(&streaming, 9, &[2, 3]));
    assert!(streaming.streams().has_listeners([user(2)]) && !streaming.streams().has_listeners([user(7)]));
    deliver(&streaming, position, frame_of(&streaming, 2, "early"));
    for author in [2, 7, 3] {
        tell(&streaming, author);
    }
    for stream in [&one, &other] {
        assert_eq!(take(stream), ["2", "3"]);
    }
    assert_eq!(streaming.streams().usage().events, 4);
    drop((one, other));
    assert!(!streaming.streams().has_listeners([user(2)]));
    assert_eq!((streaming.streams().usage().open, streaming.presence().users(0)), (0, 0));
    assert!(streaming.streams().readers().is_empty());
}

#[test]
fn a_change_of_authors_counts_for_all_that_goes_out_after_it() {
    let streaming = Streaming::new(1000);
    let stream = opened(&streaming, 1, &[2, 3]);
    tell(&streaming, 2);
    tell(&streaming, 3);
    change(&streaming, 1, 2, false);
    change(&streaming, 8, 3, false);
    tell(&streaming, 2);
    change(&streaming, 1, 4, true);
    tell(&streaming, 4);
    assert_eq!(take(&stream), ["3", "4"], "also for what waited");
    assert!(!streaming.streams().has_listeners([user(2)]) && streaming.streams().has_listeners([user(4)]));
    for shown in [true, true, false, false, true] {
        change(&streaming, 1, 2, shown);
    }
    tell(&streaming, 2);
    assert_eq!(take(&stream), ["2"]);
    drop(stream);
    assert!([2, 3, 4].iter().all(|author| !streaming.streams().has_listeners([user(*author)])));
}

#[test]
fn the_streams_of_one_reader_share_what_they_are_shown() {
    let streaming = Streaming::new(1000);
    let mut streams = vec![opened(&streaming, 1, &[2])];
    streams.extend((1..MOST).map(|_| more(&streaming, 1)));
    assert_eq!(streaming.streams().open(user(1), MOST, || None).err(), Some(NotOpened::TooMany));
    assert_eq!((streaming.streams().usage().refused, streaming.streams().usage().open), (1, 4));
    change(&streaming, 1, 3, true);
    tell(&streaming, 2);
    tell(&streaming, 3);
    assert!(streams.iter().all(|stream| take(stream) == ["2", "3"]));
    streams.pop();
    streams.push(more(&streaming, 1));
    // The last one removes the list.
    drop(streams);
    assert!(!streaming.streams().has_listeners([user(2)]) && !streaming.streams().is_open(user(1)));
    assert_eq!((streaming.streams().usage().opening, streaming.streams().usage().open), (0, 0));
}

#[test]
fn an_end_ends_the_streams_of_one_reader_alone() {
    let streaming = Streaming::new(1000);
    let (other, first) = (opened(&streaming, 9, &[4]), opened(&streaming, 1, &[4]));
    let lost = [first, more(&streaming, 1)];
    streaming.streams().end(user(1));
    tell(&streaming, 4);
    assert!(lost.iter().all(is_over));
    assert_eq!(take(&other), ["4"]);
    // Its client reconnects before the old connections are gone.
    let back = opened(&streaming, 1, &[4]);
    assert_eq!(streaming.streams().usage().open, 4);
    drop(lost);
    tell(&streaming, 4);
    assert_eq!(take(&back), ["4"]);
    streaming.streams().end(user(1));
    assert!(is_over(&back) && !is_over(&other));
}

#[test]
fn a_stream_that_lags_gets_a_reset_and_goes_on() {
    let streaming = Streaming::new(1000);
    let slow = opened(&streaming, 1, &[2, 3]);
    let quick = more(&streaming, 1);
    for _ in 0..CAPACITY {
        tell(&streaming, 2);
        assert_eq!(take(&quick), ["2"]);
    }
    tell(&streaming, 3);
    tell(&streaming, 2);
    for (stream, expected) in [(&slow, ["reset", "2"]), (&quick, ["3", "2"])] {
        assert_eq!(take(stream), expected);
    }
    assert_eq!(streaming.streams().usage().resets, 1);
    tell(&streaming, 2);
    let other = opened(&streaming, 9, &[2]);
    tell(&streaming, 2);
    streaming.streams().reset_all();
    tell(&streaming, 3);
    for (stream, expected) in [(&slow, vec!["reset", "3"]), (&quick, vec!["reset", "3"]), (&other, vec!["reset"])] {
        assert_eq!(take(stream), expected);
    }
    streaming.streams().close();
    assert!(is_over(&slow));
    assert_eq!(streaming.streams().open(user(1), MOST, || None).err(), Some(NotOpened::Closed));
}

#[test]
fn an_event_goes_out_when_it_is_known_what_each_reader_did_with_its_item() {
    let streaming = Streaming::new(1000);
    let (one, other) = (opened(&streaming, 1, &[2]), opened(&streaming, 9, &[2, 3]));
    let frame = |reacted| frame_of(&streaming, 2, "ab").with_viewer(1, reacted);
    let position = streaming.sequencer().end();
    deliver(&streaming, position, frame(false));
    assert_eq!((take(&one), take(&other)), (vec!["a".to_owned()], vec!["a".to_owned()]));
    let unasked = |frame| {
        let Unasked { frame, mut readers } =
            streaming.streams().deliver(position, frame).expect_err("somebody is to be asked");
        readers.sort_unstable();
        (*frame, readers)
    };
    let (mut event, readers) = unasked(frame(true));
    assert_eq!(readers, users(&[1, 9]));
    let liked = Reactions::from_iter([ReactionKind::LIKE]);
    let viewer = |reactions| Viewer { reactions, silences: false };
    event.add_viewers(readers.into_iter().map(|reader| (reader, viewer(liked))));
    // Meanwhile others come: by a follow, and by a first stream.
    let third = opened(&streaming, 5, &[3]);
    change(&streaming, 5, 2, true);
    let fourth = opened(&streaming, 6, &[2]);
    let (mut event, readers) = unasked(event);
    assert_eq!(readers, users(&[5, 6]));
    assert!([&one, &other, &third, &fourth].into_iter().all(|stream| take(stream).is_empty()), "nothing is done yet");
    event.add_viewers(readers.into_iter().map(|reader| (reader, viewer(Reactions::default()))));
    deliver(&streaming, streaming.sequencer().end(), event);
    for (stream, reader, reactions) in
        [(&one, 1, liked), (&other, 9, liked), (&third, 5, Reactions::default()), (&fourth, 6, Reactions::default())]
    {
        let Poll::Ready(Some(Item::Frame(frame))) = poll(stream) else { panic!("reader {reader} got nothing") };
        assert_eq!(frame.parts(user(reader)), ("a", Some(reactions), "b"));
    }
}
