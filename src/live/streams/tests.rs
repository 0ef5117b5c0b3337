use super::*;
use crate::live::queue::CAPACITY;
use crate::live::{Kind, Live};
use crate::model::{Entry, Reactions};

const MOST: usize = 4;

fn user(raw: u64) -> UserId {
    UserId::new(raw).expect("in range")
}

fn users(raw: &[u64]) -> Vec<UserId> {
    raw.iter().map(|raw| user(*raw)).collect()
}

/// Opens a stream; the first of its reader is stale.
fn open(live: &Live, reader: u64) -> (Stream, Option<Turn<'_>>) {
    live.streams().open(user(reader), MOST).expect("open")
}

/// Opens the first stream of a reader who is shown these authors.
fn opened(live: &Live, reader: u64, authors: &[u64]) -> Stream {
    let (stream, turn) = open(live, reader);
    turn.expect("the first").settle(&users(authors));
    stream
}

fn more(live: &Live, reader: u64) -> Stream {
    let (stream, turn) = open(live, reader);
    assert!(turn.is_none(), "its authors are known, or being read");
    stream
}

fn change(live: &Live, reader: u64, author: u64, shown: bool) {
    live.streams().change(user(reader), &[(user(author), shown)]);
}

/// Something happens to an item of an author.
fn tell(live: &Live, author: u64) {
    tell_of(live, author, &author.to_string());
}

fn tell_of(live: &Live, author: u64, text: &str) {
    let position = live.sequencer().end();
    live.sequencer().changed(Kind::Edit, Entry { cursor: Cursor::OLDEST, author: user(author) });
    deliver(live, position, live.streams().frame(user(author), text.to_owned()));
}

fn deliver(live: &Live, position: u64, frame: Frame) {
    live.streams().deliver(position, frame).expect("nobody is to be asked");
}

fn poll(stream: &Stream) -> Poll<Option<Item>> {
    stream.poll(&mut Context::from_waker(Waker::noop()))
}

fn take(stream: &Stream) -> Vec<String> {
    let mut taken = Vec::new();
    while let Poll::Ready(Some(item)) = poll(stream) {
        taken.push(match item {
            Item::Frame(frame) => frame.parts(UserId::MIN).0.to_owned(),
            Item::Reset(_) => "reset".to_owned(),
        });
    }
    taken
}

fn is_over(stream: &Stream) -> bool {
    matches!(poll(stream), Poll::Ready(None))
}

fn stale(live: &Live) -> u64 {
    live.streams().usage().stale
}

fn waiting(live: &Live) -> u64 {
    live.streams().memory().fill().used
}

#[test]
fn a_stream_gets_what_its_authors_do_from_its_beginning_on() {
    let live = Live::new(1000);
    let position = live.sequencer().end();
    live.sequencer().changed(Kind::Edit, Entry { cursor: Cursor::OLDEST, author: user(2) });
    let ((one, turn), other) = (open(&live, 1), opened(&live, 9, &[2, 3]));
    assert!(live.streams().has_listeners(user(7)), "nobody knows yet");
    tell_of(&live, 2, "first");
    tell(&live, 7);
    assert_eq!(take(&one), [""; 0], "nothing before the authors are known");
    turn.expect("the first").settle(&users(&[2, 3]));
    assert!(live.streams().has_listeners(user(2)) && !live.streams().has_listeners(user(7)));
    deliver(&live, position, live.streams().frame(user(2), "early".to_owned()));
    for author in [2, 7, 3] {
        tell(&live, author);
    }
    for stream in [&one, &other] {
        assert_eq!(take(stream), ["first", "2", "3"]);
    }
    assert_eq!(live.streams().usage().events, 6);
    drop((one, other));
    assert!(!live.streams().has_listeners(user(2)));
    assert_eq!((live.streams().usage().open, live.presence().users(0)), (0, 0));
    assert!(live.streams().readers().is_empty());
}

#[test]
fn a_change_of_authors_counts_for_all_that_goes_out_after_it() {
    let live = Live::new(1000);
    let stream = opened(&live, 1, &[2, 3]);
    tell(&live, 2);
    tell(&live, 3);
    change(&live, 1, 2, false);
    change(&live, 8, 3, false);
    tell(&live, 2);
    change(&live, 1, 4, true);
    tell(&live, 4);
    assert_eq!(take(&stream), ["3", "4"], "also for what waited");
    assert!(!live.streams().has_listeners(user(2)) && live.streams().has_listeners(user(4)));
    for shown in [true, true, false, false, true] {
        change(&live, 1, 2, shown);
    }
    tell(&live, 2);
    assert_eq!(take(&stream), ["2"]);
    drop(stream);
    assert!([2, 3, 4].iter().all(|author| !live.streams().has_listeners(user(*author))));
}

#[test]
fn nobody_waits_for_a_stale_reader() {
    let live = Live::new(1000);
    let (other, (stream, turn)) = (opened(&live, 9, &[2]), open(&live, 1));
    for text in ["a", "b", "c"] {
        tell_of(&live, 2, text);
        assert_eq!((take(&other), take(&stream)), (vec![text.to_owned()], vec![]));
    }
    turn.expect("the first").settle(&users(&[2]));
    assert_eq!(stale(&live), 0);
    tell_of(&live, 2, "d");
    assert_eq!((take(&stream).concat(), waiting(&live)), ("abcd".to_owned(), 1), "in order, and each once");
    assert_eq!((take(&other).concat(), waiting(&live)), ("d".to_owned(), 0));
}

#[test]
fn what_is_held_is_for_those_who_were_opened_before() {
    let live = Live::new(1000);
    let (first, turn) = open(&live, 1);
    tell_of(&live, 2, "a");
    let (second, later) = open(&live, 9);
    tell_of(&live, 2, "b");
    let third = more(&live, 1);
    tell_of(&live, 2, "c");
    later.expect("the first").settle(&users(&[2]));
    assert_eq!((take(&first).concat(), take(&second).concat()), (String::new(), "bc".to_owned()));
    turn.expect("the first").settle(&users(&[2]));
    assert_eq!((take(&first).concat(), take(&third).concat()), ("abc".to_owned(), "c".to_owned()));
    assert_eq!(waiting(&live), 0);
}

#[test]
fn what_changes_while_the_authors_are_read_is_not_lost() {
    let live = Live::new(1000);
    let (stream, turn) = open(&live, 1);
    tell(&live, 2);
    tell(&live, 4);
    for (author, shown) in [(2, true), (4, false), (2, false), (4, true), (5, true)] {
        change(&live, 1, author, shown);
    }
    // As it was when the turn began, or somewhere in the middle.
    turn.expect("the first").settle(&users(&[2, 3, 5]));
    (2..=5).for_each(|author| tell(&live, author));
    assert_eq!(take(&stream), ["4", "3", "4", "5"]);
    drop(stream);
    assert!((2..=5).all(|author| !live.streams().has_listeners(user(author))));
}

#[test]
fn the_streams_of_one_reader_share_what_they_are_shown() {
    let live = Live::new(1000);
    let mut streams = vec![opened(&live, 1, &[2])];
    streams.extend((1..MOST).map(|_| more(&live, 1)));
    assert_eq!(live.streams().open(user(1), MOST).err(), Some(NotOpened::TooMany));
    assert_eq!((live.streams().usage().refused, live.streams().usage().open), (1, 4));
    change(&live, 1, 3, true);
    tell(&live, 2);
    tell(&live, 3);
    assert!(streams.iter().all(|stream| take(stream) == ["2", "3"]));
    streams.pop();
    streams.push(more(&live, 1));
    // The last one takes the list with it.
    drop(streams);
    assert!(!live.streams().has_listeners(user(2)) && !live.streams().is_open(user(1)));
    drop(open(&live, 1));
    assert_eq!((stale(&live), live.streams().usage().open), (0, 0), "one that was never settled");
}

#[test]
fn a_turn_that_is_given_up_ends_the_streams_of_its_reader_alone() {
    let live = Live::new(1000);
    let (other, (first, turn)) = (opened(&live, 9, &[4]), open(&live, 1));
    let lost = [first, more(&live, 1)];
    drop(turn);
    tell(&live, 4);
    assert!(lost.iter().all(is_over));
    assert_eq!((take(&other), stale(&live)), (vec!["4".to_owned()], 0));
    // Its client is back before the old connections are gone.
    let back = opened(&live, 1, &[4]);
    assert_eq!(live.streams().usage().open, 4);
    drop(lost);
    tell(&live, 4);
    assert_eq!(take(&back), ["4"]);
    live.streams().end(user(1));
    assert!(is_over(&back) && !is_over(&other));
    drop(back);
    // A turn that outlives its reader is nobody's.
    let (gone, late) = open(&live, 1);
    drop(gone);
    let (again, turn) = open(&live, 1);
    late.expect("the first").settle(&users(&[7]));
    assert!(stale(&live) == 1 && !is_over(&again));
    turn.expect("the first").settle(&users(&[4]));
    tell(&live, 7);
    tell(&live, 4);
    assert_eq!(take(&again), ["4"]);
}

#[test]
fn who_is_stale_for_too_long_is_told_and_goes_on_from_there() {
    let live = Live::new(1000);
    let (other, (stream, turn)) = (opened(&live, 9, &[2]), open(&live, 1));
    for _ in 0..=CAPACITY {
        tell(&live, 2);
        assert_eq!(take(&other), ["2"]);
    }
    let late = more(&live, 1);
    tell_of(&live, 2, "since");
    turn.expect("the first").settle(&users(&[2]));
    tell_of(&live, 2, "after");
    for (stream, expected) in [(&stream, ["reset", "after"]), (&late, ["since", "after"]), (&other, ["since", "after"])]
    {
        assert_eq!(take(stream), expected);
    }
    assert_eq!((live.streams().usage().resets, waiting(&live)), (1, 0));
}

#[test]
fn who_lags_is_told_and_goes_on_from_there() {
    let live = Live::new(1000);
    let slow = opened(&live, 1, &[2, 3]);
    let quick = more(&live, 1);
    for _ in 0..CAPACITY {
        tell(&live, 2);
        assert_eq!(take(&quick), ["2"]);
    }
    tell(&live, 3);
    tell(&live, 2);
    for (stream, expected) in [(&slow, ["reset", "2"]), (&quick, ["3", "2"])] {
        assert_eq!(take(stream), expected);
    }
    assert_eq!(live.streams().usage().resets, 1);
    tell(&live, 2);
    let (stale, turn) = open(&live, 9);
    tell(&live, 2);
    live.streams().reset_all();
    turn.expect("the first").settle(&users(&[2]));
    tell(&live, 3);
    for (stream, expected) in [(&slow, vec!["reset", "3"]), (&quick, vec!["reset", "3"]), (&stale, vec!["reset"])] {
        assert_eq!(take(stream), expected);
    }
    live.streams().close();
    assert!(is_over(&slow));
    assert_eq!(live.streams().open(user(1), MOST).err(), Some(NotOpened::Closed));
}

#[test]
fn an_event_goes_out_when_it_is_known_what_each_reader_did_with_its_item() {
    let live = Live::new(1000);
    let (one, other) = (opened(&live, 1, &[2]), opened(&live, 9, &[2, 3]));
    let frame = |reacted| live.streams().frame(user(2), "ab".to_owned()).with_viewer(1, reacted);
    let position = live.sequencer().end();
    deliver(&live, position, frame(false));
    assert_eq!((take(&one), take(&other)), (vec!["a".to_owned()], vec!["a".to_owned()]));
    let unasked = |frame| {
        let Unasked { frame, mut readers } =
            live.streams().deliver(position, frame).expect_err("somebody is to be asked");
        readers.sort_unstable();
        (*frame, readers)
    };
    let (mut event, readers) = unasked(frame(true));
    assert_eq!(readers, users(&[1, 9]));
    let liked = Reactions { liked: true, favorited: false };
    event.add_viewers(readers.into_iter().map(|reader| (reader, liked)));
    // Meanwhile others come: by a follow, and by a first stream.
    let third = opened(&live, 5, &[3]);
    change(&live, 5, 2, true);
    let (fourth, turn) = open(&live, 6);
    let (mut event, readers) = unasked(event);
    assert_eq!(readers, users(&[5, 6]));
    assert!([&one, &other, &third, &fourth].into_iter().all(|stream| take(stream).is_empty()), "nothing is done yet");
    event.add_viewers(readers.into_iter().map(|reader| (reader, Reactions::default())));
    deliver(&live, live.sequencer().end(), event);
    turn.expect("the first").settle(&users(&[2]));
    for (stream, reader, reactions) in
        [(&one, 1, liked), (&other, 9, liked), (&third, 5, Reactions::default()), (&fourth, 6, Reactions::default())]
    {
        let Poll::Ready(Some(Item::Frame(frame))) = poll(stream) else { panic!("reader {reader} got nothing") };
        assert_eq!(frame.parts(user(reader)), ("a", Some(reactions), "b"));
    }
}
