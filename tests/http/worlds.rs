//! Two worlds that differ only in what a viewer must not see answer alike, byte for byte, to every call that the viewer may
//! make: with a token, and with a key that asks for the viewer.
//!
//! Where a secret changes a count, which is for all viewers alike, the other world has a like secret of another user.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::oracles::{ALL, Ask, asks};
use super::visibility::{Town, heard};
use crate::server::described::relations_to_items;
use crate::server::host_ids::escaped;
use crate::server::tokens::{key, token};
use crate::server::{Reply, connect};

/// The time of the first follow. All times of the worlds lie above it, and long before the test.
const AT: u64 = 1_650_000_000_000;
/// Whom ana follows.
const FOLLOWED: [&str; 7] = ["bo", "cy", "cz", "fay", "hub", "den", "jail"];
/// All users of both worlds. Of each pair that one line names, a secret has the first in one world and the second in the other.
const USERS: [&str; 16] = [
    "ana", "bo", // whom she follows
    "cy", "cz", // who hide from her
    "dan", "eve", // who has blocked her, and whom she has blocked
    "fay", "fry", // who are suspended
    "gus", "ned",  // with whom she has nothing to do
    "pat",  // who approves followers, and has removed her
    "hub",  // a group that she follows
    "den",  // one that hides from her
    "jail", // and one that is suspended
    "old", "new", // users without anything
];
/// Users of the first world only: one hides from ana, and one is suspended.
const ONLY_IN_ONE: [&str; 2] = ["cx", "fx"];

/// What is the same in both worlds, and may be brought back after a change by ana.
fn ground(town: &Town) {
    let put = |path: &str, body: Value| drop(town.app("PUT", &format!("/v1/users/{path}"), &body));
    let delete = |path: &str| drop(town.app("DELETE", &format!("/v1/users/{path}"), &Value::Null));
    put("ana/settings", json!({"approve_followers": true}));
    for (n, source) in FOLLOWED.iter().enumerate() {
        put(&format!("ana/following/{source}"), json!({"since": AT + n as u64, "approved": true}));
    }
    for follower in ["bo", "cy"] {
        put(&format!("{follower}/following/ana"), json!({"since": AT + 20, "approved": true}));
    }
    delete("ana/following/pat");
    delete("ana/followers/gus");
    put("gus/following/ana", json!({"since": AT + 21}));
    for (user, target) in [("cy", "ana"), ("cz", "ana"), ("den", "ana")] {
        put(&format!("{user}/hidden-from/{target}"), Value::Null);
    }
    for (user, target) in [("dan", "ana"), ("ana", "eve")] {
        put(&format!("{user}/blocks/{target}"), Value::Null);
    }
    put("ana/lists/own", json!({}));
    town.app("POST", "/v1/users/ana/lists/own/members/batch", &json!({ "add": USERS[1..14] }));
}

/// An item at a time after [`AT`].
fn publish(town: &Town, id: &str, author: &str, after: u64, more: Value) {
    let mut item = json!({"content_id": id, "author_id": author, "published_at": AT + after, "topics": ["t"],
                          "text": format!("text of {id}")});
    item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    town.app("POST", "/v1/content", &item);
}

/// What both worlds have, and ana sees.
fn town() -> Town {
    let town = Town::with(&[
        ALL[0],
        ALL[1],
        ("TIDELINE__STORAGE__DURABILITY", "os"),
        ("TIDELINE__AUTH__READ_KEYS", &key("read")),
    ]);
    ground(&town);
    for user in ["fay", "fry", "jail"] {
        town.app("PUT", &format!("/v1/users/{user}/suspension"), &Value::Null);
    }
    let private = json!({"approve_followers": true, "default_audience": "followers"});
    town.app("PUT", "/v1/users/pat/settings", &private);
    town.app("PUT", "/v1/users/ana/following/pat", &json!({"approved": true}));
    town.app("DELETE", "/v1/users/pat/followers/ana", &Value::Null);
    publish(&town, "open", "bo", 100, json!({}));
    publish(&town, "mine", "ana", 110, json!({}));
    publish(&town, "in hub", "ned", 120, json!({"to": ["hub"], "broadcast": false}));
    let comment = json!({"content_id": "said", "author_id": "bo", "text": "said", "published_at": AT + 130});
    town.app("POST", "/v1/content/open/comments", &comment);
    for (user, after) in [("ana", 140), ("bo", 141)] {
        town.app("PUT", &format!("/v1/content/open/reactions/like/{user}"), &json!({"since": AT + after}));
    }
    town
}

/// The ids of the secret items of a world, each with its time after [`AT`].
fn items(world: usize) -> Vec<(String, u64)> {
    let kinds = ["hidden", "kept", "in den", "in jail", "blocked", "suspended", "private", "off", "gone", "repost"];
    let comments = ["hidden comment", "kept comment", "blocked comment", "suspended comment"];
    let named = |(n, what): (usize, &&str)| (format!("{what} {world}"), 200 + 10 * n as u64 + world as u64);
    kinds.iter().chain(&comments).enumerate().map(named).collect()
}

/// What differs, and ana must not see.
fn keep_secrets(town: &Town, world: usize) {
    let items = items(world);
    let at = |what: &str| items.iter().find(|(id, _)| *id == format!("{what} {world}")).unwrap().1;
    let publish = |what: &str, author: &str, more: Value| {
        publish(town, &format!("{what} {world}"), author, at(what), more);
    };
    let [hider, blocker, suspended] = [["cy", "cz"], ["dan", "eve"], ["fay", "fry"]].map(|pair| pair[world]);
    let put = |path: String, body: Value| drop(town.app("PUT", &format!("/v1/{path}"), &body));
    let kind = if world == 0 { "veiled" } else { "concealed" };
    publish("hidden", hider, json!({"to": ["hub"], "kind": kind, "topics": ["t", format!("hush {world}")]}));
    publish("kept", "gus", json!({"audience": "followers"}));
    for group in ["den", "jail"] {
        let only_there = json!({"audience": "followers", "to": [group], "broadcast": false});
        publish(&format!("in {group}"), "ned", only_there);
    }
    publish("blocked", blocker, json!({"to": ["hub"]}));
    publish("suspended", suspended, json!({"to": ["hub"]}));
    publish("private", "pat", json!({}));
    publish("off", "ned", json!({"audience": "followers", "to": ["hub"], "broadcast": false}));
    town.app("DELETE", &format!("/v1/users/hub/content/off%20{world}"), &Value::Null);
    publish("gone", hider, json!({}));
    town.app("DELETE", &format!("/v1/content/gone%20{world}"), &Value::Null);
    publish("repost", hider, json!({"kind": "repost", "ref_id": "open"}));
    for (what, author) in [("hidden", hider), ("kept", "gus"), ("blocked", blocker), ("suspended", suspended)] {
        let id = format!("{what} comment {world}");
        let audience = if what == "kept" { "followers" } else { "public" };
        let body = json!({"content_id": id, "author_id": author, "text": id, "audience": audience,
                          "published_at": AT + at(&format!("{what} comment"))});
        town.app("POST", "/v1/content/open/comments", &body);
    }
    // What is done to secrets, and by users of whom ana sees nothing.
    for what in ["hidden", "kept", "blocked", "private"] {
        for user in ["ana", "bo"] {
            put(format!("content/{what}%20{world}/reactions/like/{user}"), json!({"since": AT + 400}));
            for (path, _) in relations_to_items(user, &format!("{what}%20{world}")) {
                town.app("PUT", &path, &Value::Null);
            }
        }
        let body = json!({"author_id": hider, "text": "on a secret", "published_at": AT + 410});
        town.app("POST", &format!("/v1/content/{what}%20{world}/comments"), &body);
    }
    for (user, after) in [(hider, 420), (blocker, 421), (suspended, 422)] {
        put(format!("content/open/reactions/like/{user}"), json!({"since": AT + after}));
        for (from, to) in [(user, "bo"), ("bo", user), (user, "pat"), ("pat", user)] {
            put(format!("users/{from}/following/{to}"), json!({"since": AT + after, "approved": true}));
        }
    }
    // What only the other user may see.
    if world == 0 {
        for user in ONLY_IN_ONE {
            put(format!("users/{user}"), json!({"nickname": "secret"}));
        }
        put("users/cx/hidden-from/ana".into(), Value::Null);
        put("users/fx/suspension".into(), Value::Null);
        put("users/ned/following/pat".into(), Value::Null);
        put("users/bo/lists/own".into(), json!({"title": "secret"}));
        put("users/bo/lists/own/members/ana".into(), json!({}));
        put("users/bo/mutes/ana".into(), Value::Null);
        put("users/bo/marker".into(), json!({"cursor": format!("{}-open", AT + 100)}));
        put("users/bo/presence".into(), json!({"online": true}));
        put("users/gus/settings".into(), json!({"default_audience": "followers"}));
    }
}

/// Both worlds.
fn worlds() -> [Town; 2] {
    let towns = [town(), town()];
    towns.iter().enumerate().for_each(|(world, town)| keep_secrets(town, world));
    towns
}

/// An answer without times of the test and the ids that the server makes.
fn plain(reply: &Reply) -> (u16, String, String) {
    static OWN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b(1[7-9]\d{11}|[1-8]\d{16,18})\b").unwrap());
    let plain = |text: &str| OWN.replace_all(text, "OWN").into_owned();
    (reply.status, plain(reply.text()), plain(&format!("{:?}", reply.headers())))
}

/// Sends a request to both worlds, which must answer alike. Returns the answer of the first.
#[track_caller]
fn alike(towns: &[Town; 2], ask: &Ask, bearer: &str, item: &str, at: u64) -> Reply {
    let [one, other] = towns.each_ref().map(|town| ask.send_as(town, bearer, "ana", item, at));
    let Ask { method, target, body, .. } = ask;
    let told = plain(&one);
    // The one difference that is told: a block.
    let is_block = item.starts_with("blocked")
        && told.1.contains(r#""code":"blocked""#) != plain(&other).1.contains(r#""code":"blocked""#);
    if is_block {
        let statuses = [one.status, other.status];
        assert!(statuses == [403, 404] || statuses == [404, 403], "{method} {target} {body}: {item}, {statuses:?}");
    } else {
        assert_eq!(told, plain(&other), "{method} {target} {body}: {item}, {at}");
    }
    assert!(one.status < 500 && !one.text().contains("secret"), "{method} {target}: {told:?}");
    one
}

/// Whether a key that asks for a viewer sees what the viewer sees. Of users it sees all, each with a relation to the viewer.
fn is_seen_by_viewer(target: &str) -> bool {
    target.contains("viewer=USER") && !["/following", "/followers", "/friends"].iter().any(|list| target.contains(list))
}

/// Reads with a token, and with a key that asks for its user; both see the same.
fn read(towns: &[Town; 2], ask: &Ask, item: &str, at: u64) -> Reply {
    let reply = alike(towns, ask, &token("ana"), item, at);
    if is_seen_by_viewer(&ask.target) {
        let of_key = alike(towns, ask, &key("read"), item, at);
        assert_eq!(plain(&of_key), plain(&reply), "{} {}: a key, and a token", ask.target, item);
    }
    reply
}

/// Every id that an ask may name, with a time.
fn named() -> Vec<(String, u64)> {
    let users =
        USERS.iter().chain(&ONLY_IN_ONE).chain(&["nobody", "7000000000005"]).map(|user| ((*user).to_owned(), 9));
    let open =
        [("open", 100), ("mine", 110), ("in hub", 120), ("said", 130)].map(|(id, after)| (id.to_owned(), AT + after));
    let secrets = (0..2).flat_map(items).map(|(id, after)| (id, AT + after));
    users.chain(open).chain(secrets).collect()
}

#[test]
fn no_answer_tells_in_which_world_a_viewer_is() {
    let towns = worlds();
    let (named, asks) = (named(), asks());
    let once = |ask: &Ask| ![&ask.target, &ask.body].iter().any(|text| text.contains("ITEM"));
    let asked = |ask: &Ask| if once(ask) { vec![(String::new(), 9)] } else { named.clone() };
    let ids: Vec<_> = named.iter().map(|(id, _)| escaped(id)).collect();
    let more = [
        format!("/v1/content?ids={}", ids.join(",")),
        format!("/v1/content?ids={}&view=ids&viewer=USER", ids.join(",")),
        format!("/v1/users/USER/relations?targets={}", ids.join(",")),
        "/v1/topics/hush%200/content".to_owned(),
        "/v1/users/USER/timeline/unread?kinds=concealed".to_owned(),
    ];
    for ask in asks.into_iter().filter(|ask| ask.method == "GET").chain(more.map(Ask::get)) {
        for (item, at) in asked(&ask) {
            let mut page = read(&towns, &ask, &item, at);
            // Each list from one end to the other, in pages of one.
            // The times of members of lists are those of the test.
            let mut places = 0;
            while ask.target.ends_with("limit=1") && !ask.target.contains("/members") && page.status == 200 {
                let Some(next) = page.json()["next"].as_str().map(escaped) else { break };
                let below = format!("{}&before={next}", ask.target);
                read(&towns, &Ask::get(format!("{below}&viewer=USER")), &item, at);
                page = read(&towns, &Ask::get(below), &item, at);
                places += 1;
            }
            assert!(places < 60, "{}", ask.target);
        }
    }
}

#[test]
fn no_change_tells_in_which_world_a_viewer_is() {
    let towns = worlds();
    let relates = ["following", "followers", "follow-requests", "mutes", "hidden-from", "blocks", "lists"];
    for ask in asks().iter().filter(|ask| ask.method != "GET") {
        let is_once = ![&ask.target, &ask.body].iter().any(|text| text.contains("ITEM"));
        for (item, at) in named().into_iter().take(if is_once { 1 } else { usize::MAX }) {
            // What is repeated is told nothing more.
            for _ in 0..2 {
                let reply = alike(&towns, ask, &token("ana"), &item, at);
                if reply.status == 201 {
                    // Comments of the server's time and id: gone before the next is made.
                    for town in &towns {
                        let made = town.call(&token("ana"), "GET", "/v1/users/ana/comments?view=ids", "").json();
                        for comment in made["items"].as_array().unwrap() {
                            let path = format!("/v1/content/{}", comment["content_id"].as_str().unwrap());
                            town.app("DELETE", &path, &Value::Null);
                        }
                    }
                }
            }
            if relates.iter().any(|list| ask.target.contains(list)) {
                for town in &towns {
                    ask.undo(town, "ana", &item);
                    if is_once || USERS.contains(&item.as_str()) {
                        ground(town);
                    }
                }
            }
        }
    }
}

/// Opens the stream of ana with a key.
fn listen_with_key(town: &Town, header: &str) -> TcpStream {
    let mut stream = connect(town.server.address);
    let bearer = format!("authorization: Bearer {}\r\n", key("full"));
    write!(stream, "GET /v1/users/ana/stream HTTP/1.0\r\n{bearer}{header}\r\n").unwrap();
    stream
}

/// The events that a stream sends up to the item `last`, without the numbers of its places and without comments.
fn events(stream: &mut TcpStream) -> String {
    let sent = heard(stream, "text of last");
    let body = sent.split_once("\r\n\r\n").map_or(sent.as_str(), |(_, body)| body);
    let (body, _) = body.split_once("text of last").unwrap();
    let place = Regex::new(r"id: \d+-[4-9]\d{18}\n").unwrap();
    place.replace_all(body, "id: PLACE\n").replace(":\n\n", "")
}

#[test]
fn no_stream_tells_in_which_world_a_viewer_is() {
    let towns = worlds();
    towns.iter().for_each(|town| publish(town, "seen", "bo", 1000, json!({})));
    let mut open: Vec<_> = towns.iter().map(|town| [town.listen(""), listen_with_key(town, "")]).collect();
    for streams in &mut open {
        streams.iter_mut().for_each(|stream| drop(heard(stream, "\n\n")));
    }
    for (world, town) in towns.iter().enumerate() {
        let change = |method: &str, path: &str, body: Value| drop(town.app(method, &format!("/v1/{path}"), &body));
        let all = [["cy", "cz"], ["dan", "eve"], ["fay", "fry"]].map(|pair| pair[world]);
        for (n, author) in all.iter().chain(&["gus", "pat", "ned"]).enumerate() {
            let [id, moved] = ["now", "moved"].map(|what| format!("{what} {n} of {world}"));
            let [path, off] = [&id, &moved].map(|id| escaped(id));
            // Through the group that ana follows if she does not see the author, and else not through it.
            let to = if n < 3 { "hub" } else { "den" };
            publish(town, &id, author, 1100 + 10 * n as u64, json!({"to": [to], "text": "secret"}));
            publish(town, &moved, author, 1105 + 10 * n as u64, json!({"to": [to], "text": "secret"}));
            // Nobody reacts to an item of a suspended author.
            town.call(&key("full"), "PUT", &format!("/v1/content/{path}/reactions/like/bo"), "");
            change("PATCH", &format!("content/{path}"), json!({"text": "a secret"}));
            change("DELETE", &format!("content/{path}"), Value::Null);
            change("POST", &format!("content/{path}/restore"), Value::Null);
            change("DELETE", &format!("users/{to}/content/{off}"), Value::Null);
            let comment = json!({"author_id": author, "text": "secret", "broadcast": true, "to": [to]});
            change("POST", "content/open/comments", comment);
        }
        publish(town, "last", "bo", 2000, json!({}));
    }
    let told: Vec<_> = open.iter_mut().map(|streams| streams.each_mut().map(events)).collect();
    assert_eq!(told[0], told[1], "as it happens");
    assert_eq!(told[0][0], told[0][1], "a token and a key");
    assert!(!told[0][0].contains("secret") && told[0][0].contains(r#""content_id":"last""#), "{}", told[0][0]);
    let header = format!("last-event-id: {}-seen\r\n", AT + 1000);
    let [one, other] = towns.each_ref().map(|town| events(&mut town.listen(&header)));
    assert_eq!(one, other, "to a client that was away");
    assert!(!one.contains("secret") && !one.contains("reset"), "{one}");
}

/// The cursors of an answer and of its header `Link`.
fn cursors(reply: &Reply) -> String {
    let page = reply.expect(200);
    format!("{} {} {:?}", page["next"], page["prev"], reply.header("link"))
}

#[test]
fn no_cursor_leads_to_an_item_that_is_not_for_the_viewer() {
    let town =
        Town::with(&[ALL[0], ALL[1], ("TIDELINE__TIMELINE__LOOK_AT", "16"), ("TIDELINE__STORAGE__DURABILITY", "os")]);
    for (user, list) in
        [("ana", "following/hub"), ("cy", "hidden-from/ana"), ("ana", "lists/own"), ("ana", "lists/own/members/hub")]
    {
        town.app("PUT", &format!("/v1/users/{user}/{list}"), &Value::Null);
    }
    // Of most milliseconds several items, numbers and names; few of them are by an author whom ana sees.
    let shown = |n: u64| n % 97 == 5;
    let id = |n: u64| if n.is_multiple_of(3) { format!("item {n:03}") } else { (7_000_000 + n).to_string() };
    let item = |n: u64| {
        json!({"content_id": id(n), "author_id": if shown(n) { "bo" } else { "cy" }, "published_at": AT + n / 4, "to": ["hub"],
               "topics": ["t"]})
    };
    for part in 0..3 {
        let items: Vec<_> = (200 * part..200 * (part + 1)).map(item).collect();
        town.app("POST", "/v1/content/batch", &json!({ "items": items }));
    }
    for n in 0..600 {
        town.app("PUT", &format!("/v1/content/{}/reactions/like/bo", escaped(&id(n))), &Value::Null);
    }
    let mut wanted: Vec<u64> = (0..600).filter(|n| shown(*n)).collect();
    wanted.reverse();
    let wanted: Vec<String> = wanted.into_iter().map(id).collect();
    for path in [
        "/v1/users/ana/timeline",
        "/v1/users/ana/lists/own/timeline",
        "/v1/users/hub/content",
        "/v1/topics/t/content",
        "/v1/users/bo/reactions/like",
    ] {
        let page = |query: &str| {
            let reply = town.call(&token("ana"), "GET", &format!("{path}?limit=3&view=ids{query}"), "");
            let told = cursors(&reply);
            for n in (0..600).filter(|n| !shown(*n)) {
                let id = id(n);
                assert!(!told.contains(&id) && !told.contains(&escaped(&id)), "{path}?{query} tells of {id}: {told}");
            }
            reply.json()
        };
        let ids = |page: &Value| -> Vec<String> {
            let items = page["items"].as_array().unwrap().iter();
            items.map(|item| item["content_id"].as_str().unwrap().to_owned()).collect()
        };
        let (mut down, mut pages, mut query) = (Vec::new(), 0, String::new());
        loop {
            let page = page(&query);
            down.extend(ids(&page));
            pages += 1;
            let Some(next) = page["next"].as_str() else { break };
            query = format!("&before={}", escaped(next));
        }
        assert_eq!(down, wanted, "{path}");
        assert!(pages > 4, "{path}: {pages} pages, none of them short");
        let (mut up, mut after) = (Vec::new(), format!("{AT}-1"));
        loop {
            let page = page(&format!("&after={}", escaped(&after)));
            up.extend(ids(&page).into_iter().rev());
            let prev = page["prev"].as_str().unwrap();
            if prev == after {
                break;
            }
            prev.clone_into(&mut after);
        }
        up.reverse();
        assert_eq!(up, wanted, "{path}, upwards");
    }
}
