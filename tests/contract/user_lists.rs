//! `/v1/users/{uid}/lists`

use serde_json::{Value, json};

use super::listener::Listener;
use super::model::{User, in_path, with_rule};
use super::town::Town;

impl Town {
    /// Makes a list, or changes it.
    pub(crate) fn put_list(&mut self, user: User, name: &str, settings: Value) {
        let body = if settings.is_null() { String::new() } else { settings.to_string() };
        let path = format!("/v1/users/{user}/lists/{}", in_path(name));
        let list = self.model.lists.entry((user, name.to_owned())).or_default();
        list.title = settings["title"].clone();
        list.exclusive = settings["exclusive"] == true;
        for (method, body) in [("PUT", body.as_str()), ("GET", "")] {
            let found = self.server.call(method, &path, body).expect(200);
            assert_eq!(found, self.model.list(user, name));
        }
    }

    /// Deletes a list; a second delete finds none.
    pub(crate) fn delete_list(&mut self, user: User, name: &str) {
        let path = format!("/v1/users/{user}/lists/{}", in_path(name));
        assert_eq!(self.server.call("DELETE", &path, "").status, 204);
        self.model.lists.remove(&(user, name.to_owned())).unwrap();
        for (method, end) in
            [("DELETE", ""), ("GET", ""), ("GET", "/members"), ("GET", "/timeline"), ("GET", "/unread")]
        {
            self.server.call(method, &format!("{path}{end}"), "").problem(end, 404, "list_not_found");
        }
    }

    /// Adds members to a list and removes others: one by its own call, several by a batch.
    pub(crate) fn change_members(&mut self, user: User, name: &str, add: &[User], remove: &[User]) {
        let path = format!("/v1/users/{user}/lists/{}/members", in_path(name));
        let found = match (add, remove) {
            ([member], []) => {
                let list = self.model.lists.get_mut(&(user, name.to_owned())).unwrap();
                list.rules.remove(member);
                json!([self.server.call("PUT", &format!("{path}/{member}"), "").expect(200)])
            }
            ([], [member]) => json!([self.server.call("DELETE", &format!("{path}/{member}"), "").expect(200)]),
            _ => {
                let body = json!({"add": add, "remove": remove}).to_string();
                self.server.call("POST", &format!("{path}/batch"), body).expect(200)["items"].clone()
            }
        };
        let list = self.model.lists.get_mut(&(user, name.to_owned())).unwrap();
        let mut wanted = Vec::new();
        for (member, found) in add.iter().zip(found.as_array().unwrap()) {
            let since = found["since"].as_u64().unwrap();
            assert!(since > 1_600_000_000_000, "{found}");
            let since = *list.members.entry(*member).or_insert(since);
            let object = json!({"user_id": member.to_string(), "member": true, "since": since});
            wanted.push(with_rule(object, list.rules.get(member)));
        }
        for member in remove {
            list.members.remove(member);
            list.rules.remove(member);
            wanted.push(json!({"user_id": member.to_string(), "member": false}));
        }
        assert_eq!(found, json!(wanted));
    }

    /// Adds a member to a list with a rule, or changes the rule of a member.
    pub(crate) fn put_member(&mut self, user: User, name: &str, member: User, rule: Value) {
        let path = format!("/v1/users/{user}/lists/{}/members/{member}", in_path(name));
        let found = self.server.call("PUT", &path, rule.to_string()).expect(200);
        let list = self.model.lists.get_mut(&(user, name.to_owned())).unwrap();
        let since = *list.members.entry(member).or_insert(found["since"].as_u64().unwrap());
        let wanted = json!({"user_id": member.to_string(), "member": true, "since": since});
        assert_eq!(found, with_rule(wanted, Some(&rule)));
        list.rules.insert(member, rule);
    }
}

#[test]
fn a_list_has_the_timeline_of_its_members() {
    let mut town = Town::new();
    for name in ["close", "\u{e9}/\u{1f30a}", " "] {
        town.put_list(1, name, Value::Null);
        town.check(&format!("{name:?} made"));
    }
    town.put_list(1, "close", json!({"title": "Close"}));
    town.put_list(5, "close", json!({"title": null, "exclusive": null}));
    town.check("changed, and of another user");
    // Followed or not, with nothing published, twice, and the user itself.
    for add in [&[2][..], &[4, 5], &[2, 99], &[1]] {
        town.change_members(1, "close", add, &[]);
        town.check(&format!("{add:?} added"));
    }
    town.change_members(1, "\u{e9}/\u{1f30a}", &[3], &[]);
    town.publish(json!({"content_id": 40, "author_id": 5, "published_at": 115}));
    town.delete(12);
    town.mute(1, 4);
    town.hide(2, 1);
    town.suspend(1);
    town.check("published, deleted, muted, hidden and suspended");
    town.unmute(1, 4);
    town.unhide(2, 1);
    town.unsuspend(1);
    town.change_members(1, "close", &[3], &[4, 77]);
    town.check("changed in a batch");
    for remove in [2, 2, 6] {
        town.change_members(1, "close", &[], &[remove]);
        town.check(&format!("{remove} removed"));
    }
    town.delete_list(1, "close");
    town.check("deleted");
    town.put_list(1, "close", json!({}));
    town.check("made again, without members");
}

#[test]
fn members_of_exclusive_lists_are_not_in_the_home_timeline() {
    let mut town = Town::new();
    town.put_list(1, "apart", json!({"exclusive": true}));
    town.check("without members");
    let mut stream = Listener::open(&town.server, 1, None);
    town.change_members(1, "apart", &[2, 6], &[]);
    town.check("one is followed");
    town.publish(json!({"content_id": 40, "author_id": 2, "published_at": 115}));
    stream.is_quiet();
    town.put_list(1, "second", json!({"exclusive": true}));
    town.change_members(1, "second", &[2], &[]);
    town.put_list(1, "apart", json!({"exclusive": false}));
    town.check("it is in another one still");
    town.delete_list(1, "second");
    town.check("in none");
    town.publish(json!({"content_id": 41, "author_id": 2, "published_at": 117}));
    assert_eq!(stream.event().data["content_id"], "41");
    town.put_list(1, "apart", json!({"exclusive": true}));
    town.follow(1, 6, 500);
    town.publish(json!({"content_id": 42, "author_id": 6, "published_at": 118}));
    town.check("followed later");
    stream.is_quiet();
    town.change_members(1, "apart", &[], &[6]);
    town.check("out again");
    town.publish(json!({"content_id": 43, "author_id": 6, "published_at": 119}));
    assert_eq!(stream.event().data["content_id"], "43");
    town.delete_list(1, "apart");
    town.check("deleted");
}

#[test]
fn a_list_has_a_marker_of_its_own() {
    let mut town = Town::new();
    town.put_list(1, "close", Value::Null);
    town.change_members(1, "close", &[2, 3], &[]);
    let path = "/v1/users/1/lists/close/marker";
    for (at, id, then) in [(110, 11, (110, 11)), (100, 10, (110, 11)), (110, 12, (110, 12))] {
        let body = json!({"cursor": format!("{at}-{id}")}).to_string();
        let found = town.server.call("PUT", path, body).expect(200);
        town.model.lists.get_mut(&(1, "close".to_owned())).unwrap().marker = Some(then);
        assert_eq!(found, json!({"cursor": format!("{}-{}", then.0, then.1)}));
        town.check(&format!("read to {at}-{id}"));
    }
    town.delete_list(1, "close");
    town.put_list(1, "close", Value::Null);
    town.check("without a marker again");
    let body = json!({"cursor": "110-11"}).to_string();
    town.server.call("PUT", "/v1/users/1/lists/none/marker", body).problem("no list", 404, "list_not_found");
}

#[test]
fn what_is_too_much_or_wrong_is_refused() {
    let settings = [("TIDELINE__GRAPH__FOLLOW_LIMIT", "4")];
    let mut town = Town::with(&settings);
    town.put_list(1, "close", Value::Null);
    town.change_members(1, "close", &[1, 2, 3], &[]);
    let members = "/v1/users/1/lists/close/members";
    let batch = |body: Value| town.server.call("POST", &format!("{members}/batch"), body.to_string());
    batch(json!({"add": [4, 5]})).problem("too many", 422, "member_limit");
    batch(json!({"add": [4], "remove": [4]})).problem("twice", 400, "invalid_body");
    batch(json!({"add": [], "remove": []})).problem("nothing", 400, "invalid_body");
    for title in [String::new(), "x".repeat(201)] {
        let body = json!({"title": title}).to_string();
        town.server.call("PUT", "/v1/users/1/lists/close", body).problem("a title", 400, "invalid_body");
    }
    for name in ["%ff", &"x".repeat(65)] {
        let path = format!("/v1/users/1/lists/{name}");
        town.server.call("PUT", &path, "").problem(&path, 400, "invalid_list");
        town.server.call("GET", &format!("{path}/timeline"), "").problem(&path, 400, "invalid_list");
    }
    for (method, path) in [("PUT", "none/members/2"), ("DELETE", "none/members/2"), ("GET", "none/marker")] {
        town.server.call(method, &format!("/v1/users/1/lists/{path}"), "").problem(path, 404, "list_not_found");
    }
    town.check("refused");
    town.change_members(1, "close", &[4, 5], &[3]);
    for number in 1..100 {
        town.server.call("PUT", &format!("/v1/users/1/lists/{number}"), "").expect(200);
    }
    town.server.call("PUT", "/v1/users/1/lists/100", "").problem("too many", 422, "list_limit");
    town.server.call("PUT", "/v1/users/1/lists/99", r#"{"title": "T"}"#).expect(200);
}
