//! Behaviour behind the API: pushes and their receivers, limits of stored rows, and items that are never fanned out.

use serde_json::json;
use tempfile::TempDir;

use super::town::Town;
use crate::server::clock::Clock;
use crate::server::{Server, run, wait_until};

fn in_inbox(server: &Server, user: u64, id: u64) -> bool {
    let found = server.get(&format!("/v1/admin/users/{user}/timeline/explain?content_id={id}"));
    assert_eq!(found["listed"], true, "whatever the inbox has: {found}");
    found["paths"].as_array().unwrap().iter().any(|path| path["in_inbox"] == true)
}

fn publish_all(server: &Server, author: u64, ids: std::ops::RangeInclusive<u64>) {
    let items: Vec<_> =
        ids.map(|id| json!({"content_id": id, "author_id": author, "published_at": id, "text": "x"})).collect();
    server.call("POST", "/v1/content/batch", json!({ "items": items }).to_string()).expect(201);
}

#[test]
fn an_inbox_keeps_the_newest_and_a_follow_fills_it_no_deeper() {
    let settings = [("TIDELINE__TIMELINE__INBOX_LIMIT", "10")];
    let server = Server::with(&settings);
    publish_all(&server, 2, 1..=50);
    server.follow(1, 2, 5);
    server.settle();
    let kept = |server: &Server, all: u64| (1..=all).filter(|id| in_inbox(server, 1, *id)).collect::<Vec<_>>();
    assert_eq!(kept(&server, 50), (41..=50).collect::<Vec<_>>(), "the newest, as many as the limit");
    publish_all(&server, 2, 51..=150);
    server.settle();
    let newest = |all: u64, count: u64| (all - count + 1..=all).rev().collect::<Vec<_>>();
    assert_eq!(server.ids("/v1/users/1/timeline?limit=100"), newest(150, 100));
    let (_, data) = server.stop("TERM");
    run(&["compact"], &data, &settings);
    let server = Server::on(data, &settings);
    let left = kept(&server, 150);
    // A trim waits for a slack of 16 beyond the limit.
    assert!((10..=26).contains(&left.len()), "{left:?}");
    assert_eq!(left, (151 - left.len() as u64..=150).collect::<Vec<_>>());
    assert_eq!(server.ids("/v1/users/1/timeline?limit=100"), newest(150, 100));
    assert_eq!(server.ids("/v1/users/1/timeline?limit=100&before=51-51"), newest(50, 50));
}

#[test]
fn an_author_is_pushed_to_all_to_the_active_or_to_nobody() {
    let settings = [("TIDELINE__FANOUT__PUSH_THRESHOLD", "1"), ("TIDELINE__FANOUT__PULL_THRESHOLD", "3")];
    let server = Server::with(&settings);
    // Author 2 has one follower, 3 has three, 4 has four.
    for (reader, authors) in [(11, 2..=4), (12, 3..=4), (13, 3..=4), (14, 4..=4)] {
        authors.for_each(|author| server.follow(reader, author, 5));
    }
    assert!(server.ids("/v1/users/12/timeline").is_empty());
    server.settle();
    for author in 2..=4 {
        server.publish(author * 10, author, author * 10);
    }
    server.settle();
    assert!(in_inbox(&server, 11, 20), "to all, also to whom was never seen");
    assert_eq!([11, 12, 13].map(|reader| in_inbox(&server, reader, 30)), [false, true, false], "to the active");
    assert_eq!([11, 12, 13, 14].map(|reader| in_inbox(&server, reader, 40)), [false; 4], "to nobody");
    for _ in 0..2 {
        assert_eq!(server.ids("/v1/users/11/timeline"), [40, 30, 20]);
        assert_eq!(server.ids("/v1/users/12/timeline"), [40, 30]);
        assert_eq!(server.ids("/v1/users/13/timeline"), [40, 30]);
        assert_eq!(server.ids("/v1/users/14/timeline"), [40]);
        server.settle();
        assert!(in_inbox(&server, 13, 30), "the read has brought the inbox up");
    }
}

#[test]
fn an_absent_reader_gets_no_pushes_and_everything_on_return() {
    let settings = [("TIDELINE__FANOUT__PUSH_THRESHOLD", "0"), ("TIDELINE__TIMELINE__ACTIVE_FOR", "1h")];
    let clock = Clock::new();
    let server = clock.start(TempDir::new().unwrap(), &settings);
    server.follow(1, 2, 5);
    assert!(server.ids("/v1/users/1/timeline").is_empty());
    server.settle();
    server.publish(10, 2, 10);
    server.settle();
    assert!(in_inbox(&server, 1, 10));
    // A server that runs follows a clock that is set only a minute later.
    let (_, data) = server.stop("TERM");
    clock.shift(3601);
    let server = clock.start(data, &settings);
    server.publish(11, 2, 11);
    server.settle();
    assert!(!in_inbox(&server, 1, 11));
    assert_eq!(server.ids("/v1/users/1/timeline"), [11, 10], "exact at once");
    server.settle();
    assert!(in_inbox(&server, 1, 11), "and rebuilt");
    server.publish(12, 2, 12);
    server.settle();
    assert!(in_inbox(&server, 1, 12), "and active again");
}

const FOLLOWERS: u64 = 240_000;
const AUTHOR: u64 = 1_000_000;
/// Another author, with one follower.
const OTHER: u64 = 1_000_001;
const FRIEND: u64 = 1_000_002;
const CHUNKS: &str = "tideline_fan_out_chunks_total";

#[test]
fn a_long_fan_out_serves_the_online_first_delays_no_other_and_goes_on_where_it_was_ended() {
    let data = TempDir::new().unwrap();
    let follows: String = (1..=FOLLOWERS).map(|user| format!("{user},{AUTHOR},1\n")).collect();
    let inputs = TempDir::new().unwrap();
    let file = inputs.path().join("follows.csv");
    std::fs::write(&file, follows).unwrap();
    run(&["import", "--follows", file.to_str().unwrap()], &data, &[]);
    // Chunks of one follower, one after the other, so the fan-out takes long.
    let slow = [
        ("TIDELINE__FANOUT__WORKERS", "1"),
        ("TIDELINE__FANOUT__CHUNK", "1"),
        ("TIDELINE__FANOUT__PUSH_THRESHOLD", "1000000"),
        // So that the progress is on disk soon.
        ("TIDELINE__STORAGE__ARRIVALS_FOR", "10ms"),
    ];
    let mut server = Server::on(data, &slow);
    server.follow(FRIEND, OTHER, 1);
    let path = format!("/v1/users/999999/following/{AUTHOR}");
    let mut item = 0;
    let rest = loop {
        // On a busy machine a fan-out may be done before it is looked at, or before the end: then the next one counts.
        item += 1;
        assert!(item <= 5, "the online are not served first, or each fan-out is done too soon: the test shows nothing");
        server.call("DELETE", &path, "").expect(200);
        server.settle();
        let before = server.figure(CHUNKS);
        server.call("PUT", &format!("/v1/users/{FOLLOWERS}/presence"), r#"{"online":true}"#).expect(200);
        server.publish(item, AUTHOR, 10 * item);
        wait_until("nothing is pushed", || in_inbox(&server, FOLLOWERS, item));
        // An item of another author does not wait for the rest.
        server.publish(100 + item, OTHER, 10 * item);
        wait_until("it waits for a long fan-out", || in_inbox(&server, FRIEND, 100 + item));
        // The one online is the last of all, and comes before this one.
        let is_done = || in_inbox(&server, FOLLOWERS - 1, item);
        if is_done() {
            continue;
        }
        // Meanwhile a user follows, unfollows and follows the author.
        for method in ["PUT", "DELETE", "PUT"] {
            server.call(method, &path, "").expect(200);
        }
        // Long enough for some of the progress to come to the disk, also on a busy machine.
        server.wait_for(CHUNKS, |chunks| chunks >= before + 80_000.0);
        if is_done() {
            continue;
        }
        server = server.restart("KILL", &slow);
        assert_eq!(server.ids("/v1/users/999999/timeline"), (1..=item).rev().collect::<Vec<_>>());
        server.settle();
        let rest = server.figure(CHUNKS);
        if rest > 0.5 {
            break rest;
        }
    };
    assert!(rest <= (FOLLOWERS - 900) as f64, "{rest} chunks after the restart: it began anew");
    for reader in [1, FOLLOWERS / 2, FOLLOWERS - 1, FOLLOWERS, 999_999] {
        assert!(in_inbox(&server, reader, item), "{reader}");
        assert_eq!(server.ids(&format!("/v1/users/{reader}/timeline")), (1..=item).rev().collect::<Vec<_>>());
    }
    let coalesced = server.figure("tideline_jobs_coalesced_total");
    assert!((2.0 - coalesced).abs() < 0.5, "of three changes of one pair only the last has work: {coalesced}");
}

#[test]
fn deletes_edits_mutes_and_reactions_are_no_fan_outs() {
    let mut town = Town::new();
    town.server.settle();
    let work = |town: &Town| {
        town.server.settle();
        let jobs = ["fan_out", "settle"].map(|kind| format!(r#"tideline_jobs_done_total{{kind="{kind}"}}"#));
        jobs.map(|name| town.server.figure(&name)).iter().sum::<f64>() + town.server.figure("tideline_deliveries_total")
    };
    let before = work(&town);
    town.delete(12);
    town.edit(10, json!({"text": "edited"}));
    town.mute(1, 3);
    town.hide(2, 3);
    town.unmute(6, 2);
    town.unhide(4, 6);
    town.react("like", 11, 4);
    town.profile(4, json!({"nickname": "Cleo"}));
    town.check("at read time");
    assert!((work(&town) - before).abs() < 0.5, "something was fanned out");
}
