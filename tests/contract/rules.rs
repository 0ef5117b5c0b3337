//! Rules of follows and of members of lists, lists of some kinds of content, and short pages.

use serde_json::{Value, json};

use super::listener::Listener;
use super::model::admits;
use super::town::Town;
use crate::server::Server;

/// Paths of lists of content, after something was published on each.
const LISTS: [&str; 8] = [
    "/v1/users/1/timeline",
    "/v1/users/2/content",
    "/v1/users/4/comments",
    "/v1/users/1/reactions/like",
    "/v1/users/1/lists/close/timeline",
    "/v1/topics/rust/content",
    "/v1/topics/tea/content",
    "/v1/content/10/comments",
];

/// A town with items of some kinds, in a group too.
fn town() -> Town {
    let mut town = Town::new();
    town.model.users.insert(9);
    town.follow(1, 9, 81);
    town.put_list(1, "close", Value::Null);
    town.change_members(1, "close", &[2, 4, 9], &[]);
    for (id, author, kind) in [(40, 2, "video"), (41, 4, "repost"), (42, 2, "repost"), (43, 6, "video")] {
        town.publish(json!({"content_id": id, "author_id": author, "published_at": 100 + id, "kind": kind, "to": [9],
            "broadcast": author != 6}));
    }
    town
}

#[test]
fn a_rule_is_about_one_path_and_takes_effect_at_once() {
    let mut town = town();
    town.check("without rules");
    for rule in [
        json!({"except": ["repost"]}),
        json!({"only": ["repost", "video"]}),
        json!({"only": ["never_seen"]}),
        json!({"except": ["never_seen", "post"]}),
        json!({}),
        json!({"except": ["video"]}),
    ] {
        town.follow_by(1, 2, 10, rule.clone());
        town.check(&format!("{rule} for a followee"));
        town.follow_by(1, 9, 81, rule.clone());
        town.check(&format!("{rule} for the group, too"));
        town.put_member(1, "close", 2, rule.clone());
        town.put_member(1, "close", 9, rule.clone());
        town.check(&format!("{rule} for members"));
    }
    town.publish(json!({"content_id": 50, "author_id": 2, "published_at": 170, "kind": "video"}));
    town.publish(json!({"content_id": 51, "author_id": 2, "published_at": 171, "kind": "never_seen"}));
    town.check("published");
    let batch = json!({"follow": ["2", "9"], "unfollow": ["3"]}).to_string();
    let found = town.server.call("POST", "/v1/users/1/following/batch", batch).expect(200);
    town.model.follows.remove(&(1, 3));
    assert_eq!(found["items"][0], town.model.relation(1, 2), "a batch leaves the rules of present follows");
    town.change_members(1, "close", &[2, 3], &[9]);
    town.check("batches");
    town.follow(1, 2, 10);
    town.check("a follow without a rule shows all");
    town.follow_by(1, 2, 10, json!({"only": ["post"]}));
    town.unfollow(1, 2);
    town.follow(1, 2, 90);
    town.change_members(1, "close", &[], &[2]);
    town.change_members(1, "close", &[2, 5], &[]);
    town.check("a rule ends with its follow, or its member");
    town.follow_by(1, 2, 90, json!({"only": ["post"]}));
    town.block(2, 1);
    town.unblock(2, 1);
    town.follow(1, 2, 95);
    town.check("or with a block");
}

#[test]
fn streams_know_the_rules() {
    let mut town = town();
    let video =
        |id: u64| json!({"content_id": id, "author_id": 2, "published_at": id + 100, "kind": "video", "to": [9]});
    town.follow_by(1, 2, 10, json!({"except": ["video"]}));
    let mut stream = Listener::open(&town.server, 1, None);
    town.publish(video(60));
    assert_eq!(stream.event().data["content_id"], "60", "through the group");
    town.follow_by(1, 9, 81, json!({"only": ["post"]}));
    town.publish(video(61));
    town.delete(60);
    stream.is_quiet();
    town.publish(json!({"content_id": 62, "author_id": 2, "published_at": 170}));
    let seen = stream.event();
    assert_eq!(seen.data["content_id"], "62");
    town.publish(video(63));
    let mut again = Listener::open(&town.server, 1, seen.id.as_deref());
    again.is_quiet();
    town.follow(1, 2, 10);
    town.publish(video(64));
    for stream in [&mut stream, &mut again] {
        assert_eq!(stream.event().data["content_id"], "64");
    }
}

#[test]
fn lists_and_counts_are_of_the_kinds_asked_for() {
    let town = town();
    for path in LISTS {
        let all = town.server.get(&format!("{path}?limit=100"))["items"].as_array().unwrap().clone();
        for (query, rule) in [
            ("kinds=post", json!({"only": ["post"]})),
            ("kinds=repost,video,repost", json!({"only": ["repost", "video"]})),
            ("kinds=comment,unknown", json!({"only": ["comment"]})),
            ("kinds=unknown", json!({"only": []})),
            ("except_kinds=unknown", json!({})),
            ("except_kinds=post,unknown", json!({"except": ["post"]})),
            ("except_kinds=repost,video,comment", json!({"except": ["repost", "video", "comment"]})),
        ] {
            let wanted: Vec<_> = all.iter().filter(|item| admits(&rule, item)).cloned().collect();
            let found = town.server.get(&format!("{path}?limit=100&{query}"));
            assert_eq!(found["items"], json!(wanted), "{path}?{query}");
            let mut walked = Vec::new();
            let mut next = format!("{path}?limit=1&{query}");
            loop {
                let reply = town.server.call("GET", &next, "");
                let page = reply.expect(200);
                walked.extend(page["items"].as_array().unwrap().clone());
                let Some(cursor) = page["next"].as_str() else { break };
                let link = reply.header("link").unwrap();
                assert!(link.contains("kinds="), "{link}");
                next = format!("{path}?limit=1&{query}&before={cursor}");
            }
            assert_eq!(walked, wanted, "{path}?{query}, item by item");
            if let Some(timeline) = path.strip_suffix("/timeline").filter(|_| path.contains("/timeline")) {
                let unread = if timeline.contains("lists") { "/unread" } else { "/timeline/unread" };
                let count = town.server.get(&format!("{timeline}{unread}?{query}"));
                // The list has no marker.
                let marker = if timeline.contains("lists") { (0, 0) } else { town.model.read_to(1) };
                let place = |item: &Value| {
                    (item["published_at"].as_u64().unwrap(), item["content_id"].as_str().unwrap().parse().unwrap())
                };
                let newer = wanted.iter().filter(|item| place(item) > marker).count();
                assert_eq!(count, json!({"count": newer, "capped": false}), "{timeline}{unread}?{query}");
            }
        }
    }
}

#[test]
fn wrong_kinds_are_refused() {
    let mut town = town();
    let many: Vec<_> = (0..17).map(|number| format!("k{number}")).collect();
    let both = "kinds=post&except_kinds=repost";
    for query in ["kinds=", "kinds=a,", "kinds=A", "except_kinds=a b", &format!("kinds={}", many.join(",")), both] {
        for path in LISTS.iter().copied().chain(["/v1/users/1/timeline/unread", "/v1/users/1/lists/close/unread"]) {
            let query = query.replace(' ', "%20");
            town.server.call("GET", &format!("{path}?{query}"), "").problem(&query, 400, "invalid_parameter");
        }
    }
    for body in [
        json!({"only": ["post"], "except": ["repost"]}),
        json!({"except": ["post", "post"]}),
        json!({"only": many}),
        json!({"except": ["A"]}),
        json!({"only": "post"}),
    ] {
        for path in ["/v1/users/1/following/2", "/v1/users/1/lists/close/members/2"] {
            town.server.call("PUT", path, body.to_string()).problem(path, 400, "invalid_body");
        }
    }
    town.check("refused");
    town.follow_by(1, 2, 10, json!({"only": many[1..]}));
    town.check("sixteen");
}

#[test]
fn a_short_page_leads_on() {
    let server = Server::with(&[("TIDELINE__TIMELINE__LOOK_AT", "16")]);
    server.call("PUT", "/v1/users/1/following/2", "").expect(200);
    for part in 0..2 {
        let item = |id: u64| {
            let kind = if id % 50 == 7 { "video" } else { "post" };
            json!({"author_id": 2, "content_id": id, "published_at": 1000 + id, "kind": kind, "topics": ["t"]})
        };
        let items: Vec<_> = (1 + 100 * part..=100 + 100 * part).map(item).collect();
        server.call("POST", "/v1/content/batch", json!({ "items": items }).to_string()).expect(201);
    }
    for path in ["/v1/users/1/timeline", "/v1/users/2/content", "/v1/topics/t/content"] {
        let (mut down, mut pages, mut before) = (Vec::new(), 0, String::new());
        loop {
            let page = server.get(&format!("{path}?kinds=video&limit=3&view=ids{before}"));
            down.extend(page["items"].as_array().unwrap().iter().map(|item| item["content_id"].clone()));
            pages += 1;
            let Some(next) = page["next"].as_str() else { break };
            before = format!("&before={next}");
        }
        assert_eq!(down, ["157", "107", "57", "7"], "{path}");
        // A page looks at 16 entries. It looks twice at one that is being delivered: among the pending ones and in the inbox.
        // The next page may look at one again.
        assert!((3..=200_usize.div_ceil(16 / 2 - 1)).contains(&pages), "{path}: {pages}");
        let (mut up, mut after) = (Vec::new(), "1000-1".to_owned());
        loop {
            let page = server.get(&format!("{path}?kinds=video&limit=3&view=ids&after={after}"));
            up.extend(page["items"].as_array().unwrap().iter().rev().map(|item| item["content_id"].clone()));
            let prev = page["prev"].as_str().unwrap();
            if prev == after {
                break;
            }
            after = prev.to_owned();
        }
        down.reverse();
        assert_eq!(up, down, "{path}");
    }
    let unread = server.get("/v1/users/1/timeline/unread?kinds=video");
    assert_eq!(unread, json!({"count": 4, "capped": false}), "it looks at as many as it may count at once");
    assert_eq!(server.get("/v1/admin/users/1/timeline/verify")["exact"], true);
}

#[test]
fn a_short_page_of_users_leads_on() {
    let server = Server::with(&[("TIDELINE__TIMELINE__LOOK_AT", "16")]);
    server.call("POST", "/v1/content", r#"{"author_id":2,"content_id":1,"published_at":1}"#).expect(201);
    let is_seen = |user: u64| user % 25 == 7;
    for user in 101..=200 {
        let since = json!({"since": 1000 + user}).to_string();
        server.call("PUT", &format!("/v1/content/1/reactions/like/{user}"), &since).expect(200);
        if !is_seen(user) {
            server.call("PUT", &format!("/v1/users/{user}/blocks/9"), "").expect(200);
        }
    }
    let list = "/v1/content/1/reactions/like?viewer=9&limit=3";
    let (mut down, mut pages, mut before) = (Vec::new(), 0, String::new());
    loop {
        let page = server.get(&format!("{list}{before}"));
        down.extend(page["items"].as_array().unwrap().iter().map(|user| user["user_id"].clone()));
        pages += 1;
        let Some(next) = page["next"].as_str() else { break };
        let named: u64 = next.split_once('-').unwrap().1.parse().unwrap();
        assert!(!(101..=200).contains(&named) || is_seen(named), "{next} names one of whom the viewer sees nothing");
        before = format!("&before={next}");
    }
    assert_eq!(down, ["182", "157", "132", "107"]);
    assert!((3..=100 / 3).contains(&pages), "{pages}");
    let (mut up, mut after) = (Vec::new(), "1000-1".to_owned());
    loop {
        let page = server.get(&format!("{list}&after={after}"));
        up.extend(page["items"].as_array().unwrap().iter().rev().map(|user| user["user_id"].clone()));
        let Some(prev) = page["prev"].as_str().filter(|prev| *prev != after) else { break };
        after = prev.to_owned();
    }
    down.reverse();
    assert_eq!(up, down);
}
