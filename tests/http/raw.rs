//! Requests that no client library sends. They get a 4xx or a closed connection, never a 5xx and never a hang.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use crate::server::{Server, connect};

/// The statuses of all answers on the connection.
fn statuses(answer: &[u8]) -> Vec<u16> {
    let text = String::from_utf8_lossy(answer);
    let heads = text.split("HTTP/1.1 ").skip(1);
    heads.map(|head| head[..3].parse().unwrap()).collect()
}

fn request(line: &[u8], headers: &[u8], body: &[u8]) -> Vec<u8> {
    [line, b" HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n", headers, b"\r\n", body].concat()
}

fn sized(line: &[u8], body: &[u8]) -> Vec<u8> {
    request(line, format!("content-length: {}\r\n", body.len()).as_bytes(), body)
}

/// Requests that the HTTP library answers itself, with a status and no body.
const BARE: &[&str] = &[
    "bytes in the path",
    "UTF-8 in the path",
    "bytes in the query",
    "a null in the path",
    "a space in the path",
    "a giant header",
    "many headers",
    "a long path",
    "a long query",
    "no host",
    "no version",
    "no HTTP",
    "TLS",
    "a bad length",
    "two lengths",
    "length and chunks",
];

#[test]
fn malformed_requests_get_a_4xx() {
    let server = Server::start();
    let giant = [b"x-giant: ".as_slice(), &[b'x'; 300_000], b"\r\n"].concat();
    let many: Vec<u8> = (0..200).flat_map(|n| format!("x-{n}: 1\r\n").into_bytes()).collect();
    let long_path = [b"GET /".as_slice(), &[b'a'; 70_000]].concat();
    let long_query = [b"GET /healthz?".as_slice(), &[b'a'; 70_000]].concat();
    let long_id = [b"GET /v1/users/".as_slice(), &[b'1'; 20_000], b"/timeline"].concat();
    let cases: &[(&str, Vec<u8>, u16)] = &[
        ("bytes in the path", request(b"GET /v1/users/\xff\xfe/timeline", b"", b""), 400),
        ("UTF-8 in the path", request("GET /v1/users/é/timeline".as_bytes(), b"", b""), 400),
        ("bytes in the query", request(b"GET /v1/users/1/timeline?limit=\xff", b"", b""), 400),
        ("an escape in the query", request(b"GET /v1/users/1/timeline?limit=%ff", b"", b""), 400),
        ("an escape in the path", request(b"GET /v1/users/%ff/timeline", b"", b""), 400),
        ("a null in the path", request(b"GET /v1/users/\x00/timeline", b"", b""), 400),
        ("an escaped null", request(b"GET /v1/users/%00/timeline", b"", b""), 400),
        ("a space in the path", request(b"GET /v1/users/1 /timeline", b"", b""), 400),
        ("bytes in the body", sized(b"POST /v1/content", b"{\"author_id\":66,\"text\":\"\xff\"}"), 400),
        ("bytes in extra", sized(b"POST /v1/content", b"{\"author_id\":66,\"extra\":{\"a\":\"\xc3\x28\"}}"), 400),
        (
            "bytes in a batch",
            sized(b"POST /v1/content/batch", b"{\"items\":[{\"author_id\":66,\"text\":\"\xff\"}]}"),
            400,
        ),
        ("a surrogate as UTF-8", sized(b"POST /v1/content", b"{\"author_id\":66,\"text\":\"\xed\xa0\x80\"}"), 400),
        ("a giant header", request(b"GET /healthz", &giant, b""), 431),
        ("many headers", request(b"GET /healthz", &many, b""), 431),
        ("a long path", request(&long_path, b"", b""), 400),
        ("a long query", request(&long_query, b"", b""), 400),
        ("a long id", request(&long_id, b"", b""), 400),
        ("no host", b"GET /healthz HTTP/1.1\r\n\r\n".to_vec(), 400),
        ("no version", b"GET /healthz\r\n\r\n".to_vec(), 400),
        ("no HTTP", b"hello\r\n\r\n".to_vec(), 400),
        ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n".to_vec(), 400),
        ("a bad length", request(b"POST /v1/content", b"content-length: x\r\n", b"{}"), 400),
        ("two lengths", request(b"POST /v1/content", b"content-length: 2\r\ncontent-length: 3\r\n", b"{}"), 400),
        (
            "length and chunks",
            request(b"POST /v1/content", b"content-length: 2\r\ntransfer-encoding: chunked\r\n", b"{}"),
            400,
        ),
        ("bad chunks", request(b"POST /v1/content", b"transfer-encoding: chunked\r\n", b"zz\r\n{}\r\n0\r\n\r\n"), 400),
        ("a huge length", request(b"POST /v1/content", b"content-length: 18446744073709551615\r\n", b"{}"), 413),
        ("an unknown method", request(b"BREW /v1/content", b"", b""), 405),
        ("a method too many", request(b"CONNECT /v1/content", b"", b""), 405),
        ("no body", request(b"POST /v1/content", b"", b""), 400),
        (
            "gzip",
            request(b"POST /v1/content", b"content-encoding: gzip\r\ncontent-length: 4\r\n", b"\x1f\x8b\x08\x00"),
            415,
        ),
    ];
    for (what, bytes, status) in cases {
        let answer = server.raw(bytes);
        let text = String::from_utf8_lossy(&answer);
        assert_eq!(statuses(&answer), [*status], "{what}: {text}");
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        if BARE.contains(what) {
            assert_eq!(body, "", "{what}: docs/use/api.md promises an answer without a body");
        } else {
            assert!(head.contains("application/problem+json") && body.contains("\"code\":"), "{what}: {text}");
        }
    }
    assert!(server.ids("/v1/users/66/content").is_empty());
}

#[test]
fn paths_that_are_no_text_are_problems_too() {
    let server = Server::start();
    for path in ["/%ff", "/v1/%zz/1", "/v1/users/1/timeline/%", "/v1/content/1/%c3%28"] {
        server.call("GET", path, "").problem(path, 400, "invalid_path");
    }
    server.call("GET", "/%c3%a9", "").problem("é", 404, "route_not_found");
}

#[test]
fn a_slow_body_times_out() {
    let server = Server::with(&[("TIDELINE__SERVER__REQUEST_TIMEOUT", "5s")]);
    let answer = server.raw(&request(b"POST /v1/content", b"content-length: 100\r\n", b"{"));
    assert_eq!(statuses(&answer), [408]);
    let text = String::from_utf8_lossy(&answer);
    assert!(text.contains("\"code\":\"body_timeout\"") && text.contains("application/problem+json"), "{text}");
    // A head that never ends.
    let answer = server.raw(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n");
    assert_eq!(statuses(&answer), [408]);
    assert_eq!(server.get("/healthz")["status"], "ok");
}

#[test]
fn a_body_where_none_belongs_is_ignored() {
    let server = Server::start();
    server.publish(5, 1, 5);
    server.follow(2, 1, 1);
    let length = b"content-length: 9\r\n";
    let chunked = b"transfer-encoding: chunked\r\n";
    for line in [b"GET /v1/users/2/timeline".as_slice(), b"GET /healthz", b"DELETE /v1/users/2/following/7"] {
        assert_eq!(statuses(&server.raw(&request(line, length, b"\xffnot json"))), [200]);
        assert_eq!(statuses(&server.raw(&request(line, chunked, b"3\r\nabc\r\n0\r\n\r\n"))), [200]);
    }
    // The next request on the connection is read from where it begins.
    let first = b"GET /v1/users/2/timeline HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{\"a\":\"b\"}";
    let both = [first.as_slice(), &request(b"GET /v1/content/99", b"", b"")].concat();
    assert_eq!(statuses(&server.raw(&both)), [200, 404]);
    assert_eq!(statuses(&server.raw(&request(b"DELETE /v1/content/5", length, b"\xffnot json"))), [204]);
}

/// The head of the next answer on a connection, whose body is read too.
fn head_of_answer(stream: &mut TcpStream) -> String {
    let mut answer = BufReader::new(stream);
    let (mut head, mut line) = (String::new(), String::new());
    while line != "\r\n" {
        line.clear();
        assert!(answer.read_line(&mut line).unwrap() > 0, "the connection ends after {head:?}");
        head.push_str(&line);
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    answer.read_exact(&mut vec![0; length.unwrap().parse().unwrap()]).unwrap();
    head
}

#[test]
fn an_offer_to_speak_another_protocol_is_ignored() {
    let server = Server::start();
    let mut stream = connect(server.address);
    // The first as the client of Java makes it with each request.
    for offer in [
        "connection: Upgrade, HTTP2-Settings\r\nhttp2-settings: AAEAAEAAAAIAAAAB\r\nupgrade: h2c\r\n",
        "upgrade: websocket\r\nconnection: keep-alive, upgrade\r\n",
        "upgrade: websocket\r\n",
    ] {
        let body = "{\"author_id\":1}";
        for (line, headers) in [
            ("POST /v1/content", format!("{offer}content-length: {}\r\n\r\n{body}", body.len())),
            ("POST /v1/content", format!("{offer}transfer-encoding: chunked\r\n\r\nf\r\n{body}\r\n0\r\n\r\n")),
            ("PUT /v1/users/2/following/1", format!("{offer}\r\n")),
        ] {
            stream.write_all(format!("{line} HTTP/1.1\r\nhost: localhost\r\n{headers}").as_bytes()).unwrap();
            let head = head_of_answer(&mut stream);
            assert!(head.starts_with("HTTP/1.1 20"), "{headers}: {head}");
            assert!(!head.contains("upgrade") && !head.contains("connection:"), "{headers}: {head}");
        }
        // Behind another request in one piece, the offer is not seen in time.
        let begin = "HTTP/1.1\r\nhost: localhost\r\n";
        let both = format!("GET /healthz {begin}\r\nPOST /v1/content {begin}{offer}content-length: 15\r\n\r\n{body}");
        let answers = server.raw(both.as_bytes());
        assert_eq!(statuses(&answers), [200, 201]);
        let last = String::from_utf8_lossy(&answers).rsplit_once("HTTP/1.1 201").unwrap().1.to_owned();
        assert!(last.contains("\r\nconnection: close\r\n"), "{last}");
    }
    assert_eq!(server.ids("/v1/users/2/timeline").len(), 9);
}

#[test]
fn a_head_that_cannot_be_read_ends_a_kept_connection_which_is_said() {
    let server = Server::start();
    let mut stream = connect(server.address);
    for (headers, status) in [("host: localhost\r\n", 200), ("", 400)] {
        stream.write_all(format!("GET /healthz HTTP/1.1\r\n{headers}\r\n").as_bytes()).unwrap();
        let head = head_of_answer(&mut stream);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
        assert_eq!(head.contains("\r\nconnection: close\r\n"), status == 400, "{head}");
    }
}

#[test]
fn clients_that_go_away_harm_nobody() {
    let server = Server::start();
    for _ in 0..20 {
        let mut stream = TcpStream::connect(server.address).unwrap();
        let cut = b"POST /v1/content HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{\"author_id\":66,";
        stream.write_all(cut).unwrap();
    }
    server.publish(5, 1, 5);
    assert_eq!(server.ids("/v1/users/1/content"), [5]);
    assert!(server.ids("/v1/users/66/content").is_empty());
}
