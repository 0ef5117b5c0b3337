//! Fan-out and pages beside the bare engine and the bare web server, and names beside numbers as ids, in some minutes.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::Bench;
use crate::opened::{Ids, Opened, PAGE};
use crate::pages;
use crate::raw::{Raw, TRIED};
use crate::reads::in_process;
use crate::report::{Report, Side, Wanted, in_turn, progress};
use crate::tideline_side::{Tideline, fill_with, follow, read, store};
use crate::trace::{FOLLOWERS, Trace, choose};
use crate::wrk::{CONNECTIONS, THREADS, load, publishes, refreshes, script};

/// Users and posts of a round of the fan-out, at full size; each author has [`FOLLOWERS`] of the users.
const USERS: u64 = 200_000;
const POSTS: u64 = 10_000;
/// Users of the pages, at full size, and those who read.
const PAGE_USERS: u64 = 4_000;
const READERS: u64 = 500;

pub fn run(bench: &Bench, report: &mut Report) {
    fan_out(bench, report);
    let trace = Trace::new(bench.size(PAGE_USERS));
    let readers = choose(&mut Rng::with_seed(3), READERS.min(trace.users / 2), trace.authors + 1, trace.users);
    pages_in_process(bench, report, &trace, &readers);
    over_http(bench, report, &trace, &readers);
}

/// Fan-out in this process, with numbers and with names, and batches of the bare engine.
fn fan_out(bench: &Bench, report: &mut Report) {
    report.section("Ratios: fan-out");
    let (trace, posts) = (Trace::with(bench.size(USERS), 1), bench.size(POSTS));
    let dirs: [_; 3] = std::array::from_fn(|_| bench.temp());
    let open = |dir: usize, ids| {
        let opened = Opened::new(dirs[dir].path(), ids);
        follow(&opened, trace.follows());
        opened
    };
    let (numbers, names) = (open(0, Ids::Numbers), open(1, Ids::Names));
    let raw = Raw::open(dirs[2].path(), TRIED[0]);
    let published = RefCell::new([Side::new("numbers"), Side::new("names")]);
    let turn = |round: usize| trace.posts(1 + round as u64 * posts, posts);
    let rate = |count: u64, time: Duration| count as f64 / time.as_secs_f64() / 1e3;
    let deliver = |opened: &Opened, place: usize, round: usize| {
        let time = store(opened, turn(round));
        if round > 0 {
            published.borrow_mut()[place].figures.push(rate(posts, time));
        }
        rate(posts * FOLLOWERS, opened.work())
    };
    let sides = in_turn(
        bench.rounds,
        "k deliveries/s",
        &mut [
            ("Tideline, numbers", &mut |round| deliver(&numbers, 0, round)),
            ("Tideline, names", &mut |round| deliver(&names, 1, round)),
            ("RocksDB WriteBatch, one thread, one batch a post", &mut |round| {
                let begun = Instant::now();
                raw.write(&trace, turn(round));
                rate(posts * FOLLOWERS, begun.elapsed())
            }),
        ],
    );
    let [of_numbers, of_names, of_raw] = &sides[..] else { unreachable!("three sides") };
    report.table("k deliveries/s", &[of_numbers, of_names, of_raw]);
    let [numbers, names] = published.into_inner();
    report.text("Publishes, 1000 in a batch, without HTTP:");
    report.table("k posts/s", &[&numbers, &names]);
    report.goal("fan-out against the bare engine", Wanted::AtLeast(0.6), "×", &of_numbers.over(of_raw));
    report.goal("fan-out, names against numbers", Wanted::AtLeast(0.8), "×", &of_names.over(of_numbers));
}

/// The newest page in this process, and a scan of the bare engine.
fn pages_in_process(bench: &Bench, report: &mut Report, trace: &Trace, readers: &[u64]) {
    report.section("Ratios: pages in the process");
    let (dir, raw_dir) = (bench.temp(), bench.temp());
    let opened = fill_with(dir.path(), trace, trace.fill(), Ids::Numbers);
    read(&opened, readers.iter().copied());
    opened.feed.store().compact().expect("compacts");
    let raw = Raw::open(raw_dir.path(), TRIED[0]);
    raw.deliver(trace, trace.posts(1, trace.fill()));
    raw.compact();
    let sides = in_process(bench, &opened, &raw, readers);
    report.table("µs a page", &sides.iter().collect::<Vec<_>>());
    report.goal("page against a scan of the bare engine", Wanted::AtMost(3.0), "×", &sides[0].over(&sides[1]));
}

/// Tideline with one kind of ids, in a process of its own.
struct Served {
    ids: Ids,
    server: Tideline,
    address: String,
}

impl Served {
    fn start(bench: &Bench, trace: &Trace, readers: &[u64], ids: Ids) -> Self {
        progress(&format!("filling: {ids:?}"));
        let data = bench.temp();
        let opened = fill_with(data.path(), trace, trace.fill(), ids);
        read(&opened, readers.iter().copied());
        opened.feed.store().compact().expect("compacts");
        drop(opened);
        let server = Tideline::start(data, &[("TIDELINE__STORAGE__DURABILITY", "os")]);
        Self { ids, address: server.address.to_string(), server }
    }
}

/// Pages and publishes over HTTP: numbers, names, and a constant answer of the bare web server.
fn over_http(bench: &Bench, report: &mut Report, trace: &Trace, readers: &[u64]) {
    let [numbers, names] = [Ids::Numbers, Ids::Names].map(|ids| Served::start(bench, trace, readers, ids));
    let scripts = bench.temp();
    for (view, query, least, least_of_names) in [("`view=ids`", "&view=ids", 0.8, 0.8), ("full", "", 0.65, 0.9)] {
        report.section(&format!("Ratios: pages over HTTP, {view}"));
        let path = format!("/v1/users/{{}}/timeline?limit={PAGE}{query}");
        let answer = numbers.server.client().call("GET", &path.replace("{}", &readers[0].to_string()), "");
        let bare = pages::bare(answer.link, answer.body);
        let ask = |of: &Served| {
            let users = readers.iter().map(|reader| of.ids.user(*reader));
            script(scripts.path(), &format!("{:?}-{}", of.ids, query.len()), users, &path)
        };
        let (of_numbers, of_names) = (ask(&numbers), ask(&names));
        let mut client = numbers.server.client();
        let mut tag = |reader: &u64| client.call("GET", &path.replace("{}", &reader.to_string()), "").etag;
        let tags: Vec<_> = readers.iter().map(|reader| (*reader, tag(reader))).collect();
        let of_tags = refreshes(scripts.path(), &format!("refreshes-{}", query.len()), &tags, &path);
        let sides = in_turn(
            bench.rounds,
            "pages/s",
            &mut [
                ("Tideline, numbers", &mut |_| load(&numbers.address, &of_numbers, bench.seconds)),
                ("Tideline, names", &mut |_| load(&names.address, &of_names, bench.seconds)),
                ("Tideline, unchanged pages (304)", &mut |_| load(&numbers.address, &of_tags, bench.seconds)),
                ("bare actix-web", &mut |_| load(&bare, &of_numbers, bench.seconds)),
            ],
        );
        let [of_numbers, of_names, unchanged, bare] = &sides[..] else { unreachable!("four sides") };
        report.text(&format!("By `wrk` with {THREADS} threads and {CONNECTIONS} connections:"));
        report.table("pages/s", &sides.iter().collect::<Vec<_>>());
        let page = format!("page over HTTP, {view}");
        report.goal(&format!("{page}, against bare actix-web"), Wanted::AtLeast(least), "×", &of_numbers.over(bare));
        let refresh = format!("refresh without news, {view}, against bare actix-web");
        report.goal(&refresh, Wanted::AtLeast(0.95), "×", &unchanged.over(bare));
        report.goal(
            &format!("{page}, names against numbers"),
            Wanted::AtLeast(least_of_names),
            "×",
            &of_names.over(of_numbers),
        );
    }
    report.section("Ratios: publishes over HTTP");
    // Items per second until all are delivered: else a server that delivers at once would seem to publish slower than one
    // that lags.
    let publish = |of: &Served, round: usize| {
        let authors = (1..=trace.authors).map(|author| of.ids.user(author));
        let first = trace.fill() + round as u64 * 10_000_000;
        let script = publishes(scripts.path(), &format!("{:?}-publishes", of.ids), of.ids, authors, first);
        let begun = Instant::now();
        let rate = load(&of.address, &script, bench.seconds);
        of.server.wait(&["tideline_pending_items"]);
        rate * f64::from(bench.seconds) / begun.elapsed().as_secs_f64()
    };
    let sides = in_turn(
        bench.rounds,
        "posts/s",
        &mut [
            ("Tideline, numbers", &mut |round| publish(&numbers, round)),
            ("Tideline, names", &mut |round| publish(&names, round)),
        ],
    );
    report.text("Until all are delivered, with `storage.durability = \"os\"`:");
    report.table("posts/s", &sides.iter().collect::<Vec<_>>());
    let ratio = sides[1].over(&sides[0]);
    report.goal("publishes over HTTP, names against numbers", Wanted::AtLeast(0.8), "×", &ratio);
}
