//! Purges of items with many rows.

use std::sync::Arc;
use std::time::{Duration, Instant};

use config::Config;
use feed::backlog::Backlog;
use feed::items::tables::{Batch, Push};
use feed::store::{Options, Store};
use feed::streaming::Streaming;
use feed::worker::{Candidate, Candidates, Workers};
use kv::Tier;
use model::{Content, ContentId, Reaction, ReactionKind, UserId};

use crate::store::support::{item, post, timed};

#[test]
fn a_stop_does_not_wait_for_a_long_purge() {
    const LIKES: u64 = 200_000;
    let dir = tempfile::tempdir().expect("temp dir");
    let options = Options::new(dir.path()).with(|engine| engine.sync = false);
    let store = Arc::new(Store::open(&options).expect("opens"));
    // A purge may be over before a busy machine stops it, so one success of some is enough.
    let left = (10..15).map(|id| left_by_a_stop(&store, item(id), LIKES)).find(|left| *left > 0);
    assert!(left.is_some_and(|left| left < LIKES), "{left:?} left");
}

/// Stops the purge of a new item once it has begun. The number of its likes after that.
fn left_by_a_stop(store: &Arc<Store>, id: ContentId, likes: u64) -> u64 {
    let quiet = Content { broadcast: false, ..post(id.get(), 1, 1) };
    feed::items::tables::publish(store, &[timed(quiet)], Batch::AllOrNone, Push::Queued).expect("publishes");
    let like = |raw| Reaction { user: UserId::new(raw).expect("in range"), kind: ReactionKind::LIKE, since: Some(raw) };
    let reactions: Vec<_> = (1..=likes).map(like).collect();
    for part in reactions.chunks(1000) {
        feed::reactions::tables::react(store, id, part).expect("reacts");
    }
    feed::items::tables::delete(store, id, 1.into()).expect("deletes");
    let candidates = Candidates::default();
    candidates.name(Candidate::Deleted(id));
    let mut config = Config::default();
    config.fanout.workers = 1;
    config.content.deleted_retention = config::Duration::from_millis(0);
    let (backlog, streaming) = (Arc::new(Backlog::new(10)), Arc::new(Streaming::new(60_000)));
    let workers = Workers::start(Arc::clone(store), backlog, streaming, &config, candidates).expect("start");
    let left = || {
        feed::items::tables::item_counts(store, &[id], Tier::Disk).expect("reads")[0].reactions.get(ReactionKind::LIKE)
    };
    let since = Instant::now();
    while left() == likes && since.elapsed() < Duration::from_secs(60) {
        std::thread::yield_now();
    }
    workers.stop();
    left()
}
