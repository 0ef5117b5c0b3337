//! Following and the lists that come of it.

use serde_json::{Value, json};

use crate::server::{Server, users};

fn relation(user: u64, target: u64, word: &str, since: Option<u64>) -> Value {
    let mut relation = json!({"user_id": user.to_string(), "target_id": target.to_string(), "relation": word,
        "muted": false, "hidden": false});
    if let Some(since) = since {
        relation["since"] = json!(since);
    }
    relation
}

#[test]
fn following_is_idempotent_and_returns_the_relation() {
    let server = Server::start();
    let path = "/v1/users/1/following/2";
    assert_eq!(server.call("PUT", path, r#"{"since":50}"#).expect(200), relation(1, 2, "following", Some(50)));
    assert_eq!(server.call("PUT", path, r#"{"since":60}"#).expect(200), relation(1, 2, "following", Some(50)));
    assert_eq!(server.call("PUT", path, "").expect(200), relation(1, 2, "following", Some(50)));
    let back = server.call("PUT", "/v1/users/2/following/1", "{}").expect(200);
    assert_eq!(back["relation"], "mutual");
    assert!(back["since"].as_u64().unwrap() > 1_600_000_000_000);
    assert_eq!(server.call("DELETE", path, "").expect(200), relation(1, 2, "followed_by", None));
    assert_eq!(server.call("DELETE", path, "").expect(200), relation(1, 2, "followed_by", None));
    assert_eq!(server.call("DELETE", "/v1/users/8/following/9", "").expect(200), relation(8, 9, "none", None));
    assert_eq!(server.call("PUT", path, r#"{"since":70}"#).expect(200), relation(1, 2, "mutual", Some(70)));
}

#[test]
fn a_user_does_not_follow_itself() {
    let server = Server::start();
    server.call("PUT", "/v1/users/1/following/1", "").problem("self", 422, "self_follow");
    let batch = r#"{"follow":[2,1]}"#;
    server.call("POST", "/v1/users/1/following/batch", batch).problem("self in batch", 422, "self_follow");
    assert!(users(&server.get("/v1/users/1/following")).is_empty());
}

#[test]
fn a_user_follows_no_more_than_the_limit() {
    let server = Server::with(&[("TIDELINE__GRAPH__FOLLOW_LIMIT", "3")]);
    let batch = "/v1/users/1/following/batch";
    server.call("POST", batch, r#"{"follow":[2,3,4,5]}"#).problem("four", 422, "follow_limit");
    server.call("POST", batch, r#"{"follow":[2,3,4]}"#).expect(200);
    server.call("PUT", "/v1/users/1/following/5", "").problem("one more", 422, "follow_limit");
    server.call("PUT", "/v1/users/1/following/4", "").expect(200);
    server.call("POST", batch, r#"{"follow":[5],"unfollow":[2]}"#).expect(200);
    let mut following = users(&server.get("/v1/users/1/following"));
    following.sort_unstable();
    assert_eq!(following, [3, 4, 5]);
}

#[test]
fn a_batch_answers_follows_first() {
    let server = Server::start();
    server.follow(1, 5, 10);
    server.follow(3, 1, 10);
    let body = r#"{"unfollow":["5",6],"follow":[2,"3"]}"#;
    let answer = server.call("POST", "/v1/users/1/following/batch", body).expect(200);
    let since = answer["items"][0]["since"].as_u64();
    let expected = [
        relation(1, 2, "following", since),
        relation(1, 3, "mutual", since),
        relation(1, 5, "none", None),
        relation(1, 6, "none", None),
    ];
    assert_eq!(answer, json!({ "items": expected }));
    assert_eq!(server.call("POST", "/v1/users/1/following/batch", body).expect(200), answer);
    for twice in [r#"{"follow":[7,7]}"#, r#"{"unfollow":[7,7]}"#, r#"{"follow":[7],"unfollow":[7]}"#] {
        server.call("POST", "/v1/users/1/following/batch", twice).problem(twice, 400, "invalid_body");
    }
    let many: Vec<u64> = (100..=1100).collect();
    let half = many.len() / 2;
    for too_many in [json!({ "follow": many }), json!({"follow": many[..half], "unfollow": many[half..]})] {
        server.call("POST", "/v1/users/1/following/batch", too_many.to_string()).problem("1001", 400, "invalid_body");
    }
    assert_eq!(users(&server.get("/v1/users/1/following")).len(), 2);
    let whole = json!({ "unfollow": many[..1000] }).to_string();
    let whole = server.call("POST", "/v1/users/1/following/batch", whole).expect(200);
    assert_eq!(whole["items"].as_array().unwrap().len(), 1000);
}

#[test]
fn lists_of_users_are_paged_by_since() {
    let server = Server::start();
    for (user, target, since) in [
        (1, 2, 10),
        (1, 3, 20),
        (1, 4, 20),
        (1, 5, 30),
        (2, 1, 40),
        (4, 1, 15),
        (6, 1, 50),
        (9, 5, 1),
        (5, 9, 2),
        (9, 3, 3),
    ] {
        server.follow(user, target, since);
    }
    let page = server.get("/v1/users/1/following");
    assert_eq!(
        page,
        json!({"items": [{"user_id": "5", "since": 30}, {"user_id": "4", "since": 20}, {"user_id": "3", "since": 20},
            {"user_id": "2", "since": 10}], "next": null, "prev": "30-5"})
    );
    assert_eq!(users(&server.get("/v1/users/1/followers")), [6, 2, 4]);
    let friends = server.get("/v1/users/1/friends");
    assert_eq!(friends["items"], json!([{"user_id": "2", "since": 40}, {"user_id": "4", "since": 20}]));

    let reply = server.call("GET", "/v1/users/1/following?viewer=9&limit=2&before=30-5", "");
    let page = reply.expect(200);
    assert_eq!(
        page["items"],
        json!([{"user_id": "4", "since": 20, "relation": "none"}, {"user_id": "3", "since": 20, "relation": "following"}])
    );
    assert_eq!((&page["next"], &page["prev"]), (&json!("20-3"), &json!("20-4")));
    let links = "<?limit=2&viewer=9&before=20-3>; rel=\"next\", <?limit=2&viewer=9&after=20-4>; rel=\"prev\"";
    assert_eq!(reply.header("link"), Some(links));
    let relations = |path: &str| -> Vec<String> {
        let page = server.get(path);
        page["items"].as_array().unwrap().iter().map(|item| item["relation"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(relations("/v1/users/1/following?viewer=9"), ["mutual", "none", "following", "none"]);
    assert_eq!(relations("/v1/users/1/followers?viewer=1"), ["followed_by", "mutual", "mutual"]);
    assert_eq!(relations("/v1/users/1/friends?viewer=2"), ["none", "none"]);

    assert_eq!(users(&server.get("/v1/users/1/following?after=10-2&limit=2")), [4, 3]);
    assert_eq!(users(&server.get("/v1/users/1/followers?before=50-6&limit=1")), [2]);
    assert_eq!(users(&server.get("/v1/users/1/friends?after=20-4")), [2]);
    assert_eq!(server.get("/v1/users/77/friends"), json!({"items": [], "next": null, "prev": null}));
}

#[test]
fn relations_to_many() {
    let server = Server::start();
    server.follow(1, 2, 10);
    server.follow(3, 1, 20);
    server.follow(1, 4, 30);
    server.follow(4, 1, 40);
    let expected = [
        relation(1, 5, "none", None),
        relation(1, 4, "mutual", Some(30)),
        relation(1, 3, "followed_by", None),
        relation(1, 2, "following", Some(10)),
        relation(1, 1, "none", None),
    ];
    assert_eq!(server.get("/v1/users/1/relations?targets=5,4,3,2,1"), json!({ "items": expected }));
    assert_eq!(server.get("/v1/users/1/relations?targets=2,5,2,2"), json!({"items": [expected[3], expected[0]]}));
    let hundred: Vec<String> = (1..=100).map(|id| id.to_string()).collect();
    let found = server.get(&format!("/v1/users/1/relations?targets={}", hundred.join(",")));
    assert_eq!(found["items"].as_array().unwrap().len(), 100);
}
