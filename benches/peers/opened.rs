//! Shared by the benches: a store in a directory, generated users, and statistics.

#![allow(clippy::expect_used, dead_code, missing_docs, unreachable_pub)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use config::Config;
use fastrand::Rng;
use feed::Feed;
use feed::backlog::Backlog;
use feed::streaming::Streaming;
use feed::worker::{Candidates, Workers, slack};
use model::store::Tier;
use model::{Draft, HostId, PageRequest, Span, UserId};
use store::{InboxRoom, Rocks};

pub const AUTHORS: u64 = 1_000;
pub const FOLLOWEES: u64 = 50;
pub const READERS: u64 = 500;
pub const POSTS: u64 = 10_000;
pub const PAGE: usize = 20;

pub fn user(raw: u64) -> UserId {
    UserId::new(raw).expect("in range")
}

/// Kind of the ids of users and items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ids {
    Numbers,
    /// UUIDs.
    Names,
}

impl Ids {
    pub fn user(self, number: u64) -> HostId {
        self.id("user", number)
    }

    pub fn item(self, number: u64) -> HostId {
        self.id("item", number)
    }

    fn id(self, what: &str, number: u64) -> HostId {
        if self == Self::Numbers {
            return HostId::Number(number);
        }
        let hex = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(format!("{what} {number}").as_bytes()));
        HostId::Name(format!("{}-{}-4{}-8{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..]).into())
    }
}

pub struct Opened {
    pub ids: Ids,
    pub feed: Feed,
    pub config: Config,
    pub candidates: Candidates,
}

pub fn open(dir: &Path, ids: Ids) -> Opened {
    open_with(dir, ids, |_| ())
}

/// The same with other settings.
pub fn open_with(dir: &Path, ids: Ids, adjust: impl FnOnce(&mut Config)) -> Opened {
    let mut config = Config::default();
    config.graph.follow_limit = 100_000;
    config.timeline.evict_after = config::Duration::from_secs(0);
    adjust(&mut config);
    let candidates = Candidates::default();
    let mut options = store::Options::new(dir);
    options.sync = false;
    options.block_cache = 512 << 20;
    let limit = config.timeline.inbox_limit;
    options.inbox_room = InboxRoom { limit, slack: slack(limit) };
    options.listeners = candidates.listeners(&config.content);
    let store = Arc::new(Rocks::open(&options).expect("opens"));
    let backlog = Arc::new(Backlog::new(1_000_000));
    Opened {
        ids,
        feed: Feed::new(store, backlog, Arc::new(Streaming::new(60_000)), &config).expect("events"),
        config,
        candidates,
    }
}

impl Opened {
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

    /// Publishes pairs of item and author. Returns the time that it took.
    pub fn publish(&self, posts: impl Iterator<Item = (u64, u64)>) -> Duration {
        let draft = |(id, author): (u64, u64)| {
            let at = 1_700_000_000_000 + id;
            let (id, author) = (self.ids.item(id), self.ids.user(author));
            let body = format!(r#"{{"content_id":"{id}","author_id":"{author}","published_at":{at}}}"#);
            serde_json::from_str::<Draft>(&body).expect("a draft")
        };
        let drafts: Vec<_> = posts.map(draft).collect();
        let start = Instant::now();
        for part in drafts.chunks(1000) {
            self.feed.import(part.to_vec()).expect("publishes");
        }
        start.elapsed()
    }
}

/// Active readers, each with [`FOLLOWEES`] followees. All items are delivered, none is pulled, and the data is in
/// compacted table files. Also returns the followers of each author.
pub fn readers(dir: &Path, ids: Ids) -> (Opened, Vec<Vec<u64>>) {
    let ours = open(dir, ids);
    let mut random = Rng::with_seed(2);
    let mut follows = Vec::new();
    let mut audiences = vec![Vec::new(); AUTHORS as usize];
    for reader in 0..READERS {
        let mut followees = Vec::new();
        while followees.len() < FOLLOWEES as usize {
            let author = random.u64(..AUTHORS);
            if !followees.contains(&author) {
                followees.push(author);
            }
        }
        for author in followees {
            follows.push((ids.user(AUTHORS + 1 + reader), ids.user(author + 1), Some(1)));
            audiences[author as usize].push(AUTHORS + 1 + reader);
        }
    }
    ours.feed.import_follows(follows).expect("follows");
    ours.work();
    ours.publish((1..=POSTS).map(|id| (id, (id - 1) % AUTHORS + 1)));
    ours.work();
    for reader in 0..READERS {
        let request = PageRequest { span: Span::ALL, limit: PAGE };
        let reader = ours.feed.find(&ids.user(AUTHORS + 1 + reader), Tier::Disk).expect("reads");
        ours.feed.timeline(reader, &request, Tier::Disk).expect("reads");
    }
    ours.work();
    ours.feed.store().compact().expect("compacts");
    (ours, audiences)
}

pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}
