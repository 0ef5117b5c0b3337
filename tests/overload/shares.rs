//! One user against all others: whatever the user holds, there are places for others.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::json;

use crate::server::tokens::{SECRET, key, token};
use crate::server::{PATIENCE, Server, wait_until};

/// A server with a key and tokens, whose requests have long.
fn guarded() -> Server {
    Server::with(&[
        ("TIDELINE__AUTH__KEYS", &key("full")),
        ("TIDELINE__AUTH__JWT_SECRETS", SECRET),
        ("TIDELINE__SERVER__REQUEST_TIMEOUT", "300s"),
        ("TIDELINE__SERVER__BODY_LIMIT", "1048576"),
    ])
}

fn bearer(credential: &str) -> String {
    format!("Bearer {credential}")
}

fn figure(server: &Server, name: &str) -> f64 {
    let page = server.call_as("GET", "/metrics", "", &[("authorization", &bearer(&key("full")))]);
    let line = page.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name}")).parse().unwrap()
}

#[test]
fn bodies_of_one_user_that_stop_leave_memory_for_others() {
    let server = guarded();
    let mine = token("ana");
    let head = format!(
        "PUT /v1/users/ana/marker HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {mine}\r\n\
         content-length: 1000000\r\n\r\n"
    );
    let part = [head.as_bytes(), &vec![b' '; 600_000]].concat();
    // More than all memory of bodies; those without memory are answered while they are sent.
    let streams: Vec<_> = (0..80)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream.set_write_timeout(Some(PATIENCE)).unwrap();
            let _ = stream.write_all(&part);
            stream
        })
        .collect();
    wait_until("no body of the user is refused", || {
        figure(&server, "tideline_overloaded_total{full=\"bodies\"}") >= 60.0
    });
    let (held, limit) = ["tideline_http_body_memory_bytes", "tideline_http_body_memory_limit_bytes"]
        .map(|name| figure(&server, name))
        .into();
    assert!(held > 0.1 * limit && held < 0.25 * limit, "{held} of {limit}");
    let text = "x".repeat(500_000);
    for credential in [key("full"), key("full"), token("bo")] {
        let path = if credential == token("bo") { "/v1/users/bo/marker" } else { "/v1/content" };
        let (method, body) = match path {
            "/v1/content" => ("POST", json!({"author_id": "1", "text": text})),
            _ => ("PUT", json!({"cursor": "1-1", "text": text})),
        };
        let reply = server.call_as(method, path, body.to_string(), &[("authorization", &bearer(&credential))]);
        assert_ne!(reply.status, 503, "{path}: {}", reply.text());
    }
    drop(streams);
}

#[test]
fn exports_of_one_user_leave_downloads_for_others() {
    let server = guarded();
    let full = bearer(&key("full"));
    let text = "x".repeat(500_000);
    let items: Vec<_> = (0..20).map(|_| json!({"author_id": "ana", "text": text})).collect();
    let call = |method: &str, path: &str, body: String| server.call_as(method, path, body, &[("authorization", &full)]);
    call("POST", "/v1/content/batch", json!({ "items": items }).to_string()).expect(201);
    let export = |user: &str| {
        let mut stream = server.narrow();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (path, token) = (format!("/v1/users/{user}/export"), token(user));
        write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n").unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        (String::from_utf8_lossy(&status[9..]).into_owned(), stream)
    };
    // None of these is read on.
    let of_ana: Vec<_> = (0..12).map(|_| export("ana")).collect();
    let statuses: Vec<_> = of_ana.iter().map(|(status, _)| status.as_str()).collect();
    assert_eq!(statuses, [&["200"][..], &["503"; 11]].concat(), "one at a time");
    assert_eq!(export("bo").0, "200");
    let backup = call("POST", "/v1/admin/backups", String::new()).expect(201);
    let name = backup["name"].as_str().unwrap();
    assert_eq!(call("GET", &format!("/v1/admin/backups/{name}"), String::new()).status, 200);
    assert_eq!(call("GET", "/v1/users/cy/export", String::new()).status, 200, "by a key");
}

/// The status of the answer to a request on a connection that stays open.
fn ask(stream: &mut BufReader<TcpStream>, method: &str, path: &str, credential: &str, body: &str) -> u16 {
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {credential}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.get_mut().write_all(request.as_bytes()).unwrap();
    let (mut status, mut length) = (0, 0);
    for line in stream.lines().map(Result::unwrap).take_while(|line| !line.is_empty()) {
        let line = line.to_ascii_lowercase();
        status = line.strip_prefix("http/1.1 ").map_or(status, |rest| rest[..3].parse().unwrap());
        length = line.strip_prefix("content-length: ").map_or(length, |rest| rest.parse().unwrap());
    }
    stream.read_exact(&mut vec![0; length]).unwrap();
    status
}

#[test]
fn changes_of_one_user_on_many_connections_leave_publishes_of_a_key_alone() {
    let server = Server::with(&[
        ("TIDELINE__AUTH__KEYS", &key("full")),
        ("TIDELINE__AUTH__JWT_SECRETS", SECRET),
        ("TIDELINE__SERVER__REQUEST_TIMEOUT", "300s"),
    ]);
    let connect = || BufReader::new(TcpStream::connect(server.address).unwrap());
    let (has_published, refused) = (AtomicBool::new(false), AtomicUsize::new(0));
    let began = Instant::now();
    let churn = |n: usize| {
        let (mut stream, path, token) = (connect(), format!("/v1/users/ana/following/t{n}"), token("ana"));
        while !has_published.load(Ordering::Relaxed) && began.elapsed() < PATIENCE {
            for method in ["PUT", "DELETE"] {
                let status = ask(&mut stream, method, &path, &token, "");
                refused.fetch_add(usize::from(status == 503), Ordering::Relaxed);
            }
        }
    };
    let publish = || {
        let (mut stream, key) = (connect(), key("full"));
        let mut publish = || ask(&mut stream, "POST", "/v1/content", &key, r#"{"author_id":"bo","text":"x"}"#);
        (0..30).map(|_| publish()).collect::<Vec<_>>()
    };
    let statuses: Vec<_> = std::thread::scope(|scope| {
        (0..600).for_each(|n| drop(scope.spawn(move || churn(n))));
        wait_until("no change of the user is refused", || refused.load(Ordering::Relaxed) > 0);
        let publishers: Vec<_> = (0..32).map(|_| scope.spawn(publish)).collect();
        let statuses = publishers.into_iter().flat_map(|publisher| publisher.join().unwrap()).collect();
        has_published.store(true, Ordering::Relaxed);
        statuses
    });
    assert!(statuses.iter().all(|status| *status == 201), "{statuses:?}");
}
