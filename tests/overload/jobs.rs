//! More jobs than the queue holds.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::server::{PATIENCE, Reply, Server};

/// Chunks of one follower and one worker: a fan-out takes much longer than a publish.
const SLOW: [(&str, &str); 5] = [
    ("TIDELINE__FANOUT__QUEUE", "50"),
    ("TIDELINE__FANOUT__CHUNK", "1"),
    ("TIDELINE__FANOUT__WORKERS", "1"),
    ("TIDELINE__STORAGE__DURABILITY", "os"),
    ("TIDELINE__SERVER__SHUTDOWN_TIMEOUT", "4s"),
];
const FOLLOWERS: u64 = 300;
const AUTHORS: u64 = 3;
const CLIENTS: u64 = 6;
const REFUSED: &str = r#"tideline_overloaded_total{full="jobs"}"#;
/// Longest wait for a queue to be full, or empty again, on the slowest machine.
const LONGEST: Duration = Duration::from_secs(180);

/// Users 1001 and up follow authors 1 and up.
fn community(settings: &[(&str, &str)]) -> Server {
    let server = Server::with(settings);
    for user in 1001..=1000 + FOLLOWERS {
        let body = format!(r#"{{"follow":[{}]}}"#, (1..=AUTHORS).map(|a| a.to_string()).collect::<Vec<_>>().join(","));
        let path = format!("/v1/users/{user}/following/batch");
        while !taken(&server.call("POST", &path, &body), 200) {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    server.settle();
    server
}

/// Whether a change was accepted. If not, the refusal must be right.
fn taken(reply: &Reply, status: u16) -> bool {
    if reply.status != status {
        reply.problem("beyond the bound", 503, "overloaded");
        assert_eq!(reply.header("retry-after"), Some("1"));
    }
    reply.status == status
}

fn publish(server: &Server, id: u64) -> Reply {
    attempt(server, id).unwrap()
}

fn attempt(server: &Server, id: u64) -> Result<Reply, ureq::Error> {
    attempt_by(server, id, 1 + id % AUTHORS)
}

fn attempt_by(server: &Server, id: u64, author: u64) -> Result<Reply, ureq::Error> {
    let body = format!(r#"{{"content_id":{id},"author_id":{author},"published_at":{id}}}"#);
    server.attempt("POST", "/v1/content", body)
}

/// The whole timeline, page by page.
fn timeline(server: &Server, user: u64) -> Vec<u64> {
    let mut found = Vec::new();
    let mut path = format!("/v1/users/{user}/timeline?limit=100&view=ids");
    loop {
        let page = server.get(&path);
        found.extend(crate::server::ids(&page));
        let Some(next) = page["next"].as_str() else { return found };
        path = format!("/v1/users/{user}/timeline?limit=100&view=ids&before={next}");
    }
}

#[test]
fn beyond_the_queue_nothing_is_taken_and_nothing_is_lost() {
    let server = community(&SLOW);
    let refused_before = server.figure(REFUSED);
    let (acknowledged, refused) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let most_waiting = AtomicU64::new(0);
    let (over, began) = (AtomicBool::new(false), Instant::now());
    let look = || most_waiting.fetch_max(server.figure("tideline_job_places") as u64, Ordering::Relaxed);
    let (follows, unfollowed) = std::thread::scope(|scope| {
        let publishers: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let (server, acknowledged, refused) = (&server, &acknowledged, &refused);
                let (look, most_waiting) = (&look, &most_waiting);
                scope.spawn(move || {
                    let waiting = || most_waiting.load(Ordering::Relaxed);
                    let was_full = || refused.lock().unwrap().len() >= 10 && waiting() >= 25;
                    // On a slow machine the queue is full later.
                    for n in 1.. {
                        if n > 60 && (was_full() || began.elapsed() > LONGEST) {
                            break;
                        }
                        let id = n * CLIENTS + client;
                        if taken(&publish(server, id), 201) {
                            acknowledged.lock().unwrap().push(id);
                        } else {
                            refused.lock().unwrap().push(id);
                            look();
                        }
                    }
                })
            })
            .collect();
        let changes = scope.spawn(|| change_one_pair(&server));
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) && began.elapsed() < LONGEST {
                look();
            }
        });
        // Items are visible at once, however late the fan-out is.
        while publishers.iter().any(|publisher| !publisher.is_finished()) {
            let before = acknowledged.lock().unwrap().clone();
            let seen = timeline(&server, 1001);
            assert!(before.iter().all(|id| seen.contains(id)), "{before:?} in {seen:?}");
        }
        over.store(true, Ordering::Relaxed);
        changes.join().unwrap()
    });
    let (mut acknowledged, refused) = (acknowledged.into_inner().unwrap(), refused.into_inner().unwrap());
    assert!(acknowledged.len() >= 50 && refused.len() >= 10, "{} and {}", acknowledged.len(), refused.len());
    let most = most_waiting.load(Ordering::Relaxed);
    assert!((25..=50).contains(&most), "{most} jobs waited");
    assert_eq!((server.figure(REFUSED) - refused_before) as usize, refused.len() + unfollowed);
    for id in &refused {
        server.call("GET", &format!("/v1/content/{id}"), "").problem("refused", 404, "content_not_found");
    }

    server.settle();
    for gauge in [r#"tideline_jobs{kind="fan_out"}"#, r#"tideline_jobs{kind="settle"}"#, "tideline_pending_items"] {
        assert!(server.figure(gauge) < 0.5, "{gauge} is {}", server.figure(gauge));
    }
    assert!(server.figure("tideline_unsettled_pairs") < 0.5);
    acknowledged.sort_unstable_by(|a, b| b.cmp(a));
    for user in 1001..=1000 + FOLLOWERS {
        assert_eq!(timeline(&server, user), acknowledged, "user {user}");
    }
    let of_the_first: Vec<_> = acknowledged.iter().copied().filter(|id| id % AUTHORS == 0).collect();
    assert_eq!(timeline(&server, 9999), if follows { of_the_first } else { vec![] });
}

/// Follows and unfollows author 1 in turn. Returns whether user 9999 follows in the end, and the number of refusals.
fn change_one_pair(server: &Server) -> (bool, usize) {
    let (mut follows, mut refused) = (false, 0);
    for n in 0..60 {
        let method = if follows { "DELETE" } else { "PUT" };
        if taken(&server.call(method, "/v1/users/9999/following/1", ""), 200) {
            follows = !follows;
        } else {
            refused += 1;
        }
        if n % 10 == 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    (follows, refused)
}

#[test]
fn a_stop_under_load_keeps_its_time_and_all_that_was_acknowledged() {
    let server = community(&SLOW);
    let acknowledged = Mutex::new(Vec::new());
    let mut began = Instant::now();
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (server, acknowledged) = (&server, &acknowledged);
            scope.spawn(move || {
                for n in 1.. {
                    let id = n * CLIENTS + client;
                    let Ok(reply) = attempt(server, id) else { return };
                    if reply.status == 201 {
                        acknowledged.lock().unwrap().push(id);
                    } else {
                        reply.problem("under load", 503, "overloaded");
                    }
                }
            });
        }
        server.wait_for("tideline_job_places", |places| places >= 40.0);
        began = Instant::now();
        server.signal("TERM");
    });
    let (status, data) = server.stop("TERM");
    let took = began.elapsed();
    assert_eq!(status.code(), Some(0));
    assert!(took < PATIENCE, "{took:?}");

    let server = Server::on(data, &[]);
    let mut acknowledged = acknowledged.into_inner().unwrap();
    acknowledged.sort_unstable();
    let mut seen = timeline(&server, 1001);
    seen.reverse();
    // A publish whose answer did not arrive may have been taken.
    assert!(acknowledged.iter().all(|id| seen.binary_search(id).is_ok()), "{acknowledged:?} in {seen:?}");
    assert!(seen.len() <= acknowledged.len() + CLIENTS as usize, "{} of {}", seen.len(), acknowledged.len());
    server.settle();
    for user in 1001..=1000 + FOLLOWERS {
        assert!(timeline(&server, user).iter().rev().eq(&seen), "user {user}");
    }
}

/// Many dormant users return at once, more than the queue has room for.
#[test]
fn a_crowd_that_returns_does_not_flood_the_queue() {
    const AUTHORS: u64 = 30;
    const RETURNING: u64 = 40;
    // So small that readers at once need more.
    const QUEUE: u64 = 4;
    const WORKERS: u64 = 2;
    let server = Server::with(&[
        ("TIDELINE__FANOUT__QUEUE", &QUEUE.to_string()),
        ("TIDELINE__FANOUT__WORKERS", &WORKERS.to_string()),
        // Items are pushed to active followers only, so a dormant one lacks an item of each author.
        ("TIDELINE__FANOUT__PUSH_THRESHOLD", "0"),
        ("TIDELINE__STORAGE__DURABILITY", "os"),
    ]);
    let follow: Vec<_> = (1..=AUTHORS).map(|author| author.to_string()).collect();
    let follow = format!(r#"{{"follow":[{}]}}"#, follow.join(","));
    for user in 1001..=1000 + RETURNING {
        let path = format!("/v1/users/{user}/following/batch");
        // Alone, a batch may be larger than the queue.
        while !taken(&server.call("POST", &path, &follow), 200) {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    server.settle();
    for id in 1..=AUTHORS {
        while !taken(&attempt_by(&server, id, id).unwrap(), 201) {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    server.settle();
    let rebuilds = r#"tideline_jobs_done_total{kind="rebuild"}"#;
    let began = Instant::now();
    let mut most = 0;
    while server.figure(rebuilds) < RETURNING as f64 {
        std::thread::scope(|scope| {
            for part in 0..20 {
                let server = &server;
                scope.spawn(move || {
                    for user in (1001..=1000 + RETURNING).filter(|user| user % 20 == part) {
                        assert_eq!(timeline(server, user).len() as u64, AUTHORS, "user {user}");
                    }
                });
            }
            for _ in 0..20 {
                most = most.max(server.figure("tideline_job_places") as u64);
            }
        });
        assert!(began.elapsed() < LONGEST, "not all came back");
    }
    assert!(most <= QUEUE / 2, "{most} jobs at once: half of the queue is for others");
    assert!(server.figure("tideline_rebuilds_put_off_total") > 0.0);
    server.settle();
    for user in 1001..=1000 + RETURNING {
        assert_eq!(server.get(&format!("/v1/admin/users/{user}/timeline/verify"))["exact"], true);
    }
}
