//! Ids of requests in answers and in the server log, and the lines about slow requests.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::server::{Server, command, connect, wait_until};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// A server whose log is a file.
fn logged(data: &TempDir, settings: &[(&str, &str)]) -> Server {
    let mut command = command(data, "127.0.0.1:0", settings);
    command.stderr(File::create(log(data)).unwrap());
    Server::launch(command).unwrap()
}

fn log(data: &TempDir) -> impl AsRef<Path> + use<> {
    data.path().with_extension("log")
}

#[test]
fn every_answer_has_the_id_of_its_request() {
    let server = Server::start();
    let parent = format!("00-{TRACE}-00f067aa0ba902b7-01");
    for (method, path, status) in [
        ("GET", "/v1/users/1/timeline", 200),
        ("GET", "/v1/content/1", 404),
        ("GET", "/nothing", 404),
        ("GET", "/v1/users/1/%ff", 400),
        ("DELETE", "/healthz", 405),
        ("PUT", "/v1/users/1/marker", 400),
        ("GET", "/healthz", 200),
        ("GET", "/metrics", 200),
        ("GET", "/docs/", 200),
    ] {
        let id = |headers: &[(&str, &str)]| {
            let reply = server.call_as(method, path, "", headers);
            assert_eq!(reply.status, status, "{method} {path}");
            reply.header("x-request-id").unwrap().to_owned()
        };
        assert_eq!(id(&[("x-request-id", "my-id!")]), "my-id!", "{method} {path}");
        assert_eq!(id(&[("traceparent", &parent), ("x-request-id", "my-id!")]), TRACE, "{method} {path}");
        let made = id(&[("x-request-id", "two words"), ("traceparent", "00-0-0-0")]);
        assert!(made.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') && made != id(&[]), "{made}");
    }
    let evil = server.call_as("GET", "/v1/users/1/timeline", "", &[("host", "evil.example"), ("x-request-id", "e")]);
    assert_eq!((evil.status, evil.header("x-request-id")), (421, Some("e")));
}

#[test]
fn a_slow_request_is_in_the_log_without_its_ids_and_credentials() {
    let data = TempDir::new().unwrap();
    let settings = [("TIDELINE__LOG__FORMAT", "json"), ("TIDELINE__LOG__SLOW_REQUEST", "300ms")];
    let server = logged(&data, &settings);
    let body = r#"{"follow":["hidden-2"]}"#;
    let head = format!(
        "POST /v1/users/hidden/following/batch HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer hidden\r\n\
         x-request-id: slow-one\r\nconnection: close\r\nexpect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = connect(server.address);
    stream.write_all(head.as_bytes()).unwrap();
    // A busy server may read the head late. The time of the request counts from then.
    let mut read = [0; b"HTTP/1.1 100 Continue\r\n\r\n".len()];
    stream.read_exact(&mut read).unwrap();
    assert_eq!(&read, b"HTTP/1.1 100 Continue\r\n\r\n");
    std::thread::sleep(Duration::from_millis(700));
    stream.write_all(body.as_bytes()).unwrap();
    wait_until("the line is not written", || std::fs::read_to_string(log(&data)).unwrap().contains("slow-one"));
    server.end("TERM");
    let text = std::fs::read_to_string(log(&data)).unwrap();
    std::fs::remove_file(log(&data)).unwrap();
    let line = text.lines().find(|line| line.contains("slow-one")).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    let fields = &line["fields"];
    assert_eq!(line["level"], "WARN");
    assert_eq!((&fields["method"], &fields["route"]), (&"POST".into(), &"/v1/users/{uid}/following/batch".into()));
    assert_eq!((&fields["status"], &fields["request_id"]), (&200.into(), &"slow-one".into()));
    assert_eq!(fields["caller"], "anyone");
    assert!(fields["seconds"].as_f64().unwrap() >= 0.3 && fields["bytes"].as_u64().unwrap() > 50, "{line}");
    assert!(!text.contains("hidden"), "{text}");
}
