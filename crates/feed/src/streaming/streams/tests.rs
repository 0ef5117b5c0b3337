use super::*;
use crate::streaming::queue::CAPACITY;
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

/// Opens a stream; the first of its reader is stale.
fn open(streaming: &Streaming, reader: u64) -> (Stream, Option<Refresh<'_>>) {
    streaming.streams().open(user(reader), MOST).expect("open")
}

/// Opens the first stream of a reader who is shown these authors.
fn opened(streaming: &Streaming, reader: u64, authors: &[u64]) -> Stream {
    let (stream, turn) = open(streaming, reader);
    turn.expect("the first").finish(&sources(authors));
    stream
}

fn more(streaming: &Streaming, reader: u64) -> Stream {
    let (stream, turn) = open(streaming, reader);
    assert!(turn.is_none(), "its authors are known, or being read");
    stream
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
    streaming.sequencer().changed(Kind::Edit, Entry::plain(Cursor::OLDEST, user(author)));
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

fn stale(streaming: &Streaming) -> u64 {
    streaming.streams().usage().stale
}

fn waiting(streaming: &Streaming) -> u64 {
    streaming.streams().memory().fill().used
}

#[test]
fn a_stream_gets_what_its_authors_do_from_its_beginning_on() {
    let streaming = Streaming::new(1000);
    let position = streaming.sequencer().end();
    streaming.sequencer().changed(Kind::Edit, Entry::plain(Cursor::OLDEST, user(2)));
    let ((one, turn), other) = (open(&streaming, 1), opened(&streaming, 9, &[2, 3]));
    assert!(streaming.streams().has_listeners([user(7)]), "nobody knows yet");
    tell_of(&streaming, 2, "first");
    tell(&streaming, 7);
    assert_eq!(take(&one), [""; 0], "nothing before the authors are known");
    turn.expect("the first").finish(&sources(&[2, 3]));
    assert!(streaming.streams().has_listeners([user(2)]) && !streaming.streams().has_listeners([user(7)]));
    deliver(&streaming, position, frame_of(&streaming, 2, "early"));
    for author in [2, 7, 3] {
        tell(&streaming, author);
    }
    for stream in [&one, &other] {
        assert_eq!(take(stream), ["first", "2", "3"]);
    }
    assert_eq!(streaming.streams().usage().events, 6);
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
fn nobody_waits_for_a_stale_reader() {
    let streaming = Streaming::new(1000);
    let (other, (stream, turn)) = (opened(&streaming, 9, &[2]), open(&streaming, 1));
    for text in ["a", "b", "c"] {
        tell_of(&streaming, 2, text);
        assert_eq!((take(&other), take(&stream)), (vec![text.to_owned()], vec![]));
    }
    turn.expect("the first").finish(&sources(&[2]));
    assert_eq!(stale(&streaming), 0);
    tell_of(&streaming, 2, "d");
    assert_eq!((take(&stream).concat(), waiting(&streaming)), ("abcd".to_owned(), 1), "in order, and each once");
    assert_eq!((take(&other).concat(), waiting(&streaming)), ("d".to_owned(), 0));
}

#[test]
fn held_events_are_for_streams_opened_before() {
    let streaming = Streaming::new(1000);
    let (first, turn) = open(&streaming, 1);
    tell_of(&streaming, 2, "a");
    let (second, later) = open(&streaming, 9);
    tell_of(&streaming, 2, "b");
    let third = more(&streaming, 1);
    tell_of(&streaming, 2, "c");
    later.expect("the first").finish(&sources(&[2]));
    assert_eq!((take(&first).concat(), take(&second).concat()), (String::new(), "bc".to_owned()));
    turn.expect("the first").finish(&sources(&[2]));
    assert_eq!((take(&first).concat(), take(&third).concat()), ("abc".to_owned(), "c".to_owned()));
    assert_eq!(waiting(&streaming), 0);
}

#[test]
fn changes_while_the_authors_are_read_are_not_lost() {
    let streaming = Streaming::new(1000);
    let (stream, turn) = open(&streaming, 1);
    tell(&streaming, 2);
    tell(&streaming, 4);
    for (author, shown) in [(2, true), (4, false), (2, false), (4, true), (5, true)] {
        change(&streaming, 1, author, shown);
    }
    // As it was when the turn began, or somewhere in the middle.
    turn.expect("the first").finish(&sources(&[2, 3, 5]));
    (2..=5).for_each(|author| tell(&streaming, author));
    assert_eq!(take(&stream), ["4", "3", "4", "5"]);
    drop(stream);
    assert!((2..=5).all(|author| !streaming.streams().has_listeners([user(author)])));
}

#[test]
fn the_streams_of_one_reader_share_what_they_are_shown() {
    let streaming = Streaming::new(1000);
    let mut streams = vec![opened(&streaming, 1, &[2])];
    streams.extend((1..MOST).map(|_| more(&streaming, 1)));
    assert_eq!(streaming.streams().open(user(1), MOST).err(), Some(NotOpened::TooMany));
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
    drop(open(&streaming, 1));
    assert_eq!((stale(&streaming), streaming.streams().usage().open), (0, 0), "one that was never settled");
}

#[test]
fn a_turn_that_is_given_up_ends_the_streams_of_its_reader_alone() {
    let streaming = Streaming::new(1000);
    let (other, (first, turn)) = (opened(&streaming, 9, &[4]), open(&streaming, 1));
    let lost = [first, more(&streaming, 1)];
    drop(turn);
    tell(&streaming, 4);
    assert!(lost.iter().all(is_over));
    assert_eq!((take(&other), stale(&streaming)), (vec!["4".to_owned()], 0));
    // Its client reconnects before the old connections are gone.
    let back = opened(&streaming, 1, &[4]);
    assert_eq!(streaming.streams().usage().open, 4);
    drop(lost);
    tell(&streaming, 4);
    assert_eq!(take(&back), ["4"]);
    streaming.streams().end(user(1));
    assert!(is_over(&back) && !is_over(&other));
    drop(back);
    // A turn that outlives its reader has no effect.
    let (gone, late) = open(&streaming, 1);
    drop(gone);
    let (again, turn) = open(&streaming, 1);
    late.expect("the first").finish(&sources(&[7]));
    assert!(stale(&streaming) == 1 && !is_over(&again));
    turn.expect("the first").finish(&sources(&[4]));
    tell(&streaming, 7);
    tell(&streaming, 4);
    assert_eq!(take(&again), ["4"]);
}

#[test]
fn a_stream_stale_for_too_long_gets_a_reset_and_goes_on() {
    let streaming = Streaming::new(1000);
    let (other, (stream, turn)) = (opened(&streaming, 9, &[2]), open(&streaming, 1));
    for _ in 0..=CAPACITY {
        tell(&streaming, 2);
        assert_eq!(take(&other), ["2"]);
    }
    let late = more(&streaming, 1);
    tell_of(&streaming, 2, "since");
    turn.expect("the first").finish(&sources(&[2]));
    tell_of(&streaming, 2, "after");
    for (stream, expected) in [(&stream, ["reset", "after"]), (&late, ["since", "after"]), (&other, ["since", "after"])]
    {
        assert_eq!(take(stream), expected);
    }
    assert_eq!((streaming.streams().usage().resets, waiting(&streaming)), (1, 0));
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
    let (stale, turn) = open(&streaming, 9);
    tell(&streaming, 2);
    streaming.streams().reset_all();
    turn.expect("the first").finish(&sources(&[2]));
    tell(&streaming, 3);
    for (stream, expected) in [(&slow, vec!["reset", "3"]), (&quick, vec!["reset", "3"]), (&stale, vec!["reset"])] {
        assert_eq!(take(stream), expected);
    }
    streaming.streams().close();
    assert!(is_over(&slow));
    assert_eq!(streaming.streams().open(user(1), MOST).err(), Some(NotOpened::Closed));
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
    let (fourth, turn) = open(&streaming, 6);
    let (mut event, readers) = unasked(event);
    assert_eq!(readers, users(&[5, 6]));
    assert!([&one, &other, &third, &fourth].into_iter().all(|stream| take(stream).is_empty()), "nothing is done yet");
    event.add_viewers(readers.into_iter().map(|reader| (reader, viewer(Reactions::default()))));
    deliver(&streaming, streaming.sequencer().end(), event);
    turn.expect("the first").finish(&sources(&[2]));
    for (stream, reader, reactions) in
        [(&one, 1, liked), (&other, 9, liked), (&third, 5, Reactions::default()), (&fourth, 6, Reactions::default())]
    {
        let Poll::Ready(Some(Item::Frame(frame))) = poll(stream) else { panic!("reader {reader} got nothing") };
        assert_eq!(frame.parts(user(reader)), ("a", Some(reactions), "b"));
    }
}
