//! Tests the single writes of changes: a store with only the first of them gives the same answers as one with all.
//! Reads see writes in the order of the log, so this also covers a read between two writes.

use config::Config;
use feed::worker::Candidate;
use feed::{Feed, PublishItems, Relate, SetRestriction, timeline};
use kv::Tier;
use model::{Cursor, Draft, Entry, PageRequest, Restriction, Span, UserId};

use super::names::{Ids, json};
use super::seed::modes;
use super::shape::{Kind, small};
use super::system::System;
use super::upkeep::inbox;
use crate::wait::until;

/// More than the limit and slack of an inbox, and of an outbox. Those of both authors are more than a topic's list
/// keeps out of the archive.
const ITEMS: u64 = 30;

fn config() -> Config {
    let mut config = small();
    config.timeline.inbox_limit = 5;
    config.timeline.outbox_limit = 5;
    config.fanout.push_threshold = 10;
    config.fanout.workers = 1;
    config
}
const AUTHORS: [u64; 2] = [1, 2];
/// The topic of all items.
const TOPIC: &str = "t";
/// Has one inbox row for each item of the first author, before a trim.
const TRIMMED: u64 = 6;
/// Follows the second author, who has too many items for one inbox.
const SETTLED: u64 = 7;
/// Unfollows the first author.
const LEAVING: u64 = 8;
/// A group, on which the items of the second author are published, too.
const GROUP: u64 = 3;
/// Follows the group.
const GROUPED: u64 = 9;
/// Follows the group and the second author.
const TWICE: u64 = 10;
/// Follows the first author until a block ends that.
const BLOCKED: u64 = 11;

pub(crate) fn run() {
    for ids in modes() {
        if let Err(failure) = every_step_is_right(ids) {
            panic!("{failure}\nwith {ids:?}");
        }
    }
}

fn every_step_is_right(ids: Ids) -> Result<(), String> {
    let mut system = System::new(Kind::Rocks, config());
    let feed = system.feed.clone();
    let user = |raw| ids.user(&feed, raw);
    let relate = |reader, follow: &[u64], unfollow: &[u64]| relate(&feed, ids, reader, follow, unfollow);
    relate(TRIMMED, &[1], &[])?;
    relate(LEAVING, &AUTHORS, &[])?;
    relate(GROUPED, &[GROUP], &[])?;
    relate(TWICE, &[2, GROUP], &[])?;
    relate(BLOCKED, &[1], &[])?;
    system.drain()?;
    let items = AUTHORS.map(|author| publish(&feed, ids, author));
    system.drain()?;
    system.stop();
    system.store().write_arrivals().map_err(|e| e.to_string())?;
    publish_one(&feed, ids, 2, 0);
    relate(SETTLED, &[2], &[])?;
    relate(LEAVING, &[], &[1])?;
    feed.submit(SetRestriction {
        user: ids.host(1),
        target: ids.host(BLOCKED),
        restriction: Restriction::Block,
        raised: true,
    })
    .map_err(|e| e.to_string())?;
    let [first, second] = items;
    let second: Vec<_> = second.into_iter().chain([entry(&feed, ids, 2, 0)]).collect();
    let mut right = vec![(TRIMMED, first), (BLOCKED, Vec::new())];
    right.extend([SETTLED, LEAVING, GROUPED, TWICE].map(|reader| (reader, second.clone())));

    // All acknowledged changes are in the log. The later writes must change no answer.
    let before = system.ends_of_writes().len();
    system.start();
    AUTHORS.iter().chain([&GROUP]).for_each(|author| system.candidates().name(Candidate::Outbox(user(*author))));
    let topic = feed::topics::tables::topic(system.store(), TOPIC, Tier::Disk)
        .map_err(|e| e.to_string())?
        .ok_or("nothing names the topic")?;
    system.candidates().name(Candidate::Topic(topic));
    let list = |system: &System| {
        let all = usize::MAX;
        feed::topics::tables::topic_content(system.store(), topic, Span::ALL.newest(all), all, Tier::Disk)
            .map_err(|e| e.to_string())
    };
    let listed = list(&system)?;
    ensure_eq!(listed.len(), 2 * ITEMS as usize + 1, "items of the topic");
    wait_for_trims(&system)?;
    system.drain()?;
    system.stop();
    let store = system.store();
    store.write_arrivals().map_err(|e| e.to_string())?;
    let top = listed.first().ok_or("an empty list")?.cursor;
    let moved = feed::topics::tables::archive_topic(store, topic, top, usize::MAX).map_err(|e| e.to_string())?;
    ensure!((1..listed.len()).contains(&moved), "{moved} items were left to move");

    let ends = system.ends_of_writes();
    // Starts at the last acknowledged write.
    for (number, end) in ends.iter().enumerate().skip(before - 1) {
        let cut = system.with_log_of(*end);
        for (reader, right) in &right {
            let is = scroll(&cut.feed, user(*reader))?;
            ensure_eq!(is, *right, "timeline of {reader} after write {number}, of {before} to {}", ends.len());
        }
        ensure_eq!(list(&cut)?, listed, "list of the topic after write {number}, of {before} to {}", ends.len());
        if number == before - 1 || number == ends.len() - 1 {
            let has_floor = |reader| inbox(cut.store(), user(reader)).map(|inbox| inbox.1.is_some());
            ensure_eq!(has_floor(SETTLED)?, number >= before, "whether {SETTLED} has a floor after write {number}");
            ensure!(has_floor(TRIMMED)?, "the merge of {TRIMMED} raises no floor after write {number}");
        }
    }
    Ok(())
}

fn entry(feed: &Feed, ids: Ids, author: u64, n: u64) -> Entry {
    Entry::plain(Cursor { at: n, id: ids.item(feed, author * 100 + n) }, ids.user(feed, author))
}

fn publish_one(feed: &Feed, ids: Ids, author: u64, n: u64) {
    let to = if author == 2 { format!(",\"to\":[{}]", json(&ids.host(GROUP))) } else { String::new() };
    let (id, author) = (json(&ids.host(author * 100 + n)), json(&ids.host(author)));
    let text =
        format!("{{\"content_id\":{id},\"author_id\":{author},\"published_at\":{n},\"topics\":[\"{TOPIC}\"]{to}}}");
    let draft: Draft = serde_json::from_str(&text).expect("a draft");
    feed.submit(PublishItems::all(vec![draft])).expect("publishes");
}

/// Returns the published entries, newest first.
fn publish(feed: &Feed, ids: Ids, author: u64) -> Vec<Entry> {
    (1..=ITEMS).for_each(|n| publish_one(feed, ids, author, n));
    (1..=ITEMS).rev().map(|n| entry(feed, ids, author, n)).collect()
}

fn relate(feed: &Feed, ids: Ids, reader: u64, follow: &[u64], unfollow: &[u64]) -> Result<(), String> {
    let follow = follow.iter().map(|target| (ids.host(*target), None)).collect();
    let unfollow = unfollow.iter().map(|target| ids.host(*target)).collect();
    feed.submit(Relate::of(ids.host(reader), follow, unfollow)).map(drop).map_err(|e| format!("relate fails: {e}"))
}

fn wait_for_trims(system: &System) -> Result<(), String> {
    until("the trims do not end in time", || system.trims_waiting() == 0)
}

/// The whole timeline, read in pages.
fn scroll(feed: &Feed, reader: UserId) -> Result<Vec<Entry>, String> {
    let (mut entries, mut span) = (Vec::new(), Span::ALL);
    loop {
        let page = timeline::page(feed.read(), reader, &PageRequest { span, limit: 7 });
        let page = page.map_err(|e| format!("a read fails: {e}"))?;
        entries.extend(page.items);
        span.before = page.next;
        if span.before.is_none() {
            return Ok(entries);
        }
    }
}
