//! Pages of home timelines that are kept: each change in them shows at once, and nothing else is sent again.

use serde_json::{Value, json};

use crate::server::{Reply, Server};

const PATH: &str = "/v1/users/1/timeline";

fn read(server: &Server, path: &str, tag: Option<&str>) -> Reply {
    let headers: Vec<_> = tag.iter().map(|tag| ("if-none-match", *tag)).collect();
    server.call_as("GET", path, "", &headers)
}

fn tag(reply: &Reply) -> String {
    reply.header("etag").expect("a tag").to_owned()
}

#[test]
fn a_client_that_has_the_page_gets_no_body_until_something_in_it_changes() {
    let no_body = json!(null);
    for path in [PATH.to_owned(), format!("{PATH}?view=ids")] {
        let server = Server::start();
        server.follow(1, 2, 1);
        server.follow(1, 3, 2);
        server.publish(10, 2, 100);
        server.publish(11, 3, 110);
        server.publish(12, 4, 120);
        let is_full = path == PATH;
        let mut before = read(&server, &path, None);
        before.expect(200);
        assert_eq!(before.header("cache-control"), Some("private, no-cache"));
        for (method, call, body, changes) in [
            ("GET", "/v1/users/2", no_body.clone(), false),
            ("POST", "/v1/content", json!({"author_id": 4, "content_id": 100, "published_at": 300}), false),
            ("PUT", "/v1/users/9/following/4", no_body.clone(), false),
            ("PUT", "/v1/content/12/reactions/like/1", no_body.clone(), false),
            ("POST", "/v1/content", json!({"author_id": 3, "content_id": 101, "published_at": 310}), true),
            ("PATCH", "/v1/content/10", json!({"text": "another"}), is_full),
            ("PUT", "/v1/content/10/reactions/like/5", no_body.clone(), is_full),
            ("PUT", "/v1/content/10/reactions/like/1", no_body.clone(), is_full),
            ("POST", "/v1/content/11/comments", json!({"author_id": 8, "content_id": 102}), is_full),
            ("PUT", "/v1/users/3", json!({"nickname": "Cy"}), is_full),
            ("PUT", "/v1/users/1/mutes/3", no_body.clone(), true),
            ("DELETE", "/v1/users/1/mutes/3", no_body.clone(), true),
            ("DELETE", "/v1/content/101", no_body.clone(), true),
            ("POST", "/v1/content/101/restore", no_body.clone(), true),
            ("PUT", "/v1/users/2/suspension", no_body.clone(), true),
            ("DELETE", "/v1/users/2/suspension", no_body.clone(), true),
            ("PUT", "/v1/users/1/following/2", json!({"except": ["post"]}), true),
            ("PUT", "/v1/users/1/following/2", json!({"only": ["post"]}), true),
            ("DELETE", "/v1/users/1/following/3", no_body.clone(), true),
            ("PUT", "/v1/users/1/following/3", no_body.clone(), true),
            ("DELETE", "/v1/content/101?purge=true", no_body.clone(), true),
            ("DELETE", "/v1/content/102?purge=true", no_body.clone(), is_full),
            ("DELETE", "/v1/content/100?purge=true", no_body.clone(), false),
        ] {
            let same = read(&server, &path, Some(&tag(&before)));
            assert_eq!((same.status, same.text(), tag(&same)), (304, "", tag(&before)), "before {method} {call}");
            assert_eq!(same.header("link"), before.header("link"));
            let text = if body == Value::Null { String::new() } else { body.to_string() };
            let made = server.call(method, call, text);
            assert!(made.status < 300, "{method} {call}: {}", made.text());
            let after = read(&server, &path, Some(&tag(&before)));
            assert_eq!(after.status == 200, changes, "{path} after {method} {call}");
            if changes {
                let anew = server.get(&format!("{path}{}peek=true", if is_full { "?" } else { "&" }));
                assert_eq!(after.json(), anew, "{path} after {method} {call}");
                before = after;
            }
        }
    }
}

#[test]
fn a_kept_page_is_the_answer_to_its_own_address_only() {
    let server = Server::start();
    server.follow(1, 2, 1);
    (10..15).for_each(|id| server.publish(id, 2, id * 10));
    let hits = || server.figure(r#"tideline_cache_hits_total{cache="pages"}"#);
    let all = read(&server, PATH, None);
    assert_eq!(hits(), 0.0);
    let again = read(&server, PATH, Some("\"another\""));
    assert_eq!((again.status, again.text(), hits()), (200, all.text(), 1.0));
    assert_eq!(read(&server, PATH, Some("*")).status, 304);
    assert_eq!(read(&server, PATH, Some(&format!("W/\"x\", {}", tag(&all)))).status, 304);
    let head = server.call_as("HEAD", PATH, "", &[]);
    assert_eq!((head.status, head.text(), tag(&head)), (200, "", tag(&all)));
    for (query, items) in [("?limit=2", 2), ("?limit=3", 3), ("?after=130-13", 1), ("?before=110-11&view=ids", 1)] {
        for _ in 0..2 {
            let page = server.get(&format!("{PATH}{query}"));
            assert_eq!(page["items"].as_array().unwrap().len(), items, "{query}");
        }
    }
    let before = hits();
    for (query, of) in [
        ("consistency=local", ""),
        ("limit=2&consistency=strict", "?limit=2"),
        ("consistency=strict&limit=3", "?limit=3"),
    ] {
        let plain = read(&server, &format!("{PATH}{of}"), None);
        let same = read(&server, &format!("{PATH}?{query}"), Some(&tag(&plain)));
        assert_eq!((same.status, tag(&same)), (304, tag(&plain)), "{query}");
    }
    assert_eq!(hits(), before + 6.0, "what a read waits for is no part of its page");
    let (before, long) = (hits(), format!("{PATH}?limit=1{}", "&".repeat(600)));
    assert_eq!([server.ids(&long), server.ids(&long)], [[14], [14]]);
    assert_eq!(hits(), before, "an address that takes more memory than its page");
    server.call("GET", &format!("{PATH}?consistency=much"), "").problem("a word", 400, "invalid_parameter");
    server.call("GET", &format!("{PATH}?consistency=session"), "").problem("no position", 400, "invalid_header");
    let twice = format!("{PATH}?consistency=local&consistency=local");
    server.call("GET", &twice, "").problem("twice", 400, "invalid_parameter");
    server.call("GET", &format!("{PATH}?peek=true&peek=true"), "").problem("twice", 400, "invalid_parameter");
}

#[test]
fn a_page_that_is_not_in_memory_has_a_tag_too() {
    let server = Server::start();
    server.call("PUT", "/v1/users/ann/following/ben", "").expect(200);
    let item = json!({"author_id": "ben", "text": "x".repeat(2000)}).to_string();
    (0..20).for_each(|_| drop(server.call("POST", "/v1/content", &item).expect(201)));
    let server = server.restart("TERM", &[]);
    for (path, items) in [("/v1/users/ann/timeline", 20), ("/v1/users/nobody/timeline", 0)] {
        let first = read(&server, path, None);
        assert_eq!(first.json()["items"].as_array().unwrap().len(), items);
        assert_eq!(read(&server, path, Some(&tag(&first))).status, 304, "{path}");
    }
}

#[test]
fn a_page_with_items_whose_time_has_not_come_is_not_kept() {
    let server = Server::start();
    server.follow(1, 2, 1);
    server.publish(10, 2, 100);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as u64;
    let soon = now + 700;
    server.publish(11, 2, soon);
    let newer = || server.ids(&format!("{PATH}?after=100-10"));
    assert_eq!(server.ids(PATH), [11, 10]);
    while now_is(server.get(&format!("{PATH}?limit=1"))["prev"].as_str().unwrap()) < soon {
        let seen = newer();
        assert!(seen.is_empty() || seen == [11], "{seen:?}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(newer(), [11]);
}

/// The time of a cursor.
fn now_is(cursor: &str) -> u64 {
    cursor.split('-').next().unwrap().parse().unwrap()
}

/// Otherwise the time of the answer tells users which names exist.
#[test]
fn a_page_behind_a_name_is_kept_whether_the_name_exists_or_not() {
    let server = Server::start();
    server.follow(1, 2, 1);
    let publish = |id: &str, author| {
        let item = json!({"content_id": id, "author_id": author, "published_at": 100});
        server.call("POST", "/v1/content", item.to_string()).expect(201);
    };
    publish("first", 2);
    let hits = || server.figure(r#"tideline_cache_hits_total{cache="pages"}"#);
    let pages: Vec<_> = ["before=100-first", "before=100-nobody", "after=99-first", "after=99-nobody"]
        .map(|place| format!("{PATH}?viewer=1&{place}"))
        .into_iter()
        .map(|path| {
            let (first, before) = (server.get(&path), hits());
            assert_eq!(server.get(&path), first);
            assert_eq!(hits(), before + 1.0, "{path}");
            (path, first)
        })
        .collect();
    publish("nobody", 9);
    for (path, page) in &pages {
        assert_eq!(server.get(path), *page, "the name is newer than all of it");
    }
    publish("last", 2);
    let shown =
        |place: &str| server.get(&format!("{PATH}?viewer=1&view=ids&{place}"))["items"].as_array().map(Vec::len);
    assert_eq!(shown("before=100-nobody"), Some(1));
    assert_eq!(shown("after=99-nobody"), Some(2));
}
