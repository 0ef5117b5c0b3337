//! Requests without an end, and connections that are used for nothing. The server closes them.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::server::{Server, connect, wait_until};

const SHORT: &[(&str, &str)] = &[("TIDELINE__SERVER__REQUEST_TIMEOUT", "5s"), ("TIDELINE__SERVER__BODY_LIMIT", "1000")];
const LONG: &[(&str, &str)] = &[("TIDELINE__SERVER__REQUEST_TIMEOUT", "300s")];

fn head(line: &str, headers: &str) -> String {
    format!("{line} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n")
}

/// Everything until the server closes, which it must.
fn rest(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(e) if e.kind() != ErrorKind::ConnectionReset => {
            panic!("not closed after {:?}: {e}", String::from_utf8_lossy(&answer))
        }
        _ => String::from_utf8(answer).unwrap(),
    }
}

#[test]
fn the_rest_of_a_body_in_chunks_is_awaited_for_a_while_only() {
    let server = Server::with(SHORT);
    let large = format!("7d0\r\n{}\r\n", " ".repeat(2000));
    let cases = [
        ("GET /v1/users/1", "", 200),
        ("GET /nothing", "", 404),
        ("BREW /v1/content", "", 405),
        ("POST /v1/content", "", 408),
        ("POST /v1/content", "5\r\n{\"aut", 408),
        ("POST /v1/content", &large, 413),
    ];
    for close in ["", "connection: close\r\n"] {
        let headers = format!("transfer-encoding: chunked\r\n{close}");
        let streams = cases.map(|(line, body, _)| {
            let mut stream = connect(server.address);
            write!(stream, "{}{body}", head(line, &headers)).unwrap();
            stream
        });
        for ((line, body, status), mut stream) in cases.into_iter().zip(streams) {
            let answer = rest(&mut stream);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{line}, {body}: {answer}");
        }
    }
}

#[test]
fn every_head_of_a_connection_has_its_time() {
    let server = Server::with(SHORT);
    let mut stream = connect(server.address);
    for _ in 0..2 {
        stream.write_all(head("GET /healthz", "").as_bytes()).unwrap();
        let mut answer = String::new();
        while !answer.ends_with("{\"status\":\"ok\"}") {
            let mut piece = [0; 512];
            let read = stream.read(&mut piece).unwrap();
            assert!(read > 0, "closed after {answer}");
            answer.push_str(std::str::from_utf8(&piece[..read]).unwrap());
        }
    }
    stream.write_all(b"GET /healthz HT").unwrap();
    let answer = rest(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(server.figure("tideline_http_requests_timed_out_total") >= 1.0);
}

#[test]
fn chunk_overhead_of_a_body_has_a_bound() {
    let server = Server::with(LONG);
    let chunked = head("POST /v1/content", "transfer-encoding: chunked\r\nconnection: close\r\n");
    let text = format!(r#"{{"author_id":1,"text":"{}"}}"#, "a".repeat(3000));
    let by_byte = |extension: &str| {
        let chunks: String = text.chars().map(|byte| format!("1{extension}\r\n{byte}\r\n")).collect();
        String::from_utf8(server.raw(format!("{chunked}{chunks}0\r\n\r\n").as_bytes())).unwrap()
    };
    let answer = by_byte("");
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    let answer = by_byte(&format!(";{}", "x".repeat(100)));
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("chunks"), "{answer}");
    // A chunk whose first line has no end, and a body whose trailer has none.
    for begin in ["1;", "0\r\na: "] {
        let answer = server.raw(format!("{chunked}{begin}{}", "x".repeat(64 << 10)).as_bytes());
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("chunks"), "{begin}: {answer}");
    }
}

#[test]
fn a_body_that_nobody_reads_is_not_read_ahead() {
    let server = Server::with(LONG);
    let mut stream = connect(server.address);
    write!(stream, "{}", head("GET /v1/users/1/stream", "content-length: 1000000000\r\n")).unwrap();
    server.wait_for("tideline_streams", |open| open >= 1.0);
    stream.set_write_timeout(Some(Duration::from_secs(5))).unwrap();
    let endless = stream.write_all(&vec![b'x'; 256 << 20]);
    assert_eq!(endless.unwrap_err().kind(), ErrorKind::WouldBlock, "all of it is read");
}

/// A connection by which the system asks whether the client is alive has the timer 2.
#[test]
fn the_system_asks_whether_a_silent_client_is_alive() {
    let server = Server::with(LONG);
    let stream = connect(server.address);
    let (here, there) = (stream.local_addr().unwrap().port(), server.address.port());
    let ends = format!(" 0100007F:{there:04X} 0100007F:{here:04X} 01 ");
    wait_until("the system does not ask", || {
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let row = table.lines().find_map(|line| line.split_once(&ends));
        row.and_then(|(_, row)| row.split(' ').nth(1)).is_some_and(|timer| timer.starts_with("02:"))
    });
}
