//! Fan-out while users follow authors with many items: each such follow puts many entries into one inbox.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use model::NewContent;
use serde_json::json;

use crate::Bench;
use crate::client::paced;
use crate::report::{Report, Side, Wanted, in_turn, progress};
use crate::tideline_side::{BATCH, Tideline, deliver, fill};
use crate::trace::{FOLLOWERS, Trace, batches};

/// Users at full size, and posts of a round.
const USERS: u64 = 20_000;
const POSTS: u64 = 60_000;
/// Authors who get new followers, beside those of the trace, and their items.
const FOLLOWED: u64 = 20;
const ITEMS: u64 = 1_000;
const FIRST: u64 = 1_000_000_000;
/// Follows a second.
const RATE: f64 = 100.0;

pub fn run(bench: &Bench, report: &mut Report) {
    report.section("Ratios: fan-out while users follow");
    let (data, trace) = (bench.temp(), Trace::new(bench.size(USERS)));
    progress("filling");
    let opened = fill(data.path(), &trace, trace.fill());
    // As new as the newest entries of the inboxes, so that a follow brings all of them.
    let at = trace.post(trace.fill()).at();
    let item = |n: u64| {
        let new_item =
            json!({"content_id": FIRST + n, "author_id": FIRST + n % FOLLOWED, "published_at": at + n / FOLLOWED});
        serde_json::from_value::<NewContent>(new_item).expect("a new_item")
    };
    deliver(&opened, (0..FOLLOWED * ITEMS).map(item).collect());
    drop(opened);
    let server = Tideline::start(data, &[("TIDELINE__TIMELINE__INBOX_LIMIT", &ITEMS.to_string())]);
    let (posts, followed) = (bench.size(POSTS).max(1000), RefCell::new(Side::new("follows a second")));
    let users = trace.authors + 1..=trace.authors + trace.users;
    let mut pairs = (FIRST..FIRST + FOLLOWED).flat_map(|author| users.clone().map(move |user| (user, author)));
    let mut next = trace.fill() + 1;
    let mut turn = |round: usize, follows: bool| {
        let is_over = AtomicBool::new(!follows);
        let batches = batches(trace.posts(next, posts), BATCH);
        let pushed = std::thread::scope(|scope| {
            let begun = Instant::now();
            let follower = scope.spawn(|| {
                let mut client = server.client();
                let follow = || {
                    let (user, author) = pairs.next().expect("a pair");
                    let path = format!("/v1/users/{user}/following/{author}");
                    assert_eq!(client.call("PUT", &path, "").status, 200, "{path}");
                };
                paced(RATE, follow, || !is_over.load(Ordering::Relaxed)).len()
            });
            server.push(&batches);
            let pushed = begun.elapsed();
            is_over.store(true, Ordering::Relaxed);
            let follows = follower.join().expect("follows");
            if round > 0 && follows > 0 {
                followed.borrow_mut().figures.push(follows as f64 / pushed.as_secs_f64());
            }
            pushed
        });
        server.settle();
        next += posts;
        (posts * FOLLOWERS) as f64 / pushed.as_secs_f64() / 1e6
    };
    let turn = RefCell::new(&mut turn);
    let sides = in_turn(
        bench.rounds,
        "M deliveries/s",
        &mut [
            ("quiet", &mut |round| turn.borrow_mut()(round, false)),
            ("with follows", &mut |round| turn.borrow_mut()(round, true)),
        ],
    );
    report.text(&format!(
        "{} users, an inbox limit of {ITEMS}; {posts} posts a round, until all are in all inboxes; meanwhile users follow authors \
         with {ITEMS} items each.",
        trace.users
    ));
    report.table("M deliveries/s", &sides.iter().collect::<Vec<_>>());
    report.table("a second", &[&followed.into_inner()]);
    let ratio = sides[1].over(&sides[0]);
    report.goal("fan-out with 100 follows a second of authors with 1,000 items", Wanted::AtLeast(0.85), "×", &ratio);
}
