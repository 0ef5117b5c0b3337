//! The description of the API, as a document and as a page.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use super::console::in_both_forms;
use crate::server::{PATIENCE, Server, program};

#[test]
fn the_document_is_served_and_printed_alike() {
    let server = Server::start();
    let reply = in_both_forms(&server, "/openapi.json");
    let document = reply.expect(200);
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(document["servers"][0]["url"], ".");
    // A printed document has no address of its own, to which another could be relative.
    for (arguments, url) in [
        (&["openapi"][..], "http://127.0.0.1:8080"),
        (&["openapi", "--url", "https://example.org/tideline/"], "https://example.org/tideline"),
    ] {
        let printed = program().args(arguments).output().unwrap();
        assert!(printed.status.success());
        let served = reply.text().replace(r#""url": ".""#, &format!(r#""url": "{url}""#));
        assert_eq!(String::from_utf8(printed.stdout).unwrap().trim_end(), served);
    }
    assert!(!program().args(["openapi", "--url", "example.org"]).output().unwrap().status.success());
}

#[test]
fn the_page_takes_everything_from_this_server() {
    let server = Server::start();
    let page = in_both_forms(&server, "/docs");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'self';") && !policy.contains("http"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(!page.text().contains("//"), "an address of another server: {}", page.text());
    let mut parts = 0;
    for attribute in ["src=\"", "href=\""] {
        for part in page.text().split(attribute).skip(1).filter_map(|rest| rest.split_once('"')) {
            if part.0 == "data:," {
                continue;
            }
            let reply = in_both_forms(&server, &format!("/{}", part.0));
            let media_type = if part.0.ends_with(".css") { "text/css" } else { "text/javascript" };
            assert_eq!(reply.status, 200, "{}", part.0);
            assert_eq!(reply.header("content-type"), Some(&*format!("{media_type}; charset=utf-8")), "{}", part.0);
            assert_eq!(reply.header("cache-control"), Some("max-age=3600"), "{}", part.0);
            parts += 1;
        }
    }
    assert_eq!(parts, 3);
    let start = server.call("GET", "/docs/start.js", "");
    assert!(!start.text().contains("fetch(\"/"), "an address from the root: {}", start.text());
    let script = server.call("GET", "/docs/swagger-ui-bundle.js", "");
    assert!(script.text().contains("SwaggerUIBundle"));
    // It takes scripts out of the descriptions that it shows. Advisories name each release up to 3.4.10.
    let (_, rest) = script.text().split_once("DOMPurify.version=\"").unwrap();
    let version: Vec<u32> = rest.split('"').next().unwrap().split('.').map(|part| part.parse().unwrap()).collect();
    assert!(version >= vec![3, 4, 11], "DOMPurify {version:?}");
}

/// Passes requests for paths below `/tideline` on to a server that knows nothing of this prefix, as a proxy does.
fn proxy(server: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = BufReader::new(client.unwrap());
            let mut line = String::new();
            client.read_line(&mut line).unwrap();
            let Some((method, target)) = line.split_once(" /tideline/") else {
                let _ = client.get_mut().write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
                continue;
            };
            let mut through = TcpStream::connect(server).unwrap();
            write!(through, "{method} /{target}host: {server}\r\nconnection: close\r\n\r\n").unwrap();
            std::io::copy(&mut through, client.get_mut()).unwrap();
        }
    });
    address
}

/// A page as it is answered: status, head and body.
fn fetch(address: SocketAddr, path: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\n\r\n").unwrap();
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{path}: {text}"));
    (head[9..12].parse().unwrap(), head.to_owned(), body.to_owned())
}

/// The address that a relative address on a page leads to.
fn resolve(page: &str, relative: &str) -> String {
    assert!(!relative.starts_with('/') && !relative.contains("//"), "{relative} is not relative");
    let mut folders: Vec<_> = page.split('/').collect();
    folders.pop();
    for part in relative.split('/') {
        match part {
            "." => folders.push(""),
            ".." => drop(folders.pop()),
            part => folders.push(part),
        }
    }
    folders.join("/")
}

#[test]
fn everything_works_below_a_prefix() {
    let server = Server::start();
    let proxy = proxy(server.address);
    assert_eq!(fetch(proxy, "/docs").0, 404, "the proxy has a prefix");
    let led_to = |path: &str, status: u16| {
        let (got, head, _) = fetch(proxy, path);
        assert_eq!(got, status, "{path}: {head}");
        let location = head.lines().find_map(|line| line.strip_prefix("location: ")).unwrap();
        resolve(path, location)
    };
    assert_eq!(led_to("/tideline/docs/", 308), "/tideline/docs");
    let page = "/tideline/docs";
    let (status, _, html) = fetch(proxy, page);
    assert_eq!(status, 200);
    let parts = html.split('"').filter(|part| part.ends_with(".js") || part.ends_with(".css"));
    let parts: Vec<_> = parts.map(|part| resolve(page, part)).collect();
    assert_eq!(parts.len(), 3, "{parts:?}");
    for part in parts {
        assert_eq!(fetch(proxy, &part).0, 200, "{part}");
    }
    // The page loads the description from this address.
    let description = resolve(page, "openapi.json");
    let (status, _, document) = fetch(proxy, &description);
    assert_eq!(status, 200);
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let base = resolve(&description, document["servers"][0]["url"].as_str().unwrap());
    for path in ["/v1/users/{uid}/timeline", "/healthz", "/docs"] {
        assert!(document["paths"][path]["get"].is_object(), "{path}");
        let called = format!("{}{}", base.trim_end_matches('/'), path.replace("{uid}", "1"));
        assert_eq!(fetch(proxy, &called).0, 200, "{called}");
    }
}

#[test]
fn addresses_in_headers_lead_on_below_a_prefix() {
    let server = Server::start();
    let proxy = proxy(server.address);
    server.follow(1, 2, 5);
    let made = |path: &str, body: &str| {
        let reply = server.call("POST", path, body);
        assert_eq!(reply.status, 201, "{}", reply.text());
        // `location` is relative to the address that the client of the proxy has asked for.
        let place = resolve(&format!("/tideline{path}"), reply.header("location").unwrap());
        let (status, _, item) = fetch(proxy, &place);
        assert_eq!((status, item.as_str()), (200, reply.text()), "{place}");
    };
    made("/v1/content", r#"{"author_id":2,"content_id":40,"published_at":100}"#);
    made("/v1/content", r#"{"author_id":2,"content_id":41,"published_at":101}"#);
    made("/v1/content/40/comments", r#"{"author_id":3,"content_id":42,"published_at":102}"#);
    let path = "/tideline/v1/users/1/timeline";
    let mut seen = Vec::new();
    let mut query = Some("?view=ids&limit=1".to_owned());
    while let Some(asked) = query {
        let (status, head, page) = fetch(proxy, &format!("{path}{asked}"));
        assert_eq!(status, 200, "{asked}: {head}");
        let page: serde_json::Value = serde_json::from_str(&page).unwrap();
        seen.push(page["items"][0]["content_id"].as_str().unwrap().to_owned());
        let links = head.lines().find_map(|line| line.strip_prefix("link: ")).unwrap();
        // A query alone replaces the query of the request.
        let next = links.split(", ").find_map(|link| link.strip_prefix('<')?.strip_suffix(">; rel=\"next\""));
        query = next.map(|next| next.to_owned()).inspect(|next| assert!(next.starts_with('?'), "{next}"));
    }
    assert_eq!(seen, ["41", "40"]);
}

#[test]
fn without_the_console_the_root_says_what_there_is() {
    let server = Server::with(&[("TIDELINE__SERVER__CONSOLE", "false")]);
    let bytes = server.raw(b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 307 ") && head.contains("location: docs\r\n"), "{head}");
    for word in [env!("CARGO_PKG_VERSION"), "v1/", "docs", "openapi.json"] {
        assert!(body.contains(word), "{body}");
    }
    server.call("GET", "/console/any/main.js", "").problem("a part", 404, "route_not_found");
    server.call("GET", "/?x=1", "").problem("a query", 400, "invalid_parameter");
    server.call("POST", "/", "").problem("a change", 405, "method_not_allowed");
}
