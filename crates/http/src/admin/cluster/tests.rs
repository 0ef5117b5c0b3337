//! The body of a node.

use super::*;
use config::Config;

/// A node whose log does not answer.
pub(crate) fn status() -> Status {
    Status {
        log: "0f".repeat(16),
        position: 42,
        time: 7,
        clock_ahead: -61_500,
        incarnation: Some(39),
        differing: 2,
        lag: None,
        reachable: false,
        ready: false,
        slow: true,
        oldest_wait: std::time::Duration::from_millis(2500),
        caught_up: true,
        fault: None,
        applied: 40,
        passed_over: 8,
        records: 12,
        commands: 20,
        waiting: 3,
        level: 1,
        newest_level: 2,
    }
}

#[test]
fn a_node_shows_what_it_knows() {
    let mut cluster = Config::default().cluster;
    cluster.node = serde_json::from_value(json!("a")).expect("a name");
    cluster.members = serde_json::from_value(json!(["a=http://x", "b=https://y/z"])).expect("members");
    assert_eq!(
        serde_json::to_value(ClusterBody::new(&cluster, status())).expect("JSON"),
        json!({
            "node": "a", "log": "0f".repeat(16), "position": 42, "time": 7, "reachable": false, "ready": false,
            "slow": true, "caught_up": true, "applied": 40, "records": 12, "commands": 20, "waiting": 3, "level": 1,
            "newest_level": 2, "incarnation": 39,
            "members": [
                {"name": "a", "url": "http://x", "self": true},
                {"name": "b", "url": "https://y/z", "self": false}
            ]
        })
    );
    let none = serde_json::to_value(ClusterBody::default()).expect("JSON");
    assert_eq!(none, json!({"node": null, "members": []}));
}
