//! `/v1/users/{uid}/settings`, `/v1/users/{uid}/follow-requests` and `/v1/users/{uid}/sent-requests`

use serde_json::{Value, json};

use super::model::User;
use super::town::Town;

impl Town {
    /// Whether a user approves followers from now on.
    pub(crate) fn approve_followers(&mut self, user: User, so: bool) {
        let body = json!({ "approve_followers": so, "default_audience": "public" });
        self.record(user, "/settings", &body.to_string(), body);
    }

    /// Approves a request, now, or a follow again.
    pub(crate) fn approve(&mut self, user: User, from: User) {
        let reply = self.server.call("PUT", &format!("/v1/users/{user}/follow-requests/{from}"), "");
        if self.model.requests.remove(&(from, user)).is_some() {
            let since = self.since(&format!("/v1/users/{user}/followers"), from);
            self.model.follows.insert((from, user), since);
        }
        assert_eq!(reply.expect(200), self.model.relation(user, from));
    }

    pub(crate) fn reject(&mut self, user: User, from: User) {
        let reply = self.server.call("DELETE", &format!("/v1/users/{user}/follow-requests/{from}"), "");
        self.model.requests.remove(&(from, user));
        assert_eq!(reply.expect(200), self.model.relation(user, from));
    }
}

fn town() -> Town {
    let mut town = Town::new();
    town.approve_followers(2, true);
    town.check("user 2 approves followers");
    town
}

#[test]
fn a_follow_of_one_who_approves_followers_waits_until_it_is_answered() {
    let mut town = town();
    for user in [4, 3, 6] {
        // 3 and 6 follow already.
        town.follow(user, 2, 90 + user);
        town.check(&format!("{user} asked"));
        town.follow(user, 2, 900);
        town.check(&format!("{user} asked again"));
    }
    town.publish(json!({"content_id": 40, "author_id": 2, "published_at": 115}));
    town.check("published while a request waits");
    town.approve(2, 4);
    town.check("approved");
    town.approve(2, 4);
    town.approve(2, 3);
    town.check("approved again");
    town.unfollow(4, 2);
    town.follow(4, 2, 100);
    town.reject(2, 4);
    town.check("rejected");
    town.reject(2, 4);
    town.reject(2, 3);
    town.check("rejected again; a follow stays");
    for from in ["4", "99"] {
        let path = format!("/v1/users/2/follow-requests/{from}");
        town.server.call("PUT", &path, "").problem("no request", 404, "request_not_found");
    }
    town.follow(4, 2, 100);
    town.unfollow(4, 2);
    town.check("taken back");
    town.check("nothing");
}

#[test]
fn requests_wait_when_approval_is_switched_off_and_a_follow_then_ends_them() {
    let mut town = town();
    town.follow(4, 2, 90);
    town.follow(99, 2, 91);
    town.approve_followers(2, false);
    town.check("switched off");
    town.follow(4, 2, 92);
    town.check("followed");
    town.approve(2, 99);
    town.check("approved");
    assert_eq!(
        town.server.call("PUT", "/v1/users/2/settings", "{}").expect(200),
        json!({"approve_followers": false, "default_audience": "public"})
    );
    town.check("nothing");
}

#[test]
fn a_batch_asks_and_the_application_may_say_that_it_is_approved() {
    let town = town();
    let batch = json!({"follow": ["2", "3"], "unfollow": []}).to_string();
    let found = town.server.call("POST", "/v1/users/4/following/batch", batch).expect(200);
    let words = |item: &Value| (item["relation"].as_str().unwrap().to_owned(), item["requested"] == true);
    let items = found["items"].as_array().unwrap();
    assert_eq!(items.iter().map(words).collect::<Vec<_>>(), [("none".into(), true), ("following".into(), false)]);
    let body = r#"{"approved":true,"since":95}"#;
    let found = town.server.call("PUT", "/v1/users/4/following/2", body).expect(200);
    assert_eq!((words(&found), &found["since"]), (("following".into(), false), &json!(95)));
    assert_eq!(town.server.get("/v1/users/2/follow-requests")["items"], json!([]));
    town.server.call("PUT", "/v1/users/4/following/2", r#"{"approved":5}"#).problem("a number", 400, "invalid_body");
}

#[test]
fn a_block_and_the_removal_of_a_follower_end_requests() {
    let mut town = town();
    town.approve_followers(4, true);
    town.follow(4, 2, 90);
    town.follow(2, 4, 91);
    town.check("both asked");
    town.block(2, 4);
    town.check("blocked");
    town.server.call("PUT", "/v1/users/4/following/2", "").problem("blocked", 403, "blocked");
    town.unblock(2, 4);
    town.check("unblocked");
    town.follow(4, 2, 92);
    town.server.call("DELETE", "/v1/users/2/followers/4", "").expect(200);
    town.model.requests.remove(&(4, 2));
    town.check("removed");
}

#[test]
fn requests_count_to_the_limit_of_follows() {
    let mut town = Town::with(&[("TIDELINE__GRAPH__FOLLOW_LIMIT", "4")]);
    town.approve_followers(6, true);
    town.follow(1, 6, 90);
    let full = |town: &Town, target: u64| {
        let reply = town.server.call("PUT", &format!("/v1/users/1/following/{target}"), "");
        reply.problem("at the limit", 422, "follow_limit");
    };
    full(&town, 5);
    town.approve(6, 1);
    full(&town, 5);
    town.unfollow(1, 6);
    town.follow(1, 5, 91);
    full(&town, 6);
    town.check("at the limit");
}
