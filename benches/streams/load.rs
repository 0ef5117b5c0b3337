//! Many streams under a steady rate of publishes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use actix_web::rt;

use crate::client::{Caller, Listener, field};
use crate::server::Server;

/// Listeners of each author.
const AUDIENCE: u64 = 150;
/// Authors whom a listener follows.
const FOLLOWEES: u64 = 15;
/// Connections that publish.
const PUBLISHERS: u64 = 16;
/// Threads that listen.
const THREADS: u64 = 2;
/// After this silence no more events are expected.
const QUIET: Duration = Duration::from_secs(3);

/// The items that one listener received: cursors and times of arrival.
struct Heard {
    reader: u64,
    items: Vec<((u64, u64), Instant)>,
    resets: usize,
    /// The place of the last reset. Only items up to it may be missing.
    reset: (u64, u64),
    /// Items whose cursor is not above that of the item before.
    disordered: usize,
}

/// A published item.
struct Told {
    author: u64,
    cursor: (u64, u64),
    sent: Instant,
    answered: Instant,
}

/// The first of [`FOLLOWEES`] consecutive authors that reader `n` follows.
fn first_author(reader: u64, authors: u64) -> u64 {
    reader * FOLLOWEES % authors
}

/// A memory figure of the process by its name in the system (`VmRSS`: resident, `VmHWM`: peak), MiB.
fn memory(server: &Server, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).expect("runs");
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).expect("a figure");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024
}

/// Processor time so far, seconds.
fn worked_for(server: &Server) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.pid())).expect("runs");
    let rest = stat.rsplit_once(')').expect("a name").1;
    let ticks: u64 = rest.split_whitespace().skip(11).take(2).map(|n| n.parse::<u64>().expect("ticks")).sum();
    ticks as f64 / 100.0
}

pub(crate) fn run(streams: u64, rate: u64, seconds: u64) {
    let authors = (streams * FOLLOWEES / AUDIENCE).max(FOLLOWEES);
    let server = Server::with(&[("TIDELINE__LOG__LEVEL", "warn")]);
    let address = server.address;
    println!("streams: {streams} listeners of {FOLLOWEES} of {authors} authors, {rate} publishes/s for {seconds} s");
    rt::System::new().block_on(async {
        let mut caller = Caller::connect(address).await;
        for reader in 0..streams {
            let first = first_author(reader, authors);
            let follow: Vec<_> = (0..FOLLOWEES).map(|n| 1 + (first + n) % authors).collect();
            let body = format!("{{\"follow\":{follow:?}}}");
            caller.call("POST", &format!("/v1/users/{}/following/batch", 1_000_000 + reader), &body).await;
        }
    });
    let before = memory(&server, "VmRSS");
    let (tell, told) = mpsc::channel();
    let listeners: Vec<_> = (0..THREADS)
        .map(|thread| {
            let tell = tell.clone();
            let readers: Vec<u64> = (0..streams).filter(|reader| reader % THREADS == thread).collect();
            std::thread::spawn(move || rt::System::new().block_on(listen_all(address, readers, tell)))
        })
        .collect();
    for _ in 0..THREADS {
        told.recv().expect("opened");
    }
    let (opened, worked, began) = (memory(&server, "VmRSS"), worked_for(&server), Instant::now());
    let published = rt::System::new().block_on(publish_all(address, authors, rate, seconds));
    let took = began.elapsed().as_secs_f64();
    let worked = worked_for(&server) - worked;
    let heard: Vec<Heard> = listeners.into_iter().flat_map(|thread| thread.join().expect("listens")).collect();
    let (after, peak) = (memory(&server, "VmRSS"), memory(&server, "VmHWM"));
    report(&heard, &published, authors);
    println!(
        "  published {} items, {:.0}/s; server busy {:.0} % of one core",
        published.len(),
        published.len() as f64 / took,
        100.0 * worked / took
    );
    println!("  resident MiB: {before} before, {opened} with the streams open, {after} after, {peak} peak");
}

async fn listen_all(address: std::net::SocketAddr, readers: Vec<u64>, tell: mpsc::Sender<()>) -> Vec<Heard> {
    let mut tasks = Vec::new();
    for reader in readers {
        let listener = Listener::open(address, 1_000_000 + reader, None).await;
        tasks.push(rt::spawn(listen(reader, listener)));
    }
    tell.send(()).expect("told");
    let mut heard = Vec::new();
    for task in tasks {
        heard.push(task.await.expect("listens"));
    }
    heard
}

async fn listen(reader: u64, mut listener: Listener) -> Heard {
    let mut heard = Heard { reader, items: Vec::new(), resets: 0, reset: (0, 0), disordered: 0 };
    let mut last = (0, 0);
    loop {
        // The first item may come late, because streams are opened one after the other.
        let patience = if heard.items.is_empty() { 20 * QUIET } else { QUIET };
        let Ok(blocks) = rt::time::timeout(patience, listener.blocks()).await else { return heard };
        assert!(!blocks.is_empty(), "a stream was cut");
        let now = Instant::now();
        for block in blocks {
            match (block.event.as_str(), block.id) {
                ("content", Some(cursor)) => {
                    heard.disordered += usize::from(cursor <= last);
                    last = cursor;
                    heard.items.push((cursor, now));
                }
                ("reset", Some(cursor)) => {
                    heard.resets += 1;
                    heard.reset = cursor;
                }
                _ => {}
            }
        }
    }
}

async fn publish_all(address: std::net::SocketAddr, authors: u64, rate: u64, seconds: u64) -> HashMap<u64, Told> {
    let published = Arc::new(Mutex::new(HashMap::new()));
    let began = Instant::now();
    let mut tasks = Vec::new();
    for publisher in 0..PUBLISHERS {
        let published = Arc::clone(&published);
        tasks.push(rt::spawn(async move {
            let mut caller = Caller::connect(address).await;
            for n in (publisher..rate * seconds).step_by(PUBLISHERS as usize) {
                let due = began + Duration::from_secs_f64(n as f64 / rate as f64);
                rt::time::sleep(due.saturating_duration_since(Instant::now())).await;
                let author = 1 + n * 7919 % authors;
                let body = format!("{{\"author_id\":{author},\"text\":\"{}\"}}", "words ".repeat(20));
                let sent = Instant::now();
                let item = caller.call("POST", "/v1/content", &body).await;
                let cursor = (field(&item, "published_at"), field(&item, "content_id"));
                let told = Told { author, cursor, sent, answered: Instant::now() };
                published.lock().expect("whole").insert(cursor.1, told);
            }
        }));
    }
    for task in tasks {
        task.await.expect("publishes");
    }
    std::mem::take(&mut *published.lock().expect("whole"))
}

/// Compares the received items with the published ones, and prints the delays.
fn report(heard: &[Heard], published: &HashMap<u64, Told>, authors: u64) {
    let mut by_author: HashMap<u64, Vec<u64>> = HashMap::new();
    for (id, told) in published {
        by_author.entry(told.author).or_default().push(*id);
    }
    let (mut missing, mut reset_away, mut extra) = (0, 0, 0);
    let (mut from_answer, mut from_request) = (Vec::new(), Vec::new());
    for Heard { reader, items, reset, .. } in heard {
        let first = first_author(*reader, authors);
        let followees = (0..FOLLOWEES).map(|n| 1 + (first + n) % authors);
        let mut expected: Vec<u64> =
            followees.flat_map(|author| by_author.get(&author).cloned().unwrap_or_default()).collect();
        let mut got: Vec<u64> = items.iter().map(|(cursor, _)| cursor.1).collect();
        expected.sort_unstable();
        got.sort_unstable();
        let distinct = {
            let mut ids = got.clone();
            ids.dedup();
            ids.len()
        };
        extra += got.len() - distinct + got.iter().filter(|id| expected.binary_search(id).is_err()).count();
        for lacks in expected.iter().filter(|id| got.binary_search(id).is_err()) {
            *(if published[lacks].cursor > *reset { &mut missing } else { &mut reset_away }) += 1;
        }
        for ((_, id), at) in items {
            let Some(told) = published.get(id) else { continue };
            from_answer.push(at.saturating_duration_since(told.answered));
            from_request.push(at.saturating_duration_since(told.sent));
        }
    }
    let resets: usize = heard.iter().map(|heard| heard.resets).sum();
    let disordered: usize = heard.iter().map(|heard| heard.disordered).sum();
    println!(
        "  {} events on {} streams; missing {missing}, twice or not wanted {extra}, out of order {disordered}; resets {resets}, {reset_away} left out by them",
        from_answer.len(),
        heard.len()
    );
    for (name, mut times) in [("answer", from_answer), ("request", from_request)] {
        times.sort_unstable();
        let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1000.0;
        println!(
            "  from {name} to event, ms: p50 {:.2}, p99 {:.2}, p99.9 {:.2}, most {:.2}",
            at(0.5),
            at(0.99),
            at(0.999),
            at(1.0)
        );
    }
    assert_eq!((missing, extra, disordered), (0, 0, 0), "events are missing, came twice or out of order");
}
