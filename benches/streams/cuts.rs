//! Streams that are cut and resume.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use actix_web::rt;
use fastrand::Rng;

use crate::client::{Caller, Listener, field};
use crate::server::Server;

const READERS: u64 = 8;
const AUTHORS: u64 = 8;
/// The earliest time of a backdated item, long ago.
const LONG_AGO: u64 = 1_000_000_000_000;

/// The state of an item as its author knows it.
#[derive(Default)]
struct Made {
    text: String,
    deleted: bool,
}

#[derive(Default)]
struct Shared {
    made: RefCell<HashMap<u64, Made>>,
    /// Readers that have been cut often enough.
    done: Cell<u64>,
    over: Cell<bool>,
}

/// The events that a reader received.
#[derive(Default)]
struct Heard {
    texts: HashMap<u64, String>,
    gone: Vec<u64>,
    twice: usize,
    disordered: usize,
    resets: usize,
    events: usize,
    cuts: u64,
}

pub(crate) fn run(cuts: u64) {
    let server = Server::with(&[("TIDELINE__LOG__LEVEL", "warn")]);
    let address = server.address;
    println!(
        "cuts: {READERS} streams, each cut {cuts} times at random, while {AUTHORS} authors publish, backdate, edit and delete"
    );
    rt::System::new().block_on(async {
        let mut caller = Caller::connect(address).await;
        let authors: Vec<_> = (1..=AUTHORS).collect();
        for reader in 1..=READERS {
            let body = format!("{{\"follow\":{authors:?}}}");
            caller.call("POST", &format!("/v1/users/{}/following/batch", 100 + reader), &body).await;
        }
        let shared = Rc::new(Shared::default());
        let mut readers = Vec::new();
        for reader in 1..=READERS {
            let listener = Listener::open(address, 100 + reader, None).await;
            readers.push(rt::spawn(read(address, reader, listener, cuts, Rc::clone(&shared))));
        }
        let writers: Vec<_> =
            (1..=AUTHORS).map(|author| rt::spawn(write(address, author, Rc::clone(&shared)))).collect();
        let mut all = Vec::new();
        // The writers go on until every reader has been cut often enough.
        while readers.iter().any(|reader| !reader.is_finished()) {
            rt::time::sleep(Duration::from_millis(50)).await;
            shared.over.set(shared.done.get() == READERS);
        }
        for writer in writers {
            writer.await.expect("writes");
        }
        for reader in readers {
            all.push(reader.await.expect("reads"));
        }
        report(&all, &shared.made.borrow());
    });
}

async fn write(address: SocketAddr, author: u64, shared: Rc<Shared>) {
    let mut caller = Caller::connect(address).await;
    let mut random = Rng::with_seed(author);
    let mut own: Vec<u64> = Vec::new();
    let mut n = 0;
    while !shared.over.get() {
        n += 1;
        let text = format!("text {author} {n}");
        let what = random.u64(..10);
        let item = random.choice(&own).copied();
        match (what, item) {
            (0, Some(item)) => {
                caller.call("PATCH", &format!("/v1/content/{item}"), &format!("{{\"text\":\"{text}\"}}")).await;
                shared.made.borrow_mut().entry(item).or_default().text = text;
            }
            (1, Some(item)) => {
                caller.call("DELETE", &format!("/v1/content/{item}"), "").await;
                own.retain(|other| *other != item);
                shared.made.borrow_mut().entry(item).or_default().deleted = true;
            }
            _ => {
                let time = match what {
                    2 | 3 => format!(",\"published_at\":{}", LONG_AGO + random.u64(..1000)),
                    _ => String::new(),
                };
                let body = format!("{{\"author_id\":{author},\"text\":\"{text}\"{time}}}");
                let item = field(&caller.call("POST", "/v1/content", &body).await, "content_id");
                own.push(item);
                shared.made.borrow_mut().insert(item, Made { text, deleted: false });
            }
        }
        rt::time::sleep(Duration::from_millis(random.u64(..30))).await;
    }
}

async fn read(address: SocketAddr, reader: u64, mut listener: Listener, cuts: u64, shared: Rc<Shared>) -> Heard {
    let mut random = Rng::with_seed(1000 + reader);
    let (mut heard, mut last, mut greatest) = (Heard::default(), None, (0, 0));
    loop {
        let over = shared.over.get();
        let patience = if over { Duration::from_secs(2) } else { Duration::from_millis(random.u64(..150)) };
        let cut = rt::time::sleep(patience);
        let mut cut = std::pin::pin!(cut);
        loop {
            let blocks = tokio::select! {
                biased;
                blocks = listener.blocks() => blocks,
                () = &mut cut => break,
            };
            assert!(!blocks.is_empty(), "the server cut a stream");
            for block in blocks {
                last = block.id.or(last);
                heard.take(&block.event, block.id, &block.data, &mut greatest);
            }
        }
        if over {
            return heard;
        }
        heard.cuts += 1;
        if heard.cuts == cuts {
            shared.done.set(shared.done.get() + 1);
        }
        drop(listener);
        rt::time::sleep(Duration::from_millis(random.u64(..50))).await;
        listener = Listener::open(address, 100 + reader, last).await;
    }
}

impl Heard {
    fn take(&mut self, event: &str, id: Option<(u64, u64)>, data: &str, greatest: &mut (u64, u64)) {
        if event.is_empty() {
            return;
        }
        self.events += 1;
        let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
        let text = || data["text"].as_str().unwrap_or_default().to_owned();
        match (event, id) {
            ("content", Some(cursor)) => {
                self.twice += usize::from(self.texts.insert(cursor.1, text()).is_some());
                if cursor.0 >= LONG_AGO + 1000 {
                    self.disordered += usize::from(cursor <= *greatest);
                    *greatest = cursor;
                }
            }
            ("edit", None) => drop(self.texts.insert(field(&data, "content_id"), text())),
            ("delete", None) => self.gone.push(field(&data, "content_id")),
            ("reset", _) => self.resets += 1,
            other => panic!("{other:?}"),
        }
    }
}

fn report(all: &[Heard], made: &HashMap<u64, Made>) {
    let (mut missing, mut wrong) = (0, 0);
    for heard in all {
        for (id, item) in made {
            match (heard.texts.get(id), item.deleted) {
                (None, false) => missing += 1,
                (Some(text), false) => wrong += usize::from(*text != item.text),
                // An item deleted before it was sent need not be sent.
                (Some(_), true) => wrong += usize::from(!heard.gone.contains(id)),
                (None, true) => {}
            }
        }
    }
    let sum = |figure: fn(&Heard) -> usize| all.iter().map(figure).sum::<usize>();
    let (twice, disordered, resets) = (sum(|h| h.twice), sum(|h| h.disordered), sum(|h| h.resets));
    let cuts = all.iter().map(|heard| heard.cuts).sum::<u64>();
    println!(
        "  {cuts} cuts, {} items, {} events; missing {missing}, out of date {wrong}, twice {twice}, out of order {disordered}, resets {resets}",
        made.len(),
        sum(|h| h.events)
    );
    assert_eq!((missing, wrong, twice, disordered, resets), (0, 0, 0, 0, 0));
}
