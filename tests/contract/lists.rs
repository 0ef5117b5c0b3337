//! The rules that all lists have in common, list by list.

use serde_json::{Value, json};

use super::model::{content_cursor, user_cursor};
use super::walk::List;
use crate::server::Server;

const COUNT: u64 = 9;

/// All lists of content.
const OF_CONTENT: [&str; 8] = [
    "/v1/users/30/timeline",
    "/v1/users/2/content",
    "/v1/users/3/comments",
    "/v1/topics/t/content",
    "/v1/content/101/comments",
    "/v1/users/20/reactions/like",
    "/v1/users/20/reactions/favorite",
    "/v1/topics/%74%20%C3%BC%2F/content",
];

/// All lists of users.
const OF_USERS: [&str; 10] = [
    "/v1/users/1/following",
    "/v1/users/1/followers",
    "/v1/users/1/friends",
    "/v1/users/1/mutes",
    "/v1/users/1/hidden-from",
    "/v1/users/1/blocks",
    "/v1/users/40/follow-requests",
    "/v1/users/41/sent-requests",
    "/v1/content/101/reactions/like",
    "/v1/content/101/reactions/favorite",
];

/// Nine items in every list, two of each time where the time can be given.
fn crowd() -> Server {
    let server = Server::start();
    let put = |path: String| drop(server.call("PUT", &path, "").expect(200));
    server.call("PUT", "/v1/users/40/settings", r#"{"approve_followers":true}"#).expect(200);
    for n in 1..=COUNT {
        let (id, at) = (100 + n, 1000 + n / 2);
        let post = json!({"content_id": id, "author_id": 2, "published_at": at, "topics": ["t", "t ü/"]});
        server.call("POST", "/v1/content", post.to_string()).expect(201);
        let comment = json!({"content_id": 200 + n, "author_id": 3, "published_at": at, "text": "c"});
        server.call("POST", "/v1/content/101/comments", comment.to_string()).expect(201);
        let (other, since) = (10 + n, 50 + n / 2);
        server.follow(1, other, since);
        server.follow(other, 1, since);
        put(format!("/v1/users/1/mutes/{other}"));
        put(format!("/v1/users/1/hidden-from/{other}"));
        // Others, because a block ends follows.
        put(format!("/v1/users/1/blocks/{}", 300 + n));
        server.follow(other, 40, since);
        server.call("PUT", &format!("/v1/users/{other}/settings"), r#"{"approve_followers":true}"#).expect(200);
        server.follow(41, other, since);
        for kind in ["like", "favorite"] {
            put(format!("/v1/content/101/reactions/{kind}/{other}"));
        }
    }
    server.follow(30, 2, 5);
    // In another order than that of publishing.
    for n in [5, 1, 9, 3, 7, 2, 8, 4, 6] {
        for kind in ["like", "favorite"] {
            put(format!("/v1/content/{}/reactions/{kind}/20", 100 + n));
        }
    }
    server
}

fn whole(server: &Server, path: &str) -> Vec<Value> {
    server.get(&format!("{path}?limit=100"))["items"].as_array().unwrap().clone()
}

#[test]
fn lists_of_content_are_walked_both_ways_in_both_views() {
    let server = crowd();
    for path in OF_CONTENT {
        let items = whole(&server, path);
        let ids: Vec<u64> = items.iter().map(|item| item["content_id"].as_str().unwrap().parse().unwrap()).collect();
        let first = if path.contains("comments") { 201 } else { 101 };
        assert_eq!(ids, (first..first + COUNT).rev().collect::<Vec<_>>(), "{path}: newest first");
        List { server: &server, path, items: &items, cursor: content_cursor }.walk("");
        List { server: &server, path, items: &items, cursor: content_cursor }.walk("&view=full");
        let short: Vec<Value> = items
            .iter()
            .map(|item| {
                assert!(item["author_id"].is_string() && item["published_at"].is_u64(), "{item}");
                assert!(item["author"].is_object() && item["counts"].is_object(), "{item}");
                json!({"content_id": item["content_id"], "author_id": item["author_id"],
                    "published_at": item["published_at"]})
            })
            .collect();
        List { server: &server, path, items: &short, cursor: content_cursor }.walk("&view=ids");
    }
}

#[test]
fn lists_of_users_are_walked_both_ways() {
    let server = crowd();
    for path in OF_USERS {
        let items = whole(&server, path);
        // The lists of reactions also have user 20, added last.
        let fewest = usize::try_from(COUNT).unwrap();
        assert!((fewest..fewest + 2).contains(&items.len()), "{path}: {}", items.len());
        let places: Vec<(u64, u64)> = items
            .iter()
            .map(|item| (item["since"].as_u64().unwrap(), item["user_id"].as_str().unwrap().parse().unwrap()))
            .collect();
        assert!(places.windows(2).all(|pair| pair[0] > pair[1]), "{path}: newest first, by since and id: {places:?}");
        assert!(items.iter().all(|item| item.as_object().unwrap().len() == 2), "{path}");
        List { server: &server, path, items: &items, cursor: user_cursor }.walk("");
    }
}

#[test]
fn an_empty_list_is_a_page_without_neighbours() {
    let server = Server::start();
    server.publish(101, 2, 5);
    for path in OF_CONTENT.into_iter().chain(OF_USERS) {
        let path = path.replace("users/2", "users/9");
        let reply = server.call("GET", &path, "");
        assert_eq!(reply.expect(200), json!({"items": [], "next": null, "prev": null}), "{path}");
        assert_eq!(reply.header("link"), None, "{path}");
    }
}

#[test]
fn a_list_of_a_missing_item_is_not_found_whatever_its_cursor() {
    let server = Server::start();
    for list in ["comments", "reactions/like", "reactions/favorite"] {
        for item in ["101", "nothing"] {
            let path = format!("/v1/content/{item}/{list}?before=1-nobody");
            server.call("GET", &path, "").problem(&path, 404, "content_not_found");
        }
    }
}
