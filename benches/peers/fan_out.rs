//! Fan-out into full inboxes that are trimmed, and a burst into short ones.

use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use tempfile::TempDir;

use crate::Bench;
use crate::postgres_side::{self, Postgres};
use crate::raw::{Raw, Setting, TRIED};
use crate::redis_side::{Redis, Trim};
use crate::report::{Report, Side, Wanted, in_turn, progress, short};
use crate::tideline_side::{Tideline, fill, settle, store};
use crate::trace::{FOLLOWERS, INBOX_LIMIT, Trace};

/// Users at full size.
const USERS: u64 = 20_000;
/// Rounds of Redis and PostgreSQL are shorter, because they would take most of the time of a run.
const SHORTER: [u64; 2] = [25, 50];
/// Deliveries of a round for each entry of full inboxes: with fewer, most rounds would have no compaction.
const TURNS: u64 = 5;
/// Users of the burst at full size: more than in the sustained run, because a burst finds most users anywhere.
const BURST_USERS: u64 = 100_000;
const BURST: u64 = 5_000_000;

/// The posts of a comparison, one set for all sides.
struct Rounds {
    trace: Trace,
    /// Posts in a round.
    posts: u64,
}

impl Rounds {
    fn new(users: u64) -> Self {
        let trace = Trace::new(users);
        let posts = TURNS * trace.users * INBOX_LIMIT / FOLLOWERS;
        Self { trace, posts }
    }

    /// The first post of a round.
    fn first(&self, round: usize) -> u64 {
        self.trace.fill() + 1 + round as u64 * self.posts
    }

    fn rate(&self, posts: u64, time: Duration) -> f64 {
        (posts * FOLLOWERS) as f64 / time.as_secs_f64() / 1e6
    }
}

/// Tries settings of the engine. Returns the best that writes the log.
fn best(bench: &Bench, report: &mut Report) -> Setting {
    let rounds = Rounds::new(bench.size(USERS));
    let mut tried = Vec::new();
    for setting in TRIED {
        let dir = bench.temp();
        let raw = Raw::open(dir.path(), *setting);
        // Two thirds of the inboxes are filled, and the last third counts.
        let third = rounds.trace.fill() / 3;
        raw.deliver(&rounds.trace, rounds.trace.posts(1, 2 * third));
        let time = raw.deliver(&rounds.trace, rounds.trace.posts(2 * third + 1, third));
        let rate = rounds.rate(third, time);
        progress(&format!("{}: {} M deliveries/s", setting.name, short(rate)));
        tried.push((rate, *setting));
    }
    tried.sort_by(|one, other| other.0.total_cmp(&one.0));
    report.text("Settings of the bare engine that were tried once each, best first; the best one with a log takes part in the rounds:");
    let lines = tried.iter().map(|(rate, setting)| format!("- {} M/s: {}", short(*rate), setting.name));
    report.text(&lines.collect::<Vec<_>>().join("\n"));
    tried.iter().find(|(_, setting)| setting.logged).expect("one with a log").1
}

/// Sustained: full inboxes, each delivery pushes an old entry out, and compactions are part of the time.
pub fn sustained(bench: &Bench, report: &mut Report) {
    report.section("Fan-out, sustained");
    let rounds = Rounds::new(bench.size(USERS));
    let Rounds { trace, posts } = &rounds;
    report.text(&format!(
        "{} users, each with {INBOX_LIMIT} entries (about) at the start; {} authors with {FOLLOWERS} followers each; a round \
         publishes {posts} posts, {} deliveries (Redis: 1 in {} of them, PostgreSQL: 1 in {}). The time of Tideline and of the bare engine ends when \
         everything is delivered and written, and no compaction runs or is due.",
        trace.users,
        trace.authors,
        posts * FOLLOWERS,
        SHORTER[0],
        SHORTER[1]
    ));
    let logged = best(bench, report);
    let dirs: [_; 5] = std::array::from_fn(|_| bench.temp());
    let [library, raw_dir, served, redis_dir, postgres_dir] = dirs;
    progress("filling: Tideline, through the library");
    let ours = fill(library.path(), trace, trace.fill());
    progress("filling: the bare engine");
    let raw = Raw::open(raw_dir.path(), logged);
    raw.deliver(trace, trace.posts(1, trace.fill()));
    let turn = |round: usize| trace.posts(rounds.first(round), *posts);
    let mut with_publish = Side::new("Tideline, with the publishes");
    let sides = in_turn(
        bench.rounds,
        "M deliveries/s",
        &mut [
            ("Tideline, fan-out in the process", &mut |round| {
                let published = store(&ours, turn(round));
                let begun = std::time::Instant::now();
                ours.work();
                settle(&ours);
                let worked = begun.elapsed();
                if round > 0 {
                    with_publish.figures.push(rounds.rate(*posts, published + worked));
                }
                rounds.rate(*posts, worked)
            }),
            ("RocksDB WriteBatch", &mut |round| rounds.rate(*posts, raw.deliver(trace, turn(round)))),
        ],
    );
    let [library_side, raw_side] = &sides[..] else { unreachable!("two sides") };
    report.text("Without HTTP, beside the bare engine, which writes each delivery as a row and drops old ones at compactions. Neither flushes its log:");
    report.table("M deliveries/s", &[library_side, &with_publish, raw_side]);
    let ratio = library_side.over(raw_side);
    report.goal(
        "fan-out, sustained, against the bare engine's WriteBatch at its best",
        Wanted::AtLeast(1.5),
        "×",
        &ratio,
    );
    drop((ours, raw, library, raw_dir));

    progress("filling: the server");
    drop(fill(served.path(), trace, trace.fill()));
    let server = Tideline::start(served, &[]);
    progress("filling: Redis");
    let redis = Redis::start(redis_dir.path());
    redis.deliver(trace, trace.posts(1, trace.fill()), Trim::Never);
    progress("filling: PostgreSQL");
    let postgres = Postgres::start(postgres_dir.path());
    postgres.fill(trace, trace.posts(1, trace.fill()));
    let mut unsettled = Side::new("Tideline, until delivered: the last writes and compactions left out");
    let [few, fewer] = SHORTER.map(|shorter| (posts / shorter).max(1));
    // Redis gets two rounds in each turn: one for each way to trim.
    let sides = in_turn(
        bench.rounds,
        "M deliveries/s",
        &mut [
            ("Tideline", &mut |round| {
                let (delivered, settled) = server.deliver(turn(round));
                if round > 0 {
                    unsettled.figures.push(rounds.rate(*posts, delivered));
                }
                rounds.rate(*posts, settled)
            }),
            ("Redis", &mut |round| {
                let from = trace.fill() + 1 + 2 * round as u64 * few;
                rounds.rate(few, redis.deliver(trace, trace.posts(from, few), Trim::Always))
            }),
            ("Redis, trimmed with every 32nd entry", &mut |round| {
                let from = trace.fill() + 1 + (2 * round as u64 + 1) * few;
                rounds.rate(few, redis.deliver(trace, trace.posts(from, few), Trim::Every(32)))
            }),
            ("PostgreSQL", &mut |round| {
                let from = trace.fill() + 1 + round as u64 * fewer;
                rounds.rate(fewer, postgres.deliver(trace, trace.posts(from, fewer)))
            }),
        ],
    );
    let [ours, redis_side, lazy, postgres_side] = &sides[..] else { unreachable!("four sides") };
    report.text(&format!(
        "End to end: Tideline takes batches of 1000 posts over HTTP from two connections, and each is durable before \
         its answer. Redis is fed by `redis-cli --pipe`: `ZADD` and `ZREMRANGEBYRANK` for each follower. PostgreSQL \
         gets one `INSERT … SELECT … unnest` a post on {} connections; a follower is trimmed in one of {} turns.",
        postgres_side::WRITERS,
        postgres_side::TRIMMED_EVERY
    ));
    report.table("M deliveries/s", &[ours, &unsettled, redis_side, lazy, postgres_side]);
    report.goal("fan-out over HTTP, sustained, against Redis", Wanted::AtLeast(5.0), "×", &ours.over(redis_side));
    report.goal(
        "fan-out over HTTP, sustained, against PostgreSQL",
        Wanted::AtLeast(10.0),
        "×",
        &ours.over(postgres_side),
    );
    let entries = (trace.users * INBOX_LIMIT) as f64;
    report.text(&format!(
        "Afterwards Redis has {} bytes of memory for each inbox entry (items included), PostgreSQL {} bytes of disk \
         (inbox with its index).",
        short(redis.memory() as f64 / entries),
        short(postgres.inbox_bytes() as f64 / entries)
    ));
}

/// A burst into inboxes that have room.
pub fn burst(bench: &Bench, report: &mut Report) {
    report.section("Fan-out, a burst");
    let trace = Trace::new(bench.size(BURST_USERS));
    let posts = bench.size(BURST) / FOLLOWERS;
    report.text(&format!(
        "{} deliveries to {} users, whose inboxes have room, over HTTP as above; the time ends when all posts are in all inboxes. Redis trims with each entry.",
        posts * FOLLOWERS,
        trace.users
    ));
    let rate = |time: Duration| (posts * FOLLOWERS) as f64 / time.as_secs_f64() / 1e6;
    progress("making follows");
    let follows = bench.temp();
    drop(fill(follows.path(), &trace, 0));
    // Each round has a new server, so that every burst finds the same state.
    let mut serve = |_| {
        let dir = copy(bench, follows.path());
        let server = Tideline::start(dir, &[]);
        rate(server.deliver(trace.posts(1, posts)).0)
    };
    let mut feed = |_| {
        let dir = bench.temp();
        rate(Redis::start(dir.path()).deliver(&trace, trace.posts(1, posts), Trim::Always))
    };
    let sides = in_turn(bench.rounds, "M deliveries/s", &mut [("Tideline", &mut serve), ("Redis", &mut feed)]);
    let [ours, redis] = &sides[..] else { unreachable!("two sides") };
    report.table("M deliveries/s", &[ours, redis]);
    report.goal("fan-out over HTTP, a burst", Wanted::AtLeast(1.0), "M/s", ours);
    report.goal("fan-out over HTTP, a burst, against Redis", Wanted::AtLeast(7.0), "×", &ours.over(redis));
}

/// A copy of a data directory, on the device.
fn copy(bench: &Bench, from: &Path) -> TempDir {
    let to = bench.temp();
    let mut done = Command::new("cp").arg("-r").arg(from.join(".")).arg(to.path()).status();
    if done.as_ref().is_ok_and(ExitStatus::success) {
        done = Command::new("sync").arg("-f").arg(to.path()).status();
    }
    assert!(done.expect("cp and sync run").success(), "the copy failed");
    to
}
