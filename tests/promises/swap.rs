//! One user follows one or the other of two sets of authors, never neither or both: every page shows one instant of the
//! graph.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use config::Config;
use fastrand::Rng;
use feed::{DeleteItem, Feed, PublishItems, Relate, timeline};
use model::{ContentId, Cursor, Entry, NewContent, PageRequest, Span};

use super::names::{Ids, json};
use super::seed::{modes, pick, scaled, seed};
use super::shape::{self, Kind};
use super::system::System;
use super::upkeep::trim;
use crate::plain::page;
use crate::wait::stop_after;

const ROUNDS: u32 = 8;
const ROUND: Duration = Duration::from_millis(400);
const READER: u64 = 9;
const SIDES: [[u64; 2]; 2] = [[1, 2], [3, 4]];
/// Items of each author; every third is deleted.
const ITEMS: u64 = 9;

pub(crate) fn run_rounds() {
    for number in 0..scaled(ROUNDS) {
        let seed = seed() + u64::from(number);
        let kind = if number % 4 == 3 { Kind::Memory } else { Kind::Rocks };
        if let Err(failure) = run_one(kind, seed) {
            panic!("round {number} on {kind:?}: {failure}\nTIDELINE_TEST_SEED={seed} makes the same choices again");
        }
    }
}

/// One round with settings of its own.
pub(crate) fn run_one(kind: Kind, seed: u64) -> Result<(), String> {
    let (config, modes) = (shape::random(&mut Rng::with_seed(seed)), modes());
    let ids = modes[seed as usize % modes.len()];
    run_round(kind, &config, ids, seed).map_err(|failure| format!("{failure}\n{ids:?}, {config:?}"))
}

fn run_round(kind: Kind, config: &Config, ids: Ids, seed: u64) -> Result<(), String> {
    let mut system = System::new(kind, config.clone());
    let feed = &*system.feed.clone();
    let lists = publish(feed, ids)?;
    relate(feed, ids, 0)?;
    system.start();
    let stop = AtomicBool::new(false);
    let goes_on = || !stop.load(Ordering::Relaxed);
    thread::scope(|scope| {
        let mut threads = vec![scope.spawn(|| {
            let mut side = 0;
            while goes_on() {
                side = 1 - side;
                relate(feed, ids, side)?;
            }
            Ok(())
        })];
        for number in 0..2 {
            let (lists, mut random) = (&lists, Rng::with_seed(seed.wrapping_mul(1000) + number));
            threads.push(scope.spawn(move || {
                while goes_on() {
                    read(feed, ids, lists, &mut random)?;
                }
                Ok(())
            }));
        }
        threads.push(scope.spawn(|| {
            while goes_on() {
                trim(feed.store(), ids.user(feed, READER), config.timeline.inbox_limit, 0)?;
                thread::sleep(Duration::from_millis(1));
            }
            Ok(())
        }));
        stop_after(ROUND, &threads, &stop);
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })
}

/// Publishes all content, and returns the timeline of each side.
fn publish(feed: &Feed, ids: Ids) -> Result<[Vec<Entry>; 2], String> {
    let mut lists = [Vec::new(), Vec::new()];
    for (list, authors) in lists.iter_mut().zip(SIDES) {
        for author in authors {
            for n in 0..ITEMS {
                let (at, id) = (n * 3 % 7, author * 100 + n);
                let (item, by) = (json(&ids.host(id)), json(&ids.host(author)));
                let text = format!("{{\"content_id\":{item},\"author_id\":{by},\"published_at\":{at}}}");
                let new_item: NewContent = serde_json::from_str(&text).expect("a new_item");
                feed.submit(PublishItems::all(vec![new_item])).map_err(|e| format!("publish fails: {e}"))?;
                let host = ids.host(id);
                let (id, author) = (ids.item(feed, id), ids.user(feed, author));
                match n % 3 {
                    0 => feed
                        .submit(DeleteItem { item: host, purge: false })
                        .map_err(|e| format!("delete fails: {e}"))?,
                    _ => list.push(Entry::plain(Cursor { at, id }, author)),
                }
            }
        }
        list.sort_by_key(|entry| std::cmp::Reverse(entry.cursor));
    }
    Ok(lists)
}

/// Follows one side, and unfollows the other.
fn relate(feed: &Feed, ids: Ids, side: usize) -> Result<(), String> {
    let follow = SIDES[side].iter().map(|target| (ids.host(*target), None)).collect();
    let unfollow = SIDES[1 - side].iter().map(|target| ids.host(*target)).collect();
    feed.submit(Relate::of(ids.host(READER), follow, unfollow)).map(drop).map_err(|e| format!("relate fails: {e}"))
}

fn read(feed: &Feed, ids: Ids, lists: &[Vec<Entry>; 2], random: &mut Rng) -> Result<(), String> {
    let mut bound = || {
        let id = 100 * random.u64(1..5) + random.u64(..ITEMS);
        (random.u64(..3) == 0).then(|| Cursor { at: random.u64(..7), id: ids.item(feed, id) })
    };
    let span: Span<ContentId> = Span { before: bound(), after: bound() };
    let request = PageRequest { span, limit: pick(random, &[1, 3, 5, 100]) };
    let is = timeline::page(feed.read(), ids.user(feed, READER), &request).map_err(|e| format!("a read fails: {e}"))?;
    let should_be = lists.each_ref().map(|list| page(list, |entry| entry.cursor, &request));
    ensure!(should_be.contains(&is), "{request:?}\n  is {is:?}\n  and not one of {should_be:?}");
    Ok(())
}
