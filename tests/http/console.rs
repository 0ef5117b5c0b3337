//! The console as it is served. `tests/console.py` uses it in a browser.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::server::tokens::key;
use crate::server::{Reply, Server};

/// The files in `console/`, by their paths there; without the licences of libraries.
fn files() -> BTreeMap<String, Vec<u8>> {
    fn walk(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
            match path.extension().and_then(|extension| extension.to_str()) {
                _ if path.is_dir() => walk(&path, &format!("{name}/"), found),
                Some("js" | "css" | "svg") => drop(found.insert(name, fs::read(path).unwrap())),
                _ => {}
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(Path::new("console"), "", &mut found);
    found
}

/// The folder of the parts, as the page names it.
fn folder(page: &Reply) -> String {
    let (_, rest) = page.text().split_once("src=\"").unwrap();
    rest.split_once("main.js").unwrap().0.to_owned()
}

#[test]
fn the_page_takes_everything_from_this_server() {
    let server = Server::start();
    let page = server.call("GET", "/", "");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert_eq!(page.header("cache-control"), Some("no-cache"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'self';") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    let text = page.text();
    assert!(!text.contains("//") && !text.contains("{version}") && !text.contains("{access}"), "{text}");
    assert!(text.contains(r#"name="tideline-access" content="open""#), "{text}");
    // A script in the page itself would be against the policy.
    assert_eq!(text.matches("<script").count(), text.matches(r#"<script type="module" src="console/"#).count());

    let (folder, files) = (folder(&page), files());
    assert!(folder.starts_with("console/") && files.len() > 20, "{folder}: {} files", files.len());
    for (path, bytes) in &files {
        let part = server.call("GET", &format!("/{folder}{path}"), "");
        assert_eq!((part.status, &part.bytes), (200, bytes), "{path}");
        let media_type = match path.rsplit_once('.').unwrap().1 {
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            _ => "image/svg+xml",
        };
        assert_eq!(part.header("content-type"), Some(media_type), "{path}");
        assert_eq!(part.header("cache-control"), Some("public, max-age=31536000, immutable"), "{path}");
        assert_eq!(part.header("x-content-type-options"), Some("nosniff"), "{path}");
        let script = String::from_utf8_lossy(bytes);
        let own = !path.starts_with("vendor/");
        assert!(
            !own || !script.contains("innerHTML") && !script.contains("eval("),
            "{path}: text must not become code"
        );
    }
    for nowhere in ["index.html", "nothing.js", "vendor/preact.LICENSE", "texts/../main.js", "%2e%2e/Cargo.toml"] {
        let reply = server.call("GET", &format!("/{folder}{nowhere}"), "");
        assert_eq!(reply.status, 404, "{nowhere}: {}", reply.text());
    }
    server.call("GET", "/?x=1", "").problem("a query", 400, "invalid_parameter");
    server.call("POST", "/", "").problem("a change", 405, "method_not_allowed");
}

#[test]
fn a_browser_keeps_the_parts_of_this_release_only() {
    let server = Server::start();
    let page = server.call("GET", "/", "");
    for path in ["/".to_owned(), format!("/{}main.js", folder(&page)), "/console/earlier/main.js".to_owned()] {
        let tag = server.call("GET", &path, "").header("etag").unwrap().to_owned();
        let known = server.call_as("GET", &path, "", &[("if-none-match", &tag)]);
        assert_eq!((known.status, known.bytes.len()), (304, 0), "{path}");
        assert_eq!(known.header("etag"), Some(&*tag), "{path}");
        let other = server.call_as("GET", &path, "", &[("if-none-match", "\"other\"")]);
        assert_eq!(other.status, 200, "{path}");
    }
    let earlier = server.call("GET", "/console/earlier/main.js", "");
    assert_eq!((earlier.status, earlier.header("cache-control")), (200, Some("no-cache")));
}

#[test]
fn the_page_knows_whether_there_are_keys() {
    let open = Server::start().call("GET", "/", "");
    let guarded = Server::with(&[("TIDELINE__AUTH__KEYS", &key("full"))]).call("GET", "/", "");
    assert_eq!(guarded.status, 200);
    assert!(guarded.text().contains(r#"name="tideline-access" content="keys""#), "{}", guarded.text());
    assert_ne!(open.header("etag"), guarded.header("etag"), "a browser must not show one for the other");
}
