//! `tideline export`: what it writes, imported into an empty directory, makes a server that shows the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fastrand::Rng;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::lines;
use crate::command::{Place, Ran, gzip, tables};
use crate::plain::FREE_FIELDS;
use crate::server::described::{reads, relations_to_items};
use crate::server::host_ids::escaped;
use crate::server::{Server, wait_until};

/// Kinds of reactions whose order is not that in which they come.
const KINDS: [&str; 4] = ["like", "favorite", "👏 100%", "a"];

/// Settings under which the parts of a directory are reached with little data. A purge comes at once.
const SMALL: [(&str, &str); 4] = [
    ("TIDELINE__STORAGE__DURABILITY", "os"),
    ("TIDELINE__REACTIONS__KINDS", "like,favorite,👏 100%,a"),
    ("TIDELINE__TIMELINE__OUTBOX_LIMIT", "8"),
    ("TIDELINE__TIMELINE__INBOX_LIMIT", "16"),
];

/// The arguments of a command about all tables, with the files `<prefix><table>.ndjson`.
fn run_all(place: &Place, command: &str, data: &Path, prefix: &str) -> Ran {
    let files: Vec<_> =
        tables().iter().flat_map(|table| [format!("--{table}"), format!("{prefix}{table}.ndjson")]).collect();
    let data = data.to_str().unwrap();
    let arguments: Vec<_> = [command, "--data-dir", data].into_iter().chain(files.iter().map(String::as_str)).collect();
    place.run(&arguments)
}

fn small() -> Place {
    SMALL.iter().fold(Place::new(), |place, (name, value)| place.with_env(name, value))
}

/// The files of a directory with their bytes, except backups.
fn files(dir: &Path) -> BTreeMap<String, (Vec<u8>, std::time::SystemTime)> {
    let (mut dirs, mut files) = (vec![dir.to_owned()], BTreeMap::new());
    while let Some(at) = dirs.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                let changed = path.metadata().unwrap().modified().unwrap();
                files.insert(path.display().to_string(), (fs::read(&path).unwrap(), changed));
            }
        }
    }
    files
}

/// A community of numbers and names, of which any may be users, groups or items.
struct World {
    random: Rng,
    users: Vec<String>,
    items: Vec<String>,
}

/// The first time of all.
const AT: u64 = 1_600_000_000_000;

impl World {
    fn new(seed: u64) -> Self {
        let odd = ["ann", "042", "b/é 🌊", "user_id", "a,\"b\"", " x ", "\\"];
        let users = odd.iter().map(|name| (*name).to_owned()).chain((1..=9).map(|n| n.to_string())).collect();
        let mut random = Rng::with_seed(seed);
        let mut items: Vec<_> =
            (0..120).map(|n| if n % 2 == 0 { n.to_string() } else { format!("item {n}") }).collect();
        items[0] = "..x".to_owned();
        random.shuffle(&mut items);
        Self { random, users, items }
    }

    fn user(&mut self) -> String {
        self.random.choice(&self.users).unwrap().clone()
    }

    fn item(&mut self) -> String {
        self.random.choice(&self.items).unwrap().clone()
    }

    /// Few times, so that many places differ in their ids only.
    fn time(&mut self) -> u64 {
        AT + self.random.u64(..12)
    }

    fn rule(&mut self) -> Value {
        match self.random.u8(..4) {
            0 => json!({"only": ["video", "post"]}),
            1 => json!({"except": ["repost", format!("kind_{}", self.random.u8(..20))]}),
            _ => json!({}),
        }
    }

    fn list(&mut self) -> String {
        escaped(self.random.choice(&["close", "a b", "é/🌊"]).unwrap())
    }

    /// An item with any field.
    fn new_item(&mut self) -> Value {
        let mut new_item = json!({"author_id": self.user(), "content_id": self.item(), "published_at": self.time()});
        let mut set = |name: &str, value: Value| new_item[name] = value;
        let texts = ["", "a, \"b\"\n\u{1}", "é 🌊", "\u{2028}"];
        for field in 0..7 {
            if self.random.bool() {
                continue;
            }
            match field {
                0 => set("text", json!(self.random.choice(texts))),
                1 => set("kind", json!(self.random.choice(["comment", "repost", "video", "poll"]))),
                2 => set("ref_id", json!(self.item())),
                3 => set("topics", json!(["t", "é/🌊"])),
                4 => set("media", json!([{"type": "image", "url": "/a"}])),
                5 => set("extra", json!({"k": [1, {"a": null}]})),
                _ => set("to", json!([self.user()])),
            }
        }
        for (name, values) in &*FREE_FIELDS {
            set(name, self.random.choice(values).unwrap().clone());
        }
        new_item
    }

    /// A call of any kind that changes something. Many are refused, as that of a blocked user.
    fn change(&mut self, server: &Server) {
        let (user, other) = (escaped(&self.user()), escaped(&self.user()));
        let (item, time) = (escaped(&self.item()), self.time());
        let call = |method: &str, path: String, body: Value| {
            let text = if body.is_null() { String::new() } else { body.to_string() };
            let reply = server.call(method, &format!("/v1/{path}"), text);
            assert!(reply.status < 500, "{method} {path}: {}", reply.text());
        };
        let with = |mut rule: Value, name: &str, value: Value| {
            rule[name] = value;
            rule
        };
        match self.random.u8(..42) {
            0..10 => {
                let new_item = self.new_item();
                // Spaces and line ends in JSON stay as they are.
                let text = new_item.to_string().replace("{\"k\":[1,", "{ \"k\":\r\n[1 ,");
                assert!(server.call("POST", "/v1/content", text).status < 500);
            }
            10..13 => {
                let rule = self.rule();
                call("PUT", format!("users/{user}/following/{other}"), with(rule, "since", json!(time)));
            }
            13 => call("PUT", format!("users/{user}/following/{other}"), json!({"since": time, "approved": true})),
            14 => call("DELETE", format!("users/{user}/following/{other}"), Value::Null),
            15 => call("PUT", format!("users/{user}/follow-requests/{other}"), Value::Null),
            16 => call("PUT", format!("users/{user}/mutes/{other}"), Value::Null),
            17 => call("PUT", format!("users/{user}/hidden-from/{other}"), Value::Null),
            18 => call("PUT", format!("users/{user}/blocks/{other}"), Value::Null),
            19 => call("DELETE", format!("users/{user}/blocks/{other}"), Value::Null),
            20 => {
                let audience = self.random.choice(["public", "followers"]).unwrap();
                let settings = json!({"approve_followers": self.random.bool(), "default_audience": audience});
                call("PUT", format!("users/{user}/settings"), settings);
            }
            21..24 => {
                let list = json!({"title": self.random.choice(["A, \"b\"", "é"]), "exclusive": self.random.bool()});
                call("PUT", format!("users/{user}/lists/{}", self.list()), list);
            }
            24..27 => {
                let rule = self.rule();
                call("PUT", format!("users/{user}/lists/{}/members/{other}", self.list()), rule);
            }
            27 => call("DELETE", format!("users/{user}/lists/{}", self.list()), Value::Null),
            28 => call("PUT", format!("users/{user}/marker"), json!({"cursor": format!("{time}-{}", self.item())})),
            29 => {
                let place = format!("{time}-{}", self.item());
                call("PUT", format!("users/{user}/lists/{}/marker", self.list()), json!({ "cursor": place }));
            }
            30..34 => {
                let kind = escaped(self.random.choice(KINDS).unwrap());
                let method = if self.random.u8(..4) == 0 { "DELETE" } else { "PUT" };
                let body = if method == "PUT" { json!({ "since": time }) } else { Value::Null };
                call(method, format!("content/{item}/reactions/{kind}/{user}"), body);
            }
            34 => {
                let extra = if self.random.bool() { json!({"a": 1}) } else { Value::Null };
                call("PUT", format!("users/{user}"), json!({"nickname": "n, \"é\"", "extra": extra}));
            }
            35 => call("PATCH", format!("content/{item}"), json!({"text": format!("edited {time}"), "extra": null})),
            36 => call("DELETE", format!("content/{item}"), Value::Null),
            37 => call("POST", format!("content/{item}/restore"), Value::Null),
            38 => call("DELETE", format!("users/{user}/content/{item}"), Value::Null),
            39..41 => {
                let (path, body) = self.random.choice(relations_to_items(&user, &item)).unwrap();
                let (method, body) = if self.random.u8(..4) == 0 { ("DELETE", Value::Null) } else { ("PUT", body) };
                call(method, path.replacen("/v1/", "", 1), body);
            }
            _ if self.random.u8(..4) == 0 => call("PUT", format!("users/{user}/suspension"), Value::Null),
            _ => call("DELETE", format!("users/{user}/suspension"), Value::Null),
        }
    }
}

/// All pages of a list from one end to the other.
fn pages(server: &Server, path: &str) -> Vec<Value> {
    let (mut pages, mut query) = (Vec::new(), "?limit=7".to_owned());
    loop {
        let page = server.get(&format!("{path}{query}"));
        let next = page["next"].as_str().map(escaped);
        pages.push(page);
        match next {
            Some(next) if pages.len() < 200 => query = format!("?limit=7&before={next}"),
            Some(_) => panic!("{path} does not end"),
            None => return pages,
        }
    }
}

/// Every answer about the users and the items of a world.
fn shown(server: &Server, world: &World) -> BTreeMap<String, Vec<Value>> {
    let mut shown = BTreeMap::new();
    let all: Vec<_> = world.users.iter().map(|user| escaped(&user.replace('\\', "\\\\").replace(',', "\\,"))).collect();
    let mut put = |below: &str, values: &[(&str, &str)]| {
        for (path, is_list) in reads(below, values) {
            let reply = server.call("GET", &path, "");
            let answers = match reply.status {
                200 if is_list => pages(server, &path),
                200 => vec![reply.json()],
                status => vec![json!({"status": status, "code": reply.json()["code"]})],
            };
            shown.insert(path, answers);
        }
    };
    for user in world.users.iter().map(|user| escaped(user)) {
        put("/v1/users/{uid}", &[("uid", &user), ("targets", &all.join(","))]);
        for kind in KINDS {
            put("/v1/users/{uid}/reactions", &[("uid", &user), ("kind", &escaped(kind))]);
        }
        for list in ["close", "a b", "é/🌊"].map(escaped) {
            put("/v1/users/{uid}/lists/{list}", &[("uid", &user), ("list", &list)]);
        }
    }
    for item in world.items.iter().map(|item| escaped(item)) {
        put("/v1/content/{content_id}", &[("content_id", &item)]);
        for kind in KINDS {
            put("/v1/content/{content_id}/reactions", &[("content_id", &item), ("kind", &escaped(kind))]);
        }
    }
    for topic in ["t", "é/🌊"].map(escaped) {
        put("/v1/topics", &[("topic", &topic)]);
    }
    shown
}

#[track_caller]
fn assert_same(one: &BTreeMap<String, Vec<Value>>, other: &BTreeMap<String, Vec<Value>>, what: &str) {
    assert_eq!(one.len(), other.len());
    for ((path, one), other) in one.iter().zip(other.values()) {
        assert_eq!(one, other, "{what}: {path}");
    }
}

#[test]
fn a_random_directory_comes_back_whole() {
    for seed in 1..=2 {
        comes_back(seed);
    }
}

fn comes_back(seed: u64) {
    let (place, mut world) = (small(), World::new(seed));
    let server = Server::with(&SMALL);
    (0..1500).for_each(|_| world.change(&server));
    // Deletions of which nothing is kept.
    let at_once: Vec<_> = SMALL.into_iter().chain([("TIDELINE__CONTENT__DELETED_RETENTION", "0s")]).collect();
    let server = server.restart("TERM", &at_once);
    for _ in 0..30 {
        server.call("DELETE", &format!("/v1/content/{}", escaped(&world.item())), "");
    }
    let (_, data) = server.stop("TERM");
    place.run(&["compact", "--data-dir", data.path().to_str().unwrap()]).ok();
    let server = Server::on(data, &SMALL);
    (0..500).for_each(|_| world.change(&server));
    for user in ["042", "7"] {
        server.call("PUT", &format!("/v1/users/{user}/suspension"), "").expect(200);
    }
    // The export of a backup of the running server.
    let taken = server.call("POST", "/v1/admin/backups", "").expect(201);
    let backup = server.data().path().join("backups").join(taken["name"].as_str().unwrap());
    wait_until("the backup is not verified", || backup.join("VERDICT").exists());
    let before = files(&backup);
    let ran = run_all(&place, "export", &backup, "backup-").ok();
    assert_eq!(files(&backup), before, "{seed}: a backup stays as it is");
    assert!(!ran.err.contains("warning"), "{}", ran.err);

    // The server is killed, so its log is not empty.
    let expected = shown(&server, &world);
    let (_, data) = server.stop("KILL");
    let before = files(data.path());
    let ran = run_all(&place, "export", data.path(), "1-").ok();
    assert_eq!(files(data.path()), before, "{seed}: the directory stays as it is");
    assert_eq!(lines(&ran.out).len(), tables().len());
    for table in tables() {
        let [of_directory, of_backup] = ["1-", "backup-"].map(|prefix| place.path(&format!("{prefix}{table}.ndjson")));
        let written = fs::read(&of_directory).unwrap();
        assert!(!written.is_empty(), "{seed}: {table}");
        // Reads of timelines change no table that is exported.
        assert!(written == fs::read(of_backup).unwrap(), "{seed}: {table}");
    }

    let copy = TempDir::new().unwrap();
    let ran = run_all(&place, "import", copy.path(), "1-").ok();
    assert!(ran.out.lines().all(|line| line.ends_with(" new, 0 already there, 0 refused")), "{}", ran.out);
    run_all(&place, "export", copy.path(), "2-").ok();
    for table in tables() {
        let [one, other] =
            ["1-", "2-"].map(|prefix| fs::read_to_string(place.path(&format!("{prefix}{table}.ndjson"))).unwrap());
        assert_eq!(one, other, "{seed}: {table}");
    }
    let again = run_all(&place, "import", copy.path(), "1-").failed("refused");
    for line in lines(&again.out) {
        // Deleted items are not published again, and nothing is related to them.
        let (table, _) = line.split_once(' ').unwrap();
        let names_items =
            fs::read_to_string(place.path(&format!("1-{table}.ndjson"))).unwrap().contains("\"content_id\"");
        let is_of_deleted = table != "deletions" && names_items;
        assert!(line.contains(": 0 new, ") && (is_of_deleted || line.ends_with(", 0 refused")), "{line}");
    }
    for dir in [&data, &copy] {
        place.run(&["check", "--data-dir", dir.path().to_str().unwrap()]).ok();
    }

    let (one, other) = (Server::on(data, &SMALL), Server::on(copy, &SMALL));
    assert_same(&shown(&one, &world), &expected, "after kill -9");
    assert_same(&shown(&other, &world), &expected, "imported");
    let both = [&one, &other];
    for item in &world.items {
        let path = format!("/v1/content/{}/restore", escaped(item));
        let [one, other] = both.map(|server| server.call("POST", &path, ""));
        assert_eq!((one.status, one.json()), (other.status, other.json()), "{path}");
        let again = json!({"author_id": "none", "content_id": item, "published_at": AT}).to_string();
        let [one, other] = both.map(|server| server.call("POST", "/v1/content", &again).status);
        assert!(one == other || one + other == 0, "{item}: {one} and {other}");
    }
    assert_same(&shown(&one, &world), &shown(&other, &world), "restored");
}

#[test]
fn notices_come_back_with_their_markers() {
    let (place, server) = (Place::new(), Server::start());
    let publish = |item: Value| server.call("POST", "/v1/content", item.to_string()).expect(201);
    publish(json!({"author_id": "ann", "content_id": "post"}));
    // A number, so it stands before the name of its item in the table; likewise the comment on the repost.
    publish(json!({"author_id": "ben", "content_id": 5, "kind": "comment", "ref_id": "post", "mentions": ["ann"]}));
    publish(json!({"author_id": "ben", "content_id": "repost", "kind": "repost", "ref_id": "post"}));
    publish(json!({"author_id": "cleo", "content_id": 4, "kind": "comment", "ref_id": "repost"}));
    publish(json!({"author_id": "cleo", "content_id": "answer", "kind": "comment", "ref_id": 5}));
    // Two on each other have one notice.
    publish(json!({"author_id": "ben", "content_id": 8, "kind": "comment", "ref_id": 9, "mentions": ["ann"]}));
    publish(json!({"author_id": "cleo", "content_id": 9, "kind": "comment", "ref_id": 8}));
    // A mention stays although the item of the comment is gone.
    publish(json!({"author_id": "ann", "content_id": "gone"}));
    publish(json!({"author_id": "ben", "content_id": 10, "kind": "comment", "ref_id": "gone", "mentions": ["ann"]}));
    assert_eq!(server.call("DELETE", "/v1/content/gone?purge=true", "").status, 204);
    server.call("PUT", "/v1/content/post/reactions/like/cleo", "").expect(200);
    server.call("PUT", "/v1/users/cleo/following/ann", "").expect(200);
    let shown = |server: &Server| {
        let of = |path: &str| server.get(&format!("/v1/users/{path}"));
        ["ann", "ben", "cleo"]
            .map(|user| ["notices", "notices/marker", "notices/unread"].map(|what| of(&format!("{user}/{what}"))))
    };
    let list = server.get("/v1/users/ann/notices");
    assert_eq!(list["items"].as_array().map(Vec::len), Some(6));
    let read = json!({"cursor": list["items"][2]["cursor"]}).to_string();
    server.call("PUT", "/v1/users/ann/notices/marker", read).expect(200);
    server.call("PUT", "/v1/users/ben/notices/marker", r#"{"cursor":"1700000000000-7-0-4-cleo-post"}"#).expect(200);
    let expected = shown(&server);
    let (_, data) = server.stop("TERM");
    run_all(&place, "export", data.path(), "all-").ok();
    let copy = TempDir::new().unwrap();
    run_all(&place, "import", copy.path(), "all-").ok();
    let again = run_all(&place, "import", copy.path(), "all-").ok();
    assert!(again.out.contains("markers all-markers.ndjson: 0 new, 2 already there"), "{}", again.out);
    assert_eq!(shown(&Server::on(copy, &[])), expected);
}

#[test]
fn notices_of_one_time_keep_the_order_of_their_reactions() {
    let (place, now) = (Place::new(), model::clock::now());
    let dirs = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let [one, two] = [&dirs[0], &dirs[1]].map(|dir| dir.path().to_str().unwrap());
    place.file("c", "9,2,1000\n10,2,1000\n");
    // The first use of a kind gives its place among notices of one time; an export has item 9 first.
    place.file("r", format!("10,1,favorite,{now}\n9,1,like,{now}\n"));
    place.run(&["import", "--data-dir", one, "--content", "c", "--reactions", "r"]).ok();
    let files = ["--names", "n", "--content", "all", "--reactions", "of-all"];
    place.run(&[&["export", "--data-dir", one], &files[..]].concat()).ok();
    assert_eq!(fs::read(place.path("n")).unwrap(), b"{\"reaction\":\"favorite\"}\n{\"reaction\":\"like\"}\n");
    let ran = place.run(&[&["import", "--data-dir", two], &files[..]].concat()).ok();
    assert!(ran.out.starts_with("names n: 2 new, 0 already there, 0 refused"), "{}", ran.out);
    let ran = place.run(&["import", "--data-dir", two, "--names", "n"]).ok();
    assert!(ran.out.starts_with("names n: 0 new, 2 already there, 0 refused"), "{}", ran.out);
    let [one, two] = dirs.map(|dir| Server::on(dir, &[]).get("/v1/users/2/notices"));
    assert_eq!(one["items"].as_array().map(Vec::len), Some(2));
    assert_eq!(one, two);
}

#[test]
fn an_export_is_read_as_it_is_packed() {
    let place = Place::new();
    place.file("f", "1,2,100\nann,2,200\n");
    place.file("c", "10,2,1000,hello\n");
    place.run(&["import", "--follows", "f", "--content", "c"]).ok();
    let follows = "{\"user_id\":\"1\",\"target_id\":\"2\",\"since\":100}\n\
                   {\"user_id\":\"ann\",\"target_id\":\"2\",\"since\":200}\n";
    let ran = place.run(&["export", "--follows", "f.gz", "--content", "c.zst", "--names", "n"]).ok();
    assert_eq!(lines(&ran.out), ["names n: 1 line", "follows f.gz: 2 lines", "content c.zst: 1 line"]);
    assert_eq!(fs::read(place.path("n")).unwrap(), b"{\"id\":\"ann\"}\n");
    assert_eq!(fs::read(place.path("f.gz")).unwrap()[..2], gzip(b"")[..2]);
    let content = zstd::decode_all(&fs::read(place.path("c.zst")).unwrap()[..]).unwrap();
    let line = r#"{"author_id":"2","content_id":"10","published_at":1000,"text":"hello","audience":"public"}"#;
    assert_eq!(String::from_utf8(content).unwrap(), format!("{line}\n"));
    let ran = place.run(&["export", "--follows", "-"]).ok();
    assert_eq!(ran.out, follows);
    assert!(ran.err.contains("follows -: 2 lines"), "{}", ran.err);
    let ran = place.run(&["import", "--data-dir", "new", "--follows", "f.gz", "--content", "c.zst"]).ok();
    let new = ["follows f.gz: 2 new, 0 already there, 0 refused", "content c.zst: 1 new, 0 already there, 0 refused"];
    assert_eq!(lines(&ran.out), new);
}

#[test]
fn deleted_items_stay_deleted_whichever_tables_are_exported() {
    let place = Place::new();
    place.file("c", "10,2,1000\n11,2,1001\n12,2,1002\n");
    place.file("r", "10,1,like,5\n11,1,like,6\n");
    place.file("d", "11,1700\n13,,true\n");
    place.run(&["import", "--content", "c", "--reactions", "r", "--deletions", "d"]).ok();
    let ran = place.run(&["export", "--content", "live", "--reactions", "of-live"]).ok();
    assert_eq!(lines(&ran.out), ["content live: 2 lines", "reactions of-live: 1 line"]);
    assert!(ran.err.contains("warning: content live: 1 deleted items are left out"), "{}", ran.err);
    let ran = place.run(&["export", "--content", "all", "--reactions", "of-all", "--deletions", "gone"]).ok();
    assert_eq!(lines(&ran.out), ["content all: 3 lines", "reactions of-all: 2 lines", "deletions gone: 2 lines"]);
    assert!(!ran.err.contains("warning"), "{}", ran.err);
    // An item that is there is not the id of a purged one.
    place.file("e", "10,,true\n11,,true\n13,,true\n12,0\n");
    let ran = place.run(&["import", "--deletions", "e"]).failed("refused");
    assert_eq!(lines(&ran.out)[0], "deletions e: 0 new, 1 already there, 3 refused");
    for words in ["content_exists: content_id: the item is here, live or deleted", "invalid_time: deleted_at: 0 is not"]
    {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
}

#[test]
fn lines_that_no_import_takes_are_counted() {
    let place = Place::new();
    place.file("c", "10,2,1000\n11,2,1000\n");
    place.file("r", "10,1,a,5\n10,1,like,6\n11,1,a,7\n");
    let kinds = ("TIDELINE__REACTIONS__KINDS", "a,like");
    let ahead = model::clock::now() + 86_400_000;
    place.file("f", format!("1,2,{ahead}\n1,3,5\n"));
    let arguments = ["import", "--content", "c", "--reactions", "r", "--follows", "f"];
    let mut command = place.command(&arguments);
    let made = command.env(kinds.0, kinds.1).env("TIDELINE__CONTENT__MAX_AHEAD", "10d").output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let ran = place.run(&["export", "--reactions", "out", "--follows", "-"]).ok();
    assert_eq!(fs::read_to_string(place.path("out")).unwrap().lines().count(), 1);
    for warning in [
        "warning: reactions out: 2 reactions of the kind \"a\" are left out: reactions.kinds does not name it",
        "warning: follows -: 1 line with a time more than content.max_ahead after the clock",
    ] {
        assert!(ran.err.contains(warning), "{}", ran.err);
    }
}

#[test]
fn an_export_that_cannot_be_is_refused_and_leaves_nothing() {
    let place = Place::new();
    place.file("f", "1,2,100\n");
    place.run(&["import", "--follows", "f"]).ok();
    let left = || {
        let names = fs::read_dir(place.dir()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| name != "data" && name != "f").collect();
        names.sort();
        names
    };
    assert_eq!(place.run(&["export"]).code, Some(2));
    assert_eq!(place.run(&["export", "--follows", "a", "--follows", "b"]).code, Some(2));
    let refused = |arguments: &[&str], words: &str| {
        place.run(&[&["export"], arguments].concat()).failed(words);
        assert_eq!(left(), [""; 0], "{arguments:?}");
    };
    refused(&["--mutes", "new", "--follows", "f"], "tideline: f exists already; it is not overwritten");
    refused(&["--follows", "none/f"], "there is no directory none");
    refused(&["--follows", "a.csv"], "a.csv: an export is NDJSON");
    refused(&["--follows", "a.csv.gz"], "a.csv.gz: an export is NDJSON");
    refused(&["--follows", "a", "--mutes", "a"], "a is given twice; each table needs a file of its own");
    refused(&["--follows", "-", "--mutes", "-"], "- is given twice");
    refused(&["--follows", "a", "--mutes", "./a"], "./a is given twice");
    refused(&["--follows", "a.part", "--mutes", "a"], "a is given twice");
    refused(&["--follows", "data/db/f"], "data/db/f is in the data directory, in which an export changes nothing");
    refused(&["--follows", "a.CSV"], "a.CSV: an export is NDJSON");
    refused(&["--follows", "a.zstd"], "a.zstd: an export is not packed as .zstd; use .gz or .zst");
    refused(&["--follows", "a", "--data-dir", "f"], "f is a file and no data directory");
    refused(&["--follows", "a", "--data-dir", "none"], "there is no data directory at none");
    let server = Server::start();
    let data = server.data().path().to_str().unwrap().to_owned();
    refused(&["--follows", "a", "--data-dir", &data], "is in use by a running server. Stop it, or take a backup of it");
    drop(server);

    // A file that a killed export left is replaced. A directory of that name is not.
    place.file("a.part", "torn");
    place.run(&["export", "--follows", "a"]).ok();
    assert_eq!(left(), ["a"]);
    fs::remove_file(place.path("a")).unwrap();
    fs::create_dir(place.path("a.part")).unwrap();
    place.run(&["export", "--mutes", "m", "--follows", "a"]).failed("a.part is no unfinished file of this user");
    assert_eq!(left(), ["a.part"]);
    fs::remove_dir(place.path("a.part")).unwrap();

    let format = fs::read(place.data().join("FORMAT")).unwrap();
    for (said, words) in [
        ("tideline format 99\n", "a later version wrote it in format 99"),
        ("tideline format 2\n", "an earlier version wrote it in format 2"),
    ] {
        fs::write(place.data().join("FORMAT"), said).unwrap();
        refused(&["--follows", "a"], words);
    }
    fs::write(place.data().join("FORMAT"), format).unwrap();
    fs::remove_file(place.data().join("db/CURRENT")).unwrap();
    refused(&["--follows", "a"], "db/CURRENT is missing");
    fs::remove_file(place.data().join("FORMAT")).unwrap();
    refused(&["--follows", "a"], "it has no FORMAT file");
}

#[test]
fn an_item_is_carried_however_long_edits_have_made_it() {
    let (place, data) = (Place::new(), TempDir::new().unwrap());
    let server = Server::on(data, &[]);
    let long = "x".repeat(65_000);
    server.call("POST", "/v1/content", json!({"author_id": "ann", "content_id": "a", "text": &long}).to_string());
    let media = json!([{"type": "image", "url": &long}]);
    for edit in [json!({ "media": media }), json!({"extra": {"k": &long}})] {
        server.call("PATCH", "/v1/content/a", edit.to_string()).expect(200);
    }
    let profile = json!({"extra": {"k": "x".repeat(65_500)}}).to_string();
    let user = "\"".repeat(128);
    server.call("PUT", &format!("/v1/users/{}", escaped(&user)), &profile).expect(200);
    let expected = server.get("/v1/content/a");
    let (_, data) = server.stop("TERM");
    run_all(&place, "export", data.path(), "").ok();
    let copy = TempDir::new().unwrap();
    run_all(&place, "import", copy.path(), "").ok();
    let server = Server::on(copy, &[]);
    assert_eq!(server.get("/v1/content/a"), expected);
    assert_eq!(server.get(&format!("/v1/users/{}", escaped(&user)))["extra"]["k"].as_str().unwrap().len(), 65_500);
}
