//! Streams: their events, and when these are sent.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::listener::{Listener, Sent};
use crate::server::{PATIENCE, Server, wait_until};

#[test]
fn a_purge_at_once_is_a_delete_to_streams() {
    let server = Server::with(&[("TIDELINE__CONTENT__DELETED_RETENTION", "0s")]);
    server.follow(1, 2, 10);
    let mut listener = Listener::open(&server, 1, None);
    server.publish(11, 2, 1000);
    assert_eq!(listener.content(), 11);
    assert_eq!(server.call("DELETE", "/v1/content/11", "").status, 204);
    let sent = listener.event();
    assert_eq!((sent.event.as_str(), &sent.data["content_id"]), ("delete", &"11".into()));
    server.call("POST", "/v1/content/11/restore", "").problem("purged", 404, "content_not_found");
    listener.is_quiet();
}

#[test]
fn a_wrong_place_is_refused() {
    let server = Server::start();
    for bad in ["1", "1-", "x", "x-1", "-", "-1", "01-1", "9223372036854775808-1", "1-\u{85}", "é"] {
        let reply = server.call_as("GET", "/v1/users/1/stream", "", &[("last-event-id", bad)]);
        reply.problem(bad, 400, "invalid_header");
    }
    for unknown in ["1-0", "1-x", "1-2-3", "1-é"] {
        let reply = server.call_as("GET", "/v1/users/1/stream", "", &[("last-event-id", unknown)]);
        reply.problem(unknown, 400, "unknown_cursor");
    }
    let twice = [("last-event-id", "1-1"), ("last-event-id", "1-1")];
    server.call_as("GET", "/v1/users/1/stream", "", &twice).problem("twice", 400, "invalid_header");
    server.call("GET", "/v1/users/1/stream?limit=1", "").problem("a parameter", 400, "invalid_parameter");
    server.call("GET", "/v1/users/%00/stream", "").problem("an id", 400, "invalid_id");
    server.call("POST", "/v1/users/1/stream", "").problem("a method", 405, "method_not_allowed");
    let head = server.call("HEAD", "/v1/users/1/stream", "");
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    assert_eq!(server.figure("tideline_streams"), 0.0);
}

#[test]
fn a_client_of_http_1_0_gets_the_stream_as_it_is() {
    let server = Server::start();
    server.follow(1, 2, 10);
    let connect = || TcpStream::connect(server.address).unwrap();
    let mut listener = Listener::with_version("1.0", connect(), 1, None);
    assert!(listener.head.starts_with("HTTP/1.0 200 "), "{}", listener.head);
    for header in ["transfer-encoding", "content-length", "keep-alive"] {
        assert!(!listener.head.contains(header), "{}", listener.head);
    }
    for id in [11, 12] {
        server.publish(id, 2, 1000);
        assert_eq!(listener.content(), id);
    }
    let mut missed = Listener::with_version("1.0", connect(), 1, Some("1000-11"));
    assert_eq!(missed.content(), 12);
    // As any answer without a known length.
    let export = server.raw(b"GET /v1/users/1/export HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    let (head, lines) = std::str::from_utf8(&export).unwrap().split_once("\r\n\r\n").unwrap();
    assert!(!head.to_lowercase().contains("transfer-encoding"), "{head}");
    assert!(lines.starts_with('{') && lines.ends_with("{\"type\":\"end\"}\n"), "{lines}");
    // A client of HTTP/1.1 still gets chunks.
    let mut chunked = Listener::open(&server, 1, Some("1000-11"));
    assert!(chunked.head.contains("transfer-encoding: chunked"), "{}", chunked.head);
    assert_eq!(chunked.content(), 12);
    let (status, _data) = server.stop("TERM");
    assert_eq!(status.code(), Some(0));
    assert!(listener.ends() && missed.ends() && chunked.ends());
}

#[test]
fn silence_is_broken_by_comments() {
    // So long that the head of the request comes in time on a busy machine.
    const REQUEST: Duration = Duration::from_secs(5);
    const HEARTBEAT: Duration = Duration::from_millis(500);
    let settings = [("TIDELINE__PRESENCE__HEARTBEAT", "500ms"), ("TIDELINE__SERVER__REQUEST_TIMEOUT", "5s")];
    let server = Server::with(&settings);
    let asked = Instant::now();
    let mut listener = Listener::open(&server, 1, None);
    let opened = Instant::now();
    let mut comments = 0;
    while comments < 10 || opened.elapsed() < REQUEST + Duration::from_secs(1) {
        let block = listener.block(PATIENCE).expect("a stream may take longer than a request");
        assert_eq!(block.event, "");
        comments += block.comments;
    }
    // Counted from the request: those that came during a pause of this thread are read at once.
    let took = asked.elapsed();
    assert!(took > HEARTBEAT * (comments as u32 - 2), "{comments} comments in {took:?}");
}

/// A server that would wait for open connections longer than a test does.
const PATIENT: (&str, &str) = ("TIDELINE__SERVER__SHUTDOWN_TIMEOUT", "90s");

#[test]
fn a_stop_ends_streams_at_once_also_those_whose_clients_read_nothing() {
    let server = Server::with(&[PATIENT]);
    let _stuck = stuck(&server, 10);
    let mut listeners: Vec<_> = (50..=90).map(|user| Listener::open(&server, user, None)).collect();
    let began = Instant::now();
    let (status, _data) = server.stop("TERM");
    assert_eq!(status.code(), Some(0));
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    assert!(listeners.iter_mut().all(Listener::ends));
}

#[test]
fn only_a_client_that_does_not_read_loses_events() {
    // One thread for all connections: if it waited for a client, or the dispatcher did, the others would, too. A client
    // that takes nothing is closed after the timeout, which must not end while a slow machine publishes.
    let server = Server::with(&[("TIDELINE__SERVER__WORKERS", "1"), ("TIDELINE__SERVER__REQUEST_TIMEOUT", "10m")]);
    let readers = [1, 2];
    for reader in readers {
        server.follow(reader, 3, 10);
    }
    let mut slow = Listener::on(server.narrow(), 1, None);
    let mut quick = Listener::open(&server, 2, None);
    let text = "x".repeat(8000);
    for batch in 0..30 {
        let item = |n: u64| format!(r#"{{"content_id":{},"author_id":3,"text":"{text}"}}"#, 1 + 100 * batch + n);
        let items: Vec<_> = (0..100).map(item).collect();
        server.call("POST", "/v1/content/batch", format!(r#"{{"items":[{}]}}"#, items.join(","))).expect(201);
        for n in 0..100 {
            assert_eq!(quick.content(), 1 + 100 * batch + n);
        }
        let memory = server.figure("tideline_stream_memory_bytes");
        assert!(memory < 1000.0 * 9000.0, "more than 1000 events wait: {memory}");
    }
    assert!(server.figure("tideline_stream_resets_total") >= 1.0);
    let mut seen = Vec::new();
    let id = |sent: &Sent| sent.data["content_id"].as_str().unwrap().parse::<u64>().unwrap();
    let mut reset = loop {
        let sent = slow.event();
        if sent.event == "reset" {
            break sent;
        }
        seen.push(id(&sent));
    };
    assert_eq!(seen, (1..=seen.len() as u64).collect::<Vec<_>>(), "in order, up to the reset");
    server.publish(9000, 3, 10);
    let mut later = Vec::new();
    while later.last() != Some(&9000) {
        let sent = slow.event();
        if sent.event == "reset" {
            // The connection had taken the first reset and some more events before so many waited again.
            (reset, later) = (sent, Vec::new());
        } else {
            later.push(id(&sent));
        }
    }
    let resumed = later.clone();
    let mut again = Listener::open(&server, 1, reset.id.as_deref());
    for id in resumed {
        assert_eq!(again.content(), id);
    }
    again.is_quiet();
    drop((slow, quick, again));
    wait_until("memory is not given back", || server.figure("tideline_stream_memory_bytes") <= 0.0);
}

/// Streams whose clients read nothing, each with as many waiting events as possible.
fn stuck(server: &Server, readers: u64) -> Vec<Listener> {
    for reader in 1..=readers {
        server.follow(reader, 99, 10);
    }
    let stuck = (1..=readers).map(|reader| Listener::on(server.narrow(), reader, None)).collect();
    let text = "x".repeat(8000);
    for batch in 0..12 {
        let item = |n: u64| format!(r#"{{"content_id":{},"author_id":99,"text":"{text}"}}"#, 1 + 100 * batch + n);
        let items: Vec<_> = (0..100).map(item).collect();
        server.call("POST", "/v1/content/batch", format!(r#"{{"items":[{}]}}"#, items.join(","))).expect(201);
    }
    stuck
}

#[test]
fn unfollowing_removes_items_that_wait_for_a_slow_client() {
    let server = Server::start();
    let mut slow = Listener::on(server.narrow(), 1, None);
    for author in [3, 4] {
        server.follow(1, author, 10);
    }
    let text = "x".repeat(8000);
    for batch in 0..9 {
        let item = |n: u64| format!(r#"{{"content_id":{},"author_id":3,"text":"{text}"}}"#, 1 + 100 * batch + n);
        let items: Vec<_> = (0..100).map(item).collect();
        server.call("POST", "/v1/content/batch", format!(r#"{{"items":[{}]}}"#, items.join(","))).expect(201);
    }
    server.publish(901, 4, 10);
    server.call("DELETE", "/v1/users/1/following/3", "").expect(200);
    let mut seen = vec![slow.content()];
    while seen.last() != Some(&901) {
        seen.push(slow.content());
    }
    // At most some hundred items were on their way to the client already.
    assert!(seen.len() < 800, "{}", seen.len());
    assert_eq!(server.figure("tideline_stream_resets_total"), 0.0);
}

#[test]
fn an_item_with_a_time_ahead_is_a_place_after_a_restart_too() {
    let server = Server::with(&[("TIDELINE__CONTENT__MAX_AHEAD", "36500d")]);
    server.follow(1, 2, 10);
    let mut listener = Listener::open(&server, 1, None);
    let to_come = 4_000_000_000_000;
    server.publish(11, 2, to_come);
    assert_eq!(listener.content(), 11);
    let place = listener.last_id.clone();
    server.call("POST", "/v1/content", r#"{"content_id":12,"author_id":2}"#).expect(201);
    let mut again = Listener::open(&server, 1, place.as_deref());
    assert_eq!(again.content(), 12, "what happened is still known");
    let server = server.restart("KILL", &[]);
    server.call("POST", "/v1/content", r#"{"content_id":13,"author_id":2}"#).expect(201);
    let mut again = Listener::open(&server, 1, place.as_deref());
    assert_eq!((again.content(), again.content()), (12, 13));
    again.is_quiet();
    // A cursor without an item does not tell which events are missed.
    assert_eq!(Listener::open(&server, 1, Some(&format!("{to_come}-9"))).event().event, "reset");
}

#[test]
fn clients_that_read_nothing_for_long_are_offline() {
    // So long that each of the large batches comes in time on a busy machine.
    let server = Server::with(&[("TIDELINE__SERVER__REQUEST_TIMEOUT", "20s")]);
    let stuck = stuck(&server, 10);
    let _quiet = Listener::open(&server, 50, None);
    wait_until("clients that take nothing are waited for", || server.figure("tideline_streams") <= 1.0);
    assert_eq!(server.figure("tideline_users_online"), 1.0, "who hears nothing since there is nothing, stays");
    drop(stuck);
}

#[test]
fn streams_leave_connections_for_requests() {
    let server = Server::with(&[("TIDELINE__SERVER__MAX_CONNECTIONS", "16")]);
    let streams: Vec<_> = (1..=14).map(|user| Listener::open(&server, user, None)).collect();
    assert_eq!(server.figure("tideline_streams"), 14.0);
    let one_more = server.call("GET", "/v1/users/1/stream", "");
    one_more.problem("one more", 503, "overloaded");
    assert!(one_more.header("retry-after").is_some());
    server.publish(1, 1, 1);
    drop(streams);
}
