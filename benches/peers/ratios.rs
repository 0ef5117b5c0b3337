//! Compares fan-out and page reads with the bare engine in one run.
//!
//! `cargo bench --bench ratios` prints our figure, the engine's and the ratio for each. The machine's speed drifts, so
//! both sides take turns and the medians are compared.

#![allow(clippy::expect_used, missing_docs)]

mod common;

use std::path::Path;
use std::time::Instant;

use model::store::Tier;
use model::{Cursor, PageRequest, Span};
use rocksdb::{BlockBasedOptions, Cache, DB, DBCompressionType, Options, ReadOptions, SliceTransform, WriteBatch};

use common::{AUTHORS, FOLLOWEES, Ids, Opened, PAGE, POSTS, READERS, median, open, user};
use fastrand::Rng;

const USERS: u64 = 200_000;
const FOLLOWERS: u64 = 200;
const ROUNDS: usize = 3;

fn main() {
    let dir = tempfile::tempdir().expect("temp dir");
    fan_out(dir.path());
    pages(dir.path());
}

/// The inbox table of the server, alone in a database.
fn bare(dir: &Path) -> DB {
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(&Cache::new_hyper_clock_cache(512 << 20, 0));
    blocks.set_bloom_filter(10.0, false);
    blocks.set_whole_key_filtering(false);
    blocks.set_cache_index_and_filter_blocks(true);
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_prefix_extractor(SliceTransform::create_fixed_prefix(8));
    options.set_memtable_prefix_bloom_ratio(0.05);
    options.set_write_buffer_size(16 << 20);
    options.set_max_write_buffer_number(4);
    options.set_max_background_jobs(2);
    options.set_bytes_per_sync(1 << 20);
    options.set_block_based_table_factory(&blocks);
    DB::open(&options, dir).expect("opens")
}

fn key(user: u64, at: u64, id: u64) -> [u8; 24] {
    let mut key = [0; 24];
    key[..8].copy_from_slice(&user.to_be_bytes());
    key[8..16].copy_from_slice(&(!at).to_be_bytes());
    key[16..].copy_from_slice(&(!id).to_be_bytes());
    key
}

fn fan_out(dir: &Path) {
    let mut random = Rng::with_seed(1);
    let audiences: Vec<Vec<u64>> = (0..AUTHORS)
        .map(|_| {
            let mut audience: Vec<_> = (0..FOLLOWERS).map(|_| AUTHORS + 1 + random.u64(..USERS)).collect();
            audience.sort_unstable();
            audience.dedup();
            audience
        })
        .collect();
    let per_round: usize = (0..POSTS).map(|post| audiences[(post % AUTHORS) as usize].len()).sum();
    let ours = with_audiences(&dir.join("fan-out"), Ids::Numbers, &audiences);
    let named = with_audiences(&dir.join("fan-out-names"), Ids::Names, &audiences);
    let raw = bare(&dir.join("fan-out-bare"));
    let (mut our_rates, mut raw_rates, mut named_rates) = (Vec::new(), Vec::new(), Vec::new());
    let (mut published, mut named_published) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS as u64 {
        let posts = (round * POSTS + 1..=(round + 1) * POSTS).map(|id| (id, (id - 1) % AUTHORS + 1));
        for (side, rates, times) in
            [(&ours, &mut our_rates, &mut published), (&named, &mut named_rates, &mut named_published)]
        {
            times.push(POSTS as f64 / side.publish(posts.clone()).as_secs_f64());
            rates.push(per_round as f64 / side.work().as_secs_f64());
        }
        let start = Instant::now();
        for (id, author) in posts {
            let mut batch = WriteBatch::default();
            for follower in &audiences[author as usize - 1] {
                batch.put(key(*follower, 1_700_000_000_000 + id, id), author.to_be_bytes());
            }
            raw.write(batch).expect("writes");
        }
        raw_rates.push(per_round as f64 / start.elapsed().as_secs_f64());
    }
    let (ours, raw) = (median(our_rates), median(raw_rates));
    println!("fan-out: {per_round} deliveries a round, {FOLLOWERS} a post, {ROUNDS} rounds, {} workers", workers());
    println!("  tideline  {:>8.0} k/s", ours / 1e3);
    println!("  raw batch {:>8.0} k/s (one thread, one WriteBatch a post)", raw / 1e3);
    println!("  ratio     {:>8.2} (at least 0.6 wanted)", ours / raw);
    let named = median(named_rates);
    println!("  names     {:>8.0} k/s, ratio to numbers {:.2} (at least 0.8 wanted)", named / 1e3, named / ours);
    let (ours, named) = (median(published), median(named_published));
    println!("publish: {POSTS} posts a round, 1000 a batch, without HTTP");
    println!("  numbers   {:>8.0} k/s", ours / 1e3);
    println!("  names     {:>8.0} k/s, ratio to numbers {:.2}", named / 1e3, named / ours);
}

/// A store in which the audience of each author follows.
fn with_audiences(dir: &Path, ids: Ids, audiences: &[Vec<u64>]) -> Opened {
    let opened = open(dir, ids);
    for (author, audience) in audiences.iter().enumerate() {
        let author = ids.user(author as u64 + 1);
        let follows: Vec<_> = audience.iter().map(|follower| (ids.user(*follower), author.clone(), Some(1))).collect();
        opened.feed.import_follows(follows).expect("follows");
    }
    opened.work();
    opened
}

fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn pages(dir: &Path) {
    let (ours, audiences) = common::readers(&dir.join("pages"), Ids::Numbers);
    let raw = bare(&dir.join("pages-bare"));
    for id in 1..=POSTS {
        let author = (id - 1) % AUTHORS;
        let mut batch = WriteBatch::default();
        for reader in &audiences[author as usize] {
            batch.put(key(*reader, 1_700_000_000_000 + id, id), (author + 1).to_be_bytes());
        }
        raw.write(batch).expect("writes");
    }
    // Both sides read warm, compacted table files.
    let request = PageRequest { span: Span::ALL, limit: PAGE };
    let mut random = Rng::with_seed(3);
    raw.flush().expect("flushes");
    raw.compact_range(None::<&[u8]>, None::<&[u8]>);
    let reads = 40_000;
    let (mut our_times, mut raw_times) = (Vec::new(), Vec::new());
    for round in 0..=2 * ROUNDS {
        let start = Instant::now();
        let mut items = 0;
        for _ in 0..reads {
            let reader = user(AUTHORS + 1 + random.u64(..READERS));
            let page = ours
                .feed
                .timeline(reader, &request, Tier::Memory)
                .or_else(|_| ours.feed.timeline(reader, &request, Tier::Disk));
            items += page.expect("reads").items.len();
        }
        let our_time = start.elapsed();
        assert_eq!(items, reads * PAGE);
        let start = Instant::now();
        let mut rows = 0;
        for _ in 0..reads {
            rows += scan(&raw, AUTHORS + 1 + random.u64(..READERS)).len();
        }
        assert_eq!(rows, reads * PAGE);
        // The first round warms both sides up.
        if round > 0 {
            our_times.push(our_time.as_secs_f64() / reads as f64);
            raw_times.push(start.elapsed().as_secs_f64() / reads as f64);
        }
    }
    let (ours, raw) = (median(our_times), median(raw_times));
    println!("page: newest {PAGE} of {FOLLOWEES} followees, none pulled, warm, one thread");
    println!("  tideline  {:>8.2} µs", ours * 1e6);
    println!("  raw scan  {:>8.2} µs (iterator, seek, {PAGE} rows)", raw * 1e6);
    println!("  ratio     {:>8.2} (at most 3 wanted)", ours / raw);
}

/// Reads a page with the engine alone: the same rows, copied.
fn scan(raw: &DB, reader: u64) -> Vec<(Cursor, u64)> {
    let mut options = ReadOptions::default();
    options.set_prefix_same_as_start(true);
    let mut rows = raw.raw_iterator_opt(options);
    rows.seek(reader.to_be_bytes());
    let mut found = Vec::with_capacity(PAGE);
    while found.len() < PAGE
        && let Some((key, value)) = rows.item()
    {
        let number = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().expect("eight bytes"));
        let id = (!number(&key[16..])).try_into().expect("an id");
        found.push((Cursor { at: !number(&key[8..16]), id }, number(value)));
        rows.next();
    }
    found
}
