//! `PUT /v1/users/{uid}/presence`

use super::town::Town;

#[test]
fn presence_is_said_again_and_again_and_changes_nothing_that_is_seen() {
    let town = Town::new();
    for body in [r#"{"online":true}"#, r#"{"online":true}"#, r#"{"online":false}"#, r#"{"online":false}"#] {
        let reply = town.server.call("PUT", "/v1/users/1/presence", body);
        assert!(matches!(reply.status, 200 | 204), "{reply:?}");
    }
    for bad in ["{}", r#"{"online":1}"#, r#"{"online":null}"#, r#"{"online":true,"ttl":5}"#] {
        town.server.call("PUT", "/v1/users/1/presence", bad).problem(bad, 400, "invalid_body");
    }
    town.check("present");
}
