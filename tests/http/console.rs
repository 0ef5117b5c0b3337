//! The console as it is served. `tests/console.py` uses it in a browser.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;

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
                Some("js" | "css") => drop(found.insert(name, fs::read(path).unwrap())),
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

/// The plain form of a file, which must be answered alike in both forms.
pub(crate) fn in_both_forms(server: &Server, path: &str) -> Reply {
    let get = |headers: &[(&str, &str)]| server.call_as("GET", path, "", headers);
    let (plain, gzip) = (get(&[]), get(&[("accept-encoding", "gzip, deflate, br, zstd")]));
    assert_eq!((plain.header("content-encoding"), gzip.header("content-encoding")), (None, Some("gzip")), "{path}");
    let mut unpacked = Vec::new();
    GzDecoder::new(&*gzip.bytes).read_to_end(&mut unpacked).unwrap();
    assert!(unpacked == plain.bytes, "{path}: both forms are the same file");
    assert!(gzip.bytes.len() < plain.bytes.len(), "{path}: {} bytes", gzip.bytes.len());
    for name in ["content-type", "cache-control", "content-security-policy", "x-content-type-options"] {
        assert_eq!(plain.header(name), gzip.header(name), "{path}: {name}");
    }
    let tags = [&plain, &gzip].map(|form| form.header("etag").unwrap());
    assert_ne!(tags[0], tags[1], "{path}: a cache must not take one form for the other");
    for (accepts, form, own, other) in [("", &plain, tags[0], tags[1]), ("gzip", &gzip, tags[1], tags[0])] {
        let head = server.call_as("HEAD", path, "", &[("accept-encoding", accepts)]);
        assert_eq!(head.header("content-length"), Some(&*form.bytes.len().to_string()), "{path}: {accepts}");
        let known = get(&[("accept-encoding", accepts), ("if-none-match", own)]);
        assert_eq!((known.status, known.bytes.len()), (304, 0), "{path}: {accepts}");
        for name in ["etag", "cache-control"] {
            assert_eq!(known.header(name), form.header(name), "{path}: {name}");
        }
        for reply in [form, &head, &known] {
            assert_eq!(reply.header("vary"), Some("accept-encoding"), "{path}: {accepts}");
        }
        let unknown = get(&[("accept-encoding", accepts), ("if-none-match", other)]);
        assert!(unknown.status == 200 && unknown.bytes == form.bytes, "{path}: {accepts}");
    }
    plain
}

#[test]
fn the_page_takes_everything_from_this_server() {
    let server = Server::start();
    let page = in_both_forms(&server, "/");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert_eq!(page.header("cache-control"), Some("no-cache"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'self';") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    let text = page.text();
    // The documentation is only a link.
    let elsewhere = text.replace(r#"<meta name="tideline-docs" content="https://"#, "").contains("//");
    assert!(
        !elsewhere && !["{version}", "{access}", "{avatars}", "{docs}"].iter().any(|name| text.contains(name)),
        "{text}"
    );
    assert!(text.contains(r#"name="tideline-access" content="open""#), "{text}");
    // A script in the page itself would be against the policy.
    assert_eq!(text.matches("<script").count(), text.matches(r#"<script type="module" src="console/"#).count());

    let (folder, files) = (folder(&page), files());
    assert!(folder.starts_with("console/") && files.len() > 20, "{folder}: {} files", files.len());
    let [script, style] = ["main.js", "console.css"].map(|name| {
        let part = in_both_forms(&server, &format!("/{folder}{name}"));
        assert_eq!(
            (part.status, part.header("cache-control")),
            (200, Some("public, max-age=31536000, immutable")),
            "{name}"
        );
        part
    });
    assert_eq!(script.header("content-type"), Some("text/javascript; charset=utf-8"));
    assert_eq!((style.header("content-type"), &style.bytes), (Some("text/css; charset=utf-8"), &files["console.css"]));
    for (path, bytes) in &files {
        let is_in = script.text().contains(&format!("\n// {path}\n"));
        assert_eq!(is_in, path.ends_with(".js"), "{path}: the script has all modules");
        let script = String::from_utf8_lossy(bytes);
        let own = !path.starts_with("vendor/");
        assert!(
            !own || !script.contains("innerHTML") && !script.contains("eval("),
            "{path}: text must not become code"
        );
    }
    for nowhere in ["index.html", "nothing.js", "box.js", "vendor/preact.js", "texts/../main.js", "%2e%2e/Cargo.toml"] {
        let reply = server.call("GET", &format!("/{folder}{nowhere}"), "");
        assert_eq!(reply.status, 404, "{nowhere}: {}", reply.text());
    }
    server.call("GET", "/?x=1", "").problem("a query", 400, "invalid_parameter");
    server.call("POST", "/", "").problem("a change", 405, "method_not_allowed");
}

/// The sources of pictures in the policy of the page.
fn pictures(page: &Reply) -> Vec<&str> {
    let policy = page.header("content-security-policy").unwrap();
    let sources = policy.split("; ").find_map(|part| part.strip_prefix("img-src ")).unwrap();
    sources.split(' ').collect()
}

/// A user chooses the address of an avatar, and the browser of each reader would ask for it.
#[test]
fn no_address_of_this_server_is_a_picture() {
    let page = Server::start().call("GET", "/", "");
    assert_eq!(pictures(&page), ["data:"]);
    assert!(page.text().contains(r#"name="tideline-avatars" content="""#), "{}", page.text());
    let origins = "https://Cdn.example.org:443,https://b.example:8443";
    let page = Server::with(&[("TIDELINE__SERVER__AVATAR_ORIGINS", origins)]).call("GET", "/", "");
    assert_eq!(pictures(&page), ["data:", "https://cdn.example.org", "https://b.example:8443"]);
    let listed = r#"name="tideline-avatars" content="https://cdn.example.org https://b.example:8443""#;
    assert!(page.text().contains(listed), "{}", page.text());
}

#[test]
fn a_browser_keeps_the_parts_of_this_release_only() {
    let server = Server::start();
    let page = server.call("GET", "/", "");
    let part = server.call("GET", &format!("/{}main.js", folder(&page)), "");
    let earlier = in_both_forms(&server, "/console/earlier/main.js");
    assert_eq!((earlier.status, earlier.header("cache-control")), (200, Some("no-cache")));
    assert!(earlier.bytes == part.bytes && earlier.header("etag") == part.header("etag"));
}

#[test]
fn the_page_knows_whether_there_are_keys() {
    let open = Server::start().call("GET", "/", "");
    let guarded = Server::with(&[("TIDELINE__AUTH__KEYS", &key("full"))]).call("GET", "/", "");
    assert_eq!(guarded.status, 200);
    assert!(guarded.text().contains(r#"name="tideline-access" content="keys""#), "{}", guarded.text());
    assert_ne!(open.header("etag"), guarded.header("etag"), "a browser must not show one for the other");
}
