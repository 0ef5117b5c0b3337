//! Access from pages in a browser: every call, with all kinds of headers in which a browser, or another client, names
//! the origin and the host of a request.

use std::io::{Read as _, Write as _};

use super::calls::{CALLS, Call};
use super::town::Town;
use crate::server::{Server, connect};

/// The status of the answer to a request with only these headers, and the code of its problem.
fn answer(server: &Server, method: &str, target: &str, headers: &str, body: &str) -> (u16, String) {
    let request = format!(
        "{method} {target} HTTP/1.1\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let bytes = server.raw(request.replace("{at}", &server.address.to_string()).as_bytes());
    let text = String::from_utf8_lossy(&bytes);
    let status = text.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let code = text.rsplit_once(r#""code":""#).and_then(|(_, rest)| rest.split_once('"'));
    (
        status.unwrap_or_else(|| panic!("{method} {target} {headers}: {text:?}")),
        code.map_or_else(String::new, |(code, _)| code.to_owned()),
    )
}

/// Headers of requests from a page of another origin. `{at}` is the address of the server.
const FROM_OTHERS: &[&str] = &[
    "host: {at}\r\nsec-fetch-site: cross-site\r\n",
    "host: {at}\r\nsec-fetch-site: same-site\r\n",
    "host: {at}\r\nsec-fetch-site: cross-site\r\norigin: http://{at}\r\n",
    "host: {at}\r\nsec-fetch-site: Same-Origin\r\n",
    "host: {at}\r\nsec-fetch-site:\r\n",
    "host: {at}\r\nsec-fetch-site: same-origin\r\nsec-fetch-site: cross-site\r\n",
    "host: {at}\r\norigin: http://evil.example\r\n",
    "host: {at}\r\norigin: https://evil.example\r\nx-forwarded-host: evil.example\r\n",
    "host: {at}\r\norigin: https://evil.example\r\nforwarded: host=evil.example\r\n",
    "host: {at}\r\norigin: null\r\n",
    "host: {at}\r\norigin:\r\n",
    "host: {at}\r\norigin: \u{e9}\r\n",
    "host: {at}\r\norigin: http://127.0.0.1:1\r\n",
    "host: {at}\r\norigin: http://127.0.0.1\r\n",
    "host: {at}\r\norigin: http://{at}.evil.example\r\n",
    "host: {at}\r\norigin: http://{at}@evil.example\r\n",
    "host: {at}\r\norigin: http://evil.example@{at}\r\n",
    "host: {at}\r\norigin: http://{at}/\r\n",
    "host: {at}\r\norigin: {at}\r\n",
    "host: {at}\r\norigin: http://{at} http://{at}\r\n",
    "host: {at}\r\norigin: http://{at}\r\norigin: http://evil.example\r\n",
    "host: localhost:80\r\norigin: http://127.0.0.1\r\n",
    "host: localhost\r\norigin: http://evil.localhost\r\n",
    "host: [::1]:8080\r\norigin: http://[::1]:8081\r\n",
    "host: 127.0.0.1:443\r\norigin: http://127.0.0.1\r\n",
    "host: {at}\r\nreferer: http://{at}/docs\r\norigin: http://evil.example\r\n",
];

/// Headers of requests from a page of this server, or from a client that is no browser.
const FROM_HERE: &[&str] = &[
    "host: {at}\r\n",
    "host: {at}\r\nreferer: http://evil.example/\r\nx-forwarded-host: evil.example\r\n",
    "host: {at}\r\nsec-fetch-site: same-origin\r\norigin: http://{at}\r\n",
    "host: {at}\r\nsec-fetch-site: none\r\n",
    // Behind an HTTPS proxy that passes another host than the page's to the server.
    "host: {at}\r\nsec-fetch-site: same-origin\r\norigin: https://feed.example.org\r\n",
    "host: {at}\r\norigin: http://{at}\r\n",
    "host: {at}\r\norigin: HTTPS://{at}\r\n",
    "host: LocalHost.:8080\r\norigin: http://localhost:8080\r\n",
    "host: localhost\r\norigin: http://localhost\r\n",
    "host: localhost:443\r\norigin: https://localhost\r\n",
    "host: 127.0.0.1\r\norigin: https://127.0.0.1\r\n",
    "host: [0:0::1]:8080\r\norigin: http://[::1]:8080\r\n",
];

/// Hosts that a server without settings refuses: a page could have any of these names.
const FOREIGN_HOSTS: &[&str] = &[
    "host: evil.example\r\n",
    "host: evil.example:8080\r\n",
    "host: localhost.evil.example\r\n",
    "host: evil.localhost\r\n",
    "host: 127.0.0.1.evil.example\r\n",
    "host: 127.1\r\n",
    "host: 2130706433\r\n",
    "host: tideline\r\n",
    "host: localhost:x\r\n",
    "host: localhost:99999\r\n",
    "host: user@localhost\r\n",
    "host: [localhost]\r\n",
    "host: [::1\r\n",
    "host: \u{e9}\r\n",
    "host:\r\n",
    "host: evil.example\r\nx-forwarded-host: localhost\r\n",
    "host: evil.example\r\nsec-fetch-site: same-origin\r\norigin: http://evil.example\r\n",
];

/// Whether a call is for probes: it shows nothing but the state of the server.
fn is_probe(call: &Call) -> bool {
    ["/healthz", "/readyz"].contains(&&*call.path)
}

/// Whether an answer says that what the path names does not exist.
fn is_missing(status: u16, code: &str) -> bool {
    status == 404 && code.ends_with("_not_found") && code != "route_not_found"
}

#[test]
fn a_page_of_another_origin_changes_nothing() {
    let town = Town::new();
    let changes: Vec<_> = CALLS.iter().filter(|call| call.method != "GET").collect();
    assert!(changes.len() > 15);
    for call in &changes {
        for headers in FROM_OTHERS {
            // A browser sends the first two without asking the server before, the third not.
            for content_type in ["", "content-type: text/plain\r\n", "content-type: application/json\r\n"] {
                let headers = format!("{headers}{content_type}");
                let refused = answer(&town.server, &call.method, &call.target(), &headers, &call.body);
                assert_eq!(refused, (403, "cross_origin".to_owned()), "{} {} {headers}", call.method, call.path);
            }
        }
    }
    town.check("asked to change by other pages");
}

#[test]
fn a_page_of_this_server_and_what_is_no_browser_may_change() {
    let server = Server::start();
    for call in CALLS.iter().filter(|call| call.method != "GET") {
        for headers in FROM_HERE {
            for content_type in ["content-type: text/plain;charset=UTF-8\r\n", "content-type: application/json\r\n"] {
                let headers = format!("{headers}{content_type}");
                let (status, code) = answer(&server, &call.method, &call.target(), &headers, &call.body);
                let refused =
                    [(409, "backup_busy"), (409, "erasing"), (409, "no_token_secret")].contains(&(status, &*code));
                let done = [200, 201, 202, 204].contains(&status) || refused || is_missing(status, &code);
                assert!(done, "{} {} {headers}: {status} {code}", call.method, call.path);
            }
        }
    }
}

/// Asks for a stream, and reads only the status.
fn stream(server: &Server, headers: &str) -> u16 {
    let mut connection = connect(server.address);
    let request = format!("GET /v1/users/7/stream HTTP/1.1\r\n{headers}accept: text/event-stream\r\n\r\n");
    connection.write_all(request.replace("{at}", &server.address.to_string()).as_bytes()).unwrap();
    let mut status = [0; 12];
    connection.read_exact(&mut status).unwrap();
    str::from_utf8(&status[9..]).unwrap().parse().unwrap()
}

#[test]
fn a_page_of_another_origin_opens_no_stream() {
    let settings =
        [("TIDELINE__SERVER__ALLOWED_ORIGINS", "https://app.example.org"), ("TIDELINE__PRESENCE__TTL", "1s")];
    let server = Server::with(&settings);
    for headers in FROM_OTHERS {
        for method in ["GET", "HEAD"] {
            let headers = format!("{headers}accept: text/event-stream\r\n");
            let (status, code) = answer(&server, method, "/v1/users/7/stream", &headers, "");
            let wanted = if method == "GET" { "cross_origin" } else { "" };
            assert_eq!((status, &*code), (403, wanted), "{method} {headers}");
        }
    }
    assert_eq!(server.get("/v1/users/7/presence")["online"], false);
    let allowed = [
        "host: {at}\r\norigin: https://app.example.org\r\nsec-fetch-site: cross-site\r\n",
        "host: {at}\r\norigin: https://app.example.org\r\n",
    ];
    for headers in FROM_HERE.iter().chain(&allowed) {
        assert_eq!(stream(&server, headers), 200, "{headers}");
    }
}

#[test]
fn a_refusal_says_what_would_allow_it() {
    let server = Server::start();
    let detail = |method: &str, path: &str, headers: &[(&str, &str)]| {
        let reply = server.call_as(method, path, "", headers);
        let problem: serde_json::Value = serde_json::from_slice(&reply.bytes).unwrap();
        problem["detail"].as_str().unwrap().to_owned()
    };
    let change = |origin: &str| detail("PUT", "/v1/users/1/following/2", &[("origin", origin)]);
    assert_eq!(
        change("https://evil.example"),
        "pages of the origin \"https://evil.example\" may not send changes. To allow this origin, add it to \
         server.allowed_origins"
    );
    assert_eq!(
        change("null"),
        "pages without an origin may not send changes; serve the page under an http or https address"
    );
    let image = detail("GET", "/v1/users/1/stream", &[("sec-fetch-site", "cross-site")]);
    assert_eq!(image, "pages of other origins may not open streams");
    assert_eq!(
        detail("GET", "/v1/users/1/timeline", &[("host", "tideline")]),
        "\"tideline\" is not a name of this server. If clients should use this name, add it to server.allowed_hosts"
    );
}

#[test]
fn a_name_that_is_not_the_servers_leads_nowhere() {
    let town = Town::new();
    for call in CALLS.iter() {
        for headers in FOREIGN_HOSTS {
            let got = answer(&town.server, &call.method, &call.target(), headers, &call.body);
            let wanted = if is_probe(call) { (200, "") } else { (421, "misdirected_request") };
            assert_eq!((got.0, &*got.1), wanted, "{} {} {headers}", call.method, call.path);
        }
        let whole = format!("http://evil.example{}", call.target());
        let got = answer(&town.server, &call.method, &whole, "host: {at}\r\n", &call.body).0;
        assert_eq!(got, if is_probe(call) { 200 } else { 421 }, "{} {whole}", call.method);
    }
    for (method, path) in [("GET", "/v1/nowhere"), ("POST", "/metrics"), ("OPTIONS", "/v1/content")] {
        let got = answer(&town.server, method, path, "host: evil.example\r\n", "");
        assert_eq!(got, (421, "misdirected_request".to_owned()), "{method} {path}");
    }
    for hosts in ["host: localhost\r\nhost: evil.example\r\n", "host: evil.example\r\nhost: localhost\r\n"] {
        assert_eq!(answer(&town.server, "GET", "/metrics", hosts, "").0, 400, "{hosts}");
    }
    town.check("asked under other names");
}

#[test]
fn the_servers_own_names_lead_here() {
    let server = Server::start();
    for call in CALLS.iter().filter(|call| call.method == "GET" && !call.path.ends_with("/stream")) {
        for host in ["{at}", "localhost", "LOCALHOST:1", "localhost.", "10.1.2.3:80", "[::1]", "[2001:db8::1]:443"] {
            let (status, code) = answer(&server, "GET", &call.target(), &format!("host: {host}\r\n"), "");
            let led_on = ["/", "/docs/"].contains(&&*call.path) && [307, 308].contains(&status);
            assert!(status == 200 || is_missing(status, &code) || led_on, "{} {host}: {status} {code}", call.path);
        }
        let whole = format!("http://localhost{}", call.target());
        let status = answer(&server, "GET", &whole, "host: {at}\r\n", "").0;
        assert!([200, 307, 308, 404].contains(&status), "{whole}: {status}");
    }
    // A client of HTTP/1.0 need not name a host.
    let bytes = server.raw(b"GET /v1/users/1/timeline HTTP/1.0\r\n\r\n");
    assert!(bytes.starts_with(b"HTTP/1.0 200"), "{}", String::from_utf8_lossy(&bytes));
}

#[test]
fn more_names_and_origins_are_settings() {
    let server = Server::with(&[
        ("TIDELINE__SERVER__ALLOWED_HOSTS", "tideline, Feed.Example.org"),
        ("TIDELINE__SERVER__ALLOWED_ORIGINS", "https://app.example.org:443, http://localhost:3000"),
    ]);
    let get = |headers: &str| answer(&server, "GET", "/v1/users/1/timeline", headers, "").0;
    for host in ["tideline", "tideline:8080", "feed.example.org.", "FEED.example.org:443", "localhost", "127.0.0.1"] {
        assert_eq!(get(&format!("host: {host}\r\n")), 200, "{host}");
    }
    for host in ["example.org", "a.tideline", "xtideline", "app.example.org", "feed.example.org.evil.example"] {
        assert_eq!(get(&format!("host: {host}\r\n")), 421, "{host}");
    }
    let put = |headers: &str| answer(&server, "PUT", "/v1/users/1/following/2", headers, "").0;
    for headers in [
        "origin: https://app.example.org\r\n",
        "origin: https://app.example.org\r\nsec-fetch-site: cross-site\r\n",
        "origin: http://localhost:3000\r\nsec-fetch-site: same-site\r\n",
        "origin: http://tideline\r\n",
    ] {
        assert_eq!(put(&format!("host: tideline\r\n{headers}")), 200, "{headers}");
    }
    for headers in [
        "origin: http://app.example.org\r\n",
        "origin: https://app.example.org:8443\r\n",
        "origin: https://app.example.org.evil.example\r\n",
        "origin: https://evil.app.example.org\r\n",
        "origin: http://localhost\r\n",
        "origin: https://app.example.org\r\norigin: https://evil.example\r\n",
        "origin: http://feed.example.org\r\n",
        "sec-fetch-site: cross-site\r\n",
    ] {
        assert_eq!(put(&format!("host: tideline\r\n{headers}")), 403, "{headers}");
    }
}
