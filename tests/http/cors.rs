//! Pages of other origins: those with permission read answers, all others read nothing.

use crate::server::tokens::{SECRET, key, token};
use crate::server::{Reply, Server};

const APP: &str = "https://app.example.org";
const EVIL: &str = "https://evil.example";
const ALLOW_ORIGIN: &str = "access-control-allow-origin";

fn server() -> Server {
    Server::with(&[("TIDELINE__SERVER__ALLOWED_ORIGINS", APP)])
}

/// A request of a page of `origin`, as a browser sends it.
fn from(server: &Server, origin: &str, method: &str, path: &str, body: &str) -> Reply {
    let headers = [("origin", origin), ("sec-fetch-site", "cross-site"), ("content-type", "application/json")];
    server.call_as(method, path, body, &headers)
}

fn preflight(server: &Server, origin: &str, path: &str, method: &str) -> Reply {
    let asked = [
        ("origin", origin),
        ("sec-fetch-site", "cross-site"),
        ("access-control-request-method", method),
        ("access-control-request-headers", "authorization,content-type"),
    ];
    server.call_as("OPTIONS", path, "", &asked)
}

/// The headers of permission in an answer.
fn permissions(reply: &Reply) -> Vec<&str> {
    let names = [
        ALLOW_ORIGIN,
        "access-control-allow-methods",
        "access-control-allow-headers",
        "access-control-allow-credentials",
        "access-control-expose-headers",
        "access-control-max-age",
    ];
    names.into_iter().filter(|name| reply.header(name).is_some()).collect()
}

const CALLS: [(&str, &str, &str, u16); 10] = [
    ("GET", "/v1/users/1/timeline", "", 200),
    ("GET", "/v1/users/1/timeline/unread", "", 200),
    ("PUT", "/v1/users/1/marker", r#"{"cursor":"5-5"}"#, 200),
    ("GET", "/v1/users/1/marker", "", 200),
    ("PUT", "/v1/users/1/following/9", "", 200),
    ("DELETE", "/v1/users/1/following/9", "", 200),
    ("PUT", "/v1/content/5/reactions/like/1", "", 200),
    ("GET", "/v1/content/777", "", 404),
    ("GET", "/nothing", "", 404),
    ("PUT", "/v1/users/1/marker", "not json", 400),
];

#[test]
fn a_page_with_permission_reads_every_answer() {
    let server = server();
    server.publish(5, 9, 5);
    for (method, path, body, status) in CALLS {
        let asked = preflight(&server, APP, path, method);
        assert_eq!((asked.status, asked.header(ALLOW_ORIGIN)), (204, Some(APP)), "{method} {path}");
        assert!(asked.header("access-control-allow-methods").unwrap().split(", ").any(|allowed| allowed == method));
        let headers = asked.header("access-control-allow-headers").unwrap().to_lowercase();
        for header in ["authorization", "content-type", "last-event-id", "x-request-id", "traceparent"] {
            assert!(headers.split(", ").any(|allowed| allowed == header), "{header}");
        }
        assert_eq!(asked.header("access-control-max-age"), Some("7200"));
        let reply = from(&server, APP, method, path, body);
        assert_eq!((reply.status, reply.header(ALLOW_ORIGIN)), (status, Some(APP)), "{method} {path}");
        let exposed = reply.header("access-control-expose-headers").unwrap();
        for header in ["Link", "Location", "Retry-After", "X-Request-Id", "X-RateLimit-Remaining"] {
            assert!(exposed.split(", ").any(|name| name == header), "{header}");
        }
        assert!(reply.header("vary").unwrap().to_lowercase().contains("origin"));
        assert_eq!(reply.header("access-control-allow-credentials"), None, "tokens only");
    }
    let stream = server.raw(
        format!("HEAD /v1/users/1/stream HTTP/1.1\r\nhost: localhost\r\norigin: {APP}\r\nconnection: close\r\n\r\n")
            .as_bytes(),
    );
    let stream = String::from_utf8(stream).unwrap();
    assert!(stream.starts_with("HTTP/1.1 200 ") && stream.contains(&format!("{ALLOW_ORIGIN}: {APP}\r\n")), "{stream}");
}

#[test]
fn a_page_without_permission_reads_and_changes_nothing() {
    let server = server();
    server.publish(5, 9, 5);
    for origin in [EVIL, "null", "https://app.example.org.evil.example", "http://app.example.org"] {
        for (method, path, body, _) in CALLS {
            let asked = preflight(&server, origin, path, method);
            assert_eq!((asked.status / 100, permissions(&asked)), (4, Vec::new()), "{origin} {method} {path}");
            let reply = from(&server, origin, method, path, body);
            assert_eq!(permissions(&reply), Vec::<&str>::new(), "{origin} {method} {path}");
            assert!(reply.header("vary").unwrap().to_lowercase().contains("origin"), "{origin} {method} {path}");
            if method != "GET" {
                reply.problem(path, 403, "cross_origin");
            }
        }
        from(&server, origin, "GET", "/v1/users/1/stream", "").problem("a stream", 403, "cross_origin");
    }
}

#[test]
fn a_request_that_is_no_question_of_a_browser_gets_no_answer_for_one() {
    let server = server();
    server.call_as("OPTIONS", "/v1/users/1/timeline", "", &[("origin", APP)]).problem(
        "no method",
        405,
        "method_not_allowed",
    );
    let plain = server.call("GET", "/v1/users/1/timeline", "");
    assert_eq!((plain.header("vary"), permissions(&plain)), (Some("origin"), Vec::new()));
    let without = Server::start();
    let reply = from(&without, APP, "GET", "/v1/users/1/timeline", "");
    assert_eq!((reply.header("vary"), permissions(&reply)), (None, Vec::new()));
}

/// A mobile app in a browser, on another origin, with nothing but the token of its user.
#[test]
fn an_app_with_a_token_of_its_user_needs_no_more() {
    let server = Server::with(&[
        ("TIDELINE__SERVER__ALLOWED_ORIGINS", APP),
        ("TIDELINE__AUTH__KEYS", &key("backend")),
        ("TIDELINE__AUTH__JWT_SECRETS", SECRET),
    ]);
    let backend = [("authorization", format!("Bearer {}", key("backend")))];
    let backend = [("authorization", backend[0].1.as_str()), ("content-type", "application/json")];
    let item = r#"{"content_id":5,"author_id":9,"published_at":5}"#;
    assert_eq!(server.call_as("POST", "/v1/content", item, &backend).status, 201);
    let bearer = format!("Bearer {}", token("ana"));
    let app = |origin: &str, method: &str, path: &str, body: &str| {
        let headers = [
            ("origin", origin),
            ("sec-fetch-site", "cross-site"),
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        server.call_as(method, path, body, &headers)
    };
    for (method, path, body) in [
        ("PUT", "/v1/users/ana/following/9", ""),
        ("GET", "/v1/users/ana/timeline", ""),
        ("GET", "/v1/users/ana/timeline/unread", ""),
        ("PUT", "/v1/users/ana/marker", r#"{"cursor":"5-5"}"#),
        ("PUT", "/v1/content/5/reactions/like/ana", ""),
        ("DELETE", "/v1/users/ana/following/9", ""),
    ] {
        assert_eq!(preflight(&server, APP, path, method).status, 204, "{method} {path}: no token is asked for");
        let reply = app(APP, method, path, body);
        assert_eq!((reply.status, reply.header(ALLOW_ORIGIN)), (200, Some(APP)), "{method} {path}");
        if method != "GET" {
            app(EVIL, method, path, body).problem(path, 403, "cross_origin");
        }
    }
    // A script of a browser can give the stream a token only in its address.
    let stream = format!(
        "HEAD /v1/users/ana/stream?access_token={} HTTP/1.1\r\nhost: localhost\r\norigin: {APP}\r\n\
         sec-fetch-site: cross-site\r\nconnection: close\r\n\r\n",
        token("ana")
    );
    let stream = String::from_utf8(server.raw(stream.as_bytes())).unwrap();
    assert!(stream.starts_with("HTTP/1.1 200 ") && stream.contains(&format!("{ALLOW_ORIGIN}: {APP}\r\n")), "{stream}");
    for (method, path, body) in [
        ("GET", "/v1/users/bob/timeline", ""),
        ("PUT", "/v1/users/bob/following/9", ""),
        ("PUT", "/v1/content/5/reactions/like/bob", ""),
        ("POST", "/v1/content", item),
        ("GET", "/v1/admin/stats", ""),
        ("GET", "/metrics", ""),
    ] {
        let reply = app(APP, method, path, body);
        reply.problem(path, 403, "not_permitted");
        assert_eq!(reply.header(ALLOW_ORIGIN), Some(APP), "the page may read the reason");
    }
}
