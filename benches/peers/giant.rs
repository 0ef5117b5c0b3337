//! One author with very many active followers, and the other users meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::Bench;
use crate::client::{paced, quantile};
use crate::opened::{Ids, PAGE};
use crate::report::{Report, Side, Wanted, progress, short};
use crate::tideline_side::{Tideline, fill, follow, read};
use crate::trace::{FOLLOWERS, Trace};

/// Followers of the giant at full size.
const FOLLOWERS_OF_GIANT: u64 = 1_000_000;
/// Users beside them.
const OTHERS: u64 = 20_000;
/// Reads and publishes of others, a second.
const READS: f64 = 300.0;
const PUBLISHES: f64 = 100.0;
/// Giant's posts in a round, one after another.
const POSTS: u64 = 2;

/// Latencies of others in one stretch of time, milliseconds.
#[derive(Default)]
struct Latencies {
    reads: Vec<f64>,
    publishes: Vec<f64>,
}

struct Place {
    trace: Trace,
    server: Tideline,
    next: u64,
    random: Rng,
}

impl Place {
    /// Others read and publish while `work` runs.
    fn while_busy(&mut self, work: impl FnOnce(&Tideline)) -> Latencies {
        let is_over = AtomicBool::new(false);
        let go_on = || !is_over.load(Ordering::Relaxed);
        let Self { trace, server, next, random } = self;
        let (first, mut reader_random) = (*next, random.fork());
        let latencies = std::thread::scope(|scope| {
            let reads = scope.spawn(|| {
                let mut client = server.client();
                let read = || {
                    let reader = trace.reader(&mut reader_random);
                    client.get(&format!("/v1/users/{reader}/timeline?limit={PAGE}&view=ids"));
                };
                paced(READS, read, go_on)
            });
            let publishes = scope.spawn(|| {
                let (mut client, mut id) = (server.client(), first);
                let publish = || {
                    client.publish("/v1/content", &trace.post(id).new_item(Ids::Numbers));
                    id += 1;
                };
                paced(PUBLISHES, publish, go_on)
            });
            work(server);
            is_over.store(true, Ordering::Relaxed);
            let (reads, publishes) = (reads.join().expect("reads"), publishes.join().expect("publishes"));
            let milliseconds = |times: Vec<f64>| times.into_iter().map(|time| time * 1e3).collect();
            Latencies { reads: milliseconds(reads), publishes: milliseconds(publishes) }
        });
        *next += latencies.publishes.len() as u64;
        latencies
    }
}

pub fn run(bench: &Bench, report: &mut Report) {
    report.section("One author with very many followers");
    let followers = bench.size(FOLLOWERS_OF_GIANT);
    let trace = Trace::new(bench.size(OTHERS));
    let giant = trace.authors + trace.users + 1;
    let fans = giant + 1..=giant + followers;
    let data = bench.temp();
    let opened = fill(data.path(), &trace, trace.authors * 2);
    progress(&format!("making {followers} followers"));
    follow(&opened, fans.clone().map(|user| (user, giant)));
    progress("letting them read, so that they are active");
    read(&opened, fans.clone().chain(trace.authors + 1..=trace.authors + trace.users));
    drop(opened);
    let server = Tideline::start(data, &[]);
    let next = trace.authors * 2 + 1;
    let mut place = Place { trace, server, next, random: Rng::with_seed(7) };
    let (mut visible, mut delivered) = (Side::new("visible"), Side::new("delivered"));
    let (mut quiet, mut busy) = (Latencies::default(), Latencies::default());
    let deliveries = |server: &Tideline| server.figure("tideline_deliveries_total");
    for round in 0..=bench.rounds {
        let calm = place.while_busy(|_| std::thread::sleep(Duration::from_secs(bench.seconds.into())));
        place.server.settle();
        let (before, first) = (deliveries(&place.server), place.next);
        let mut random = place.random.fork();
        let (mut seen, mut done) = (Vec::new(), Vec::new());
        let under_load = place.while_busy(|server| {
            for turn in 0..POSTS {
                // Newer than all others, by the clock of the server.
                let id = (1_u64 << 50) + round as u64 * POSTS + turn;
                let new_item = format!(r#"{{"content_id":"{id}","author_id":"{giant}","text":"A giant's post"}}"#);
                let (mut client, begun) = (server.client(), Instant::now());
                client.publish("/v1/content", &new_item);
                let fan = random.u64(fans.clone());
                let page = client.get(&format!("/v1/users/{fan}/timeline?limit={PAGE}&view=ids"));
                seen.push(begun.elapsed().as_secs_f64() * 1e3);
                assert!(page.contains(&format!("\"content_id\":\"{id}\"")), "not visible: {page}");
                let why = format!("/v1/admin/users/{fan}/timeline/explain?content_id={id}");
                while client.get(&why).contains("\"pending\":true") {
                    assert!(begun.elapsed() < Duration::from_secs(120), "the post does not reach all followers");
                    std::thread::sleep(Duration::from_millis(5));
                }
                done.push(begun.elapsed().as_secs_f64());
            }
        });
        place.server.settle();
        let others = (place.next - first) * FOLLOWERS;
        let all = (POSTS * followers + others) as f64;
        assert!((deliveries(&place.server) - before - all).abs() < 1.0, "not all followers got the posts");
        progress(&format!("round {round}: delivered to all in {} s", short(done[0])));
        if round > 0 {
            visible.figures.append(&mut seen);
            delivered.figures.append(&mut done);
            for (all, mut part) in [(&mut quiet, calm), (&mut busy, under_load)] {
                all.reads.append(&mut part.reads);
                all.publishes.append(&mut part.publishes);
            }
        }
    }
    report.text(&format!(
        "The giant has {followers} followers, all active. Each post is read by a follower right after its answer, and \
         the next one follows when everything is delivered: {POSTS} a round. {OTHERS_NOTE}"
    ));
    report.table("ms until a follower has read it", &[&visible]);
    report.table("s until delivered to all", &[&delivered]);
    report.goal("giant's post delivered to all", Wanted::AtMost(1.5), "s", &delivered);
    for (name, quiet, busy) in
        [("publish", &mut quiet.publishes, &mut busy.publishes), ("read", &mut quiet.reads, &mut busy.reads)]
    {
        let (calm, loaded) = (quantile(quiet, 0.99), quantile(busy, 0.99));
        report.text(&format!(
            "Others' {name}, 99 %: {} ms quiet ({} calls), {} ms while the giant's posts are delivered ({} calls).",
            short(calm),
            quiet.len(),
            short(loaded),
            busy.len()
        ));
        let ratio = Side { name: name.into(), figures: vec![loaded / calm] };
        report.goal(&format!("others' {name} meanwhile, 99 %, against quiet"), Wanted::AtMost(2.0), "×", &ratio);
    }
}

const OTHERS_NOTE: &str = "Others read (300 a second) and publish to 200 followers each (100 a second) at a steady rate, \
                           each on one connection; their times count from the moment at which a call was due.";
