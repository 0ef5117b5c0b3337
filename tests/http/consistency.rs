//! The consistency of reads on a server without a cluster: the parameter and the header are checked, and change nothing.

use serde_json::json;

use crate::server::Server;
use crate::server::described::document;

const PATH: &str = "/v1/users/1/timeline";

#[test]
fn a_client_of_a_cluster_is_served_by_a_single_server() {
    let server = Server::start();
    server.follow(1, 2, 1);
    server.publish(5, 2, 50);
    let plain = server.call("GET", PATH, "");
    for query in ["?consistency=strict", "?consistency=local", "?consistency=%73trict"] {
        let reply = server.call("GET", &format!("{PATH}{query}"), "");
        assert_eq!(reply.expect(200), plain.expect(200), "{query}");
        assert_eq!(reply.header("tideline-position"), None, "there is no command log");
    }
    let session = [("tideline-position", "0f7c5b1d9a3e42662a, v2.of~a-later-version")];
    let reply = server.call_as("GET", &format!("{PATH}?limit=1&consistency=session"), "", &session);
    assert_eq!(reply.expect(200), plain.expect(200), "there is nothing to wait for");
    assert!(!reply.header("link").unwrap().contains("consistency"), "{reply:?}");
    assert_eq!(server.call_as("GET", PATH, "", &session).status, 200);
    assert_eq!(server.call("HEAD", &format!("{PATH}?consistency=local"), "").status, 200);
    assert_eq!(server.call("HEAD", "/v1/users/1/stream?consistency=local", "").status, 200);
    // A change takes no such parameter, and ignores the header.
    let change = "/v1/users/1/following/2";
    server.call("PUT", &format!("{change}?consistency=local"), "").problem("a change", 400, "invalid_parameter");
    assert_eq!(server.call_as("PUT", change, "", &[("tideline-position", "x")]).status, 200);
}

#[test]
fn a_position_is_text_of_an_answer_and_needed_for_session() {
    let server = Server::start();
    let session = format!("{PATH}?consistency=session");
    let told = server.call("GET", &session, "").problem("no position", 400, "invalid_header");
    assert!(told["detail"].as_str().unwrap().starts_with("tideline-position: consistency=session needs"), "{told}");
    for bad in ["+1", "1,", "1 2", "\"x\"", &"1".repeat(101), &["1"; 101].join(",")] {
        for path in [PATH, &session, "/v1/content?ids=1", "/v1/users/1/stream"] {
            let reply = server.call_as("GET", path, "", &[("tideline-position", bad)]);
            reply.problem(&format!("{path} {bad}"), 400, "invalid_header");
        }
    }
    let twice = [("tideline-position", "1"), ("tideline-position", "1")];
    assert_eq!(server.call_as("GET", &session, "", &twice).status, 200, "several are one list");
}

#[test]
fn each_read_of_shared_data_takes_them_and_no_other_call() {
    let of_one_server =
        ["alerts", "backups", "backups/{name}", "cluster", "history", "keys", "settings", "stats", "webhooks"]
            .map(|path| format!("/v1/admin/{path}"));
    for (path, item) in document()["paths"].as_object().unwrap() {
        for (method, call) in item.as_object().unwrap() {
            let reads = method == "get" && path.starts_with("/v1/") && !of_one_server.contains(path);
            let parameters = call["parameters"].as_array().cloned().unwrap_or_default();
            for name in ["consistency", "Tideline-Position"] {
                let takes = parameters.iter().any(|parameter| parameter["name"] == name);
                assert_eq!(takes, reads, "{method} {path}: {name}");
            }
        }
    }
}

#[test]
fn a_server_without_a_cluster_says_so() {
    let server = Server::start();
    let reply = server.call("GET", "/v1/admin/cluster", "");
    assert_eq!(reply.expect(200), json!({"node": null, "members": []}));
    server.call("GET", "/v1/admin/cluster?consistency=local", "").problem("one server", 400, "invalid_parameter");
}
