//! One user with many streams whose authors change all the time: the others get their events, and so does that user.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use serde_json::json;

use super::listener::Listener;
use crate::server::{Server, wait_until};

const STREAMS: usize = 100;
const TOGGLER: u64 = 1;
/// The authors that the toggler mutes and unmutes, each by one thread.
const TOGGLED: [u64; 2] = [1001, 1002];
const BOTH_FOLLOW: u64 = 3;
const MUTED: u64 = 4;

fn mute(server: &Server, author: u64, muted: bool) {
    let method = if muted { "PUT" } else { "DELETE" };
    server.call(method, &format!("/v1/users/{TOGGLER}/mutes/{author}"), "").expect(200);
}

/// The items that a stream is sent up to this one.
fn up_to(listener: &mut Listener, last: u64) -> Vec<u64> {
    let mut items = vec![listener.content()];
    while items.last() != Some(&last) {
        items.push(listener.content());
    }
    items
}

#[test]
fn nobody_waits_for_a_user_who_changes_all_the_time() {
    let server = Server::with(&[("TIDELINE__SERVER__MAX_STREAMS_PER_USER", "100")]);
    let authors: Vec<u64> = (1001..=1998).chain([BOTH_FOLLOW, MUTED]).collect();
    let path = format!("/v1/users/{TOGGLER}/following/batch");
    server.call("POST", &path, json!({ "follow": authors }).to_string()).expect(200);
    server.follow(2, BOTH_FOLLOW, 10);
    let mut streams: Vec<_> = (0..STREAMS).map(|_| Listener::open(&server, TOGGLER, None)).collect();
    let mut other = Listener::open(&server, 2, None);
    let (over, toggles) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for author in TOGGLED {
            let (server, over, toggles) = (&server, &over, &toggles);
            scope.spawn(move || {
                while !over.load(Ordering::SeqCst) {
                    for muted in [true, false] {
                        mute(server, author, muted);
                        toggles.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
        for round in 1..=20 {
            // Without a time limit: the test shows that others do not wait meanwhile.
            let before = toggles.load(Ordering::SeqCst);
            while toggles.load(Ordering::SeqCst) < before + 4 {
                thread::yield_now();
            }
            mute(&server, MUTED, true);
            server.publish(10 * round, MUTED, 1000);
            server.publish(10 * round + 1, BOTH_FOLLOW, 1000);
            assert_eq!(other.content(), 10 * round + 1);
            mute(&server, MUTED, false);
            server.publish(10 * round + 2, MUTED, 1000);
            // Reads all streams. If the next mute came while an item is on its way, both results would be right.
            for stream in &mut streams {
                let shown = [10 * round + 1, 10 * round + 2];
                assert_eq!(up_to(stream, shown[1]), shown, "what is shown and nothing else, in order and once");
            }
        }
        over.store(true, Ordering::SeqCst);
    });
    server.publish(1000, BOTH_FOLLOW, 1000);
    for listener in streams.iter_mut().chain([&mut other]) {
        assert_eq!(up_to(listener, 1000), [1000]);
    }
    other.is_quiet();
    streams[0].is_quiet();
    assert_eq!(server.figure("tideline_stream_resets_total"), 0.0);
}

#[test]
fn a_user_has_so_many_streams_and_no_more() {
    let settings = [("TIDELINE__SERVER__MAX_STREAMS_PER_USER", "3"), ("TIDELINE__PRESENCE__HEARTBEAT", "100ms")];
    let server = Server::with(&settings);
    server.follow(1, 2, 10);
    let mut streams: Vec<_> = (0..3).map(|_| Listener::open(&server, 1, None)).collect();
    for _ in 0..2 {
        let refused = server.call("GET", "/v1/users/1/stream", "");
        let problem = refused.problem("one more", 429, "stream_limit");
        assert_eq!(problem["detail"], "a user cannot have more than 3 open streams (server.max_streams_per_user)");
        assert_eq!(refused.header("retry-after"), Some("1"));
    }
    let full = r#"tideline_overloaded_total{full="streams_of_user"}"#;
    assert_eq!((server.figure(full), server.figure("tideline_streams")), (2.0, 3.0));
    let _other = Listener::open(&server, 5, None);
    server.publish(11, 2, 1000);
    assert!(streams.iter_mut().all(|stream| stream.content() == 11));
    drop(streams.pop());
    wait_until("a stream that does not end", || server.figure("tideline_streams") <= 3.0);
    streams.push(Listener::open(&server, 1, None));
    server.publish(12, 2, 1000);
    assert!(streams.iter_mut().all(|stream| stream.content() == 12));
}
