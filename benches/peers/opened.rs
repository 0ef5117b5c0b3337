//! Tideline's feed in this process, over a store in a directory.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use config::Config;
use feed::Feed;
use feed::backlog::Backlog;
use feed::store::{InboxRoom, Store};
use feed::streaming::Streaming;
use feed::worker::{Candidates, Workers, slack};
use model::ExternalId;

use crate::trace::INBOX_LIMIT;

/// Items of a page.
pub const PAGE: usize = 20;

/// Kind of the ids of users and items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ids {
    Numbers,
    /// UUIDs.
    Names,
}

impl Ids {
    pub fn user(self, number: u64) -> ExternalId {
        self.id("user", number)
    }

    pub fn item(self, number: u64) -> ExternalId {
        self.id("item", number)
    }

    fn id(self, what: &str, number: u64) -> ExternalId {
        if self == Self::Numbers {
            return ExternalId::Number(number);
        }
        let hex = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(format!("{what} {number}").as_bytes()));
        ExternalId::Name(
            format!("{}-{}-4{}-8{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..]).into(),
        )
    }
}

/// The feed, without workers.
pub struct Opened {
    pub ids: Ids,
    pub feed: Feed,
    config: Config,
    candidates: Candidates,
}

impl Opened {
    pub fn new(dir: &Path, ids: Ids) -> Self {
        let mut config = Config::default();
        config.graph.follow_limit = 100_000;
        config.timeline.evict_after = config::Duration::from_secs(0);
        config.timeline.inbox_limit = INBOX_LIMIT as usize;
        let candidates = Candidates::default();
        let mut options = feed::store::Options::new(dir);
        options.engine.sync = false;
        options.engine.cache_memory = config.storage.cache_memory();
        let limit = config.timeline.inbox_limit;
        options.inbox_room = InboxRoom { limit, slack: slack(limit) };
        options.listeners = candidates.listeners(&config.content);
        let store = Arc::new(Store::open(&options).expect("opens"));
        let (backlog, streaming) = (Arc::new(Backlog::new(1_000_000)), Arc::new(Streaming::new(60_000)));
        let feed = Feed::new(store, backlog, streaming, &config).expect("events");
        Self { ids, feed, config, candidates }
    }

    /// Lets workers do all jobs. Returns the time that it took.
    pub fn work(&self) -> Duration {
        let start = Instant::now();
        let (store, backlog) = (Arc::clone(self.feed.store()), Arc::clone(self.feed.backlog()));
        let live = Arc::clone(self.feed.streaming());
        let workers = Workers::start(store, backlog, live, &self.config, self.candidates.clone()).expect("starts");
        assert!(self.feed.backlog().wait_until_empty(Duration::from_secs(600)), "the workers are stuck");
        self.feed.store().write_arrivals().expect("writes");
        let taken = start.elapsed();
        workers.stop();
        taken
    }
}
