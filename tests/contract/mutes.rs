//! `/v1/users/{uid}/mutes` and `/v1/users/{uid}/hidden-from`

use serde_json::json;

use super::model::{Pairs, User};
use super::town::Town;

impl Town {
    /// Raises a restriction, now: `mutes`, `hidden-from` or `blocks`.
    fn raise(&mut self, list: &str, user: User, target: User) {
        let path = format!("/v1/users/{user}/{list}");
        let reply = self.server.call("PUT", &format!("{path}/{target}"), "");
        let since = self.since(&path, target);
        self.restrictions(list).entry((user, target)).or_insert(since);
        if list == "blocks" {
            let others = |pair: &(User, User)| *pair != (user, target) && *pair != (target, user);
            self.model.follows.retain(|pair, _| others(pair));
            self.model.rules.retain(|pair, _| others(pair));
            self.model.requests.retain(|pair, _| others(pair));
        }
        assert_eq!(reply.expect(200), self.model.relation(user, target));
    }

    fn lift(&mut self, list: &str, user: User, target: User) {
        let reply = self.server.call("DELETE", &format!("/v1/users/{user}/{list}/{target}"), "");
        self.restrictions(list).remove(&(user, target));
        assert_eq!(reply.expect(200), self.model.relation(user, target));
    }

    fn restrictions(&mut self, list: &str) -> &mut Pairs {
        match list {
            "mutes" => &mut self.model.mutes,
            "hidden-from" => &mut self.model.hidden,
            _ => &mut self.model.blocks,
        }
    }

    pub(crate) fn mute(&mut self, user: User, target: User) {
        self.raise("mutes", user, target);
    }

    pub(crate) fn unmute(&mut self, user: User, target: User) {
        self.lift("mutes", user, target);
    }

    /// Hides one user's content from another.
    pub(crate) fn hide(&mut self, user: User, target: User) {
        self.raise("hidden-from", user, target);
    }

    pub(crate) fn unhide(&mut self, user: User, target: User) {
        self.lift("hidden-from", user, target);
    }

    pub(crate) fn block(&mut self, user: User, target: User) {
        self.raise("blocks", user, target);
    }

    pub(crate) fn unblock(&mut self, user: User, target: User) {
        self.lift("blocks", user, target);
    }
}

#[test]
fn a_mute_takes_an_author_out_of_the_timeline_alone() {
    let mut town = Town::new();
    for body in ["{}", " { } "] {
        town.server.call("PUT", "/v1/users/1/mutes/2", body).expect(200);
    }
    town.twice(&[(1, 2), (1, 3), (5, 2), (2, 5), (1, 99)], Town::mute);
    town.publish(json!({"content_id": 40, "author_id": 2, "published_at": 115, "topics": ["tea"]}));
    town.check("published while muted");
    town.twice(&[(1, 2), (6, 2), (5, 2), (1, 99), (3, 4)], Town::unmute);
}

#[test]
fn hidden_content_is_out_of_that_users_timeline_alone() {
    let mut town = Town::new();
    town.twice(&[(2, 1), (3, 1), (2, 5), (5, 2), (2, 99)], Town::hide);
    town.publish(json!({"content_id": 40, "author_id": 2, "published_at": 115, "topics": ["tea"]}));
    town.check("published while hidden");
    town.twice(&[(2, 1), (4, 6), (2, 5), (2, 99), (3, 4)], Town::unhide);
}

#[test]
fn nobody_mutes_or_hides_from_themselves() {
    let town = Town::new();
    town.server.call("PUT", "/v1/users/1/mutes/1", "").problem("self", 422, "self_mute");
    town.server.call("PUT", "/v1/users/1/hidden-from/1", "").problem("self", 422, "self_hide");
    for list in ["mutes", "hidden-from"] {
        let found = town.server.call("DELETE", &format!("/v1/users/1/{list}/1"), "").expect(200);
        assert_eq!(found, town.model.relation(1, 1));
    }
    town.check("nothing");
}
