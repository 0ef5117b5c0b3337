//! `audience` of items, and `viewer` of every call that shows content: what a viewer sees.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::model::{Item, Model, REACTIONS, User, content_cursor, in_path, number, paths, whole};
use super::town::Town;

impl Model {
    fn is_apart(&self, viewer: User, user: User) -> bool {
        let blocked = [(viewer, user), (user, viewer)].iter().any(|pair| self.blocks.contains_key(pair));
        viewer != user && (blocked || self.hidden.contains_key(&(user, viewer)))
    }

    /// Whether a viewer sees anything of a user.
    fn sees_user(&self, viewer: User, user: User) -> bool {
        !self.suspended.contains_key(&user) && !self.is_apart(viewer, user)
    }

    /// Whether an item is public, or for a viewer by one of its paths.
    pub(crate) fn is_for(&self, viewer: User, item: &Value) -> bool {
        let counts = |source: &User| {
            (*source == viewer || self.follows.contains_key(&(viewer, *source)))
                && !self.suspended.contains_key(source)
                && !self.hidden.contains_key(&(*source, viewer))
        };
        item["audience"] == "public" || paths(item).iter().any(counts)
    }

    fn sees(&self, viewer: User, id: Item) -> bool {
        let is_for = || !self.is_apart(viewer, self.author(id)) && self.is_for(viewer, &self.items[&id]);
        self.is_shown(id) && (self.author(id) == viewer || is_for())
    }

    /// The answers for a viewer; `None` for what must not be found.
    fn seen_by(&self, viewer: User) -> BTreeMap<String, Option<Value>> {
        let mut seen = BTreeMap::new();
        let listed = |ids: Vec<Item>| -> Vec<Value> {
            ids.into_iter().filter(|id| self.sees(viewer, *id)).map(|id| self.viewed(id, viewer)).collect()
        };
        let page = |ids: Vec<Item>| Some(whole(&listed(ids), content_cursor));
        let query = format!("viewer={viewer}&limit=100");
        for topic in &self.topics {
            let ids = self.select(|item| item["topics"].as_array().unwrap().contains(&json!(topic)));
            seen.insert(format!("/v1/topics/{topic}/content?{query}"), page(ids));
        }
        for user in &self.users {
            let of_user = |ids| page(if self.sees_user(viewer, *user) { ids } else { Vec::new() });
            let path = |list: &str| format!("/v1/users/{user}/{list}?{query}");
            seen.insert(path("content"), of_user(self.own_page(*user)));
            let by_user = |item: &Value| item["kind"] == "comment" && number(&item["author_id"]) == *user;
            seen.insert(path("comments"), of_user(self.select(by_user)));
            for kind in REACTIONS {
                let done = |item: &Value| self.reactions.contains_key(&(kind, number(&item["content_id"]), *user));
                let ids = self.select(done);
                let found = if *user == viewer { page(ids) } else { of_user(ids) };
                seen.insert(path(&format!("reactions/{}", in_path(kind))), found);
            }
        }
        let known: Vec<Item> = self.items.keys().chain(self.deleted.keys()).copied().collect();
        for id in &known {
            let sees = self.items.contains_key(id) && self.sees(viewer, *id);
            let alone = || {
                let mut item = self.viewed(*id, viewer);
                item.as_object_mut().unwrap().remove("author");
                item
            };
            seen.insert(format!("/v1/content/{id}?viewer={viewer}"), sees.then(alone));
            let comments = sees.then(|| page(self.comments(*id))).flatten();
            seen.insert(format!("/v1/content/{id}/comments?{query}"), comments);
        }
        let ids: Vec<String> = known.iter().map(Item::to_string).collect();
        let found = json!({ "items": listed(known) });
        seen.insert(format!("/v1/content?ids={}&viewer={viewer}", ids.join(",")), Some(found));
        seen
    }

    /// The users who reacted to an item, as a viewer sees them.
    fn reactors(&self, viewer: User, kind: &str, id: Item) -> Vec<String> {
        let all = self.reactions.iter().filter(|((other, item, _), _)| *other == kind && *item == id);
        let mut seen: Vec<_> = all.map(|((.., user), at)| (*at, *user)).collect();
        seen.retain(|(_, user)| self.sees_user(viewer, *user));
        seen.sort_unstable_by(|a, b| b.cmp(a));
        seen.into_iter().map(|(_, user)| user.to_string()).collect()
    }
}

/// Compares what each viewer sees with the model, and what the application sees.
#[track_caller]
fn check(town: &Town, what: &str) {
    town.check(what);
    // 77 is nobody.
    for viewer in town.model.users.iter().copied().chain([77]) {
        for (path, wanted) in town.model.seen_by(viewer) {
            let reply = town.server.call("GET", &path, "");
            match wanted {
                Some(wanted) => {
                    let found = reply.expect(200);
                    assert_eq!(found, wanted, "{what}: GET {path}\n  found {found}\n wanted {wanted}");
                }
                None => drop(reply.problem(&format!("{what}: GET {path}"), 404, "content_not_found")),
            }
        }
        for id in town.model.items.keys() {
            let reply = town.server.call("GET", &format!("/v1/content/{id}/reactions/like?viewer={viewer}"), "");
            if !town.model.sees(viewer, *id) {
                reply.problem(&format!("{what}: who likes {id}, for {viewer}"), 404, "content_not_found");
                continue;
            }
            let found = reply.expect(200);
            let found: Vec<_> = found["items"].as_array().unwrap().iter().map(|one| &one["user_id"]).collect();
            assert_eq!(json!(found), json!(town.model.reactors(viewer, "like", *id)), "{what}: {id} for {viewer}");
        }
    }
}

/// A town with a group, 9, and with items for followers only.
fn town() -> Town {
    let mut town = Town::new();
    town.model.users.insert(9);
    town.follow(1, 9, 95);
    for (id, author, more) in [
        (40, 2, json!({})),
        (41, 2, json!({"to": [9]})),
        (42, 3, json!({"to": [9], "broadcast": false})),
        (43, 4, json!({"broadcast": false})),
        (44, 1, json!({"to": [6]})),
    ] {
        let mut new_item = json!({"content_id": id, "author_id": author, "published_at": 100 + id, "topics": ["tea"],
                               "audience": "followers"});
        new_item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        town.publish(new_item);
    }
    town.publish(json!({"content_id": 45, "author_id": 4, "published_at": 145, "to": [9], "broadcast": false}));
    town.comment(41, json!({"content_id": 46, "author_id": 3, "published_at": 150, "text": "on a quiet item"}));
    let quiet =
        json!({"content_id": 47, "author_id": 4, "published_at": 151, "text": "for me", "audience": "followers"});
    town.comment(10, quiet);
    for (item, user) in [(40, 1), (41, 5), (42, 1), (42, 6), (45, 6)] {
        town.react("like", item, user);
    }
    town
}

#[test]
fn an_item_has_the_audience_of_its_publish() {
    let mut town = Town::new();
    let new_item = |audience: Value| {
        let mut new_item = json!({"content_id": 40, "author_id": 2, "published_at": 115});
        if !audience.is_null() {
            new_item["audience"] = audience;
        }
        new_item.to_string()
    };
    town.publish(serde_json::from_str(&new_item(json!("followers"))).unwrap());
    for same in [json!("followers"), Value::Null] {
        assert_eq!(town.server.call("POST", "/v1/content", new_item(same)).expect(200)["audience"], "followers");
    }
    let other = new_item(json!("public"));
    town.server.call("POST", "/v1/content", other).problem("another body", 409, "content_exists");
    let batch = json!({"items": [{"author_id": 2}, {"author_id": 2, "audience": null}, {"author_id": 2, "audience": "followers"}]});
    let reply = town.server.call("POST", "/v1/content/batch", batch.to_string()).expect(201);
    let audiences: Vec<_> = reply["items"].as_array().unwrap().iter().map(|item| &item["audience"]).collect();
    assert_eq!(json!(audiences), json!(["public", "public", "followers"]));
}

#[test]
fn each_viewer_sees_what_is_public_or_for_followers_of_a_path() {
    let mut town = town();
    check(&town, "at first");
    town.unfollow(1, 9);
    check(&town, "not in the group");
    town.unfollow(1, 2);
    check(&town, "no follower");
    town.follow(1, 9, 96);
    check(&town, "in the group again");
    town.mute(1, 9);
    town.mute(1, 2);
    check(&town, "a mute is no matter of visibility");
}

#[test]
fn hides_blocks_and_suspensions_lie_between_a_viewer_and_an_item() {
    let mut town = town();
    town.hide(9, 1);
    check(&town, "the group hides");
    town.unhide(9, 1);
    town.hide(2, 1);
    check(&town, "an author hides");
    town.unhide(2, 1);
    town.block(1, 2);
    check(&town, "the viewer blocks");
    town.unblock(1, 2);
    town.block(3, 1);
    check(&town, "an author blocks");
    town.suspend(9);
    check(&town, "the group is suspended");
    town.suspend(2);
    check(&town, "an author is suspended");
    town.unsuspend(9);
    town.delete(42);
    check(&town, "taken back, and an item deleted");
}

#[test]
fn a_list_shows_nothing_that_is_for_followers_only_to_others() {
    let mut town = town();
    town.put_list(5, "all", json!({}));
    town.change_members(5, "all", &[1, 2, 3, 4], &[]);
    let read = |town: &Town| {
        let page = town.server.get("/v1/users/5/lists/all/timeline?view=ids&limit=100");
        let ids = page["items"].as_array().unwrap().iter().map(|item| number(&item["content_id"]));
        let unread = town.server.get("/v1/users/5/lists/all/unread")["count"].as_u64().unwrap();
        (ids.collect::<Vec<_>>(), unread)
    };
    // 5 follows 2.
    let (ids, unread) = read(&town);
    assert!(ids.contains(&40) && ids.contains(&41) && !ids.contains(&44), "{ids:?}");
    assert_eq!(unread, ids.len() as u64);
    town.unfollow(5, 2);
    let (ids, unread) = read(&town);
    assert!(!ids.contains(&40) && !ids.contains(&41) && ids.contains(&10), "{ids:?}");
    assert_eq!(unread, ids.len() as u64);
    town.check("a list");
}

#[test]
fn a_timeline_has_no_other_viewer_than_its_user() {
    let mut town = town();
    town.put_list(1, "all", json!({}));
    town.change_members(1, "all", &[2, 3], &[]);
    for path in ["/v1/users/1/timeline", "/v1/users/1/lists/all/timeline"] {
        assert_eq!(town.server.get(&format!("{path}?viewer=1")), town.server.get(path), "{path}");
        town.server.call("GET", &format!("{path}?viewer=2"), "").problem(path, 400, "invalid_parameter");
    }
    for bad in ["viewer=", "viewer=%00", "viewer=1&viewer=1"] {
        for path in ["/v1/content/10", "/v1/users/2/content", "/v1/topics/tea/content", "/v1/content/10/reactions/like"]
        {
            town.server.call("GET", &format!("{path}?{bad}"), "").problem(path, 400, "invalid_parameter");
        }
    }
    let next = town.server.call("GET", "/v1/users/2/content?viewer=6&limit=1", "");
    assert!(next.header("link").unwrap().contains("viewer=6"), "{:?}", next.header("link"));
}
