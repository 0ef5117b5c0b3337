//! What one reader or author costs the others, in three parts.
//!
//! `cargo bench --bench fairness` prints reads a second with and without publishes beside them, the time of pages below
//! the floor of readers with 1,000 followees, and the delivery of other items while an item goes to many active
//! followers.

#![allow(clippy::expect_used, missing_docs)]

mod common;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::{AUTHORS, Ids, Opened, PAGE, READERS, median, open, user};
use fastrand::Rng;
use tideline::model::{Cursor, Draft, Entry, Order, PageRequest, Span, UserId};
use tideline::store::Tier;
use tideline::worker::Workers;

const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(1);

fn main() {
    let dir = tempfile::tempdir().expect("temp dir");
    reads_beside_publishes(&dir.path().join("reads"));
    deep_pages(&dir.path().join("deep"));
    large_fan_out(&dir.path().join("large"));
}

fn draft(author: u64, rest: &str) -> Draft {
    serde_json::from_str(&format!(r#"{{"author_id":{author}{rest}}}"#)).expect("a draft")
}

fn page(ours: &Opened, reader: UserId, request: &PageRequest<tideline::model::ContentId>) -> usize {
    let page = ours.feed.timeline(reader, request, Tier::Memory);
    page.or_else(|_| ours.feed.timeline(reader, request, Tier::Disk)).expect("reads").items.len()
}

/// Two threads read; in turns alone, and beside two that publish with times of the server.
fn reads_beside_publishes(dir: &Path) {
    let (ours, _) = common::readers(dir, Ids::Numbers);
    let request = PageRequest { span: Span::ALL, limit: PAGE };
    let (mut quiet, mut busy, mut published) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=2 * ROUNDS {
        let over = AtomicBool::new(false);
        let (reads, posts) = (AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for number in 0..2 {
                let (ours, over, reads, request) = (&ours, &over, &reads, &request);
                scope.spawn(move || {
                    let mut random = Rng::with_seed(number);
                    while !over.load(Ordering::Relaxed) {
                        page(ours, user(AUTHORS + 1 + random.u64(..READERS)), request);
                        reads.fetch_add(1, Ordering::Relaxed);
                    }
                });
                // Nobody follows these authors, so that the reads have the same work in each round.
                let (ours, over, posts) = (&ours, &over, &posts);
                scope.spawn(move || {
                    while round % 2 == 1 && !over.load(Ordering::Relaxed) {
                        ours.feed.publish(vec![draft(900_000 + number, r#","broadcast":false"#)]).expect("publishes");
                        posts.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            thread::sleep(ROUND);
            over.store(true, Ordering::Relaxed);
        });
        let rate = |count: &AtomicU64| count.load(Ordering::Relaxed) as f64 / ROUND.as_secs_f64();
        // The first round warms up.
        match round {
            0 => {}
            _ if round % 2 == 0 => quiet.push(rate(&reads)),
            _ => {
                busy.push(rate(&reads));
                published.push(rate(&posts));
            }
        }
    }
    let (quiet, busy, published) = (median(quiet), median(busy), median(published));
    println!("reads: newest {PAGE}, two threads; beside them two that publish");
    println!("  alone   {:>8.0} k/s", quiet / 1e3);
    println!("  beside  {:>8.0} k/s, {:.0} k publishes/s", busy / 1e3, published / 1e3);
    println!("  ratio   {:>8.2}", busy / quiet);
}

/// Readers whose whole timeline lies below the floor of their inboxes.
fn deep_pages(dir: &Path) {
    const WRITERS: u64 = 10_000;
    const ITEMS: u64 = 400_000;
    const FOLLOWEES: u64 = 1000;
    const DEEP_READERS: u64 = 50;
    let ours = open(dir, Ids::Numbers);
    ours.publish((1..=ITEMS).map(|id| (id, 1 + id * 7919 % WRITERS)));
    ours.work();
    let mut random = Rng::with_seed(5);
    let readers: Vec<_> = (0..DEEP_READERS).map(|n| user(WRITERS + 1 + n)).collect();
    for reader in &readers {
        let first = random.u64(..WRITERS);
        let follows: Vec<_> = (0..FOLLOWEES).map(|n| (user(1 + (first + 7 * n) % WRITERS), Some(1))).collect();
        ours.feed.relate(*reader, &follows, &[]).expect("follows");
        ours.feed.store().raise_floor(*reader, Cursor::NEWEST).expect("raises");
    }
    ours.work();
    for reader in &readers {
        page(&ours, *reader, &PageRequest { span: Span::ALL, limit: PAGE });
    }
    ours.work();
    ours.feed.store().compact().expect("compacts");
    let percentiles = |what: &str, mut times: Vec<f64>| {
        times.sort_unstable_by(f64::total_cmp);
        let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize] * 1e3;
        println!("  {what:<28} p50 {:>6.2} ms, p99 {:>6.2} ms", at(0.5), at(0.99));
    };
    println!("page of {PAGE} below the floor, {FOLLOWEES} followees, {ITEMS} items of {WRITERS} authors");
    for what in ["any place, first time", "any place, second time", "any place, third time"] {
        let mut times = Vec::new();
        for _ in 0..500 {
            let reader = readers[random.usize(..readers.len())];
            let before = Cursor { at: 1_700_000_000_000 + random.u64(1000..ITEMS), id: user_item() };
            let request = PageRequest { span: Span { before: Some(before), after: None }, limit: PAGE };
            let began = Instant::now();
            assert_eq!(page(&ours, reader, &request), PAGE);
            times.push(began.elapsed().as_secs_f64());
        }
        percentiles(what, times);
    }
    let (mut first, mut next) = (Vec::new(), Vec::new());
    for reader in &readers {
        let mut before = Cursor { at: 1_700_000_000_000 + random.u64(ITEMS / 2..ITEMS), id: user_item() };
        for number in 0..20 {
            let request = PageRequest { span: Span { before: Some(before), after: None }, limit: PAGE };
            let began = Instant::now();
            let found = ours.feed.timeline(*reader, &request, Tier::Disk).expect("reads");
            let times = if number == 0 { &mut first } else { &mut next };
            times.push(began.elapsed().as_secs_f64());
            before = found.next.expect("more");
        }
    }
    percentiles("first page of a scroll", first);
    percentiles("next pages of a scroll", next);
}

fn user_item() -> tideline::model::ContentId {
    tideline::model::ContentId::MIN
}

/// One item for many active followers, and others for few, with workers running.
fn large_fan_out(dir: &Path) {
    const ACTIVE: u64 = 200_000;
    const FEW: u64 = 100;
    const GIANT: u64 = 1;
    let ours = open(dir, Ids::Numbers);
    let follows: Vec<_> = (0..ACTIVE).map(|n| (Ids::Numbers.user(1000 + n), Ids::Numbers.user(GIANT), Some(1)));
    for part in follows.collect::<Vec<_>>().chunks(10_000) {
        ours.feed.import_follows(part).expect("follows");
    }
    for small in 2..=100 {
        let follows: Vec<_> =
            (0..FEW).map(|n| (Ids::Numbers.user(1000 + n * 1999 + small), Ids::Numbers.user(small), Some(1))).collect();
        ours.feed.import_follows(&follows).expect("follows");
    }
    ours.work();
    let newest = PageRequest { span: Span::ALL, limit: 1 };
    for part in (0..ACTIVE).collect::<Vec<_>>().chunks(10_000) {
        part.iter().for_each(|n| drop(ours.feed.timeline(user(1000 + n), &newest, Tier::Disk).expect("reads")));
        ours.work();
    }
    let store = Arc::clone(ours.feed.store());
    let backlog = Arc::clone(ours.feed.backlog());
    let live = Arc::clone(ours.feed.streaming());
    let workers =
        Workers::start(store, Arc::clone(&backlog), live, &ours.config, ours.candidates.clone()).expect("starts");
    let (mut lags, mut wholes) = ([Vec::new(), Vec::new()], Vec::new());
    for round in 0..2 * ROUNDS {
        let with_giant = round % 2 == 1;
        let giant = with_giant.then(|| ours.feed.publish(vec![draft(GIANT, "")]).expect("publishes")[0].0.entry());
        let (began, mut waiting): (_, VecDeque<(Entry, Instant)>) = (Instant::now(), VecDeque::new());
        let mut next = began;
        let is_over = |began: Instant| match giant {
            Some(giant) => !backlog.is_pending(giant),
            None => began.elapsed() > Duration::from_millis(500),
        };
        while !is_over(began) || !waiting.is_empty() {
            if Instant::now() >= next && !is_over(began) {
                let author = 2 + u64::from(fastrand::u8(..99));
                let item = ours.feed.publish(vec![draft(author, "")]).expect("publishes")[0].0.entry();
                waiting.push_back((item, Instant::now()));
                next += Duration::from_millis(5);
            }
            let lags = &mut lags[usize::from(with_giant)];
            waiting.retain(|(item, since)| {
                let waits = backlog.is_pending(*item);
                if !waits {
                    lags.push(since.elapsed().as_secs_f64());
                }
                waits
            });
            thread::sleep(Duration::from_micros(200));
        }
        if with_giant {
            wholes.push(began.elapsed().as_secs_f64());
        }
    }
    workers.stop();
    println!("an item for {ACTIVE} active followers; beside it 200 a second for {FEW} each");
    println!("  delivered to all   {:>7.2} s, {:.2} M/s", median(wholes.clone()), ACTIVE as f64 / median(wholes) / 1e6);
    for (what, mut lags) in ["others, alone", "others, beside it"].into_iter().zip(lags) {
        lags.sort_unstable_by(f64::total_cmp);
        let at = |part: f64| lags[((lags.len() - 1) as f64 * part) as usize] * 1e3;
        println!("  {what:<18} p50 {:>6.2} ms, p99 {:>6.2} ms until delivered", at(0.5), at(0.99));
    }
    let order = Order::NewestFirst;
    assert_eq!(
        ours.feed.store().outboxes(&[user(GIANT)], Span::ALL, order, 100, Tier::Disk).expect("reads").len(),
        ROUNDS
    );
}
