//! Health, figures, and the verification of a timeline.

use serde_json::json;

use crate::server::Server;

#[test]
fn verify_compares_the_timeline_with_a_pull() {
    let server = Server::start();
    server.follow(1, 2, 1);
    for id in 1..=5 {
        server.publish(id, 2, id);
    }
    let path = "/v1/admin/users/1/timeline/verify";
    let exact = json!({"user_id": "1", "exact": true, "compared": 5, "complete": true, "missing": [], "extra": []});
    assert_eq!(server.get(path), exact);
    assert_eq!(server.get(&format!("{path}?depth=100000")), exact);
    let shallow = server.get(&format!("{path}?depth=3"));
    assert_eq!(
        (&shallow["compared"], &shallow["complete"], &shallow["exact"]),
        (&json!(3), &json!(false), &json!(true))
    );
}

#[test]
fn stats_name_every_table() {
    let server = Server::start();
    server.publish(1, 2, 3);
    let stats = server.get("/v1/admin/stats");
    assert_eq!(stats["version"], env!("CARGO_PKG_VERSION"));
    let tables = stats["tables"].as_object().unwrap();
    assert!(!tables.is_empty());
    assert!(tables.values().all(|table| table["rows_estimate"].is_u64() && table["bytes"].is_u64()), "{stats}");
}
