//! Times and ids that the server gives, while the system's clock is set forward and back.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use tempfile::TempDir;

use crate::server::clock::Clock;
use crate::server::{Server, run};

/// Publishes without an id and a time. Returns the cursor.
fn publish(server: &Server) -> (u64, u64) {
    published(server, r#"{"author_id":2,"kind":"comment"}"#)
}

fn published(server: &Server, body: &str) -> (u64, u64) {
    let item = server.call("POST", "/v1/content", body).expect(201);
    (item["published_at"].as_u64().unwrap(), item["content_id"].as_str().unwrap().parse().unwrap())
}

/// The number of cursors that rise: all, if they are right.
fn rising(cursors: &[(u64, u64)]) -> usize {
    cursors.windows(2).filter(|pair| pair[0] < pair[1]).count() + 1
}

/// The number of items that a list has after a place.
fn after(server: &Server, newest: (u64, u64)) -> usize {
    server.ids(&format!("/v1/users/2/comments?limit=100&view=ids&after={}-{}", newest.0, newest.1)).len()
}

#[test]
fn given_cursors_rise_over_restarts_whatever_the_clock_does() {
    let clock = Clock::new();
    let mut server = clock.start(TempDir::new().unwrap(), &[]);
    let mut cursors = Vec::new();
    for shift in [-3600, 100_000_000, -100_000_000, 0, 3600, -3600] {
        cursors.extend((0..20).map(|_| publish(&server)));
        let newest = cursors[cursors.len() - 1];
        let (_, data) = server.stop("KILL");
        clock.shift(shift);
        server = clock.start(data, &[]);
        cursors.extend((0..5).map(|_| publish(&server)));
        assert_eq!(after(&server, newest), 5, "{shift}");
    }
    assert_eq!(rising(&cursors), cursors.len());
}

#[test]
fn falling_ids_and_a_crash_take_no_cursor_back() {
    let server = Server::start();
    let next = AtomicU64::new(5000);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..150 {
                    let id = next.fetch_sub(1, Ordering::SeqCst);
                    published(&server, &format!(r#"{{"content_id":{id},"author_id":2,"kind":"comment"}}"#));
                }
            });
        }
    });
    let newest = server.get("/v1/users/2/comments?limit=1")["prev"].as_str().unwrap().to_owned();
    let (at, id) = newest.split_once('-').unwrap();
    let newest = (at.parse().unwrap(), id.parse().unwrap());
    let server = server.restart("KILL", &[]);
    let cursors: Vec<_> = (0..5).map(|_| publish(&server)).collect();
    assert_eq!((after(&server, newest), rising(&cursors)), (5, 5));
}

#[test]
fn a_clock_that_is_wrong_for_a_moment_leaves_no_trace() {
    let clock = Clock::new();
    let server = clock.start(TempDir::new().unwrap(), &[]);
    let mut cursors = vec![publish(&server)];
    for shift in [86_400, 0, -86_400, 0, 3600, 0] {
        clock.shift(shift);
        cursors.extend((0..20).map(|_| publish(&server)));
    }
    assert_eq!(rising(&cursors), cursors.len());
    let now = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let newest = cursors[cursors.len() - 1].0;
    assert!(newest.abs_diff(now) < 60_000, "{newest} at {now}");
}

#[test]
fn a_directory_whose_clock_was_far_ahead_once_goes_on_from_the_clock_when_it_is_told_to() {
    const YEAR: i64 = 365 * 86_400;
    let clock = Clock::new();
    let mut server = clock.start(TempDir::new().unwrap(), &[]);
    let before = publish(&server);
    let (_, data) = server.stop("TERM");
    clock.shift(YEAR);
    server = clock.start(data, &[]);
    server.call("POST", "/v1/content", r#"{"author_id":2,"content_id":5}"#).expect(201);
    let (_, data) = server.stop("TERM");
    clock.shift(0);
    let year = u64::try_from(YEAR * 1000).unwrap();
    server = clock.start(data, &[]);
    let ahead = publish(&server);
    assert!(ahead.0 > before.0 + year, "{ahead:?}");
    let (_, data) = server.stop("TERM");
    let told = run(&["retime"], &data, &[]);
    assert!(told.contains("ahead of the clock; they go on from the clock now"), "{told}");
    assert!(told.contains("stay above all others until then: 2"), "{told}");
    server = clock.start(data, &[]);
    let cursors = [publish(&server), publish(&server)];
    assert!(cursors[0].0 < before.0 + year / 2 && rising(&cursors) == 2, "{cursors:?}");
    let (_, data) = server.stop("TERM");
    let told = run(&["retime"], &data, &[]);
    assert!(told.contains("nothing has changed"), "{told}");
    server = clock.start(data, &[]);
    assert!(publish(&server).0 < before.0 + year / 2);
    run(&["check"], &server.stop("TERM").1, &[]);
}

#[test]
fn a_place_below_what_is_to_come_tells_nothing_of_other_items() {
    let (clock, settings) = (Clock::new(), [("TIDELINE__CONTENT__MAX_AHEAD", "36500d")]);
    clock.shift(3600);
    let server = clock.start(TempDir::new().unwrap(), &settings);
    publish(&server);
    let (_, data) = server.stop("TERM");
    // From now on times are ahead of the clock, so the next one is that of the item before.
    clock.shift(0);
    let server = clock.start(data, &settings);
    server.publish(7, 3, 4_000_000_000_000);
    let other = publish(&server);
    let page = server.get("/v1/users/3/content");
    assert_eq!(page["items"][0]["content_id"], "7");
    assert_eq!(page["prev"], format!("{}-{}", other.0 - 1, i64::MAX));
}
