//! A small community, and everything that can be seen of it.

use serde_json::{Value, json};

use super::client::Server;

/// Users 1 to 3 with follows and items.
pub(crate) fn world() -> Server {
    let server = Server::start();
    for (user, target, since) in [(1, 2, 10), (1, 3, 20), (2, 1, 30), (3, 2, 40)] {
        server.follow(user, target, since);
    }
    for (id, author, at) in [(10, 2, 100), (11, 3, 110), (12, 2, 120), (13, 1, 130)] {
        server.publish(id, author, at);
    }
    server
}

/// Everything that a change could show in.
pub(crate) fn snapshot(server: &Server) -> Value {
    let mut seen = json!({});
    for user in [1, 2, 3, 66] {
        for list in [
            "timeline",
            "content",
            "comments",
            "following",
            "followers",
            "friends",
            "reactions/like",
            "mutes",
            "hidden-from",
        ] {
            let path = format!("/v1/users/{user}/{list}?limit=100");
            seen[&path] = server.get(&path);
        }
        for path in ["", "/marker", "/timeline/unread"] {
            let path = format!("/v1/users/{user}{path}");
            seen[&path] = server.get(&path);
        }
        let verified = server.get(&format!("/v1/admin/users/{user}/timeline/verify"));
        assert_eq!(verified["exact"], true, "{verified}");
    }
    // Those reads have marked their users as seen.
    server.settle();
    seen["contents"] = server.get("/v1/content?ids=1,10,11,12,13,66,77");
    let tables = server.get("/v1/admin/stats")["tables"].take();
    seen["rows"] =
        tables.as_object().unwrap().iter().map(|(name, t)| (name.clone(), t["rows_estimate"].clone())).collect();
    seen
}
