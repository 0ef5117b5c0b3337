//! Work of one follower that must change no answer and no digest: reads, trims, archives, evictions, compactions.

use fastrand::Rng;
use feed::{Feed, timeline};
use model::{ContentId, Cursor, PageRequest, Position, Span, UserId};

use super::commands::{BEGIN, users};
use crate::promises::names::{Ids, TOPICS};
use crate::promises::upkeep::{archive, archive_topic, evict, trim};

/// Most steps of a log in time, milliseconds.
const LONG: u64 = 100_000_000;

/// A place near a time of the log.
fn place(feed: &Feed, random: &mut Rng) -> Cursor {
    let back = random.u64(..60_000);
    let at = feed.streaming().time_of_changes().clamp(BEGIN, BEGIN + LONG).saturating_sub(back);
    Position { at, id: ContentId::LAST_NUMBER }
}

/// One step: a compaction in so many of a thousand, or something else.
pub(crate) fn step(feed: &Feed, ids: Ids, compactions: u32, random: &mut Rng) -> Result<(), String> {
    let all: Vec<_> = users().collect();
    let host = ids.host(all[random.usize(..all.len())]);
    let user: UserId = feed.read().find(&host).map_err(|e| e.to_string())?;
    if user == UserId::UNKNOWN {
        return Ok(());
    }
    let store = &**feed.store();
    if random.u32(..1000) < compactions {
        return store.compact().map_err(|e| format!("a compaction fails: {e}"));
    }
    match random.u32(..100) {
        0..12 => {
            let _still = feed.streaming().hold_changes();
            archive(store, user, place(feed, random), random.usize(1..40))
        }
        12..20 => {
            let _still = feed.streaming().hold_changes();
            let topic = TOPICS[random.usize(..TOPICS.len())];
            archive_topic(store, topic, place(feed, random), random.usize(1..40))
        }
        20..30 => trim(store, user, feed.config().timeline.inbox_limit, random.usize(..3)),
        30..35 => store.raise_floor(user, place(feed, random)).map_err(|e| format!("a floor: {e}")),
        35..45 => evict(store, user, place(feed, random)),
        45..55 => timeline::unread(feed.read(), user).map(drop).map_err(|e| format!("unread items: {e}")),
        _ => {
            let request = PageRequest { span: Span::ALL, limit: random.usize(1..60) };
            timeline::page(feed.read(), user, &request).map(drop).map_err(|e| format!("a page: {e}"))
        }
    }
}
