//! What tokens read and change with `auth.users_read = "visible"`: all that their users see, and nothing else.

use serde_json::{Value, json};

use super::oracles::ALL;
use super::visibility::Town;
use crate::server::described::relations_to_items;
use crate::server::tokens::token;

/// Authors, by what lies between them and ana: she follows the first, and one of them each hides from her, is blocked by her,
/// has blocked her, is suspended, and has nothing to do with her.
const AUTHORS: [&str; 6] = ["bo", "cy", "di", "ed", "fi", "gus"];
/// All who look.
const VIEWERS: [&str; 4] = ["ana", "bo", "ed", "zoe"];

/// An item of the town.
struct Item {
    id: String,
    author: &'static str,
    is_public: bool,
    to: Vec<&'static str>,
    broadcast: bool,
}

/// Each author publishes for all and for followers, alone and in a group: `in`, which ana follows, or `out`.
fn items() -> Vec<Item> {
    let mut items = Vec::new();
    for author in AUTHORS {
        for is_public in [true, false] {
            for (place, (to, broadcast)) in
                [(vec![], true), (vec!["in"], false), (vec!["out"], false), (vec![], false)].into_iter().enumerate()
            {
                let id = format!("{author}-{is_public}-{place}");
                items.push(Item { id, author, is_public, to, broadcast });
            }
        }
    }
    items
}

fn follows(viewer: &str, source: &str) -> bool {
    viewer == "ana" && ["bo", "in"].contains(&source)
}

/// What lies between a viewer and a user.
fn between(viewer: &str, user: &str) -> &'static str {
    match (viewer, user) {
        (_, "fi") => "suspension",
        ("ana", "cy") => "hide",
        ("ana", "di" | "ed") | ("ed", "ana") => "block",
        _ => "",
    }
}

impl Item {
    /// The code of a refusal of a viewer; empty if the viewer sees the item.
    fn refusal(&self, viewer: &str) -> &'static str {
        let paths = self.to.iter().copied().chain(self.broadcast.then_some(self.author));
        let is_for = self.is_public || paths.into_iter().any(|source| follows(viewer, source));
        match between(viewer, self.author) {
            _ if viewer == self.author => "",
            "suspension" | "hide" => "content_not_found",
            _ if !is_for => "content_not_found",
            "block" => "blocked",
            _ => "",
        }
    }
}

fn town() -> (Town, Vec<Item>) {
    let town = Town::with(&*ALL);
    for source in ["bo", "in"] {
        town.app("PUT", &format!("/v1/users/ana/following/{source}"), &Value::Null);
    }
    let items = items();
    for (n, Item { id, author, is_public, to, broadcast }) in items.iter().enumerate() {
        let audience = if *is_public { "public" } else { "followers" };
        let item = json!({"content_id": id, "author_id": author, "text": format!("text of {id}"), "topics": ["t"],
                          "audience": audience, "to": to, "broadcast": broadcast, "published_at": 1_700_000_000_000 + n});
        town.app("POST", "/v1/content", &item);
    }
    town.app("PUT", "/v1/users/cy/hidden-from/ana", &Value::Null);
    town.app("PUT", "/v1/users/ana/blocks/di", &Value::Null);
    town.app("PUT", "/v1/users/ed/blocks/ana", &Value::Null);
    town.app("PUT", "/v1/users/fi/suspension", &Value::Null);
    (town, items)
}

#[test]
fn a_token_sees_the_profiles_and_lists_of_whom_it_sees() {
    let (town, _) = town();
    for (viewer, author) in VIEWERS.iter().flat_map(|viewer| AUTHORS.map(|author| (*viewer, author))) {
        let get = |path: &str| town.call(&token(viewer), "GET", &format!("/v1/users/{author}{path}"), "");
        let is_apart = !between(viewer, author).is_empty();
        match is_apart {
            true => drop(get("").problem("a profile", 404, "user_not_found")),
            false => drop(get("").expect(200)),
        }
        for path in ["/followers", "/following", "/friends"] {
            let page = get(path).expect(200);
            let is_told = page["items"].as_array().unwrap().iter().any(|user| user["user_id"] == "ana");
            let is_follower = path == "/followers" && author == "bo" && !is_apart;
            assert_eq!(is_told, is_follower && between(viewer, "ana").is_empty(), "{path} of {author}, for {viewer}");
        }
    }
}

#[test]
fn a_token_relates_its_user_to_what_the_user_sees() {
    let (town, items) = town();
    for viewer in VIEWERS {
        for item in &items {
            let comment = json!({"author_id": viewer, "text": "mine"}).to_string();
            let puts = relations_to_items(viewer, &item.id).into_iter().map(|(path, _)| ("PUT", path, ""));
            let others = [
                ("POST", format!("/v1/content/{}/comments", item.id), comment.as_str()),
                ("DELETE", format!("/v1/content/{}/reactions/like/{viewer}", item.id), ""),
            ];
            for (method, path, body) in puts.chain(others) {
                let reply = town.call(&token(viewer), method, &path, body);
                match item.refusal(viewer) {
                    "" => assert!([200, 201].contains(&reply.status), "{method} {path}: {}", reply.text()),
                    "blocked" => drop(reply.problem(&path, 403, "blocked")),
                    code => {
                        reply.problem(&path, 404, code);
                        let nothing = town.call(&token(viewer), method, &path.replace(&item.id, "nothing"), body);
                        assert_eq!(reply.text(), nothing.text(), "{method} {path} of {viewer}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_token_comments_as_its_user_now_and_to_no_followers() {
    let (town, _) = town();
    let comment = |more: Value| {
        let mut body = json!({"author_id": "ana", "text": "mine"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        town.call(&token("ana"), "POST", "/v1/content/bo-true-0/comments", &body.to_string())
    };
    for more in [
        json!({"author_id": "bo"}),
        json!({"content_id": "bo-true-0"}),
        json!({"content_id": "nothing"}),
        json!({"published_at": 1}),
        json!({"broadcast": true}),
        json!({"to": ["in"]}),
    ] {
        comment(more.clone()).problem(&more.to_string(), 403, "not_permitted");
    }
    let made = comment(json!({"topics": ["t"], "extra": {"a": 1}, "audience": "followers"})).expect(201);
    assert_eq!(
        (&made["author_id"], &made["broadcast"], &made["audience"]),
        (&json!("ana"), &json!(false), &json!("followers"))
    );
    let path = format!("/v1/content/{}", made["content_id"].as_str().unwrap());
    town.call(&token("ana"), "GET", &path, "").expect(200);
    town.call(&token("bo"), "GET", &path, "").problem("for nobody else", 404, "content_not_found");
}

#[test]
fn without_the_setting_a_token_reads_only_the_own() {
    let town = Town::new();
    town.publish("open", "bo", true);
    for path in [
        "/v1/content/open",
        "/v1/content?ids=open",
        "/v1/users/bo/content",
        "/v1/users/bo",
        "/v1/topics/t/content",
        "/v1/content/open/comments",
        "/v1/content/open/reactions/like",
        "/v1/users/bo/followers",
    ] {
        town.call(&token("ana"), "GET", path, "").problem(path, 403, "not_permitted");
    }
    // What a user does is a matter of the acts alone.
    town.call(&token("ana"), "PUT", "/v1/content/open/reactions/like/ana", "").expect(200);
    let own = town.call(&token("ana"), "GET", "/v1/users/ana/reactions/like", "").expect(200);
    assert_eq!(own["items"][0]["viewer"], json!({"reactions": ["like"]}));
    town.call(&token("ana"), "POST", "/v1/content/open/comments", r#"{"author_id": "ana", "text": "?"}"#).problem(
        "no act of the default",
        403,
        "not_permitted",
    );
}
