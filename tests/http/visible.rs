//! The next read shows every acknowledged change, whatever the workers still have to do.

use std::fmt::Write as _;
use std::time::Instant;

use tempfile::TempDir;

use crate::server::{PATIENCE, Server, run, wait_until};

const FOLLOWERS: u64 = 300_000;
const AUTHOR: u64 = 1_000_000;
const OTHER: u64 = 1_000_001;

/// A data directory in which users 1 to [`FOLLOWERS`] follow [`AUTHOR`], and user 1 also follows [`OTHER`].
fn followed() -> TempDir {
    let data = TempDir::new().unwrap();
    let mut follows = format!("1,{OTHER},1\n");
    for user in 1..=FOLLOWERS {
        writeln!(follows, "{user},{AUTHOR},1").unwrap();
    }
    let inputs = TempDir::new().unwrap();
    let file = inputs.path().join("follows.csv");
    std::fs::write(&file, follows).unwrap();
    run(&["import", "--follows", file.to_str().unwrap()], &data, &[]);
    data
}

#[test]
fn a_fan_out_that_has_barely_begun_is_no_excuse() {
    // On a busy machine the fan-outs may be done before the reads.
    assert!((0..5).any(|_| reads_are_exact_amid_fan_outs()), "the fan-outs are done already: the test shows nothing");
}

/// Changes and reads while fan-outs have barely begun. False if they were done before.
fn reads_are_exact_amid_fan_outs() -> bool {
    // One worker and chunks of one follower, so the fan-outs take long.
    let slow = [
        ("TIDELINE__FANOUT__WORKERS", "1"),
        ("TIDELINE__FANOUT__CHUNK", "1"),
        ("TIDELINE__FANOUT__PUSH_THRESHOLD", "1000000"),
    ];
    let server = Server::on(followed(), &slow);
    let waiting = || server.get("/v1/admin/stats")["jobs"]["waiting"].as_u64().unwrap();
    for id in 1..=5 {
        server.publish(id, AUTHOR, id);
    }
    server.publish(6, OTHER, 6);
    let readers = || [1, 2, 777, 50_000, FOLLOWERS - 1, FOLLOWERS].into_iter();
    for reader in readers() {
        let expected: &[u64] = if reader == 1 { &[6, 5, 4, 3, 2, 1] } else { &[5, 4, 3, 2, 1] };
        assert_eq!(server.ids(&format!("/v1/users/{reader}/timeline")), expected);
    }
    server.call("DELETE", "/v1/content/4", "");
    server.call("PATCH", "/v1/content/5", r#"{"text":"changed"}"#).expect(200);
    server.call("DELETE", &format!("/v1/users/1/following/{AUTHOR}"), "").expect(200);
    server.follow(777, OTHER, 5);
    server.publish(7, AUTHOR, 3);
    if waiting() == 0 {
        return false;
    }
    assert_eq!(server.ids("/v1/users/1/timeline"), [6]);
    assert_eq!(server.ids("/v1/users/777/timeline"), [6, 5, 7, 3, 2, 1]);
    for reader in [2, 50_000, FOLLOWERS] {
        let page = server.get(&format!("/v1/users/{reader}/timeline"));
        assert_eq!(crate::server::ids(&page), [5, 7, 3, 2, 1]);
        assert_eq!(page["items"][0]["text"], "changed");
    }
    if waiting() == 0 {
        return false;
    }
    // It holds from the first request after a crash.
    let server = server.restart("KILL", &slow);
    assert_eq!(server.ids("/v1/users/1/timeline"), [6]);
    assert_eq!(server.ids("/v1/users/777/timeline"), [6, 5, 7, 3, 2, 1]);
    assert_eq!(server.ids(&format!("/v1/users/{FOLLOWERS}/timeline")), [5, 7, 3, 2, 1]);
    true
}

#[test]
fn an_inbox_that_was_dropped_is_missed_by_nobody() {
    let server = Server::with(&[("TIDELINE__TIMELINE__EVICT_AFTER", "700ms")]);
    server.follow(1, 2, 1);
    server.publish(1, 2, 10);
    server.settle();
    let explain = |id: u64| server.get(&format!("/v1/admin/users/1/timeline/explain?content_id={id}"));
    let began = Instant::now();
    loop {
        assert_eq!(server.ids("/v1/users/1/timeline"), [1]);
        // On a slow machine the inbox may be dropped by now.
        if explain(1)["paths"][0]["in_inbox"] == true {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "the inbox is never there");
    }
    wait_until("the inbox is never dropped", || explain(1)["paths"][0]["in_inbox"] != true);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as u64;
    server.publish(2, 2, now + 60_000);
    server.settle();
    let skipped = explain(2);
    assert_eq!((&skipped["paths"][0]["in_inbox"], &skipped["listed"]), (&false.into(), &true.into()), "{skipped}");
    // The return is exact at once, and rebuilds the inbox above the floor.
    assert_eq!(server.ids("/v1/users/1/timeline"), [2, 1]);
    server.settle();
    assert_eq!(server.ids("/v1/users/1/timeline"), [2, 1]);
    assert_eq!(server.get("/v1/admin/users/1/timeline/verify")["exact"], true);
}
