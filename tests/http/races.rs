//! Streams that are opened while items come.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::listener::Listener;
use crate::server::{PATIENCE, Server};

const READER: u64 = 1;
/// Publishes all the time.
const BUSY: u64 = 2;
/// Ids from here on are those of the test's main thread.
const MARKED: u64 = 1_000_000;
/// Most items of the others that a reader has not heard: above 1000 the server rightly answers a slow one with a reset.
const AHEAD: usize = 400;

/// The state of the publishers.
#[derive(Default)]
struct Shared {
    /// When each item was requested.
    known: Mutex<HashMap<u64, Instant>>,
    /// Items that the reader has heard.
    heard: AtomicUsize,
    over: AtomicBool,
}

impl Shared {
    /// Publishes items of [`BUSY`] until it is over.
    fn publish(&self, server: &Server, first: u64) {
        for id in (first..).step_by(10) {
            while self.known.lock().unwrap().len() > self.heard.load(Ordering::SeqCst) + AHEAD
                && !self.over.load(Ordering::SeqCst)
            {
                std::thread::sleep(Duration::from_millis(1));
            }
            if self.over.load(Ordering::SeqCst) {
                return;
            }
            let asked = Instant::now();
            server.call("POST", "/v1/content", format!(r#"{{"content_id":{id},"author_id":{BUSY}}}"#)).expect(201);
            self.known.lock().unwrap().insert(id, asked);
        }
    }
}

/// Runs `main` while others publish items of [`BUSY`], with ids below [`MARKED`].
fn while_others_publish(server: &Server, shared: &Shared, main: impl FnOnce()) {
    std::thread::scope(|scope| {
        for first in 1..=4 {
            scope.spawn(move || shared.publish(server, first));
        }
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(main));
        shared.over.store(true, Ordering::SeqCst);
        result.unwrap_or_else(|why| std::panic::resume_unwind(why));
    });
}

#[test]
fn from_its_opening_on_a_stream_has_everything() {
    let server = Server::with(&[("TIDELINE__SERVER__MAX_STREAMS_PER_USER", "60")]);
    server.follow(READER, BUSY, 10);
    let shared = Shared::default();
    let mut listeners = Vec::new();
    while_others_publish(&server, &shared, || {
        for _ in 0..60 {
            let listener = Listener::open(&server, READER, None);
            listeners.push((Instant::now(), listener));
            // They are read later. Until then a few more items may come for each.
            shared.heard.fetch_add(5, Ordering::SeqCst);
        }
    });
    let known = shared.known.into_inner().unwrap();
    server.call("POST", "/v1/content", format!(r#"{{"content_id":{MARKED},"author_id":{BUSY}}}"#)).expect(201);
    for (opened, mut listener) in listeners {
        let mut place = None;
        let mut heard: Vec<(u64, u64)> = Vec::new();
        while heard.last().is_none_or(|(_, id)| *id != MARKED) {
            let sent = listener.block(PATIENCE).expect("the last item");
            let cursor = |id: &str| id.split_once('-').map(|(at, id)| (at.parse().unwrap(), id.parse().unwrap()));
            match sent.event.as_str() {
                "" if place.is_none() => place = sent.id.as_deref().and_then(cursor),
                "content" => heard.extend(sent.id.as_deref().and_then(cursor)),
                "" => {}
                other => panic!("{other}"),
            }
        }
        let place = place.expect("a place to go on from");
        assert!(heard.is_sorted_by(|a, b| a < b), "in order, each once");
        assert!(heard.iter().all(|cursor| *cursor > place), "{place:?}");
        let heard: HashSet<u64> = heard.into_iter().map(|(_, id)| id).collect();
        for (id, begun) in &known {
            assert!(*begun < opened || heard.contains(id), "{id} was published later and did not come");
        }
    }
}
