//! The description of the API, as a document and as a page.

use super::client::{Server, program};

#[test]
fn the_document_is_served_and_printed_alike() {
    let server = Server::start();
    let reply = server.call("GET", "/openapi.json", "");
    let document = reply.expect(200);
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    let printed = program().arg("openapi").output().unwrap();
    assert!(printed.status.success());
    assert_eq!(String::from_utf8(printed.stdout).unwrap().trim_end(), reply.text());
    assert_eq!(server.call("HEAD", "/openapi.json", "").status, 200);
}

#[test]
fn the_page_takes_everything_from_this_server() {
    let server = Server::start();
    let page = server.call("GET", "/docs", "");
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
            let reply = server.call("GET", &format!("/{}", part.0), "");
            let media_type = if part.0.ends_with(".css") { "text/css" } else { "text/javascript" };
            assert_eq!(reply.status, 200, "{}", part.0);
            assert_eq!(reply.header("content-type"), Some(&*format!("{media_type}; charset=utf-8")), "{}", part.0);
            assert!(!reply.bytes.is_empty());
            parts += 1;
        }
    }
    assert_eq!(parts, 3);
    let start = server.call("GET", "/docs/start.js", "");
    assert!(start.text().contains("url: \"openapi.json\""), "{}", start.text());
    let script = server.call("GET", "/docs/swagger-ui-bundle.js", "");
    assert!(script.text().contains("SwaggerUIBundle"));
}
