//! The view of a user token: nothing that its user may not see.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::server::tokens::{SECRET, key, token};
use crate::server::{Reply, Server, connect};

/// A server with a key and tokens.
pub(super) struct Town {
    pub(super) server: Server,
}

impl Town {
    pub(super) fn new() -> Self {
        Self::with(&[])
    }

    /// A town with further settings.
    pub(super) fn with(settings: &[(&str, &str)]) -> Self {
        Self { server: Server::with(&Self::settings(&key("full"), settings)) }
    }

    /// This town after a restart with these further settings.
    pub(super) fn again(self, settings: &[(&str, &str)]) -> Self {
        Self { server: self.server.restart("TERM", &Self::settings(&key("full"), settings)) }
    }

    fn settings<'s>(key: &'s str, further: &[(&'s str, &'s str)]) -> Vec<(&'s str, &'s str)> {
        [&[("TIDELINE__AUTH__KEYS", key), ("TIDELINE__AUTH__JWT_SECRETS", SECRET)], further].concat()
    }

    pub(super) fn call(&self, bearer: &str, method: &str, path: &str, body: &str) -> Reply {
        self.server.call_as(method, path, body, &[("authorization", &format!("Bearer {bearer}"))])
    }

    /// A call of the application.
    pub(super) fn app(&self, method: &str, path: &str, body: &Value) -> Reply {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let reply = self.call(&key("full"), method, path, &body);
        assert!(reply.status < 300, "{method} {path}: {}", reply.text());
        reply
    }

    /// Publishes an item, which is for followers only unless it is public.
    pub(super) fn publish(&self, id: &str, author: &str, is_public: bool) {
        let audience = if is_public { "public" } else { "followers" };
        let item = json!({"content_id": id, "author_id": author, "text": "secret", "audience": audience,
                          "published_at": 1_700_000_000_000_u64});
        self.app("POST", "/v1/content", &item);
    }

    /// Opens the stream of ana.
    pub(super) fn listen(&self, header: &str) -> TcpStream {
        let mut stream = connect(self.server.address);
        let target = format!("/v1/users/ana/stream?access_token={}", token("ana"));
        write!(stream, "GET {target} HTTP/1.0\r\n{header}\r\n").unwrap();
        stream
    }

    /// The ids of the first page of a list.
    fn ids(&self, bearer: &str, path: &str) -> Vec<String> {
        let page = self.call(bearer, "GET", path, "").json();
        let items = page["items"].as_array().unwrap().iter();
        items.map(|item| item["content_id"].as_str().unwrap().to_owned()).collect()
    }
}

/// The text that a stream sends, up to the part with `until`.
pub(super) fn heard(stream: &mut TcpStream, until: &str) -> String {
    let mut all = String::new();
    while !all.contains(until) {
        let mut part = [0; 4096];
        let read = stream.read(&mut part).unwrap();
        assert!(read > 0, "the stream ended: {all}");
        all += &String::from_utf8_lossy(&part[..read]);
    }
    all
}

#[test]
fn with_a_token_nobody_follows_or_reacts_over_a_block() {
    let town = Town::new();
    town.publish("open", "cy", true);
    town.publish("kept", "cy", false);
    town.publish("gone", "cy", true);
    town.publish("of ana", "ana", true);
    for (id, user) in [("open", "ana"), ("of%20ana", "cy")] {
        town.app("PUT", &format!("/v1/content/{id}/reactions/like/{user}"), &Value::Null);
    }
    town.app("DELETE", "/v1/content/gone", &Value::Null);
    let list = |user: &str, list: &str| town.call(&token(user), "GET", &format!("/v1/users/{user}/{list}"), "").json();
    let likes = |user: &str| list(user, "reactions/like")["items"].as_array().unwrap().len();
    // Of both directions each tells both users the same.
    for (who, whom) in [("cy", "ana"), ("ana", "cy")] {
        let block = format!("/v1/users/{who}/blocks/{whom}");
        assert_eq!(town.call(&token(who), "PUT", &block, "").json()["blocked"], true);
        assert_eq!(list(who, "blocks")["items"][0]["user_id"], whom);
        assert_eq!(list(whom, "blocks")["items"], json!([]));
        for (user, other, id) in [("ana", "cy", "open"), ("cy", "ana", "of%20ana")] {
            let bearer = token(user);
            for method in ["PUT", "DELETE"] {
                let react =
                    |id: &str| town.call(&bearer, method, &format!("/v1/content/{id}/reactions/like/{user}"), "");
                react(id).problem("a block", 403, "blocked");
                let unseen: &[&str] = if user == "ana" { &["kept", "gone", "nothing"] } else { &["nothing"] };
                for id in unseen {
                    react(id).problem(id, 404, "content_not_found");
                }
            }
            let follow = format!("/v1/users/{user}/following/{other}");
            town.call(&bearer, "PUT", &follow, "").problem("a block", 403, "blocked");
            assert_eq!(likes(user), 0);
            let relation = &list(user, &format!("relations?targets={other}"))["items"][0];
            assert_eq!((&relation["relation"], &relation["blocked"]), (&json!("none"), &json!(user == who)));
        }
        // What else keeps the item from the user is told before.
        town.app("PUT", "/v1/users/cy/hidden-from/ana", &Value::Null);
        let react = || town.call(&token("ana"), "PUT", "/v1/content/open/reactions/like/ana", "");
        react().problem("hidden", 404, "content_not_found");
        town.app("DELETE", "/v1/users/cy/hidden-from/ana", &Value::Null);
        // The application decides for itself.
        town.app("PUT", "/v1/content/open/reactions/like/ana", &Value::Null);
        assert_eq!(town.call(&token(who), "DELETE", &block, "").json()["blocked"], false);
        assert_eq!((likes("ana"), likes("cy")), (1, 1));
    }
}

#[test]
fn a_token_removes_a_follower_and_learns_nothing_of_what_the_follower_has_set() {
    let town = Town::new();
    town.app("PUT", "/v1/users/bo/following/ana", &Value::Null);
    town.app("PUT", "/v1/users/bo/mutes/ana", &Value::Null);
    town.app("PUT", "/v1/users/bo/hidden-from/ana", &Value::Null);
    let remove = |user: &str| town.call(&token(user), "DELETE", "/v1/users/ana/followers/bo", "");
    remove("bo").problem("of another", 403, "not_permitted");
    let nothing = json!({"user_id": "ana", "target_id": "bo", "relation": "none", "muted": false, "hidden": false,
                         "blocked": false, "requested": false});
    for _ in 0..2 {
        assert_eq!(remove("ana").expect(200), nothing);
    }
    assert_eq!(town.call(&token("ana"), "GET", "/v1/users/ana/followers", "").json()["items"], json!([]));
}

#[test]
fn a_token_asks_and_answers_requests_and_cannot_approve_for_another() {
    let town = Town::new();
    let settings = r#"{"approve_followers":true}"#;
    town.call(&token("ana"), "PUT", "/v1/users/ana/settings", settings).problem("settings", 403, "not_permitted");
    town.app("PUT", "/v1/users/ana/settings", &json!({"approve_followers": true}));
    assert_eq!(town.call(&token("ana"), "GET", "/v1/users/ana/settings", "").json()["approve_followers"], true);
    let follow = |body: &str| town.call(&token("bo"), "PUT", "/v1/users/bo/following/ana", body);
    follow(r#"{"approved":true}"#).problem("approved", 403, "not_permitted");
    let relation = follow(r#"{"approved":false}"#).expect(200);
    assert_eq!((&relation["relation"], &relation["requested"]), (&json!("none"), &json!(true)));
    let list = |user: &str, list: &str| {
        let page = town.call(&token(user), "GET", &format!("/v1/users/{user}/{list}"), "").json();
        let items = page["items"].as_array().unwrap().iter();
        items.map(|item| item["user_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((list("ana", "follow-requests"), list("bo", "sent-requests")), (vec!["bo".into()], vec!["ana".into()]));
    // What bo has set about ana is not told to ana.
    town.app("PUT", "/v1/users/bo/mutes/ana", &Value::Null);
    let answer = |user: &str, method: &str| town.call(&token(user), method, "/v1/users/ana/follow-requests/bo", "");
    answer("bo", "PUT").problem("of another", 403, "not_permitted");
    let relation = answer("ana", "PUT").expect(200);
    assert_eq!((&relation["relation"], &relation["muted"]), (&json!("followed_by"), &json!(false)));
    assert_eq!(list("ana", "followers"), ["bo"]);
    assert_eq!(answer("ana", "DELETE").json()["relation"], "followed_by", "a follow stays");
}

#[test]
fn a_token_sees_nothing_of_a_suspended_user() {
    let town = Town::new();
    town.publish("open", "bo", true);
    town.app("PUT", "/v1/content/open/reactions/like/ana", &Value::Null);
    let ana = token("ana");
    for user in ["ana", "bo"] {
        town.app("PUT", &format!("/v1/users/{user}/suspension"), &Value::Null);
    }
    let profile = town.call(&ana, "GET", "/v1/users/ana", "");
    profile.problem("the own profile", 404, "user_suspended");
    town.app("GET", "/v1/users/ana", &Value::Null);
    let like = "/v1/content/open/reactions/like/ana";
    for method in ["PUT", "DELETE"] {
        town.call(&ana, method, like, "").problem("a reaction", 404, "content_not_found");
    }
    assert!(town.ids(&ana, "/v1/users/ana/reactions/like").is_empty());
    for method in ["GET", "PUT", "DELETE"] {
        town.call(&ana, method, "/v1/users/ana/suspension", "").problem("a token", 403, "not_permitted");
    }
    town.app("DELETE", "/v1/users/bo/suspension", &Value::Null);
    assert_eq!(town.ids(&ana, "/v1/users/ana/reactions/like"), ["open"]);
}

#[test]
fn a_token_acts_now_and_not_at_another_time() {
    let town = Town::new();
    town.publish("open", "bo", true);
    let since = json!({"since": 1_700_000_000_000_u64}).to_string();
    for path in ["/v1/users/ana/following/bo", "/v1/content/open/reactions/like/ana"] {
        town.call(&token("ana"), "PUT", path, &since).problem(path, 403, "not_permitted");
        assert!(town.call(&token("ana"), "PUT", path, "{}").json()["since"].as_u64().unwrap() > 1_700_000_000_000);
        town.app("DELETE", path, &Value::Null);
        let dated = town.call(&key("full"), "PUT", path, &since);
        assert_eq!(dated.json()["since"], 1_700_000_000_000_u64, "{path}");
    }
}
