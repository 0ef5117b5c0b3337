//! Single publishes at the same time, which are written together.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::server::Server;

const CLIENTS: u64 = 24;
const EACH: u64 = 40;

/// The body of a publish: of an item of this client, of one that all clients publish alike, of one that each publishes
/// otherwise, a wrong one, or one without an id.
fn body(client: u64, n: u64) -> (String, &'static [u16]) {
    match n % 5 {
        0 => (format!(r#"{{"author_id":1,"content_id":{}}}"#, 1_000_000 + client * EACH + n), &[201]),
        1 => (format!(r#"{{"author_id":2,"content_id":{},"text":"the same"}}"#, 2_000_000 + n), &[201, 200]),
        2 => (format!(r#"{{"author_id":3,"content_id":{},"text":"of {client}"}}"#, 3_000_000 + n), &[201, 409]),
        3 => (r#"{"author_id":4,"to":[7,7]}"#.to_owned(), &[400]),
        _ => (r#"{"author_id":5}"#.to_owned(), &[201]),
    }
}

#[test]
fn publishes_at_the_same_time_have_the_results_that_each_has_alone() {
    let server = Server::start();
    server.follow(9, 1, 10);
    let results = Mutex::new(HashMap::<(u64, u64), Vec<u16>>::new());
    let mut items = Vec::new();
    std::thread::scope(|scope| {
        let publish = |client| {
            let (server, results) = (&server, &results);
            scope.spawn(move || {
                let mut items = Vec::new();
                for n in 0..EACH {
                    let (body, expected) = body(client, n);
                    let reply = server.call("POST", "/v1/content", &body);
                    assert!(expected.contains(&reply.status), "{body}: {} {}", reply.status, reply.text());
                    match reply.status {
                        201 => items.push(reply.json()["content_id"].as_str().unwrap().to_owned()),
                        409 => drop(reply.problem(&body, 409, "content_exists")),
                        400 => assert!(reply.text().contains("to: 7 occurs twice"), "{}", reply.text()),
                        _ => {}
                    }
                    results.lock().unwrap().entry((n % 5, n)).or_default().push(reply.status);
                }
                items
            })
        };
        let clients: Vec<_> = (0..CLIENTS).map(publish).collect();
        items.extend(clients.into_iter().flat_map(|client| client.join().unwrap()));
    });
    for ((kind, n), statuses) in results.into_inner().unwrap() {
        let new = statuses.iter().filter(|status| **status == 201).count() as u64;
        let expected = [CLIENTS, 1, 1, 0, CLIENTS][kind as usize];
        assert_eq!(new, expected, "{n}: {statuses:?}");
    }
    let all = items.len();
    items.sort();
    items.dedup();
    assert_eq!(items.len(), all, "an id was given twice");
    for item in &items {
        server.call("GET", &format!("/v1/content/{item}"), "").expect(200);
    }
    let published = server.figure("tideline_published_items_total") as usize;
    assert_eq!(published, all);
    assert!(server.figure("tideline_http_blocked_changes") < 0.5, "a place was not given back");
    server.settle();
    let mut read = Vec::new();
    let mut path = "/v1/users/9/timeline?limit=100&view=ids".to_owned();
    loop {
        let page = server.get(&path);
        read.extend(crate::server::ids(&page));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/v1/users/9/timeline?limit=100&view=ids&before={next}");
    }
    let own = read.len();
    read.sort_unstable();
    read.dedup();
    assert_eq!((own, read.len()), ((CLIENTS * EACH / 5) as usize, own));
}
