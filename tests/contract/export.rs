//! `GET /v1/users/{uid}/export`

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::town::Town;
use crate::server::Server;

/// The lines of an export by their type, without the type.
fn exported(server: &Server, user: &str) -> BTreeMap<String, Vec<Value>> {
    let reply = server.call("GET", &format!("/v1/users/{user}/export"), "");
    assert_eq!(reply.status, 200);
    let text = String::from_utf8(reply.bytes).expect("UTF-8");
    let mut lines = BTreeMap::<String, Vec<Value>>::new();
    assert!(text.ends_with("{\"type\":\"end\"}\n"), "{text}");
    for line in text.lines() {
        let mut line: Value = serde_json::from_str(line).expect(line);
        let what = line.as_object_mut().expect("an object").remove("type").expect("a type");
        lines.entry(what.as_str().expect("text").to_owned()).or_default().push(line);
    }
    lines
}

#[test]
fn an_export_has_each_thing_of_a_user_once() {
    let mut town = Town::empty(&[]);
    town.approve_followers(1, true);
    town.approve_followers(2, true);
    town.profile(1, json!({"nickname": "Ana", "extra": {"a": 1.50}}));
    town.publish(json!({"content_id": 10, "author_id": 1, "published_at": 10, "text": "ten", "to": [9]}));
    town.publish(json!({"content_id": 11, "author_id": 1, "published_at": 11, "broadcast": false, "text": "eleven"}));
    town.publish(json!({"content_id": 12, "author_id": 1, "published_at": 12, "text": "twelve"}));
    town.publish(json!({"content_id": 13, "author_id": 1, "published_at": 13, "text": "thirteen"}));
    town.publish(json!({"content_id": 20, "author_id": 2, "published_at": 20, "to": [1]}));
    for (id, broadcast) in [(14, false), (15, true)] {
        let comment = json!({"content_id": id, "author_id": 1, "published_at": id, "kind": "comment", "ref_id": 20,
            "broadcast": broadcast});
        town.publish(comment);
    }
    // More than are read at once.
    for id in 100..140 {
        town.publish(json!({"content_id": id, "author_id": 1, "published_at": id, "broadcast": id % 2 == 0}));
    }
    town.delete(12);
    town.purge(13);
    town.react("like", 20, 1);
    town.react("favorite", 10, 1);
    town.react("like", 10, 2);
    town.follow_by(1, 3, 31, json!({"only": ["post"]}));
    town.follow(1, 2, 32);
    town.follow(4, 1, 41);
    town.approve(1, 4);
    town.follow(5, 1, 51);
    town.mute(1, 6);
    town.mute(6, 1);
    town.hide(1, 7);
    town.block(1, 8);
    town.block(77, 1);
    town.put_list(1, "close", json!({"title": "Close", "exclusive": true}));
    town.put_member(1, "close", 3, json!({"except": ["photo"]}));
    town.put_list(2, "others", json!({}));
    town.change_members(2, "others", &[1], &[]);
    town.server.call("PUT", "/v1/users/1/marker", r#"{"cursor":"20-20"}"#).expect(200);
    town.server.call("PUT", "/v1/users/1/lists/close/marker", r#"{"cursor":"5-50"}"#).expect(200);

    town.server.call("PUT", "/v1/users/1/notices/marker", r#"{"cursor":"5-1-0-1-4-"}"#).expect(200);
    // Two follows are notices already; who mutes the user or is muted has none.
    let shown = town.server.get("/v1/users/1/notices?limit=100");

    let mut lines = exported(&town.server, "1");
    let since = |user: u64, list: &str| {
        let found = town.server.get(&format!("/v1/users/1/{list}"));
        let members = found["items"].as_array().expect("items").iter();
        let user = user.to_string();
        members.into_iter().find(|member| member["user_id"].as_str() == Some(&*user)).expect("a member")["since"]
            .clone()
    };
    let mut take = |what: &str| lines.remove(what).unwrap_or_default();
    let profile = json!({"user_id": "1", "nickname": "Ana", "avatar": null, "extra": {"a": 1.5}});
    assert_eq!(take("profile"), [profile]);
    assert_eq!(take("settings"), [json!({"approve_followers": true, "default_audience": "public"})]);
    assert_eq!(take("marker"), [json!({"cursor": "20-20"})]);
    let mut contents = take("content");
    contents.sort_by_key(|line| line["content"]["content_id"].as_str().map(|id| id.parse::<u64>().ok()));
    let ids: Vec<_> = contents.iter().map(|line| line["content"]["content_id"].as_str().expect("an id")).collect();
    let expected: Vec<_> = [10, 11, 12, 14, 15].into_iter().chain(100..140).map(|id| id.to_string()).collect();
    assert_eq!(ids, expected);
    assert_eq!(contents[0], json!({"content": town.server.get("/v1/content/10")}));
    assert!(contents[2]["deleted_at"].as_u64().is_some() && contents[2]["content"]["text"] == "twelve");
    assert_eq!(contents.iter().filter(|line| line.get("deleted_at").is_some()).count(), 1);
    let reactions = [
        json!({"kind": "like", "content_id": "20", "author_id": "2"}),
        json!({"kind": "favorite", "content_id": "10", "author_id": "1"}),
    ];
    assert_eq!(take("reaction"), reactions);
    assert_eq!(take("following"), [json!({"user_id": "3", "since": 31, "only": ["post"]})]);
    assert_eq!(take("sent_request"), [json!({"user_id": "2", "since": 32})]);
    assert_eq!(take("follower"), [json!({"user_id": "4", "since": since(4, "followers")})]);
    assert_eq!(take("follow_request"), [json!({"user_id": "5", "since": 51})]);
    assert_eq!(take("mute"), [json!({"user_id": "6", "since": since(6, "mutes")})]);
    assert_eq!(take("hidden_from"), [json!({"user_id": "7", "since": since(7, "hidden-from")})]);
    assert_eq!(take("block"), [json!({"user_id": "8", "since": since(8, "blocks")})]);
    assert_eq!(take("list"), [json!({"list": "close", "title": "Close", "exclusive": true})]);
    assert_eq!(take("list_marker"), [json!({"list": "close", "cursor": "5-50"})]);
    let member =
        json!({"list": "close", "user_id": "3", "since": since(3, "lists/close/members"), "except": ["photo"]});
    assert_eq!(take("list_member"), [member]);
    assert_eq!(take("notice_marker"), [json!({"cursor": "5-1-0-1-4-"})]);
    let notices = shown["items"].as_array().expect("items").iter().map(|notice| {
        let mut line = json!({"kind": notice["kind"], "at": notice["at"], "user_id": notice["actor"]["user_id"]});
        for field in ["reaction", "content_id", "on"] {
            if let Some(value) = notice.get(field) {
                line[field] = value.clone();
            }
        }
        line
    });
    let notices: Vec<_> = notices.collect();
    assert_eq!(notices.len(), 2, "a follow and a reaction");
    assert_eq!(take("notice"), notices);
    assert_eq!(take("end"), [json!({})]);
    assert_eq!(lines, BTreeMap::new());

    town.suspend(1);
    assert!(exported(&town.server, "1")["suspension"][0]["since"].as_u64().is_some());
    assert_eq!(exported(&town.server, "nobody").keys().collect::<Vec<_>>(), ["end", "profile", "settings"]);
}
