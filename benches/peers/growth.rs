//! The same work on ten times as much data: pages, deliveries, memory, disk, and a restart with jobs that wait.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use tempfile::TempDir;

use crate::Bench;
use crate::client::{Client, paced, quantile};
use crate::opened::{Ids, Opened, PAGE};
use crate::process::{bytes_below, resident};
use crate::report::{Report, Side, Wanted, progress, short};
use crate::server::{command, program};
use crate::tideline_side::{self, Tideline, read, settings};
use crate::trace::{FOLLOWERS, INBOX_LIMIT, Post, Trace};

/// Inbox entries at full size.
const ENTRIES: u64 = 100_000_000;
/// Followees of a user, on average: few, because the follows of so many users would take most of the time.
const FOLLOWEES: u64 = 10;
/// Entries of the smaller data set, as part of the larger one.
const SMALLER: u64 = 10;
/// Those who read.
const READERS: u64 = 5_000;
const READS: usize = 5_000;
/// Deliveries of a round, at full size. The smaller set is compacted in two rounds of three, the larger one in each.
const DELIVERIES: u64 = 30_000_000;
/// Jobs that wait when the server starts.
const JOBS: u64 = 10_000;
/// The mix under which memory is watched: reads and publishes a second.
const MIX: (f64, f64) = (1_000.0, 50.0);

/// A data set and its server.
struct Set {
    trace: Trace,
    readers: Vec<u64>,
    server: Tideline,
    /// The id of the next post.
    next: u64,
}

impl Set {
    fn make(bench: &Bench, entries: u64) -> Self {
        let trace = Trace::with(entries / INBOX_LIMIT, FOLLOWEES);
        let posts = trace.authors * INBOX_LIMIT / FOLLOWEES;
        progress(&format!("making {} inbox entries", posts * FOLLOWERS));
        let data = bench.temp();
        let opened = tideline_side::fill(data.path(), &trace, posts);
        let mut random = Rng::with_seed(5);
        let readers: Vec<_> = (0..READERS).map(|_| trace.reader(&mut random)).collect();
        read(&opened, readers.iter().copied());
        drop(opened);
        let server = Tideline::start(data, &[]);
        Self { trace, readers, server, next: posts + 1 }
    }

    fn path(&self, random: &mut Rng) -> String {
        let reader = self.readers[random.usize(..self.readers.len())];
        format!("/v1/users/{reader}/timeline?limit={PAGE}&view=ids")
    }

    /// The median time of a page, milliseconds.
    fn page(&self, round: usize) -> f64 {
        let (mut client, mut random) = (self.server.client(), Rng::with_seed(round as u64));
        let mut times: Vec<_> = (0..READS)
            .map(|_| {
                let path = self.path(&mut random);
                let begun = Instant::now();
                client.get(&path);
                begun.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        quantile(&mut times, 0.5)
    }

    /// Millions of deliveries a second, with the compactions that they cause.
    fn deliver(&mut self, posts: u64) -> f64 {
        let time = self.server.deliver(self.trace.posts(self.next, posts)).1;
        self.next += posts;
        (posts * FOLLOWERS) as f64 / time.as_secs_f64() / 1e6
    }

    /// Resident memory after each second of the mix, bytes.
    fn memory(&mut self, seconds: u32) -> Vec<u64> {
        let (is_over, end) = (AtomicBool::new(false), Instant::now() + Duration::from_secs(seconds.into()));
        let go_on = || !is_over.load(Ordering::Relaxed);
        let first = self.next;
        let (memory, published) = std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut client, mut random) = (self.server.client(), Rng::with_seed(6));
                paced(MIX.0, || drop(client.get(&self.path(&mut random))), go_on)
            });
            let publisher = scope.spawn(|| {
                let (mut client, mut id) = (self.server.client(), first);
                let publish = || {
                    client.publish("/v1/content", &self.trace.post(id).new_item(Ids::Numbers));
                    id += 1;
                };
                paced(MIX.1, publish, go_on).len()
            });
            let mut memory = Vec::new();
            while Instant::now() < end {
                std::thread::sleep(Duration::from_secs(1));
                memory.push(resident(self.server.pid()).0);
            }
            is_over.store(true, Ordering::Relaxed);
            (memory, publisher.join().expect("publishes"))
        });
        self.next += published as u64;
        memory
    }
}

/// Bytes on disk for each inbox entry after a compaction.
fn disk(data: &TempDir) -> f64 {
    let run = |args: &[&str]| {
        let mut command = program();
        let done = command.args(args).arg("--data-dir").arg(data.path()).output().expect("the program runs");
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        done.stdout
    };
    // Such as: table inboxes: 2000 rows, 7589033 bytes, 5.7 bytes per entry
    let told = String::from_utf8(run(&["compact"])).expect("text");
    let line = told.lines().find(|line| line.starts_with("table inboxes:")).expect("the table");
    let figure = line.strip_suffix(" bytes per entry").and_then(|line| line.rsplit(' ').next()).expect("a figure");
    figure.parse().expect("a number")
}

/// Publishes without workers, so that all jobs wait. Returns the newest post.
fn leave_jobs(dir: &Path, set: &Trace, next: u64) -> Post {
    let opened = Opened::new(dir, Ids::Numbers);
    tideline_side::store(&opened, set.posts(next, JOBS));
    set.posts(next, JOBS).last().expect("posts")
}

/// Seconds from the start of the process until it is ready, and until the first page has been read. The page must be
/// exact and have the newest post, though its delivery waits.
fn restart(data: &TempDir, trace: &Trace, newest: Post) -> (f64, f64) {
    let settings = settings();
    let listen = "127.0.0.1:0";
    let all: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let begun = Instant::now();
    let server = crate::server::Server::launch(command(data, listen, &all)).expect("the server starts");
    let mut client = Client::new(server.address);
    client.get("/readyz");
    let ready = begun.elapsed().as_secs_f64();
    let reader = trace.followers(newest.author)[0];
    let page = client.get(&format!("/v1/users/{reader}/timeline?limit={PAGE}&view=ids"));
    let read = begun.elapsed().as_secs_f64();
    assert!(page.contains(&format!("\"content_id\":\"{}\"", newest.id)), "the newest post is missing: {page}");
    let verified = client.get(&format!("/v1/admin/users/{reader}/timeline/verify"));
    assert!(verified.contains("\"exact\":true"), "{verified}");
    server.end("KILL");
    (ready, read)
}

/// Both sizes in turn.
pub fn run(bench: &Bench, report: &mut Report) {
    report.section("Cost as data grows");
    let entries = bench.size(ENTRIES);
    let mut small = Set::make(bench, entries / SMALLER);
    let mut large = Set::make(bench, entries);
    let posts = bench.size(DELIVERIES) / FOLLOWERS;
    let mut sides = ["small", "large"].map(|_| (Side::new(""), Side::new("")));
    for round in 0..=bench.rounds {
        for (set, (pages, rates)) in [&mut small, &mut large].into_iter().zip(&mut sides) {
            let (rate, page) = (set.deliver(posts), set.page(round));
            progress(&format!("round {round}: {} M deliveries/s, page {} ms", short(rate), short(page)));
            if round > 0 {
                pages.figures.push(page);
                rates.figures.push(rate);
            }
        }
    }
    let [(small_page, small_rate), (large_page, large_rate)] = &mut sides;
    let size = |set: &Set| format!("{} M entries", short((set.trace.users * INBOX_LIMIT) as f64 / 1e6));
    for (side, set) in [(&mut *small_page, &small), (small_rate, &small), (large_page, &large), (large_rate, &large)] {
        side.name = size(set);
    }
    report.text(&format!(
        "Two servers, with {} and {} in inboxes at an inbox limit of {INBOX_LIMIT}, in turn. {} deliveries over HTTP until no \
         compaction is due: the smaller set is compacted in two rounds of three, the larger one in each. Then pages (`view=ids`) one \
         after another on one connection, of {READERS} readers.",
        size(&small),
        size(&large),
        posts * FOLLOWERS
    ));
    report.table("ms, median page", &[small_page, large_page]);
    report.table("M deliveries/s", &[small_rate, large_rate]);
    report.goal("page, median, with ten times the entries", Wanted::AtMost(1.3), "×", &large_page.over(small_page));
    report.goal(
        "deliveries a second, with ten times the entries",
        Wanted::AtLeast(0.8),
        "×",
        &large_rate.over(small_rate),
    );
    drop(small.server.stop());

    progress("memory under a mix");
    let memory: Vec<_> =
        large.memory(10 * bench.seconds).into_iter().map(|bytes| bytes as f64 / f64::from(1 << 30)).collect();
    let most = resident(large.server.pid()).1 as f64 / f64::from(1 << 30);
    report.text(&format!(
        "Memory of the larger server, with the settings below, under {} reads and {} publishes a second for {} s: {} GiB after \
         the first second, {} GiB at the end; the most since the start was {} GiB.",
        MIX.0,
        MIX.1,
        10 * bench.seconds,
        short(memory[0]),
        short(memory[memory.len() - 1]),
        short(most)
    ));
    let one = |name: &str, figure: f64| Side { name: name.into(), figures: vec![figure] };
    report.goal("resident memory, the most", Wanted::AtMost(1.0), "GiB", &one("memory", most));
    large.server.settle();
    let data = large.server.stop();
    let whole = bytes_below(data.path());
    progress("compacting");
    let entry = disk(&data);
    report.text(&format!(
        "Disk: {} bytes for each inbox entry after `tideline compact`; the whole data directory, items and follows included, \
         {} GB before and {} GB after.",
        short(entry),
        short(whole as f64 / 1e9),
        short(bytes_below(data.path()) as f64 / 1e9)
    ));
    report.goal("disk for each inbox entry after compaction", Wanted::AtMost(16.0), "bytes", &one("disk", entry));

    let newest = leave_jobs(data.path(), &large.trace, large.next);
    let (mut ready, mut first) = (Side::new("ready"), Side::new("first page"));
    for round in 1..=bench.rounds {
        // Each start finds the jobs that the last one, killed at once, has left.
        let (is_ready, has_read) = restart(&data, &large.trace, newest);
        progress(&format!("restart {round}: ready after {} s, page after {} s", short(is_ready), short(has_read)));
        ready.figures.push(is_ready);
        first.figures.push(has_read);
    }
    report.text(&format!(
        "Restart with {JOBS} fan-outs that wait. The server is killed after its first page, so the next start finds those that \
         are left. The first page has the newest item, and `verify` finds it exact:"
    ));
    report.table("s after the start of the process", &[&ready, &first]);
    let slowest = ready.figures.iter().copied().fold(0.0, f64::max);
    report.goal("restart until ready, the slowest", Wanted::AtMost(2.0), "s", &one("ready", slowest));
}
