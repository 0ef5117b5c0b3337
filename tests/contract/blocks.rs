//! `/v1/users/{uid}/blocks` and `/v1/users/{uid}/followers/{follower}`

use serde_json::json;

use super::town::Town;

#[test]
fn a_block_ends_the_follows_of_both_and_an_unblock_brings_none_back() {
    let mut town = Town::new();
    // 1 and 2 follow each other, 5 follows 2, 2 does not follow 5, 3 and 4 do not follow each other.
    town.twice(&[(1, 2), (2, 5), (3, 4), (1, 99)], Town::block);
    town.publish(json!({"content_id": 40, "author_id": 2, "published_at": 115, "topics": ["tea"]}));
    town.check("published by one who is blocked");
    town.twice(&[(1, 2), (2, 5), (3, 4), (1, 99), (2, 1)], Town::unblock);
    town.follow(1, 2, 90);
    town.check("followed again");
}

#[test]
fn over_a_block_nobody_follows() {
    let mut town = Town::new();
    town.block(1, 2);
    // The application shows more than timelines, so with a key the two react and comment.
    town.react("like", 10, 1);
    town.comment(10, json!({"content_id": 50, "author_id": 1, "published_at": 170, "text": "by the application"}));
    for (user, target) in [(1, 2), (2, 1)] {
        let path = format!("/v1/users/{user}/following");
        town.server.call("PUT", &format!("{path}/{target}"), "").problem("blocked", 403, "blocked");
        let batch = json!({"follow": ["6", target.to_string()]}).to_string();
        town.server.call("POST", &format!("{path}/batch"), batch).problem("blocked", 403, "blocked");
        town.unfollow(user, target);
    }
    town.check("nobody follows over it");
    // Each direction is a block of its own.
    town.block(2, 1);
    town.unblock(1, 2);
    town.check("the other block stands");
    town.server.call("PUT", "/v1/users/1/following/2", "").problem("blocked", 403, "blocked");
    town.unblock(2, 1);
    town.follow(1, 2, 90);
    town.check("none stands");
}

#[test]
fn nobody_blocks_themselves() {
    let town = Town::new();
    town.server.call("PUT", "/v1/users/1/blocks/1", "").problem("self", 422, "self_block");
    let found = town.server.call("DELETE", "/v1/users/1/blocks/1", "").expect(200);
    assert_eq!(found, town.model.relation(1, 1));
    town.check("nothing");
}

#[test]
fn a_follower_is_removed_and_may_follow_again() {
    let mut town = Town::new();
    for (user, follower) in [(2, 1), (2, 1), (4, 2), (2, 2), (2, 99)] {
        let found = town.server.call("DELETE", &format!("/v1/users/{user}/followers/{follower}"), "").expect(200);
        town.model.follows.remove(&(follower, user));
        assert_eq!(found, town.model.relation(user, follower));
        town.check(&format!("{user} removed {follower}"));
    }
    town.follow(1, 2, 90);
    town.check("followed again");
}
