//! Full pages of large items for clients that do not read them. Their memory counts from before the items are read.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use crate::server::{PATIENCE, Server};

const HELD: &str = "tideline_http_answer_memory_bytes";
const READER: &str = "/v1/users/1/timeline?limit=100";

/// Reads only the status of an answer.
fn status(stream: &mut TcpStream) -> String {
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    String::from_utf8_lossy(&head[9..]).into_owned()
}

#[test]
fn pages_that_nobody_reads_take_a_bounded_memory() {
    // Long, so that the timeout drops none of them.
    let server = Server::with(&[("TIDELINE__SERVER__REQUEST_TIMEOUT", "300s")]);
    server.follow(1, 2, 1);
    let text = "x".repeat(65_000);
    for begin in [1, 26, 51, 76] {
        let items: Vec<_> =
            (begin..begin + 25).map(|id| json!({"author_id": 2, "content_id": id, "text": text})).collect();
        server.call("POST", "/v1/content/batch", json!({ "items": items }).to_string()).expect(201);
    }
    let connect = |_| {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(2 * PATIENCE)).unwrap();
        write!(stream, "GET {READER} HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        stream
    };
    let mut streams: Vec<_> = (0..100).map(connect).collect();
    let statuses: Vec<_> = streams.iter_mut().map(status).collect();
    let count = |wanted: &str| statuses.iter().filter(|status| *status == wanted).count();
    let (sent, refused) = (count("200"), count("503"));
    assert!(sent + refused == 100 && sent >= 10 && refused > 0, "{sent} {refused}");
    assert!(server.figure("tideline_overloaded_total{full=\"answers\"}") >= 1.0);
    assert!(server.figure(HELD) <= server.figure("tideline_http_answer_memory_limit_bytes"));
    // Each page takes 6.5 MB, and its items take as much again.
    let resident = server.figure("process_resident_memory_bytes") / f64::from(1 << 20);
    assert!(resident < 800.0, "{resident} MiB");
    // Small answers need no room.
    assert_eq!(server.get("/v1/users/1/timeline?view=ids&limit=100")["items"].as_array().unwrap().len(), 100);
    drop(streams);
    server.wait_for(HELD, |held| held == 0.0);
    let page = server.get(READER);
    assert!(page["items"].as_array().unwrap().iter().all(|item| item["text"] == text.as_str()));
}
