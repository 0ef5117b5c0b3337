//! Profiles are kept as written, and reads for unknown users store nothing.

use serde_json::json;

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
fn lengths_are_limited_in_characters() {
    let server = Server::start();
    for (field, begin, most) in [("nickname", "", 200), ("avatar", "https://", 2048)] {
        let text = |length: usize| format!("{begin}{}", "é".repeat(length - begin.len()));
        let put = |text: &str| server.call("PUT", "/v1/users/1", json!({field: text}).to_string());
        let least = begin.len() + 1;
        for length in [most, least] {
            assert_eq!(put(&text(length)).expect(200)[field], text(length));
        }
        for text in ["", &text(most + 1)] {
            let problem = put(text).problem(field, 400, "invalid_body");
            assert!(problem["detail"].as_str().unwrap().contains(field), "{problem}");
        }
        assert_eq!(server.get("/v1/users/1")[field], text(least), "nothing has changed");
    }
}

/// A page of users would make browsers call the API.
#[test]
fn an_avatar_is_a_picture_or_a_whole_address() {
    let server = Server::start();
    let put = |avatar: &str| server.call("PUT", "/v1/users/1", json!({"avatar": avatar}).to_string());
    for avatar in ["https://example.org/a.png", "http://example.org", "data:image/png;base64,AAAA"] {
        assert_eq!(put(avatar).expect(200)["avatar"], avatar);
    }
    for avatar in [
        "/v1/admin/stats",
        "v1/admin/stats",
        "//example.org/a.png",
        "https:///a.png",
        "data:text/html,a",
        "javascript:1",
    ] {
        let problem = put(avatar).problem(avatar, 400, "invalid_body");
        assert!(problem["detail"].as_str().unwrap().contains("avatar: expected https://"), "{problem}");
    }
    assert_eq!(server.get("/v1/users/1")["avatar"], "data:image/png;base64,AAAA", "nothing has changed");
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
