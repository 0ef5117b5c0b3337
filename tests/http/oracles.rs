//! A token learns nothing of ids that are not for its user. Every call that a token may make is asked about an
//! item that exists and is not for the user, and about one that does not exist. All answers must be the same.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Value, json};

use super::visibility::{Town, heard};
use crate::server::Reply;
use crate::server::described::document;
use crate::server::host_ids::escaped;
use crate::server::tokens::{USERS_ACT, key, token};

/// The time of the items that are not for the users, and of one of these items, which lies far ahead of the clock.
const AT: u64 = 1_650_000_000_000;
const TO_COME: u64 = 4_000_000_000_000;
/// Items that are not for the users: names, and the same as numbers.
const SECRET: [(&str, &str); 4] = [
    ("hidden item 1", "7000000000001"),
    ("the kept item", "7000000000002"),
    ("the gone item", "7000000000003"),
    ("the late item", "7000000000004"),
];
/// An item that does not exist has this number.
const NOTHING: &str = "7000000000005";
/// Two users to whom the same happens. The first asks about what exists.
const USERS: [&str; 2] = ["ana", "eva"];

/// A request with `USER` and `ITEM` in the places of ids.
pub(super) struct Ask {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) body: String,
    /// The DELETEs that take it back, if it relates the user to `ITEM`.
    undo: Vec<String>,
}

/// Requests of every call that a token may make, with each id in the place of an item and of another user, in each
/// cursor and each body.
pub(super) fn asks() -> Vec<Ask> {
    let mut asks = Vec::new();
    let paths = document()["paths"].as_object().unwrap();
    // A batch is taken back as the paths below its list are.
    let relations: Vec<&str> = paths.keys().map(String::as_str).filter(|path| is_relation(path)).collect();
    for (path, item) in paths {
        let list = path.strip_suffix("/batch").map(|list| format!("{list}/"));
        let undone = relations
            .iter()
            .filter(|other| *other == path || list.as_ref().is_some_and(|list| other.starts_with(list)));
        let undo: Vec<String> = undone.map(|path| filled(path)).collect();
        for (method, operation) in item.as_object().unwrap() {
            let schemes = operation["security"].as_array().into_iter().flatten();
            // A stream has no end; there is a test of its own.
            if schemes.filter(|scheme| scheme.get("userToken").is_some()).count() == 0 || path.ends_with("/stream") {
                continue;
            }
            let parameters = || operation["parameters"].as_array().into_iter().flatten();
            let target = filled(path);
            let scheme = |scheme: &Value| scheme["userToken"] == json!(["visible"]);
            let of_others = path.contains("{uid}") && operation["security"].as_array().unwrap().iter().any(scheme);
            let mut queries = Vec::new();
            for parameter in parameters().filter(|parameter| parameter["in"] == "query") {
                match parameter["name"].as_str().unwrap() {
                    "before" if path.contains("/notices") => queries.extend([
                        "before=AT-1-0-LENGTH-ITEM-",
                        "before=AT-4-0-2-bo-ITEM",
                        "group=true&before=8-1-0-2-bo-&after=9-4-0-2-bo-ITEM",
                    ]),
                    "after" if path.contains("/notices") => queries.push("after=AT-1-0-LENGTH-ITEM-ITEM"),
                    "before" => queries.extend(["before=AT-ITEM", "before=8-ITEM&after=9-ITEM"]),
                    "after" => queries.extend(["after=AT-ITEM", "after=8-ITEM&before=9-ITEM", "view=ids&after=9-ITEM"]),
                    "targets" => queries.push("targets=ITEM"),
                    "viewer" => queries.extend(["viewer=USER", "viewer=USER&before=AT-ITEM"]),
                    "ids" => queries.extend(["ids=ITEM", "ids=ITEM&viewer=USER"]),
                    // A kind may be known from an item that is not for the user.
                    "kinds" => queries.extend(["kinds=veiled", "kinds=veiled&limit=1&viewer=USER"]),
                    "except_kinds" => queries.push("except_kinds=veiled"),
                    "limit" => queries.extend(["", "limit=1"]),
                    "peek" => queries.push("peek=true&before=AT-ITEM"),
                    "view" | "consistency" | "group" => {}
                    other => panic!("{path}: decide whether {other} names an item"),
                }
            }
            queries.retain(|query| !query.contains("view=ids") || path.ends_with("/timeline"));
            queries.retain(|query| {
                !query.contains("viewer=") || parameters().any(|parameter| parameter["name"] == "viewer")
            });
            if queries.is_empty() {
                queries.push("");
            }
            let body = &operation["requestBody"];
            let bodies: &[&str] = match operation["operationId"].as_str().unwrap() {
                "moveMarker" | "moveListMarker" => &[r#"{"cursor": "AT-ITEM"}"#],
                "moveNoticeMarker" => &[r#"{"cursor": "AT-1-0-LENGTH-ITEM-"}"#, r#"{"cursor": "AT-4-0-2-bo-ITEM"}"#],
                "comment" => &[r#"{"author_id": "USER", "text": "mine"}"#],
                "changeFollowing" => &[r#"{"follow": ["ITEM"]}"#, r#"{"unfollow": ["ITEM"]}"#],
                "changeListMembers" => &[r#"{"add": ["ITEM"]}"#, r#"{"remove": ["ITEM"]}"#],
                "putList" => &["", r#"{"exclusive": true}"#],
                "setPresence" => &[r#"{"online": true}"#],
                other => match (method.as_str(), &body["required"]) {
                    (_, Value::Bool(true)) => panic!("{other}: decide what its body names"),
                    ("put" | "post" | "patch", _) => &["", "{}"],
                    _ => &[""],
                },
            };
            for (query, body) in queries.iter().flat_map(|query| bodies.iter().map(move |body| (query, body))) {
                let target = format!("{target}{}{query}", if query.is_empty() { "" } else { "?" });
                let undo = if ["put", "post"].contains(&&**method) { &undo[..] } else { &[] };
                let ask = |target| Ask {
                    method: method.to_uppercase(),
                    target,
                    body: (*body).to_owned(),
                    undo: undo.to_vec(),
                };
                asks.extend(of_others.then(|| ask(target.replace("/users/USER", "/users/ITEM"))));
                asks.push(ask(target));
            }
        }
    }
    assert!(asks.len() > 30, "the document has only {} calls of tokens", asks.len());
    asks
}

/// Whether a path is that of one relation to another user or an item: a PUT makes it, and a DELETE ends it.
fn is_relation(path: &str) -> bool {
    let calls = &document()["paths"][path];
    ["put", "delete"].iter().all(|method| calls.get(*method).is_some()) && filled(path).contains("ITEM")
}

/// A path with `USER` and `ITEM` in the places of ids.
fn filled(path: &str) -> String {
    let value = |name: &str| match name {
        "uid" => "USER",
        "content_id" | "target" | "follower" | "from" | "source" => "ITEM",
        "list" => "own",
        "kind" => "like",
        "topic" => "t",
        other => panic!("{path}: decide whether {{{other}}} names an item"),
    };
    static SLOT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{(\w+)\}").unwrap());
    SLOT.replace_all(path, |slot: &Captures<'_>| value(&slot[1]).to_owned()).into_owned()
}

impl Ask {
    /// A GET of a target.
    pub(super) fn get(target: String) -> Self {
        Self { method: "GET".to_owned(), target, body: String::new(), undo: Vec::new() }
    }

    fn send(&self, town: &Town, user: &str, item: &str, at: u64) -> Reply {
        self.send_as(town, &token(user), user, item, at)
    }

    /// Sends it with these credentials.
    pub(super) fn send_as(&self, town: &Town, bearer: &str, user: &str, item: &str, at: u64) -> Reply {
        let length = item.len().to_string();
        let filled = |text: &str, item: &str| {
            let parts = [("USER", user), ("LENGTH", &length), ("ITEM", item), ("AT", &at.to_string())];
            parts.into_iter().fold(text.to_owned(), |text, (part, value)| text.replace(part, value))
        };
        town.call(bearer, &self.method, &filled(&self.target, &escaped(item)), &filled(&self.body, item))
    }

    /// Takes back what it may have changed between a user and another one or an item. What it has made is not there for the
    /// next call.
    pub(super) fn undo(&self, town: &Town, user: &str, item: &str) {
        for target in &self.undo {
            let target = target.replace("USER", user).replace("ITEM", &escaped(item));
            town.call(&key("full"), "DELETE", &target, "");
        }
    }

    /// The answer without the ids that were asked about, and without the times of changes.
    fn answer(&self, town: &Town, user: &str, item: &str, at: u64) -> (u16, String, String) {
        static OWN: LazyLock<Regex> = LazyLock::new(|| {
            let names = SECRET.map(|(name, _)| name);
            let escaped = SECRET.map(|(name, _)| escaped(name));
            let ids = [names.join("|"), escaped.join("|")].join("|");
            // The last two: cursors that go by the clock, for what is still to come.
            let last = i64::MAX;
            let to_come = format!("\\d{{13}}-7-255-19-{last}-{last}|\\d{{13}}-{last}");
            let clock = format!("\"(since|expires_at)\":\\d+|clock .\\d+|{to_come}");
            Regex::new(&format!("{ids}|nothing( |%20)\\d{{5}}|700000000000\\d|{clock}")).unwrap()
        });
        let reply = self.send(town, user, item, at);
        let plain = |text: &str| OWN.replace_all(text, "ITEM").replace(user, "USER");
        self.undo(town, user, item);
        // A tag is made of the body, which has the ids.
        let headers: Vec<_> = reply.headers().into_iter().filter(|(name, _)| name != "etag").collect();
        (reply.status, plain(reply.text()), plain(&format!("{headers:?}")))
    }
}

/// Tokens may do and read all that there is for them.
pub(super) static ALL: LazyLock<[(&str, &str); 2]> =
    LazyLock::new(|| [("TIDELINE__AUTH__USERS_ACT", &*USERS_ACT), ("TIDELINE__AUTH__USERS_READ", "visible")]);

/// A town in which the items of [`SECRET`] exist and are not for the users: of an author who hides from them, for the followers
/// of another one, deleted, and of the first author and far ahead of the clock. Each user has a timeline.
fn town() -> Town {
    let town = Town::with(&[ALL[0], ALL[1], ("TIDELINE__CONTENT__MAX_AHEAD", "36500d")]);
    let publish = |id: &str, author: &str, at: u64, is_public: bool| {
        let audience = if is_public { "public" } else { "followers" };
        let item = json!({"content_id": id, "author_id": author, "published_at": at, "audience": audience});
        town.app("POST", "/v1/content", &item);
    };
    for user in USERS {
        town.app("PUT", &format!("/v1/users/{user}/lists/own"), &Value::Null);
        for (author, since) in [("bo", AT - 5000), ("cy", AT - 4000)] {
            town.app("PUT", &format!("/v1/users/{user}/following/{author}"), &json!({"since": since}));
        }
        town.app("PUT", &format!("/v1/users/cy/hidden-from/{user}"), &Value::Null);
    }
    for (id, at) in [("shown 1", AT - 1000), ("shown 2", AT + 1000), ("7000000000100", AT + 2000)] {
        publish(id, "bo", at, true);
    }
    for pick in [|(name, _)| name, |(_, number)| number] as [fn((&'static str, &'static str)) -> &'static str; 2] {
        let [hidden, kept, gone, ahead] = SECRET.map(pick);
        publish(hidden, "cy", AT, true);
        publish(kept, "dan", AT, false);
        publish(gone, "bo", AT, true);
        publish(ahead, "cy", TO_COME, true);
        town.app("DELETE", &format!("/v1/content/{}", escaped(gone)), &Value::Null);
    }
    town
}

#[test]
fn no_call_of_a_token_tells_which_items_exist() {
    let (mut town, mut asks) = (town(), asks());
    asks.retain(|Ask { target, body, .. }| {
        [target, body].iter().any(|text| text.contains("ITEM")) || target.ends_with("/marker")
    });
    let mut unknown = (10_000..).map(|n| format!("nothing {n}"));
    for accept in ["any", "numbers"] {
        town = town.again(&[ALL[0], ALL[1], ("TIDELINE__IDS__ACCEPT", accept)]);
        for (name, number) in SECRET {
            for at in [9, AT, TO_COME] {
                for ask in &asks {
                    for (secret, nothing) in [(number, NOTHING.to_owned()), (name, unknown.next().unwrap())] {
                        let [is, none] = [(USERS[0], secret), (USERS[1], &*nothing)]
                            .map(|(user, id)| ask.answer(&town, user, id, at));
                        let Ask { method, target, body, .. } = ask;
                        assert_eq!(is, none, "{method} {target} {body}, {at}, {secret}, ids.accept = {accept}");
                        assert!(is.0 < 500, "{method} {target}: {is:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_stream_resumes_at_no_name_that_does_not_exist() {
    let town = town();
    for name in [SECRET[0].0, "nothing 10000"] {
        heard(&mut town.listen(&format!("last-event-id: 9-{name}\r\n")), "event: reset");
    }
}

/// Rows of the table of names.
fn names(town: &Town) -> u64 {
    let stats = town.app("GET", "/v1/admin/stats", &Value::Null).json();
    stats["tables"]["names"]["rows_estimate"].as_u64().unwrap()
}

#[test]
fn a_token_that_may_not_act_adds_no_name() {
    let town = town().again(&[("TIDELINE__AUTH__USERS_ACT", "marker,presence")]);
    let before = names(&town);
    let mut unknown = (10_000..).map(|n| format!("nothing {n}"));
    for (ask, at) in asks().iter().flat_map(|ask| [9, AT, TO_COME].map(|at| (ask, at))) {
        let Ask { method, target, body, .. } = ask;
        let reply = ask.send(&town, USERS[0], &unknown.next().unwrap(), at);
        assert!(reply.status < 500, "{method} {target} {body}: {}", reply.text());
        assert_eq!(names(&town), before, "{method} {target} {body} at {at}");
    }
}

#[test]
fn a_marker_at_a_name_keeps_what_the_user_sees() {
    let town = town();
    let ana = token("ana");
    let mark = |cursor: &str| {
        let reply = town.call(&ana, "PUT", "/v1/users/ana/marker", &json!({"cursor": cursor}).to_string());
        reply.expect(200)["cursor"].as_str().unwrap().to_owned()
    };
    let place = |at: u64, id: &str| format!("{at}-{id}");
    // Without an item at or below it: its time alone.
    assert_eq!(mark("9-nothing"), "9-1");
    let (first, second) = (place(AT - 1000, "shown 1"), place(AT + 1000, "shown 2"));
    assert_eq!(mark(&place(AT - 1, "nothing")), first);
    assert_eq!(mark(&place(AT + 1000, "nothing")), second, "the newest name of its time");
    assert_eq!(mark(&place(AT + 1500, "shown 2")), second, "the item stands elsewhere");
    assert_eq!(mark(&place(AT, SECRET[0].0)), second, "never back");
    assert_eq!(town.call(&ana, "GET", "/v1/users/ana/timeline/unread", "").json()["count"], 1);
    assert_eq!(mark(&place(AT + 1500, "42")), place(AT + 1500, "42"), "a number needs no row");
}
