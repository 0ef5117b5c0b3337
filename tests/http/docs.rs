//! The description of the API, as a document and as a page.

use super::console::in_both_forms;
use crate::server::{Server, program};

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
            assert!(!part.0.starts_with('/'), "{}: no address below a prefix that a proxy takes away", part.0);
            let reply = in_both_forms(&server, &format!("/{}", part.0));
            let media_type = if part.0.ends_with(".css") { "text/css" } else { "text/javascript" };
            assert_eq!(reply.status, 200, "{}", part.0);
            assert_eq!(reply.header("content-type"), Some(&*format!("{media_type}; charset=utf-8")), "{}", part.0);
            assert_eq!(reply.header("cache-control"), Some("max-age=3600"), "{}", part.0);
            parts += 1;
        }
    }
    assert_eq!(parts, 3);
    let elsewhere = server.raw(b"GET /docs/ HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    let elsewhere = String::from_utf8(elsewhere).unwrap();
    assert!(elsewhere.starts_with("HTTP/1.1 308 ") && elsewhere.contains("location: ../docs\r\n"), "{elsewhere}");
    let start = server.call("GET", "/docs/start.js", "");
    assert!(!start.text().contains("fetch(\"/"), "an address from the root: {}", start.text());
    let script = server.call("GET", "/docs/swagger-ui-bundle.js", "");
    assert!(script.text().contains("SwaggerUIBundle"));
    // It takes scripts out of the descriptions that it shows. Advisories name each release up to 3.4.10.
    let (_, rest) = script.text().split_once("DOMPurify.version=\"").unwrap();
    let version: Vec<u32> = rest.split('"').next().unwrap().split('.').map(|part| part.parse().unwrap()).collect();
    assert!(version >= vec![3, 4, 11], "DOMPurify {version:?}");
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
