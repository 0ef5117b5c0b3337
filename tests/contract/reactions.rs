//! `PUT` and `DELETE /v1/content/{content_id}/reactions/{kind}/{uid}`, and both lists of reactions

use super::town::Town;

#[test]
fn each_user_counts_once() {
    let mut town = Town::new();
    for (kind, id, user) in
        [("like", 10, 2), ("favorite", 10, 1), ("favorite", 11, 5), ("like", 21, 1), ("like", 30, 6)]
    {
        town.react(kind, id, user);
        town.check(&format!("{user}: {kind} of {id}"));
        town.react(kind, id, user);
        town.check(&format!("{user}: {kind} of {id} twice"));
    }
    for (kind, id, user) in
        [("like", 10, 1), ("like", 10, 6), ("favorite", 10, 1), ("like", 20, 1), ("favorite", 12, 5)]
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
fn there_are_two_kinds_and_only_of_what_is_there() {
    let town = Town::new();
    for method in ["PUT", "DELETE"] {
        for kind in ["likes", "Like", "love", "%20like", "1"] {
            let reply = town.server.call(method, &format!("/v1/content/10/reactions/{kind}/1"), "");
            assert!(matches!(reply.status, 400 | 404), "{method} {kind}: {reply:?}");
            assert_eq!(reply.header("content-type"), Some("application/problem+json"));
        }
        town.server.call(method, "/v1/content/99/reactions/like/1", "").problem("no item", 404, "content_not_found");
    }
    for list in ["/v1/content/10/reactions/love", "/v1/users/1/reactions/love"] {
        let reply = town.server.call("GET", list, "");
        assert!(matches!(reply.status, 400 | 404), "{list}: {reply:?}");
    }
    town.server.call("GET", "/v1/content/99/reactions/like", "").problem("no item", 404, "content_not_found");
    town.check("nothing");
}
