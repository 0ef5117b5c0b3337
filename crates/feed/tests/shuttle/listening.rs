//! Streams while the authors of their reader change: the hand-over between changes, the opening of a stream, and the
//! thread that delivers events.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use libtest_mimic::Trial;
use shuttle::FailurePersistence;
use shuttle::sync::atomic::AtomicUsize;
use shuttle::thread;

use crate::promises::names::user;
use crate::run::{careful, random};
use config::{Config, Duration};
use double::Double;
use feed::Feed;
use feed::backlog::Backlog;
use feed::streaming::{Item, Kind, ShownChange, Stream, Streaming};
use model::clock;
use model::store::{Change, Store, Tier};
use model::{Barrier, Draft, HostId};

const READER: u64 = 1;
/// Followed from the beginning to the end.
const ALWAYS: u64 = 12;
/// Followed at the end, and not at the beginning.
const COMES: u64 = 11;
/// Followed at the beginning, and not at the end.
const GOES: u64 = 13;
/// Like [`COMES`], but by a single change.
const COMES_ONCE: u64 = 14;
const AUTHORS: [u64; 4] = [ALWAYS, COMES, COMES_ONCE, GOES];

/// Steps in a wrong order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Late {
    Nothing,
    /// The authors are read before the stream is opened.
    OpenAfterAuthors,
    /// The new state of an author is read, and told to the streams, before the change is written.
    WriteAfterTelling,
    /// The listeners are read before the events are taken out of the log.
    EventsAfterListeners,
}

/// Steps between two parts that are in the wrong order.
const PAUSE: usize = 40;

struct Town {
    feed: Feed,
    store: Arc<dyn Store>,
    streaming: Arc<Streaming>,
    late: Late,
    /// Threads that still make changes.
    changing: AtomicUsize,
    /// 1 while the dispatcher runs, then 0.
    delivering: AtomicUsize,
}

impl Town {
    fn new(late: Late) -> Self {
        clock::reset();
        let mut config = Config::default();
        config.content.max_ahead = Duration::from_millis(1 << 40);
        let streaming = Arc::new(Streaming::new(1 << 40));
        let store: Arc<dyn Store> = Arc::new(Double::new());
        let feed = Feed::new(Arc::clone(&store), Arc::new(Backlog::new(1000)), Arc::clone(&streaming), &config)
            .expect("events");
        Self { feed, store, streaming, late, changing: AtomicUsize::new(0), delivering: AtomicUsize::new(1) }
    }

    fn relate(&self, follow: &[u64], unfollow: &[u64]) {
        if self.late == Late::WriteAfterTelling {
            let changes: Vec<_> = follow
                .iter()
                .map(|author| (author, Some(5)))
                .chain(unfollow.iter().map(|author| (author, None)))
                .collect();
            let told: Vec<_> = changes.iter().map(|(author, _)| user(**author)).collect();
            let shown = self.store.authors_among(user(READER), &told, Tier::Disk).expect("reads");
            let told: Vec<_> = told
                .iter()
                .map(|author| ShownChange {
                    source: *author,
                    is_shown: shown.has(*author),
                    rule: None,
                    is_silenced: false,
                })
                .collect();
            self.streaming.streams().change(user(READER), &told);
            let changes: Vec<_> = changes.iter().map(|(author, follow)| Change::new(user(**author), *follow)).collect();
            self.store.relate(user(READER), &changes, 100).expect("a change");
            return;
        }
        let follow = follow.iter().map(|author| (HostId::Number(*author), None)).collect();
        let unfollow = unfollow.iter().map(|author| HostId::Number(*author)).collect();
        self.feed.relate(HostId::Number(READER), follow, unfollow).expect("a change");
    }

    fn mute(&self, author: u64, muted: bool) {
        self.feed.set_barrier(HostId::Number(READER), HostId::Number(author), Barrier::Mute, muted).expect("a change");
    }

    fn publish(&self, author: u64, id: u64) {
        let draft: Draft =
            serde_json::from_str(&format!("{{\"content_id\":{id},\"author_id\":{author}}}")).expect("a draft");
        self.feed.publish(vec![draft]).expect("a publish");
    }

    fn listen(&self) -> Stream {
        if self.late != Late::OpenAfterAuthors {
            return self.feed.listen(user(READER), 2).expect("open");
        }
        let authors = self.feed.read().authors(user(READER)).expect("reads");
        // Long enough that a change may come in between, also where any thread may run next.
        (0..PAUSE).for_each(|_| thread::yield_now());
        let (stream, turn) = self.streaming.streams().open(user(READER), 2).expect("open");
        turn.into_iter().for_each(|turn| turn.finish(&authors));
        stream
    }

    /// Delivers some events to the streams; false if there are none. The text of a frame is the item's id.
    fn dispatch(&self, next: &mut u64) -> bool {
        let streams = self.streaming.streams();
        let early = AUTHORS.map(|author| (user(author), streams.has_listeners([user(author)])));
        let slice = self.streaming.sequencer().slice(*next, u64::MAX, 64);
        *next = slice.next;
        for event in slice.events.iter().filter(|event| event.kind == Kind::Publish) {
            let author = event.entry.author;
            let wanted = match self.late {
                Late::EventsAfterListeners => early.contains(&(author, true)),
                _ => streams.has_listeners([author]),
            };
            if wanted {
                let frame = streams.frame(event, event.entry.cursor.id.to_string());
                streams.deliver(event.number, frame).expect("nobody is to be asked");
            }
        }
        !slice.events.is_empty()
    }

    fn deliver_all(&self) {
        let mut next = 0;
        loop {
            let is_over = self.changing.load(Ordering::SeqCst) == 0;
            if !self.dispatch(&mut next) {
                if is_over {
                    break;
                }
                thread::yield_now();
            }
        }
        self.delivering.store(0, Ordering::SeqCst);
    }

    /// The items that a stream sends until the end of all work.
    fn hear(&self, stream: &Stream) -> Vec<u64> {
        let mut heard = Vec::new();
        loop {
            let is_over = self.delivering.load(Ordering::SeqCst) == 0 && self.streaming.streams().usage().stale == 0;
            match stream.poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Some(Item::Frame(frame))) => {
                    heard.push(frame.parts(user(READER)).0.parse().expect("an id"))
                }
                Poll::Pending if is_over => return heard,
                Poll::Pending => thread::yield_now(),
                other => panic!("{other:?}"),
            }
        }
    }
}

/// The work of a thread. Returns the items received.
type Work = Box<dyn FnOnce(&Town) -> Vec<u64> + Send>;

/// Runs one execution. Returns its error.
fn play(late: Late) -> Result<(), String> {
    let town = Arc::new(Town::new(late));
    town.relate(&[ALWAYS, GOES], &[]);
    let writers: [fn(&Town); 3] = [
        |town| {
            town.relate(&[COMES_ONCE], &[]);
            town.publish(COMES_ONCE, 30);
        },
        |town| {
            town.relate(&[COMES], &[GOES]);
            town.publish(GOES, 1);
            town.relate(&[GOES], &[COMES]);
            town.relate(&[COMES], &[GOES]);
            town.publish(COMES, 2);
            town.publish(GOES, 3);
        },
        |town| {
            town.publish(ALWAYS, 10);
            town.mute(GOES, true);
            town.publish(GOES, 11);
            town.mute(GOES, false);
            town.publish(ALWAYS, 12);
        },
    ];
    town.changing.store(writers.len() + 1, Ordering::SeqCst);
    let spawn = |act: Work| {
        let town = Arc::clone(&town);
        thread::spawn(move || act(&town))
    };
    let mut all: Vec<_> = writers
        .into_iter()
        .map(|act| {
            spawn(Box::new(move |town| {
                act(town);
                town.changing.fetch_sub(1, Ordering::SeqCst);
                Vec::new()
            }))
        })
        .collect();
    all.push(spawn(Box::new(|town| {
        town.deliver_all();
        Vec::new()
    })));
    let second = spawn(Box::new(|town| {
        let stream = town.listen();
        town.publish(ALWAYS, 20);
        town.changing.fetch_sub(1, Ordering::SeqCst);
        let heard = town.hear(&stream);
        std::iter::once(stream.start().0).chain(heard).collect()
    }));
    let first = town.listen();
    let start = first.start().0;
    let heard = town.hear(&first);
    all.into_iter().for_each(|thread| drop(thread.join().expect("no panic")));
    let second = second.join().expect("no panic");
    check(&town, "the first", start, &heard)?;
    check(&town, "the second", second[0], &second[1..])?;
    drop(first);
    ensure_eq!(town.streaming.streams().usage().open, 0, "streams that are left");
    Ok(())
}

/// Each item comes by the changes acknowledged before its publish, in order and once.
fn check(town: &Town, which: &str, start: u64, heard: &[u64]) -> Result<(), String> {
    let log = town.streaming.sequencer().slice(0, u64::MAX, 1000).events;
    let published =
        |position: u64| log.iter().filter(move |event| event.number >= position && event.kind == Kind::Publish);
    let order: Vec<u64> = published(0).map(|event| event.entry.cursor.id.get()).collect();
    let places: Vec<_> = heard.iter().map(|id| order.iter().position(|other| other == id)).collect();
    ensure!(places.is_sorted_by(|a, b| a < b), "{which} stream: {heard:?} is not in the order of {order:?}");
    let heard: HashSet<u64> = heard.iter().copied().collect();
    for event in published(start) {
        let (id, author) = (event.entry.cursor.id.get(), event.entry.author.get());
        let must = author != GOES;
        ensure!(!must || heard.contains(&id), "{which} stream: {id} is lacking in {heard:?}");
    }
    // The author was unfollowed for good before item 3. Some of the others were on their way then.
    ensure!(!heard.contains(&3), "{which} stream: 3 of one who had gone is in {heard:?}");
    Ok(())
}

fn holds() {
    let play = || {
        if let Err(failure) = play(Late::Nothing) {
            panic!("{failure}");
        }
    };
    random(FailurePersistence::Print, play);
    careful(FailurePersistence::Print, play);
}

fn finds(late: Late) {
    let found = Arc::new(AtomicBool::new(false));
    let finds = Arc::clone(&found);
    let play = move || {
        if play(late).is_err() {
            finds.store(true, Ordering::SeqCst);
        }
    };
    careful(FailurePersistence::None, play.clone());
    if !found.load(Ordering::SeqCst) {
        random(FailurePersistence::None, play);
    }
    assert!(found.load(Ordering::SeqCst), "{late:?} is not found out");
}

/// The scenario without an error, and with each one.
pub(crate) fn all() -> Vec<Trial> {
    let mut trials = vec![Trial::test("listen holds", || {
        holds();
        Ok(())
    })];
    for late in [Late::OpenAfterAuthors, Late::WriteAfterTelling, Late::EventsAfterListeners] {
        trials.push(Trial::test(format!("listen finds {late:?}"), move || {
            finds(late);
            Ok(())
        }));
    }
    trials
}
