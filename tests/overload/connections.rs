//! More connections than allowed, and clients that stop sending or reading.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::server::{PATIENCE, Server, wait_until};

const OPEN: &str = "tideline_http_connections";

/// The whole answer to a request on a connection that the server then closes.
fn ask(stream: &mut TcpStream, path: &str) -> String {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn beyond_the_connections_a_request_is_turned_away_and_health_is_not() {
    let server = Server::with(&[("TIDELINE__SERVER__MAX_CONNECTIONS", "3")]);
    let connect = || TcpStream::connect(server.address).unwrap();
    // The connection that asks for the figures stays open too.
    server.get("/healthz");
    let used = || {
        let mut stream = connect();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
        stream
    };
    let idle: Vec<_> = (0..2).map(|_| used()).collect();
    server.wait_for(OPEN, |open| open >= 3.0);
    let answer = ask(&mut connect(), "/v1/users/1/timeline");
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("\r\nretry-after: 1\r\n"), "{answer}");
    assert!(answer.contains("\"code\":\"overloaded\""), "{answer}");
    for path in ["/healthz", "/readyz", "/metrics"] {
        let answer = ask(&mut connect(), path);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{path}: {answer}");
        assert!(
            path != "/metrics" || answer.contains("\ntideline_overloaded_total{full=\"connections\"} "),
            "{answer}"
        );
    }
    // A connection beyond the limit ends even without `connection: close`: another may be closed by then.
    let mut surplus = connect();
    surplus.set_read_timeout(Some(PATIENCE)).unwrap();
    surplus.write_all(b"GET /v1/users/1/timeline HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut answer = String::new();
    surplus.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("\r\nconnection: close\r\n"), "{answer}");
    drop(idle);
    wait_until("places are not given back", || {
        ask(&mut connect(), "/v1/users/1/timeline").starts_with("HTTP/1.1 200 ")
    });
}

#[test]
fn silent_connections_give_way_to_new_ones() {
    let settings = [("TIDELINE__SERVER__MAX_CONNECTIONS", "60"), ("TIDELINE__SERVER__REQUEST_TIMEOUT", "300s")];
    let server = Server::with(&settings);
    let connect = || TcpStream::connect(server.address).unwrap();
    let silent: Vec<_> = (0..200)
        .map(|n| {
            let mut stream = connect();
            let begun: &[u8] = if n % 2 == 0 { b"" } else { b"GET /v1/us" };
            // It may be closed already.
            let _ = stream.write_all(begun);
            stream
        })
        .collect();
    for path in ["/healthz", "/v1/users/1/timeline", "/metrics", "/readyz"].iter().cycle().take(20) {
        let answer = ask(&mut connect(), path);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{path}: {answer}");
    }
    let is_closed = |mut stream: &TcpStream| {
        stream.set_nonblocking(true).unwrap();
        !matches!(stream.read(&mut [0; 100]), Err(error) if error.kind() == ErrorKind::WouldBlock)
    };
    // 60, and 16 beyond them.
    wait_until("too many are open", || silent.iter().filter(|stream| !is_closed(stream)).count() <= 76);
}

#[test]
fn unfinished_requests_keep_no_memory() {
    // So long that all are open at once for a while, also on a busy machine.
    let server = Server::with(&[("TIDELINE__SERVER__REQUEST_TIMEOUT", "20s")]);
    let part = |head: &str| {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    // So many announced batches would take all memory for bodies if announcing were enough.
    let bodies = "POST /v1/content/batch HTTP/1.1\r\nhost: localhost\r\ncontent-length: 16777216\r\n\r\n{\"items\":[";
    let streams: Vec<_> = (0..40).map(|_| part(bodies)).chain((0..10).map(|_| part("GET /v1/us"))).collect();
    server.wait_for(OPEN, |open| open >= 50.0);
    assert!(server.figure("tideline_http_batch_memory_bytes") < 1e6);
    server.publish(1, 1, 1);
    server.wait_for("tideline_http_requests_timed_out_total", |timed_out| timed_out >= 40.0);
    server.wait_for("tideline_http_batch_memory_bytes", |bytes| bytes < 1.0);
    for mut stream in streams {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut answer = String::new();
        // The server reads the rest of a refused body for a while. It answers before.
        let mut chunk = [0; 64];
        let read = stream.read(&mut chunk).unwrap();
        answer.push_str(std::str::from_utf8(&chunk[..read]).unwrap());
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer:?}");
    }
    server.wait_for(OPEN, |open| open < 5.0);
}

#[test]
fn announced_bodies_that_never_come_do_not_delay_a_large_batch() {
    let server = Server::with(&[("TIDELINE__SERVER__REQUEST_TIMEOUT", "10m")]);
    let announced =
        b"POST /v1/content/batch HTTP/1.1\r\nhost: localhost\r\ncontent-length: 16777216\r\n\r\n{\"items\":[";
    let streams: Vec<_> = (0..20)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream.write_all(announced).unwrap();
            stream
        })
        .collect();
    server.wait_for(OPEN, |open| open >= 20.0);
    let text = "x".repeat(60_000);
    let items = vec![format!(r#"{{"author_id":1,"text":"{text}"}}"#); 30].join(",");
    let began = Instant::now();
    server.call("POST", "/v1/content/batch", format!(r#"{{"items":[{items}]}}"#)).expect(201);
    // Without a turn, it would be read after a third of the time of a request.
    assert!(began.elapsed() < 2 * PATIENCE, "{:?}", began.elapsed());
    drop(streams);
}

#[test]
fn clients_that_read_no_answer_are_dropped_with_their_answers() {
    let server = Server::with(&[("TIDELINE__SERVER__REQUEST_TIMEOUT", "30s")]);
    let text = "x".repeat(60_000);
    let items: Vec<_> = (1..=100).map(|id| format!(r#"{{"content_id":{id},"author_id":1,"text":"{text}"}}"#)).collect();
    server.call("POST", "/v1/content/batch", format!(r#"{{"items":[{}]}}"#, items.join(","))).expect(201);
    let streams: Vec<_> = (0..6)
        .map(|_| {
            let mut stream = server.narrow();
            stream
                .write_all("GET /v1/users/1/content?limit=100 HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(3).as_bytes())
                .unwrap();
            stream
        })
        .collect();
    let memory = "tideline_http_answer_memory_bytes";
    server.wait_for(memory, |bytes| bytes > 6e6);
    let began = Instant::now();
    server.wait_for(memory, |bytes| bytes < 1.0);
    server.wait_for(OPEN, |open| open < 5.0);
    assert!(began.elapsed() < Duration::from_secs(90), "{:?}", began.elapsed());
    drop(streams);
    // On a slow machine this may take longer than the time limit of a request.
    let page = || server.call("GET", "/v1/users/1/content?limit=100", "");
    let page = std::iter::repeat_with(page).take(20).find(|page| page.status == 200).unwrap();
    assert_eq!(page.expect(200)["items"].as_array().unwrap().len(), 100);
}
