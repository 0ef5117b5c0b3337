//! Profiles are kept as written, and reads for unknown users store nothing.

use crate::server::Server;

#[test]
fn extra_comes_back_as_it_was_written_also_after_a_restart() {
    let server = Server::start();
    let extra = r#"{"b":1.50, "a":{"x":[1e2,"é\n"]}}"#;
    server.call("PUT", "/v1/users/1", format!(r#"{{"extra":{extra}}}"#)).expect(200);
    assert!(server.call("GET", "/v1/users/1", "").text().contains(extra));
    let server = server.restart("KILL", &[]);
    assert!(server.call("GET", "/v1/users/1", "").text().contains(extra));
}

#[test]
fn a_read_for_a_user_of_whom_nothing_is_known_leaves_nothing_behind() {
    for own in ["false", "true"] {
        let server = Server::with(&[("TIDELINE__TIMELINE__INCLUDE_OWN", own)]);
        server.follow(1, 2, 10);
        server.publish(10, 2, 100);
        assert_eq!(server.ids("/v1/users/1/timeline"), [10]);
        let before = server.tables();
        for path in ["timeline", "timeline?view=ids", "timeline/unread", "marker", "content", "followers", "presence"] {
            server.get(&format!("/v1/users/77/{path}"));
            server.get(&format!("/v1/users/2/{path}"));
        }
        assert_eq!(server.tables(), before, "own content {own}");
        // After the first follow there is something to store.
        server.follow(77, 2, 20);
        assert_eq!(server.ids("/v1/users/77/timeline"), [10]);
    }
}
