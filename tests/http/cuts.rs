//! A stream that is cut at random and resumed misses no event and has none twice.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;

use super::listener::{Listener, Sent};
use crate::server::{PATIENCE, Server};

const READER: u64 = 1;
const AUTHORS: [u64; 3] = [2, 3, 4];
/// Times of backdated items, long ago.
const LATE: std::ops::Range<u64> = 1000..2000;
/// The number of the last item of each author.
const LAST: u64 = 999_999;
/// Most changes of an author that the reader has not heard of: above 1000 of all of them the server rightly answers a
/// slow reader with a reset.
const AHEAD: usize = 130;

/// The state of an item as its author knows it.
#[derive(Debug, Clone, PartialEq)]
enum Made {
    /// Acknowledged, with this text.
    Live(String),
    /// Deleted since.
    Deleted,
    /// Not broadcast: never on a stream.
    Quiet,
}

/// The events that the reader received.
#[derive(Default)]
struct Heard {
    texts: HashMap<u64, String>,
    gone: HashSet<u64>,
    greatest: (u64, u64),
}

impl Heard {
    fn take(&mut self, sent: &Sent) {
        if sent.event.is_empty() {
            return;
        }
        let id: u64 = sent.data["content_id"].as_str().unwrap_or("0").parse().unwrap();
        let text = || sent.data["text"].as_str().unwrap_or_default().to_owned();
        match sent.event.as_str() {
            "content" => {
                let cursor = (sent.data["published_at"].as_u64().unwrap(), id);
                assert_eq!(sent.id.as_deref(), Some(format!("{}-{}", cursor.0, cursor.1).as_str()));
                assert!(self.texts.insert(id, text()).is_none(), "{id} came twice");
                if !LATE.contains(&cursor.0) {
                    assert!(cursor > self.greatest, "{cursor:?} after {:?}", self.greatest);
                    self.greatest = cursor;
                }
            }
            "edit" => drop(self.texts.insert(id, text())),
            "delete" => drop(self.gone.insert(id)),
            other => panic!("{other}"),
        }
    }

    fn compare(&self, made: &HashMap<u64, Made>) {
        for (id, made) in made {
            match (made, self.texts.get(id)) {
                (Made::Live(text), heard) => assert_eq!(heard, Some(text), "{id}"),
                (Made::Deleted, Some(_)) => {
                    assert!(self.gone.contains(id), "{id} is gone and the reader does not know")
                }
                (Made::Quiet, heard) => assert_eq!(heard, None, "{id}"),
                (Made::Deleted, None) => {}
            }
        }
        let unheard_of: Vec<_> = self.texts.keys().filter(|id| !made.contains_key(id)).collect();
        assert!(unheard_of.is_empty(), "{unheard_of:?}");
    }
}

/// The id of an author's item.
fn item(author: u64, number: u64) -> u64 {
    author * 1_000_000 + number
}

/// The server, and the items of the authors.
struct Story {
    server: Server,
    made: Mutex<HashMap<u64, Made>>,
    /// The number of the newest text of each author that the reader has heard.
    heard: Mutex<HashMap<u64, u64>>,
    over: AtomicBool,
}

impl Story {
    fn call(&self, method: &str, path: &str, body: &str) {
        let reply = self.server.call(method, path, body);
        assert!(reply.status < 300, "{method} {path}: {}", reply.text());
    }

    /// Takes an event, and notes how far the reader is.
    fn hear(&self, heard: &mut Heard, sent: &Sent) {
        heard.take(sent);
        let mut words = sent.data["text"].as_str().unwrap_or_default().split(' ').skip(1).map(str::parse::<u64>);
        if let (Some(Ok(author)), Some(Ok(number))) = (words.next(), words.next()) {
            let mut heard = self.heard.lock().unwrap();
            let newest = heard.entry(author).or_default();
            *newest = number.max(*newest);
        }
    }

    /// Publishes, edits and deletes until the story is over, and then publishes a last item.
    fn write(&self, author: u64) {
        let mut random = Rng::with_seed(author);
        let mut own = Vec::new();
        // The numbers of changes that the reader has not heard of.
        let mut unheard = VecDeque::<u64>::new();
        for n in 1..LAST {
            // Waits for a reader that is slow.
            while unheard.len() > AHEAD && !self.over.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
                let heard = self.heard.lock().unwrap().get(&author).copied().unwrap_or_default();
                unheard.retain(|number| *number > heard);
            }
            if self.over.load(Ordering::SeqCst) {
                break;
            }
            // The reader takes the numbers from the texts.
            let text = format!("text {author} {n}");
            let some = random.choice(&own).copied();
            match (random.u64(..10), some) {
                (0, Some(id)) => {
                    let body = format!(r#"{{"text":"{text}"}}"#);
                    self.call("PATCH", &format!("/v1/content/{id}"), &body);
                    unheard.push_back(n);
                    self.made.lock().unwrap().insert(id, Made::Live(text));
                }
                (1, Some(id)) => {
                    self.call("DELETE", &format!("/v1/content/{id}"), "");
                    unheard.push_back(n);
                    own.retain(|other| *other != id);
                    self.made.lock().unwrap().insert(id, Made::Deleted);
                }
                (what, _) => {
                    let id = item(author, n);
                    let more = match what {
                        2 => r#","broadcast":false"#.to_owned(),
                        3 => format!(r#","published_at":{}"#, LATE.start + random.u64(..1000)),
                        _ => String::new(),
                    };
                    let body = format!(r#"{{"content_id":{id},"author_id":{author},"text":"{text}"{more}}}"#);
                    self.call("POST", "/v1/content", &body);
                    let made = if what == 2 { Made::Quiet } else { Made::Live(text) };
                    if matches!(made, Made::Live(_)) {
                        own.push(id);
                        unheard.push_back(n);
                    }
                    self.made.lock().unwrap().insert(id, made);
                }
            }
            std::thread::sleep(Duration::from_millis(random.u64(..10)));
        }
        // It comes after all other events of the author. It is known before the reader hears it, and compares.
        let (id, text) = (item(author, LAST), format!("text {author} {LAST}"));
        let body = format!(r#"{{"content_id":{id},"author_id":{author},"text":"{text}"}}"#);
        self.made.lock().unwrap().insert(id, Made::Live(text));
        self.call("POST", "/v1/content", &body);
    }

    fn listen(&self, after: Option<&str>) -> Listener {
        Listener::open(&self.server, READER, after)
    }

    /// Reads a stream that was opened before all changes. Cuts it so often, reads the rest, and compares.
    fn read(&self, mut listener: Listener, cuts: u64) {
        let (mut random, mut heard) = (Rng::with_seed(7), Heard::default());
        // A client that is cut before the first block has no place to resume after.
        while listener.last_id.is_none() {
            self.hear(&mut heard, &listener.block(PATIENCE).expect("a place"));
        }
        for _ in 0..cuts {
            let (began, patience) = (Instant::now(), Duration::from_millis(random.u64(..40)));
            while let Some(sent) = listener.block(patience.saturating_sub(began.elapsed())) {
                self.hear(&mut heard, &sent);
            }
            let last = listener.last_id.take();
            drop(listener);
            std::thread::sleep(Duration::from_millis(random.u64(..20)));
            listener = self.listen(last.as_deref());
        }
        self.over.store(true, Ordering::SeqCst);
        while !AUTHORS.iter().all(|author| heard.texts.contains_key(&item(*author, LAST))) {
            self.hear(&mut heard, &listener.block(PATIENCE).expect("the last items"));
        }
        listener.is_quiet();
        let made = self.made.lock().unwrap();
        assert!(made.len() > cuts as usize, "there was little to miss: {}", made.len());
        heard.compare(&made);
    }
}

#[test]
fn a_stream_cut_a_hundred_times_misses_nothing() {
    let server = Server::start();
    for author in AUTHORS {
        server.follow(READER, author, 10);
    }
    let (made, heard) = (Mutex::default(), Mutex::default());
    let story = Story { server, made, heard, over: AtomicBool::new(false) };
    let listener = story.listen(None);
    std::thread::scope(|scope| {
        for author in AUTHORS {
            let story = &story;
            scope.spawn(move || story.write(author));
        }
        let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| story.read(listener, 100)));
        // The authors end even after a failure.
        story.over.store(true, Ordering::SeqCst);
        read.unwrap_or_else(|why| std::panic::resume_unwind(why));
    });
}
