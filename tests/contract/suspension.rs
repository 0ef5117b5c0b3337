//! `/v1/users/{uid}/suspension`

use serde_json::json;

use super::model::User;
use super::town::Town;

impl Town {
    /// Suspends a user, now.
    pub(crate) fn suspend(&mut self, user: User) {
        let found = self.server.call("PUT", &format!("/v1/users/{user}/suspension"), "").expect(200);
        let since = found["since"].as_u64().unwrap();
        assert!(since > 1_600_000_000_000, "{found}");
        self.model.suspended.entry(user).or_insert(since);
        let since = self.model.suspended[&user];
        assert_eq!(found, json!({"user_id": user.to_string(), "suspended": true, "since": since}));
    }

    /// Takes a suspension back.
    pub(crate) fn unsuspend(&mut self, user: User) {
        self.model.suspended.remove(&user);
        let found = self.server.call("DELETE", &format!("/v1/users/{user}/suspension"), "").expect(200);
        assert_eq!(found, json!({"user_id": user.to_string(), "suspended": false}));
    }
}

#[test]
fn nothing_of_a_suspended_user_is_in_a_list_until_it_is_taken_back() {
    let mut town = Town::new();
    for body in ["{}", " { } "] {
        town.server.call("PUT", "/v1/users/99/suspension", body).expect(200);
    }
    // Also a commenter, a user who reacted, and nobody.
    for user in [2, 3, 1, 5, 77] {
        town.suspend(user);
        town.check(&format!("{user} suspended"));
        town.suspend(user);
        town.check(&format!("{user} suspended twice"));
    }
    for user in [2, 3, 1, 5, 77, 6] {
        town.unsuspend(user);
        town.check(&format!("{user} taken back"));
        town.unsuspend(user);
        town.check(&format!("{user} taken back twice"));
    }
}

#[test]
fn changes_of_a_suspended_user_are_taken_and_shown_later() {
    let mut town = Town::new();
    town.suspend(2);
    town.publish(json!({"content_id": 40, "author_id": 2, "published_at": 115, "topics": ["tea"]}));
    town.check("published while suspended");
    town.edit(10, json!({"text": "changed"}));
    town.delete(12);
    town.check("edited and deleted while suspended");
    town.restore(12);
    town.check("restored while suspended");
    town.follow(4, 2, 95);
    town.unfollow(5, 2);
    town.mute(1, 2);
    town.check("followed, unfollowed and muted while suspended");
    town.unmute(1, 2);
    let reacted = town.server.call("PUT", "/v1/content/11/reactions/favorite/2", "").expect(200);
    town.model.reactions.insert(("favorite", 11, 2), reacted["since"].as_u64().unwrap());
    town.check("reacted while suspended");
    town.unsuspend(2);
    town.check("all is there");
}

#[test]
fn nobody_reacts_to_or_comments_on_items_of_a_suspended_user() {
    let mut town = Town::new();
    town.suspend(2);
    for method in ["PUT", "DELETE"] {
        let reply = town.server.call(method, "/v1/content/10/reactions/like/1", "");
        reply.problem("a reaction", 404, "content_not_found");
    }
    let body = json!({"author_id": 1, "text": "?"}).to_string();
    town.server.call("POST", "/v1/content/10/comments", body).problem("a comment", 404, "content_not_found");
    town.server.call("GET", "/v1/content/10?viewer=1", "").problem("a viewer", 404, "content_not_found");
    town.check("refused");
}
