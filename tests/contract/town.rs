//! A small community on its own server. Each change is checked by its answer and applied to the model: here those of items
//! and follows, others beside their tests. [`Town::check`] then compares all answers.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Value, json};

use super::calls::{CALLS, Call};
use super::model::{Item, Model, User, with_rule};
use super::records::RECORD_PATHS;
use crate::server::Server;

/// The setting with the kinds of reactions of the model.
pub(crate) const KINDS: (&str, &str) = ("TIDELINE__REACTIONS__KINDS", "like,favorite,👏 100%");

/// The server and the model of its answers.
pub(crate) struct Town {
    pub(crate) server: Server,
    pub(crate) model: Model,
}

/// A path with the largest limit, if it leads to a list with one.
fn limited(path: &str) -> String {
    let takes_limit = |call: &&Call| call.query.iter().any(|parameter| parameter.name == "limit");
    let is_paged = CALLS.iter().filter(takes_limit).any(|call| call.fits(path));
    format!("{path}{}", if is_paged { "?limit=100" } else { "" })
}

impl Town {
    /// An empty server.
    pub(crate) fn empty(settings: &[(&str, &str)]) -> Self {
        let settings: Vec<_> = settings.iter().copied().chain([KINDS]).collect();
        Self { server: Server::with(&settings), model: Model::default() }
    }

    /// Users 1 to 6 with something in every list.
    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    /// Such a town on a server with other settings.
    pub(crate) fn with(settings: &[(&str, &str)]) -> Self {
        let mut town = Self::empty(settings);
        town.model.users = (1..=6).collect();
        town.model.topics = ["rust", "tea"].map(String::from).into();
        for (user, target, since) in
            [(1, 2, 10), (1, 3, 20), (1, 4, 30), (2, 1, 40), (5, 2, 50), (3, 2, 60), (6, 4, 70), (6, 2, 80)]
        {
            town.follow(user, target, since);
        }
        for post in [
            json!({"content_id": 10, "author_id": 2, "published_at": 100, "text": "ten", "topics": ["rust"]}),
            json!({"content_id": 11, "author_id": 3, "published_at": 110, "text": "eleven", "topics": ["rust", "tea"]}),
            json!({"content_id": 12, "author_id": 2, "published_at": 110, "media": [{"type": "image", "url": "/a"}]}),
            json!({"content_id": 13, "author_id": 1, "published_at": 160, "text": "own", "extra": {"k": [1]}}),
            json!({"content_id": 30, "author_id": 4, "published_at": 150, "kind": "repost", "ref_id": 10,
                "topics": ["rust"]}),
        ] {
            town.publish(post);
        }
        town.comment(10, json!({"content_id": 20, "author_id": 3, "published_at": 130, "text": "quiet"}));
        town.comment(
            10,
            json!({"content_id": 21, "author_id": 4, "published_at": 140, "text": "loud",
            "topics": ["tea"], "broadcast": true}),
        );
        for (kind, item, user) in
            [("like", 10, 1), ("like", 10, 5), ("favorite", 10, 1), ("like", 20, 1), ("👏 100%", 12, 5)]
        {
            town.react(kind, item, user);
        }
        town.profile(2, json!({"nickname": "Ann", "avatar": "https://a.example/ann.png", "extra": {"city": "Bonn"}}));
        town.profile(3, json!({"nickname": "Bob"}));
        town.mute(6, 2);
        town.hide(4, 6);
        town.block(5, 6);
        for (path, _, record) in RECORD_PATHS {
            town.record(1, path, record, serde_json::from_str(record).unwrap());
        }
        town
    }

    /// Makes a change of each of these pairs, and then again, and compares all answers each time.
    pub(crate) fn twice(&mut self, pairs: &[(User, User)], change: impl Fn(&mut Self, User, User)) {
        for (user, target) in pairs {
            for time in ["once", "twice"] {
                change(self, *user, *target);
                self.check(&format!("{user} {target} {time}"));
            }
        }
    }

    /// Compares all answers with the model.
    #[track_caller]
    pub(crate) fn check(&self, what: &str) {
        for (path, wanted) in self.model.everything() {
            let reply = self.server.call("GET", &limited(&path), "");
            match wanted {
                Some(wanted) => {
                    let found = reply.expect(200);
                    assert_eq!(found, wanted, "{what}: GET {path}\n  found {found}\n wanted {wanted}");
                }
                None => drop(reply.problem(&format!("{what}: GET {path}"), 404, "content_not_found")),
            }
        }
        for user in &self.model.users {
            let verified = self.server.get(&format!("/v1/admin/users/{user}/timeline/verify"));
            assert_eq!(verified["exact"], true, "{what}: {verified}");
        }
    }

    /// All answers that a change could affect, and the numbers of rows, which are not in the contract.
    pub(crate) fn seen(&self) -> BTreeMap<String, Value> {
        let read = |path: String| {
            // A list may be gone.
            let found = self.server.call("GET", &limited(&path), "").json();
            (path, found)
        };
        let mut seen: BTreeMap<String, Value> = self.model.everything().into_keys().map(read).collect();
        // The reads above have marked their users as seen.
        let tables = self.server.tables();
        for (name, table) in tables.as_object().unwrap() {
            seen.insert(format!("rows of {name}"), table["rows_estimate"].clone());
        }
        seen
    }

    /// Compares the item in an answer with the one sent, and adds it to the model.
    fn published(&mut self, sent: &Value, kind: &str, broadcast: bool, found: &Value) -> Item {
        let author: User = sent["author_id"].to_string().trim_matches('"').parse().unwrap();
        let settings = self.model.records.get(&(author, "/settings"));
        let audience = settings.map_or_else(|| json!("public"), |settings| settings["default_audience"].clone());
        let mut wanted =
            json!({"kind": kind, "media": [], "topics": [], "broadcast": broadcast, "to": [], "audience": audience});
        for (name, value) in sent.as_object().unwrap() {
            let id = name.ends_with("_id");
            let text = |id: &Value| json!(id.to_string().trim_matches('"'));
            wanted[name] = match name.as_str() {
                "to" => value.as_array().unwrap().iter().map(text).collect(),
                _ if id => text(value),
                _ => value.clone(),
            };
        }
        let mut item = found.clone();
        for of_now in ["counts", "suspended"] {
            item.as_object_mut().unwrap().remove(of_now);
        }
        for made in ["content_id", "published_at"] {
            if wanted.get(made).is_none() {
                wanted[made] = item[made].clone();
            }
        }
        assert_eq!(item, wanted);
        let id: Item = item["content_id"].as_str().unwrap().parse().unwrap();
        self.model.items.insert(id, item);
        assert_eq!(*found, self.model.alone(id));
        id
    }

    /// Publishes a new item.
    pub(crate) fn publish(&mut self, new_item: Value) -> Item {
        let reply = self.server.call("POST", "/v1/content", new_item.to_string());
        let found = reply.expect(201);
        let location = format!("content/{}", found["content_id"].as_str().unwrap());
        assert_eq!(reply.header("location"), Some(location.as_str()));
        self.published(&new_item, "post", true, &found)
    }

    /// Publishes several new items.
    pub(crate) fn publish_all(&mut self, new_items: &[Value]) {
        let body = json!({ "items": new_items }).to_string();
        let found = self.server.call("POST", "/v1/content/batch", body).expect(201);
        assert_eq!(found.as_object().unwrap().len(), 1);
        let items = found["items"].as_array().unwrap();
        assert_eq!(items.len(), new_items.len());
        // Each item shows the counts after the whole batch.
        for (new_item, item) in new_items.iter().zip(items) {
            let id: Item = item["content_id"].as_str().unwrap().parse().unwrap();
            let mut bare = item.clone();
            bare.as_object_mut().unwrap().remove("counts");
            assert_eq!(bare["author_id"], new_item["author_id"].to_string());
            self.model.items.insert(id, bare);
        }
        for (new_item, item) in new_items.iter().zip(items) {
            self.published(new_item, "post", true, item);
        }
    }

    /// Comments on an item.
    pub(crate) fn comment(&mut self, on: Item, mut new_item: Value) -> Item {
        let reply = self.server.call("POST", &format!("/v1/content/{on}/comments"), new_item.to_string());
        let found = reply.expect(201);
        let location = format!("../{}", found["content_id"].as_str().unwrap());
        assert_eq!(reply.header("location"), Some(location.as_str()));
        new_item["ref_id"] = json!(on);
        self.published(&new_item, "comment", false, &found)
    }

    /// Changes an item.
    pub(crate) fn edit(&mut self, id: Item, change: Value) {
        let found = self.server.call("PATCH", &format!("/v1/content/{id}"), change.to_string()).expect(200);
        let item = self.model.items.get_mut(&id).unwrap();
        for (name, value) in change.as_object().unwrap() {
            match (name.as_str(), value) {
                ("media", Value::Null) => item["media"] = json!([]),
                (_, Value::Null) => drop(item.as_object_mut().unwrap().remove(name)),
                _ => item[name] = value.clone(),
            }
        }
        item["edited_at"] = found["edited_at"].clone();
        assert!(found["edited_at"].as_u64().unwrap() > 1_600_000_000_000);
        assert_eq!(found, self.model.alone(id));
    }

    /// Deletes a live item.
    pub(crate) fn delete(&mut self, id: Item) {
        let reply = self.server.call("DELETE", &format!("/v1/content/{id}"), "");
        assert_eq!((reply.status, reply.bytes.len()), (204, 0));
        let item = self.model.items.remove(&id).unwrap();
        self.model.deleted.insert(id, item);
    }

    /// Deletes an item for good, live or deleted.
    pub(crate) fn purge(&mut self, id: Item) {
        let reply = self.server.call("DELETE", &format!("/v1/content/{id}?purge=true"), "");
        assert_eq!((reply.status, reply.bytes.len()), (204, 0));
        if let Some(item) = self.model.items.remove(&id) {
            self.model.deleted.insert(id, item);
        }
        if let Some(item) = self.model.deleted.get_mut(&id) {
            *item = Value::Null;
        }
    }

    /// Takes a live item off one of its paths. A second time there is no such path.
    pub(crate) fn take_off(&mut self, id: Item, source: User) {
        let path = format!("/v1/users/{source}/content/{id}");
        let reply = self.server.call("DELETE", &path, "");
        assert_eq!((reply.status, reply.bytes.len()), (204, 0));
        let item = self.model.items.get_mut(&id).unwrap();
        let source = json!(source.to_string());
        match item["author_id"] == source {
            true => item["broadcast"] = json!(false),
            false => item["to"].as_array_mut().unwrap().retain(|other| *other != source),
        }
        self.server.call("DELETE", &path, "").problem(&path, 404, "content_not_found");
    }

    /// Undoes a delete, or does nothing to a live item.
    pub(crate) fn restore(&mut self, id: Item) {
        let found = self.server.call("POST", &format!("/v1/content/{id}/restore"), "").expect(200);
        if let Some(item) = self.model.deleted.remove(&id) {
            self.model.items.insert(id, item);
        }
        assert_eq!(found, self.model.alone(id));
    }

    /// Makes one user follow another since a given time, or ask to.
    pub(crate) fn follow(&mut self, user: User, target: User, since: u64) {
        self.follow_by(user, target, since, json!({}));
    }

    /// Makes one user follow another with a rule: an object with `only`, with `except`, or with neither.
    pub(crate) fn follow_by(&mut self, user: User, target: User, since: u64, rule: Value) {
        let approves = self.model.records.get(&(target, "/settings")).is_some_and(|so| so["approve_followers"] == true);
        if approves && !self.model.follows.contains_key(&(user, target)) {
            self.model.requests.entry((user, target)).or_insert(since);
        } else {
            self.model.requests.remove(&(user, target));
            self.model.follows.entry((user, target)).or_insert(since);
        }
        let body = with_rule(json!({ "since": since }), Some(&rule)).to_string();
        self.model.rules.insert((user, target), rule);
        let found = self.server.call("PUT", &format!("/v1/users/{user}/following/{target}"), body).expect(200);
        assert_eq!(found, self.model.relation(user, target));
    }

    /// Ends a follow.
    pub(crate) fn unfollow(&mut self, user: User, target: User) {
        self.model.follows.remove(&(user, target));
        self.model.rules.remove(&(user, target));
        self.model.requests.remove(&(user, target));
        let found = self.server.call("DELETE", &format!("/v1/users/{user}/following/{target}"), "").expect(200);
        assert_eq!(found, self.model.relation(user, target));
    }

    /// The time since which a user is in a list, by the server's clock.
    pub(super) fn since(&self, list: &str, user: User) -> u64 {
        let page = self.server.get(&format!("{list}?limit=100"));
        let id = user.to_string();
        let found = page["items"].as_array().unwrap().iter().find(|item| item["user_id"] == id);
        let since = found.unwrap_or_else(|| panic!("{user} is not in {list}: {page}"))["since"].as_u64().unwrap();
        assert!(since > 1_600_000_000_000, "{page}");
        since
    }
}

/// GETs that the model does not answer: presence and streams change by themselves; changes, exports and
/// notices have tests of their own.
const NOT_IN_THE_MODEL: [&str; 7] = [
    "/v1/changes",
    "/v1/users/{uid}/export",
    "/v1/users/{uid}/notices",
    "/v1/users/{uid}/notices/marker",
    "/v1/users/{uid}/notices/unread",
    "/v1/users/{uid}/presence",
    "/v1/users/{uid}/stream",
];

#[test]
fn the_model_answers_every_get() {
    let mut town = Town::new();
    town.put_list(1, "close", json!({}));
    let answered = town.model.everything();
    let is_answered = |path: &str| {
        let pattern = Regex::new(r"\{\w+\}").unwrap().replace_all(path, "[^/?]+");
        let pattern = Regex::new(&format!(r"^{pattern}(\?|$)")).unwrap();
        answered.keys().any(|found| pattern.is_match(found))
    };
    let gets = CALLS.iter().filter(|call| call.method == "GET" && call.path.starts_with("/v1/"));
    let gets = gets.map(|call| call.path.as_str()).filter(|path| !path.starts_with("/v1/admin/"));
    let missing: Vec<_> = gets.filter(|path| !is_answered(path)).collect();
    assert_eq!(missing, NOT_IN_THE_MODEL, "in `everything` of tests/contract/model.rs or in `RECORD_PATHS`");
}
