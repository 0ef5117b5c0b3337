//! `PUT` and `DELETE /v1/content/{content_id}/reactions/{kind}/{uid}`, and both lists of reactions

use serde_json::json;

use super::model::{Item, User, in_path};
use super::town::Town;
use crate::server::{Reply, Server};

impl Town {
    /// Reacts, now.
    pub(crate) fn react(&mut self, kind: &'static str, id: Item, user: User) {
        let list = format!("/v1/content/{id}/reactions/{}", in_path(kind));
        let reply = self.server.call("PUT", &format!("{list}/{user}"), "");
        let since = self.since(&list, user);
        self.model.reactions.entry((kind, id, user)).or_insert(since);
        self.reacted(&reply, kind, id, user);
    }

    /// Removes a reaction.
    pub(crate) fn unreact(&mut self, kind: &'static str, id: Item, user: User) {
        let reply = self.server.call("DELETE", &format!("/v1/content/{id}/reactions/{}/{user}", in_path(kind)), "");
        self.model.reactions.remove(&(kind, id, user));
        self.reacted(&reply, kind, id, user);
    }

    fn reacted(&self, reply: &Reply, kind: &'static str, id: Item, user: User) {
        let since = self.model.reactions.get(&(kind, id, user));
        let mut wanted = json!({"content_id": id.to_string(), "user_id": user.to_string(), "kind": kind,
            "active": since.is_some(), "counts": self.model.alone(id)["counts"]});
        if let Some(since) = since {
            wanted["since"] = json!(since);
        }
        assert_eq!(reply.expect(200), wanted);
    }
}

#[test]
fn each_user_counts_once() {
    let mut town = Town::new();
    for (kind, id, user) in
        [("like", 10, 2), ("favorite", 10, 1), ("favorite", 11, 5), ("like", 21, 1), ("👏 100%", 30, 6)]
    {
        town.react(kind, id, user);
        town.check(&format!("{user}: {kind} of {id}"));
        town.react(kind, id, user);
        town.check(&format!("{user}: {kind} of {id} twice"));
    }
    for (kind, id, user) in [("like", 10, 1), ("like", 10, 6), ("favorite", 10, 1), ("like", 20, 1), ("👏 100%", 12, 5)]
    {
        town.unreact(kind, id, user);
        town.check(&format!("{user}: no {kind} of {id}"));
        town.unreact(kind, id, user);
        town.check(&format!("{user}: no {kind} of {id} twice"));
    }
    town.react("like", 10, 1);
    town.check("liked again");
}

#[test]
fn there_are_the_kinds_of_the_setting_and_only_of_what_is_there() {
    let town = Town::new();
    for method in ["PUT", "DELETE"] {
        for kind in ["likes", "Like", "love", "%20like", "1", "%FF", "%F0%9F%91%8F", "a%2Fb"] {
            let reply = town.server.call(method, &format!("/v1/content/10/reactions/{kind}/1"), "");
            reply.problem(kind, 400, "invalid_kind");
        }
        town.server.call(method, "/v1/content/99/reactions/like/1", "").problem("no item", 404, "content_not_found");
    }
    for list in ["/v1/content/10/reactions/love", "/v1/users/1/reactions/love"] {
        town.server.call("GET", list, "").problem(list, 400, "invalid_kind");
    }
    town.server.call("GET", "/v1/content/99/reactions/like", "").problem("no item", 404, "content_not_found");
    town.check("nothing");
}

#[test]
fn a_reaction_keeps_the_time_it_came_with() {
    let town = Town::new();
    let path = "/v1/content/11/reactions/like/1";
    for (method, body, since) in [
        ("DELETE", "", None),
        ("PUT", r#"{"since":50}"#, Some(50)),
        ("PUT", r#"{"since":60}"#, Some(50)),
        ("PUT", "", Some(50)),
        ("DELETE", "", None),
        ("PUT", r#"{"since":70}"#, Some(70)),
    ] {
        let state = town.server.call(method, path, body).expect(200);
        assert_eq!((state["active"] == true, state["since"].as_u64()), (since.is_some(), since), "{method} {body}");
        let counts = if since.is_some() { json!({"like": 1}) } else { json!({}) };
        assert_eq!(state["counts"]["reactions"], counts, "{method} {body}");
    }
}

#[test]
fn a_kind_that_is_taken_out_of_the_settings_comes_back_with_its_name() {
    const KINDS: &str = "TIDELINE__REACTIONS__KINDS";
    let mut server = Server::with(&[(KINDS, "like,👏")]);
    server.publish(10, 2, 100);
    let of = |server: &Server, kind: &str| server.call("PUT", &format!("/v1/content/10/reactions/{kind}/1"), "");
    let clap = "%F0%9F%91%8F";
    of(&server, clap).expect(200);
    server = server.restart("TERM", &[(KINDS, "new,like")]);
    of(&server, clap).problem("no kind any more", 400, "invalid_kind");
    let list = format!("/v1/users/1/reactions/{clap}");
    server.call("GET", &list, "").problem("no kind any more", 400, "invalid_kind");
    assert_eq!(of(&server, "like").expect(200)["counts"]["reactions"], json!({"like": 1}));
    assert_eq!(server.get("/v1/content/10")["counts"]["reactions"], json!({"like": 1}));
    server = server.restart("TERM", &[(KINDS, "👏,like")]);
    assert_eq!(server.get("/v1/content/10")["counts"]["reactions"], json!({"👏": 1, "like": 1}));
    assert_eq!(server.ids(&list), [10]);
}
