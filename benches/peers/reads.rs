//! Pages: the newest 20 over HTTP and in the process, and pages below the floor.

use std::time::Instant;

use fastrand::Rng;
use feed::timeline;
use kv::Tier;
use model::{PageRequest, Span};

use crate::Bench;
use crate::client::quantile;
use crate::opened::{Ids, Opened, PAGE};
use crate::pages::{self, Source};
use crate::postgres_side::Postgres;
use crate::raw::{Raw, TRIED};
use crate::redis_side::{Redis, Trim};
use crate::report::{Report, Side, Wanted, in_turn, progress, short};
use crate::tideline_side::{self, Tideline, fill, read};
use crate::trace::{INBOX_LIMIT, Post, Trace, choose};
use crate::wrk::{CONNECTIONS, THREADS, load, script};

/// Users at full size.
const USERS: u64 = 20_000;
/// Those who read.
const READERS: u64 = 1_000;
/// Followees of the readers of pages below the floor.
const DEEP_FOLLOWEES: u64 = 1_000;
const DEEP_AUTHORS: u64 = 2_000;
const DEEP_READERS: u64 = 50;
/// Posts of each author, at full size.
const DEEP_POSTS: u64 = 40;
/// Pages below the floor in a round.
const DEEP_PAGES: usize = 2_000;

/// The newest page.
pub fn newest(bench: &Bench, report: &mut Report) {
    report.section("The newest page");
    let trace = Trace::new(bench.size(USERS));
    let mut random = Rng::with_seed(3);
    let readers = choose(&mut random, READERS.min(trace.users / 2), trace.authors + 1, trace.users);
    let posts = trace.fill();
    let (data, redis_dir, postgres_dir, raw_dir, scripts) =
        (bench.temp(), bench.temp(), bench.temp(), bench.temp(), bench.temp());
    progress("filling: Tideline");
    let opened = fill(data.path(), &trace, posts);
    read(&opened, readers.iter().copied());
    opened.feed.store().compact().expect("compacts");
    progress("filling: the bare engine");
    let raw = Raw::open(raw_dir.path(), TRIED[0]);
    raw.deliver(&trace, trace.posts(1, posts));
    raw.compact();
    let sides = in_process(bench, &opened, &raw, &readers);
    report.text(&format!(
        "The newest {PAGE} of {} readers, warm, from compacted files, without HTTP, on one thread:",
        readers.len()
    ));
    report.table("µs a page", &sides.iter().collect::<Vec<_>>());
    drop((opened, raw));

    let server = Tideline::start(data, &[]);
    progress("filling: Redis");
    let redis = Redis::start(redis_dir.path());
    redis.deliver(&trace, trace.posts(1, posts), Trim::Always);
    progress("filling: PostgreSQL");
    let postgres = Postgres::start(postgres_dir.path());
    postgres.fill(&trace, trace.posts(1, posts));
    let redis_pages = pages::redis(redis.port);
    let postgres_pages = pages::postgres(postgres.port, Source::Inbox);
    let pulled_pages = pages::postgres(postgres.port, Source::Followees);
    let address = server.address.to_string();
    for (view, query) in [("`view=ids`", "&view=ids"), ("full", "")] {
        let path = format!("/v1/users/{{}}/timeline?limit={PAGE}{query}");
        let script = script(scripts.path(), if query.is_empty() { "full" } else { "ids" }, readers.iter(), &path);
        let first = path.replace("{}", &readers[0].to_string());
        let answer = server.client().call("GET", &first, "");
        for side in [&redis_pages, &postgres_pages, &pulled_pages] {
            same_items(&answer.body, side, &first);
        }
        let bytes = answer.body.len();
        let bare = pages::bare(answer.link, answer.body);
        let ask = |address: &str| load(address, &script, bench.seconds);
        let sides = in_turn(
            bench.rounds,
            "pages/s",
            &mut [
                ("Tideline", &mut |_| ask(&address)),
                ("bare actix-web", &mut |_| ask(&bare)),
                ("Redis", &mut |_| ask(&redis_pages)),
                ("PostgreSQL, inbox", &mut |_| ask(&postgres_pages)),
                ("PostgreSQL, pull", &mut |_| ask(&pulled_pages)),
            ],
        );
        report.text(&format!(
            "Over HTTP, {view}, the newest {PAGE} of {} readers, {bytes} bytes of JSON, by `wrk` with {THREADS} \
             threads and {CONNECTIONS} connections for {} s a turn. The bare server answers with constant bytes; Redis and PostgreSQL read and write the page behind the same \
             actix-web. Tideline keeps its pages as bytes until something in them changes, and here nothing does. It has three event loops \
             for each core, its default; the others have one:",
            readers.len(),
            bench.seconds
        ));
        report.table("pages/s", &sides.iter().collect::<Vec<_>>());
        let [ours, bare, redis, inbox, pull] = &sides[..] else { unreachable!("five sides") };
        let wanted = if query.is_empty() { 0.65 } else { 0.8 };
        let page = format!("page of {PAGE} over HTTP, {view}, against");
        report.goal(&format!("{page} bare actix-web"), Wanted::AtLeast(wanted), "×", &ours.over(bare));
        if query.is_empty() {
            continue;
        }
        report.text(&format!(
            "Bare actix-web itself serves {} × the pages of Redis and {} × those of PostgreSQL with an inbox: no page behind it \
             can be further ahead. The client and the network of the kernel take most of the time of the processors.",
            short(bare.over(redis).median()),
            short(bare.over(inbox).median())
        ));
        report.goal(&format!("{page} Redis"), Wanted::AtLeast(4.0), "×", &ours.over(redis));
        report.goal(&format!("{page} PostgreSQL with an inbox"), Wanted::AtLeast(4.0), "×", &ours.over(inbox));
        report.goal(&format!("{page} PostgreSQL with a pull"), Wanted::AtLeast(4.0), "×", &ours.over(pull));
    }
}

/// All sides must show the same page.
fn same_items(ours: &[u8], side: &str, path: &str) {
    let mut client = crate::client::Client::new(side.parse().expect("an address"));
    let theirs = client.call("GET", path, "");
    let items = |body: &[u8]| serde_json::from_slice::<serde_json::Value>(body).expect("JSON")["items"].clone();
    assert!(items(ours) == items(&theirs.body), "{path}: another page: {}", String::from_utf8_lossy(&theirs.body));
}

/// Times of the newest page, in microseconds: of the feed in this process, and of a scan of the bare engine.
pub fn in_process(bench: &Bench, opened: &Opened, raw: &Raw, readers: &[u64]) -> Vec<Side> {
    let mut random = Rng::with_seed(3);
    let reads = 20_000;
    let request = PageRequest { span: Span::ALL, limit: PAGE };
    in_turn(
        bench.rounds,
        "µs",
        &mut [
            ("Tideline, in the process", &mut |_| {
                let begun = Instant::now();
                for _ in 0..reads {
                    let reader = opened.ids.user(readers[random.usize(..readers.len())]);
                    let read = opened.feed.read();
                    let in_memory = read.within(Tier::Memory);
                    let page = in_memory.find(&reader).and_then(|reader| {
                        timeline::page(in_memory, reader, &request).or_else(|_| timeline::page(read, reader, &request))
                    });
                    assert_eq!(page.expect("a page").items.len(), PAGE);
                }
                begun.elapsed().as_secs_f64() / f64::from(reads) * 1e6
            }),
            ("RocksDB, a scan of 20 rows", &mut |round| {
                let mut random = Rng::with_seed(round as u64);
                let begun = Instant::now();
                for _ in 0..reads {
                    assert_eq!(raw.scan(readers[random.usize(..readers.len())], PAGE), PAGE);
                }
                begun.elapsed().as_secs_f64() / f64::from(reads) * 1e6
            }),
        ],
    )
}

/// Pages below the floor: the inbox ends, and the page is merged from the followees' own pages.
pub fn below_floor(bench: &Bench, report: &mut Report) {
    report.section("Pages below the floor");
    let data = bench.temp();
    let posts = DEEP_AUTHORS * bench.size(DEEP_POSTS).max(4);
    let readers = DEEP_AUTHORS + 1..=DEEP_AUTHORS + DEEP_READERS;
    let opened = Opened::new(data.path(), Ids::Numbers);
    let mut random = Rng::with_seed(4);
    let follows: Vec<_> = readers
        .clone()
        .flat_map(|reader| {
            choose(&mut random, DEEP_FOLLOWEES, 1, DEEP_AUTHORS).into_iter().map(move |author| (reader, author))
        })
        .collect();
    tideline_side::follow(&opened, follows.into_iter());
    let written = (1..=posts).map(|id| Post { id, author: id % DEEP_AUTHORS + 1 });
    tideline_side::publish(&opened, written, posts);
    read(&opened, readers.clone());
    opened.feed.store().compact().expect("compacts");
    drop(opened);
    let server = Tideline::start(data, &[]);
    let mut client = server.client();
    let (mut middle, mut slowest, mut floor) = (Side::new("median"), Side::new("99 %"), Side::new("99 %"));
    // Some way below the floor, down to pages that are nearly the last.
    let newest_below = posts - 2 * INBOX_LIMIT * DEEP_AUTHORS / DEEP_FOLLOWEES;
    for round in 0..=bench.rounds {
        let mut ask = |ids: std::ops::Range<u64>| {
            let mut times = Vec::new();
            for _ in 0..DEEP_PAGES {
                let before = Post { id: random.u64(ids.clone()), author: 1 };
                let reader = random.u64(readers.clone());
                let path =
                    format!("/v1/users/{reader}/timeline?limit={PAGE}&view=ids&before={}-{}", before.at(), before.id);
                let begun = Instant::now();
                let page = client.get(&path);
                times.push(begun.elapsed().as_secs_f64() * 1e3);
                assert!(page.contains("content_id"), "an empty page: {page}");
            }
            times
        };
        let mut below = ask(1000.min(newest_below / 2)..newest_below);
        let mut above = ask(posts - 100..posts);
        if round > 0 {
            middle.figures.push(quantile(&mut below, 0.5));
            slowest.figures.push(quantile(&mut below, 0.99));
            floor.figures.push(quantile(&mut above, 0.99));
        }
        progress(&format!("round {round} of {}", bench.rounds));
    }
    report.text(&format!(
        "{DEEP_READERS} readers with {DEEP_FOLLOWEES} followees each and {} items in their timelines; an inbox limit of {INBOX_LIMIT}; \
         pages of {PAGE} at random depths, one after another on one connection:",
        posts * DEEP_FOLLOWEES / DEEP_AUTHORS
    ));
    middle.name = "below the floor, median".into();
    slowest.name = "below the floor, 99 %".into();
    floor.name = "above the floor, 99 %".into();
    report.table("ms a page", &[&middle, &slowest, &floor]);
    report.goal("page below the floor, 1,000 followees, 99 %", Wanted::AtMost(5.0), "ms", &slowest);
}
