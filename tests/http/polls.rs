//! Lists that are asked for what is new, again and again, while others publish.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::client::Server;

const READER: u64 = 1;
const AUTHORS: [u64; 4] = [2, 3, 4, 5];
/// Publishes of each author.
const PUBLISHES: usize = 150;

/// One who publishes; no more when this is dropped.
struct Publishing<'a>(&'a AtomicUsize);

impl Drop for Publishing<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Publishes items of one author without ids and times, alone and in batches; their ids.
fn publish(server: &Server, author: u64) -> Vec<String> {
    let mut ids = Vec::new();
    for n in 0..PUBLISHES {
        let item = format!(r#"{{"author_id":{author},"topics":["all"]}}"#);
        let answer = if n % 10 == 9 {
            let items = vec![item; 20].join(",");
            server.call("POST", "/v1/content/batch", format!(r#"{{"items":[{items}]}}"#)).expect(201)
        } else {
            server.call("POST", "/v1/content", item).expect(201)
        };
        let made = answer["items"].as_array().cloned().unwrap_or_else(|| vec![answer]);
        ids.extend(made.iter().map(|item| item["content_id"].as_str().expect("an id").to_owned()));
    }
    ids
}

/// All that a list shows to somebody who keeps `prev` and passes it as `after`, until everything is published.
fn poll(server: &Server, list: &str, publishing: &AtomicUsize) -> Vec<String> {
    let (mut after, mut found) = ("0-1".to_owned(), Vec::new());
    loop {
        let over = publishing.load(Ordering::SeqCst) == 0;
        let page = server.get(&format!("{list}?view=ids&limit=100&after={after}"));
        let items = page["items"].as_array().expect("items");
        found.extend(items.iter().map(|item| item["content_id"].as_str().expect("an id").to_owned()));
        if let Value::String(prev) = &page["prev"] {
            after.clone_from(prev);
        }
        if over && items.is_empty() {
            return found;
        }
    }
}

#[test]
fn who_asks_for_what_is_newer_gets_everything_once() {
    let server = Server::start();
    for author in AUTHORS {
        server.follow(READER, author, 1);
    }
    let publishing = AtomicUsize::new(AUTHORS.len());
    let published = Mutex::new(Vec::new());
    let lists = [format!("/v1/users/{READER}/timeline"), "/v1/topics/all/content".to_owned()];
    let polled = std::thread::scope(|scope| {
        for author in AUTHORS {
            let (server, publishing, published) = (&server, &publishing, &published);
            scope.spawn(move || {
                let _publishing = Publishing(publishing);
                let ids = publish(server, author);
                published.lock().unwrap().extend(ids);
            });
        }
        let pollers = lists.each_ref().map(|list| {
            let (server, publishing) = (&server, &publishing);
            scope.spawn(move || poll(server, list, publishing))
        });
        pollers.map(|poller| poller.join().expect("no panic"))
    });
    let published: BTreeSet<_> = published.into_inner().unwrap().into_iter().collect();
    for (list, found) in lists.iter().zip(polled) {
        let once: BTreeSet<_> = found.iter().cloned().collect();
        let missed: Vec<_> = published.difference(&once).collect();
        assert!(missed.is_empty(), "{list}: {} of {} are missed: {missed:?}", missed.len(), published.len());
        assert_eq!(once.len(), found.len(), "{list}: some come twice");
    }
}
