//! Items that go to followers of further sources (`to`).

use model::ShownSources;
use serde_json::json;

use super::listener::Listener;
use super::town::Town;

#[test]
fn an_item_comes_through_each_of_its_paths_and_once() {
    let mut town = Town::new();
    // 9 is a group, in which nobody has written anything. 1 follows 2 and the group, 5 the group only.
    town.follow(1, 9, 81);
    town.follow(4, 9, 82);
    town.model.users.insert(9);
    for (id, author, to, broadcast) in [
        (40, 2, vec![9], true),
        (41, 3, vec![9, 4], false),
        (42, 6, vec![9], false),
        (43, 9, vec![2], true),
        (44, 1, vec![9], true),
        (45, 6, vec![], false),
    ] {
        town.publish(
            json!({"content_id": id, "author_id": author, "published_at": 115, "to": to, "broadcast": broadcast}),
        );
        town.check(&format!("{id} is published"));
    }
    let new_item = json!({"content_id": 41, "author_id": 3, "published_at": 115, "to": ["9", 4], "broadcast": false});
    town.server.call("POST", "/v1/content", new_item.to_string()).expect(200);
    for other in [json!([4, 9, 5]), json!([9]), json!([]), json!(null)] {
        let mut other_body = new_item.clone();
        other_body["to"] = other;
        town.server.call("POST", "/v1/content", other_body.to_string()).problem("other paths", 409, "content_exists");
    }
    town.comment(40, json!({"content_id": 46, "author_id": 5, "published_at": 120, "text": "to the group", "to": [9]}));
    town.check("a comment goes to the group");
    for id in [40, 41, 46] {
        town.delete(id);
        town.check(&format!("{id} is deleted"));
        town.restore(id);
        town.check(&format!("{id} is back"));
    }
    town.unfollow(1, 2);
    town.check("40 comes through the group");
    town.unfollow(1, 9);
    town.check("and not any more");
    town.follow(1, 9, 90);
    town.check("the group is followed again");
}

#[test]
fn restrictions_are_against_sources_and_against_authors_on_every_path() {
    let mut town = Town::new();
    town.follow(1, 9, 81);
    town.model.users.insert(9);
    town.publish(json!({"content_id": 40, "author_id": 6, "published_at": 115, "to": [9], "broadcast": false}));
    town.publish(json!({"content_id": 41, "author_id": 2, "published_at": 116, "to": [9]}));
    town.publish(json!({"content_id": 42, "author_id": 1, "published_at": 117, "to": [9]}));
    town.check("before");
    town.mute(1, 6);
    town.check("an author is muted in the group");
    town.unmute(1, 6);
    town.hide(6, 1);
    town.check("an author hides in the group");
    town.unhide(6, 1);
    town.mute(1, 9);
    town.check("the group is muted; its items by a followee come all the same");
    town.mute(1, 2);
    town.check("and then they do not");
    town.unmute(1, 9);
    town.check("nor through the group");
}

#[test]
fn a_reader_may_silence_more_authors_than_are_named_beside_the_sources() {
    let mut town = Town::new();
    town.follow(1, 9, 81);
    town.put_list(1, "groups", json!({}));
    town.change_members(1, "groups", &[9], &[]);
    town.publish(json!({"content_id": 40, "author_id": 6, "published_at": 115, "to": [9], "broadcast": false}));
    town.publish(json!({"content_id": 41, "author_id": 4, "published_at": 116, "to": [9], "broadcast": false}));
    town.check("before");
    let call = |method, path: &str| town.server.call(method, path, "").expect(200);
    let shows = |id: &str| {
        ["timeline", "lists/groups/timeline"].map(|list| {
            let page = call("GET", &format!("/v1/users/1/{list}?view=ids&limit=100"));
            page["items"].as_array().unwrap().iter().any(|item| item["content_id"] == id)
        })
    };
    call("PUT", "/v1/users/1/mutes/6");
    for muted in 1..=ShownSources::MOST_SILENCED {
        call("PUT", &format!("/v1/users/1/mutes/{}", 10_000 + muted));
    }
    assert_eq!((shows("40"), shows("41")), ([false; 2], [true; 2]));
    call("DELETE", "/v1/users/1/mutes/6");
    assert_eq!((shows("40"), shows("41")), ([true; 2], [true; 2]));
}

#[test]
fn an_item_is_taken_off_one_path() {
    let mut town = Town::new();
    for group in [9, 8] {
        town.follow(1, group, 81);
        town.model.users.insert(group);
    }
    town.follow(4, 9, 82);
    town.publish(json!({"content_id": 40, "author_id": 2, "published_at": 115, "to": [9, 8], "topics": ["tea"]}));
    town.publish(json!({"content_id": 41, "author_id": 6, "published_at": 116, "to": [9, 8], "broadcast": false}));
    town.comment(40, json!({"content_id": 42, "author_id": 4, "published_at": 120, "to": [9]}));
    let [mut both, mut group] = [1, 4].map(|user| Listener::open(&town.server, user, None));
    town.take_off(40, 9);
    town.check("it comes through its author still");
    let gone = group.event();
    assert_eq!((gone.event.as_str(), &gone.data["content_id"]), ("delete", &json!("40")));
    both.is_quiet();
    town.take_off(41, 9);
    town.check("it comes through the other group");
    town.take_off(41, 8);
    assert_eq!(both.event().data["content_id"], "41");
    town.check("it comes to nobody");
    town.take_off(40, 2);
    town.take_off(40, 8);
    town.check("nor does this one");
    town.delete(40);
    town.server.call("DELETE", "/v1/users/8/content/40", "").problem("deleted", 404, "content_not_found");
    town.restore(40);
    town.check("a restore brings no path back");
    town.take_off(42, 9);
    town.unfollow(1, 9);
    town.follow(1, 9, 90);
    town.check("nor does a new follow");
    let mut again = Listener::open(&town.server, 4, Some("115-40"));
    let events: Vec<_> = std::iter::from_fn(|| again.block(std::time::Duration::from_millis(300))).collect();
    assert!(events.iter().all(|sent| sent.event != "content"), "{events:?}");
    let new_item = json!({"content_id": 41, "author_id": 6, "published_at": 116, "to": [9, 8], "broadcast": false});
    town.server.call("POST", "/v1/content", new_item.to_string()).expect(200);
    town.check("a repeat of its publish");
    let why = town.server.get("/v1/admin/users/1/timeline/explain?content_id=41");
    assert_eq!((&why["reason"], &why["paths"]), (&json!("not_broadcast"), &json!([])), "{why}");
}

#[test]
fn bad_paths_are_refused() {
    let mut town = Town::new();
    let eleven: Vec<u64> = (100..111).collect();
    for (to, why) in [
        (json!([2]), "the author"),
        (json!(["2"]), "the author"),
        (json!([9, "9"]), "twice"),
        (json!(eleven), "too many"),
        (json!([0]), "no id"),
        (json!([""]), "no id"),
        (json!("9"), "no list"),
        (json!([null]), "no id"),
    ] {
        let new_item = json!({"content_id": 50, "author_id": 2, "to": to}).to_string();
        town.server.call("POST", "/v1/content", new_item).problem(why, 400, "invalid_body");
    }
    let twice = json!({"items": [{"author_id": 1}, {"author_id": 2, "to": [9, 9]}]}).to_string();
    let refused = town.server.call("POST", "/v1/content/batch", twice);
    assert!(refused.problem("twice", 400, "invalid_body")["detail"].as_str().unwrap().contains("items[1].to: 9"));
    town.check("nothing of what was refused");
    town.publish(json!({"content_id": 50, "author_id": 2, "published_at": 115, "to": (100..110).collect::<Vec<_>>()}));
    town.check("ten");
}

#[test]
fn a_server_knows_a_limited_number_of_kinds() {
    let town = Town::new();
    // The town has posts, reposts and comments.
    for kind in 0..247 {
        let new_item = json!({"author_id": 2, "content_id": 1000 + kind, "kind": format!("k{kind}")});
        town.server.call("POST", "/v1/content", new_item.to_string()).expect(201);
    }
    let one_more =
        |kind: &str| town.server.call("POST", "/v1/content", json!({"author_id": 2, "kind": kind}).to_string());
    one_more("clip").problem("one more", 422, "too_many_kinds");
    one_more("k246").expect(201);
    one_more("post").expect(201);
}
