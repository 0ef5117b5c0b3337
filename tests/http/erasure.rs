//! `DELETE /v1/users/{uid}`: from the answer on nothing of the user is shown, and in the end no byte names the user.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use feed::erasure::erasure_hash;
use rocksdb::IteratorMode;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::listener::Listener;
use super::resume::{is_reset, told};
use crate::check::damage::{all, engine, engine_with};
use crate::command::tables;
use crate::server::described::relations_to_items;
use crate::server::{Server, command, run, wait_until};

/// No other id or text contains one of these.
const NAME: &str = "ana@gone.example";
const NUMBER: u64 = 0x0123_4567_89AB_CDEF;
const TEXT: &str = "zwieback";
/// A marker that names nobody: all notices of this millisecond are read.
const END_OF_100: &str = "100-7-255-19-9223372036854775807-9223372036854775807";

fn send(server: &Server, method: &str, path: &str, body: Value) {
    let reply = server.call(method, path, if body.is_null() { String::new() } else { body.to_string() });
    assert!(reply.status < 300, "{method} {path}: {}", String::from_utf8_lossy(&reply.bytes));
}

/// Writes a row of every kind for a user, beside those of others; `first` is the first of 20 ids of items.
fn fill(server: &Server, user: &str, first: u64) {
    let put = |path: &str, body: Value| send(server, "PUT", path, body);
    let post = |body: Value| send(server, "POST", "/v1/content", body);
    let own = |path: &str| format!("/v1/users/{user}{path}");
    // Gets the items that come through a group.
    put("/v1/users/16/following/10", json!({}));
    for other in ["10", "bo"] {
        for (one, two) in [(user, other), (other, user)] {
            put(&format!("/v1/users/{one}/following/{two}"), json!({}));
            put(&format!("/v1/users/{one}/mutes/{two}"), Value::Null);
            put(&format!("/v1/users/{one}/hidden-from/{two}"), Value::Null);
        }
        put(&format!("/v1/users/{other}/lists/close"), json!({}));
        put(&format!("/v1/users/{other}/lists/close/members/{user}"), json!({}));
    }
    for (one, two) in [(user, "11"), ("12", user)] {
        put(&format!("/v1/users/{one}/blocks/{two}"), Value::Null);
    }
    // A count remains of a follow that is over.
    put(&own("/following/13"), json!({}));
    send(server, "DELETE", &own("/following/13"), Value::Null);
    put(&own("/settings"), json!({"approve_followers": true}));
    put("/v1/users/14/settings", json!({"approve_followers": true}));
    put(&own("/following/14"), json!({}));
    put(&format!("/v1/users/15/following/{user}"), json!({}));
    put(&own(""), json!({"nickname": format!("{TEXT} 1"), "extra": {"a": format!("{TEXT} 2")}}));
    let text = |n: u64| format!("{TEXT} {n}");
    post(json!({"content_id": first, "author_id": user, "text": text(3), "topics": ["sea"], "to": ["10"]}));
    post(json!({"content_id": first + 1, "author_id": user, "text": text(4), "broadcast": false}));
    post(json!({"content_id": first + 2, "author_id": user, "text": text(5), "extra": {"a": text(6)}}));
    post(json!({"content_id": first + 3, "author_id": "10", "text": "of another", "to": [user]}));
    post(json!({"content_id": first + 4, "author_id": user, "text": text(7), "kind": "comment", "ref_id": first + 3}));
    post(json!({"content_id": first + 5, "author_id": user, "text": text(8), "kind": "repost", "ref_id": first + 3}));
    // Others' items: one that may come back, and one that was taken off the page.
    for id in [first + 6, first + 7] {
        post(json!({"content_id": id, "author_id": "10", "text": "of another", "to": [user]}));
    }
    send(server, "DELETE", &format!("/v1/content/{}", first + 6), Value::Null);
    send(server, "DELETE", &own(&format!("/content/{}", first + 7)), Value::Null);
    post(json!({"content_id": first + 8, "author_id": "20", "text": "of another", "mentions": [user, "bo"]}));
    // What the user has published about an item that is purged, and an item of the user that is.
    post(json!({"content_id": first + 9, "author_id": "10", "text": "of another"}));
    for (id, kind) in [(first + 10, "comment"), (first + 11, "repost"), (first + 12, "comment")] {
        post(json!({"content_id": id, "author_id": user, "text": text(id), "kind": kind, "ref_id": first + 9}));
    }
    post(json!({"content_id": first + 13, "author_id": user, "text": text(11), "mentions": ["bo"]}));
    send(server, "DELETE", &format!("/v1/content/{}", first + 12), Value::Null);
    for id in [first + 9, first + 13] {
        send(server, "DELETE", &format!("/v1/content/{id}?purge=true"), Value::Null);
    }
    // Markers at notices, one of which was taken back.
    let notice = |actor: &str| format!("{first}-1-0-{}-{actor}-", actor.len());
    put("/v1/users/10/notices/marker", json!({"cursor": notice(user)}));
    put(&format!("/v1/users/reader%20of%20{first}/notices/marker"), json!({"cursor": notice(user)}));
    put(&own("/notices/marker"), json!({"cursor": notice("10")}));
    assert_eq!(server.get(&own("/notices"))["items"][0]["kind"], "mention");
    send(server, "PATCH", &format!("/v1/content/{first}"), json!({"text": text(9)}));
    send(server, "DELETE", &format!("/v1/content/{}", first + 2), Value::Null);
    for (id, who) in [(first, user), (first, "10"), (first + 3, user), (first + 3, "bo")] {
        for (path, body) in relations_to_items(who, &id.to_string()) {
            put(&path, body);
        }
    }
    put(&own("/lists/mine"), json!({"title": format!("{TEXT} 10")}));
    put(&own("/lists/mine/members/10"), json!({}));
    put(&own("/lists/mine/marker"), json!({"cursor": "5-50"}));
    put(&own("/marker"), json!({"cursor": "5-50"}));
    put(&own("/presence"), json!({"online": true}));
    server.get(&own("/timeline"));
    put(&own("/suspension"), Value::Null);
    send(server, "DELETE", &own("/suspension"), Value::Null);
}

/// The number that stands for a name in a data directory.
fn number_of(data: &Path, name: &str) -> u64 {
    let db = engine(data);
    let names = db.cf_handle("names").expect("a table");
    let row = db.get_cf(names, name).expect("reads").expect("a row");
    u64::from_be_bytes(row.try_into().expect("a number"))
}

/// All files below a directory.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// The places in a data directory that have one of these byte strings: rows, and files as they are. `number` stands for a
/// name: rows only, but for the one that keeps it from other names.
fn places(data: &Path, wanted: &[Vec<u8>], number: u64) -> Vec<String> {
    let has = |bytes: &[u8]| wanted.iter().any(|part| contains(bytes, part));
    let forms = [number.to_be_bytes(), (!number).to_be_bytes()];
    let has_number = |bytes: &[u8]| forms.iter().any(|form| contains(bytes, form));
    let mut found = Vec::new();
    {
        let db = engine_with(data, all);
        for table in rocksdb::DB::list_cf(&rocksdb::Options::default(), data.join("db")).expect("tables") {
            let family = db.cf_handle(&table).expect("a table");
            for row in db.iterator_cf(family, IteratorMode::Start) {
                let (key, value) = row.expect("a row");
                let is_kept = table == "names_by_number" && value.is_empty();
                if [&key, &value].iter().any(|part| has(part) || has_number(part) && !is_kept) {
                    found.push(format!("{table} {key:02x?} {value:02x?}"));
                }
            }
        }
    }
    let files = files(data).into_iter().filter(|path| has(&fs::read(path).expect("a file")));
    found.extend(files.map(|path| path.display().to_string()));
    found
}

/// All that `tideline export` writes of a data directory.
fn exported(data: &TempDir) -> String {
    let out = tempfile::tempdir().expect("a directory");
    let file = |table: &String| (format!("--{table}"), out.path().join(table).display().to_string());
    let files: Vec<_> = tables().iter().map(file).collect();
    let options = files.iter().flat_map(|(option, file)| [option.as_str(), file]);
    run(&["export"].into_iter().chain(options).collect::<Vec<_>>(), data, &[]);
    let file = |(_, file): &(String, String)| fs::read_to_string(file).expect("a file");
    files.iter().map(file).collect()
}

fn hash(user: &str) -> String {
    erasure_hash(&user.parse().expect("an id"))
}

fn is_over(server: &Server, erasures: usize) -> bool {
    let listed = server.get("/v1/admin/erasures");
    let items = listed["items"].as_array().expect("items");
    items.len() == erasures && items.iter().all(|item| item["state"] == "over")
}

#[test]
fn no_byte_names_a_user_who_was_erased() {
    let number = NUMBER.to_string();
    let server = Server::start();
    for (user, first) in [(NAME, 100), (number.as_str(), 200)] {
        fill(&server, user, first);
    }
    let (_, data) = server.stop("TERM");
    let stands_for = number_of(data.path(), NAME);
    let mut wanted = vec![NAME.as_bytes().to_vec(), number.as_bytes().to_vec(), TEXT.as_bytes().to_vec()];
    wanted.extend([NUMBER.to_be_bytes().to_vec(), (!NUMBER).to_be_bytes().to_vec()]);
    assert!(places(data.path(), &wanted, stands_for).len() > 50, "a test that finds nothing before proves nothing");

    let server = Server::on(data, &[]);
    for (user, first) in [(NAME, 100), (number.as_str(), 200)] {
        let begun = server.call("DELETE", &format!("/v1/users/{user}"), "").expect(202);
        assert!(begun["user_id"] == user && begun["since"].is_u64(), "{begun}");
        for path in ["/v1/users/10/timeline", "/v1/users/bo/timeline", "/v1/topics/sea/content"] {
            let shown = server.get(path);
            let authors = shown["items"].as_array().expect("items").iter().map(|item| &item["author_id"]);
            assert!(authors.into_iter().all(|author| author != user), "{path}: {shown}");
        }
        for list in ["followers", "following", "mutes", "hidden-from", "lists/close/members"] {
            let shown = server.get(&format!("/v1/users/10/{list}"));
            assert!(!shown.to_string().contains(user), "{list}: {shown}");
        }
        assert_eq!(server.get(&format!("/v1/users/{user}"))["nickname"], Value::Null);
        server.call("GET", &format!("/v1/content/{first}"), "").problem("gone", 404, "content_not_found");
    }
    wait_until("the users are not erased", || is_over(&server, 2));
    // Who reads late is told by a hash.
    let told = server.get("/v1/changes?types=user.erased")["items"].clone();
    let hashes: Vec<_> = told.as_array().expect("items").iter().map(|change| change["hash"].clone()).collect();
    assert_eq!(hashes, [NAME, &number].map(hash), "{told}");
    assert!(told[0]["user_id"].is_null() && told[0]["list"].is_null(), "{told}");
    // Others have what is theirs.
    assert_eq!(server.get("/v1/content/103")["text"], "of another");
    assert_eq!(server.get("/v1/content/103")["counts"]["reactions"], json!({"like": 1}));
    assert_eq!(server.get("/v1/content/103")["counts"]["comments"], 0);
    // Of user 16.
    assert_eq!(server.get("/v1/users/10")["counts"]["followers"], 1);
    send(&server, "POST", "/v1/content/106/restore", Value::Null);
    assert_eq!(server.get("/v1/content/106")["to"], json!([]));
    assert_eq!(server.get("/v1/content/108")["mentions"], json!(["bo"]));
    assert_eq!(server.get("/v1/users/reader%20of%20100/notices/marker")["cursor"], END_OF_100);
    let (_, data) = server.stop("TERM");
    run(&["compact"], &data, &[]);
    run(&["check"], &data, &[]);
    assert_eq!(places(data.path(), &wanted, stands_for), Vec::<String>::new());
    let lines = exported(&data);
    assert!(lines.contains("of another") && wanted.iter().all(|part| !contains(lines.as_bytes(), part)), "{lines}");

    // The same ids are new users.
    let server = Server::on(data, &[]);
    for user in [NAME, &number] {
        assert_eq!(server.get(&format!("/v1/users/{user}"))["counts"]["followers"], 0);
        send(&server, "PUT", &format!("/v1/users/bo/following/{user}"), json!({}));
        assert_eq!(server.ids("/v1/users/bo/timeline"), Vec::<u64>::new());
        send(&server, "POST", "/v1/content", json!({"author_id": user, "text": "back"}));
        assert_eq!(server.get("/v1/users/bo/timeline")["items"][0]["author_id"], user);
        send(&server, "DELETE", &format!("/v1/users/bo/following/{user}"), Value::Null);
    }
}

/// The rest of an erasure is no damage, after whatever part a server was killed, and in a backup of that time.
#[test]
fn a_directory_within_an_erasure_is_whole() {
    let data = TempDir::new().expect("temp dir");
    let server = Server::launch(command(&data, "127.0.0.1:0", &[])).expect("starts");
    for (reader, source) in [("15", NAME), ("16", "10"), (NAME, "10")] {
        send(&server, "PUT", &format!("/v1/users/{reader}/following/{source}"), json!({}));
        server.get(&format!("/v1/users/{reader}/timeline"));
    }
    // In the inboxes of those who follow the user, or the other.
    send(&server, "POST", "/v1/content", json!({"content_id": 1, "author_id": "10", "to": [NAME]}));
    send(&server, "POST", "/v1/content", json!({"content_id": 2, "author_id": NAME, "to": ["10"]}));
    send(&server, "PUT", &format!("/v1/content/1/reactions/like/{NAME}"), Value::Null);
    assert!(server.drain());
    send(&server, "DELETE", &format!("/v1/users/{NAME}"), Value::Null);
    assert_eq!(server.end("KILL").code(), None);
    let mut parts = 0;
    loop {
        parts += 1;
        let armed = [("FAILPOINTS", &*format!("erasure.part={parts}*off->return(abort)"))];
        // It may end before it listens.
        if let Ok(mut server) = Server::launch(command(&data, "127.0.0.1:0", &armed)) {
            let mut over = false;
            wait_until("the erasure does not go on", || match server.attempt("GET", "/v1/admin/erasures", "") {
                Ok(listed) => {
                    over = listed.json()["items"][0]["state"] == "over";
                    over
                }
                Err(_) => true,
            });
            if over {
                break;
            }
            server.wait();
        }
        run(&["check"], &data, &[]);
    }
    assert!(parts > 2, "{parts}");
}

#[test]
fn nothing_of_an_erased_user_stays_in_memory_or_in_the_markers_of_others() {
    let server = Server::start();
    // The notice of a follow of the least number is the lowest one of its millisecond.
    send(&server, "PUT", "/v1/users/2/notices/marker", json!({"cursor": "100-1-0-1-1-"}));
    send(&server, "PUT", "/v1/users/1/presence", json!({"online": true}));
    server.call("DELETE", "/v1/users/1", "").expect(202);
    wait_until("the user is not erased", || is_over(&server, 1));
    assert_eq!(server.get("/v1/users/2/notices/marker")["cursor"], END_OF_100);
    assert_eq!(server.get("/v1/users/1/presence")["online"], false);
}

#[test]
fn cursors_at_an_erased_user_lead_on() {
    let server = Server::start();
    server.publish(7, 10, 50);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_millis() as u64;
    for (user, at) in [("8", now - 5000), (NAME, now - 4000), ("9", now - 3000)] {
        let since = json!({"since": at});
        for path in [format!("users/{user}/following/10"), format!("users/10/following/{user}")] {
            send(&server, "PUT", &format!("/v1/{path}"), since.clone());
        }
        send(&server, "PUT", &format!("/v1/content/7/reactions/like/{user}"), json!({"since": at + 500}));
    }
    let lists = [
        ("/v1/users/10/followers", "user_id", ["8", "9"]),
        ("/v1/users/10/following", "user_id", ["8", "9"]),
        ("/v1/users/10/friends", "user_id", ["8", "9"]),
        ("/v1/content/7/reactions/like", "user_id", ["8", "9"]),
        ("/v1/users/10/notices", "actor", ["8", "9"]),
    ];
    let page = |list: &str, query: &str| server.get(&format!("{list}?{query}"))["items"].clone();
    let cursors = lists.map(|(list, field, _)| {
        let before = page(list, "limit=100");
        let of_name =
            before.as_array().expect("items").iter().find(|item| item.to_string().contains(NAME)).expect("one");
        match field {
            "actor" => of_name["cursor"].as_str().expect("a cursor").to_owned(),
            _ => format!("{}-{NAME}", of_name["since"]),
        }
    });
    server.call("DELETE", &format!("/v1/users/{NAME}"), "").expect(202);
    wait_until("the user is not erased", || is_over(&server, 1));
    for ((list, field, [below, above]), cursor) in lists.into_iter().zip(&cursors) {
        let ids = |query: &str| {
            let items = page(list, &format!("{query}={cursor}"));
            let id =
                |item: &Value| if field == "actor" { item["actor"]["user_id"].clone() } else { item[field].clone() };
            items.as_array().expect("items").iter().map(id).collect::<Vec<_>>()
        };
        let (older, newer) = (ids("before"), ids("after"));
        assert_eq!((older.first(), newer.last()), (Some(&json!(below)), Some(&json!(above))), "{list} {cursor}");
    }
    // The newest notice that was shown: everything up to it is read.
    send(&server, "PUT", "/v1/users/10/notices/marker", json!({"cursor": cursors[4]}));
    // The follow and the reaction of user 9.
    assert_eq!(server.get("/v1/users/10/notices/unread")["count"], 2);
}

#[test]
fn changes_that_name_a_user_who_is_erased_are_refused() {
    // Enough rows that the erasure is under way for a while.
    let server = Server::start();
    let item = |id: u64| json!({"content_id": id, "author_id": 7, "published_at": id});
    for part in [1..=900_u64, 901..=1500] {
        let items: Vec<_> = part.map(item).collect();
        send(&server, "POST", "/v1/content/batch", json!({"items": items}));
    }
    server.call("DELETE", "/v1/users/7", "").expect(202);
    let listed = server.get("/v1/admin/erasures")["items"][0].clone();
    assert_eq!((&listed["user_id"], &listed["state"]), (&json!("7"), &json!("erasing")));
    for (method, path, body) in [
        ("PUT", "/v1/users/7/following/8", "{}"),
        ("PUT", "/v1/users/8/following/7", "{}"),
        ("DELETE", "/v1/users/8/following/7", ""),
        ("PUT", "/v1/users/7", r#"{"nickname":"x"}"#),
        ("PUT", "/v1/users/8/mutes/7", ""),
        ("POST", "/v1/content", r#"{"author_id":7,"text":"x"}"#),
        ("POST", "/v1/content", r#"{"author_id":8,"to":[7],"text":"x"}"#),
        ("PUT", "/v1/users/7/suspension", ""),
        ("POST", "/v1/content", r#"{"author_id":8,"mentions":[7],"text":"x"}"#),
        ("PUT", "/v1/users/7/notices/marker", r#"{"cursor":"5-1-0-1-8-"}"#),
    ] {
        server.call(method, path, body).problem(path, 409, "erasing");
    }
    let explained = server.get("/v1/admin/users/8/timeline/explain?content_id=1");
    assert!(explained["reason"] == "deleted" && explained["author_id"].is_null(), "{explained}");
    // An item may have the same number.
    server.call("DELETE", "/v1/users/7", "").expect(202);
    assert_eq!(server.call("GET", "/v1/changes?types=user.erased", "").expect(200)["items"][0]["user_id"], "7");
    send(&server, "PUT", "/v1/users/8/following/9", json!({}));
    // An export in the middle has nothing of the user.
    let (_, data) = server.stop("TERM");
    let lines = exported(&data);
    assert!(lines.contains(r#""user_id":"8""#), "{lines}");
    assert!(!lines.contains(r#""author_id":"7""#) && !lines.contains(r#""user_id":"7""#), "{lines}");
    // It goes on after an end at any place.
    let server = Server::on(data, &[]).restart("KILL", &[]);
    wait_until("the user is not erased", || is_over(&server, 1));
    assert!(server.get("/v1/admin/erasures")["items"][0]["rows"].as_u64() >= Some(1500));
    let told = server.call("GET", "/v1/changes?types=user.erased", "").expect(200)["items"].clone();
    assert_eq!((told[0]["hash"].as_str(), told[0]["user_id"].as_str()), (Some(&*hash("7")), None), "{told}");
    server.call("DELETE", "/v1/users/nobody-ever", "").expect(202);
}

#[test]
fn a_stream_that_was_away_during_an_erasure_is_reset() {
    let server = Server::start();
    for author in [2, 3] {
        server.follow(1, author, 10);
    }
    let mut listener = Listener::open(&server, 1, None);
    server.publish(7, 3, 7);
    assert_eq!(listener.content(), 7);
    let place = told(&server, &mut listener, 8);
    drop(listener);
    server.call("DELETE", "/v1/users/3", "").expect(202);
    wait_until("the user is not erased", || is_over(&server, 1));
    server.publish(9, 2, 2000);
    is_reset(&server, &place);
    // From the log on disk.
    is_reset(&server.restart("TERM", &[]), &place);
}

#[test]
fn the_stream_of_an_erased_user_ends_and_the_id_can_have_a_new_one() {
    let server = Server::start();
    server.call("PUT", "/v1/users/ben/following/2", "").expect(200);
    let mut listener = Listener::open(&server, "ben", None);
    server.call("DELETE", "/v1/users/ben", "").expect(202);
    assert!(listener.ends());
    wait_until("the user is not erased", || is_over(&server, 1));
    let mut listener = Listener::open(&server, "ben", None);
    server.call("PUT", "/v1/users/ben/following/2", "").expect(200);
    server.publish(9, 2, 2000);
    assert_eq!(listener.content(), 9);
}

#[test]
fn what_others_have_at_the_name_of_an_erased_user_stays_readable() {
    let server = Server::start();
    send(
        &server,
        "POST",
        "/v1/content",
        json!({"author_id": "bo", "content_id": 1, "text": "on a wall", "ref_id": "ana"}),
    );
    send(
        &server,
        "POST",
        "/v1/content",
        json!({"author_id": "bo", "content_id": 2, "kind": "comment", "ref_id": "ana"}),
    );
    send(&server, "PUT", "/v1/users/bo/marker", json!({"cursor": "5-ana"}));
    send(&server, "PUT", "/v1/users/bo/lists/l", json!({}));
    send(&server, "PUT", "/v1/users/bo/lists/l/marker", json!({"cursor": "5-ana"}));
    send(&server, "POST", "/v1/content", json!({"author_id": "ana", "content_id": 3, "text": "mine"}));
    let (_, data) = server.stop("TERM");
    let number = number_of(data.path(), "ana");
    let server = Server::on(data, &[]);
    server.call("DELETE", "/v1/users/ana", "").expect(202);
    wait_until("the user is not erased", || is_over(&server, 1));
    let is_readable = |server: &Server| {
        let last = format!("5-{}", i64::MAX);
        assert_eq!(server.get("/v1/users/bo/marker")["cursor"], last);
        assert_eq!(server.get("/v1/users/bo/lists/l/marker")["cursor"], last);
        assert_eq!(server.ids("/v1/users/bo/content"), [2, 1]);
        assert!(server.call("GET", "/v1/users/bo/export", "").text().ends_with("{\"type\":\"end\"}\n"));
    };
    is_readable(&server);
    let (_, data) = server.stop("TERM");
    run(&["check"], &data, &[]);
    let lines = exported(&data);
    assert!(lines.contains("on a wall") && !lines.contains("ana"), "{lines}");
    let server = Server::on(data, &[]);
    is_readable(&server);
    for id in [1, 2] {
        assert_eq!(server.get(&format!("/v1/content/{id}"))["ref_id"], Value::Null);
    }
    // No other name gets what others have said about this one.
    send(&server, "POST", "/v1/content", json!({"author_id": "mallory", "content_id": 4}));
    send(&server, "POST", "/v1/content", json!({"author_id": "ana", "content_id": 5}));
    assert_eq!(server.get("/v1/content/1")["ref_id"], Value::Null);
    let (_, data) = server.stop("TERM");
    assert!(number_of(data.path(), "mallory") > number && number_of(data.path(), "ana") > number);
}
