//! The parts of a follower, which are those of a server below HTTP, and its settings.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cluster::{Health, Log, LogMembership, Node};
use config::{Config, Durability};
use fastrand::Rng;
use feed::Feed;
use feed::backlog::Backlog;
use feed::streaming::Streaming;
use feed::worker::{Candidates, Workers, evict_others};
use model::Millis;
use model::error::Result as Done;
use model::store::{TableDigest, Watch};
use serde::de::DeserializeOwned;
use store::{InboxRoom, Options, Store};

use super::tape::Way;
use crate::promises::seed::pick;
use crate::promises::shape;

/// Room for all jobs of a log: a follower without workers does each of them later.
pub(crate) const WIDER: usize = 50_000_000;
/// Longest wait for the lock of a directory.
const HELD: Duration = Duration::from_secs(30);
/// Jobs with which a follower rests.
pub(crate) const CROWD: usize = 20_000;

/// The share of the readers whose inboxes a follower keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    All,
    Third,
    /// One in a hundred.
    Hardly,
}

/// A running follower.
pub(crate) struct Parts {
    pub(crate) feed: Arc<Feed>,
    pub(crate) node: Node,
    pub(crate) workers: Option<Workers>,
    pub(crate) candidates: Candidates,
}

/// A setting from its text.
fn value<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_value(text.into()).expect("a setting")
}

/// Random settings, with members of which the follower is one.
pub(crate) fn config(name: &str, share: Share, random: &mut Rng) -> Config {
    let mut config = shape::random(random);
    config.timeline.inbox_limit = pick(random, &[3, 20, 100, 1000]);
    config.timeline.outbox_limit = pick(random, &[0, 5, 40]);
    config.fanout.queue = WIDER;
    config.fanout.chunk = pick(random, &[2, 10, 100]);
    config.fanout.push_threshold = pick(random, &[0, 3, 10, 1000]);
    config.fanout.pull_threshold = config.fanout.push_threshold + pick(random, &[0, 3, 1000]);
    // As in the server: the log is what survives.
    config.storage.durability = Durability::Os;
    let others = match share {
        Share::All => 0,
        Share::Third => 2,
        Share::Hardly => 99,
    };
    config.cluster.brokers = vec!["none:9092".to_owned()];
    config.cluster.node = value(name);
    let names = (0..others).map(|number| format!("other{number}")).chain([name.to_owned()]);
    config.cluster.members = names.map(|name| value(&format!("{name}=http://{name}"))).collect();
    config
}

/// Opens a directory.
pub(crate) fn open(dir: &Path, config: &Config, candidates: &Candidates) -> Arc<Store> {
    let options = Options {
        sync: false,
        cache_memory: config.storage.cache_memory(),
        inbox_room: InboxRoom { limit: config.timeline.inbox_limit, slack: 1 },
        notice_outbox_above: config.timeline.outbox_limit,
        notice_topic_above: config.topics.limit,
        listeners: candidates.listeners(&config.content),
        ..Options::new(dir)
    };
    // A child of this process holds the lock of a directory, too, until it has become the other program.
    let began = Instant::now();
    loop {
        match Store::open(&options) {
            Err(error) if error.to_string().contains("in use by another process") && began.elapsed() < HELD => {
                std::thread::sleep(Duration::from_millis(10));
            }
            opened => return Arc::new(opened.expect("the directory opens")),
        }
    }
}

impl Parts {
    /// Starts as the server does, with the settings that all nodes share in place of the own ones.
    pub(crate) fn start(
        store: Arc<Store>,
        mut config: Config,
        candidates: Candidates,
        way: &Arc<Way>,
        works: bool,
    ) -> Self {
        let log: Arc<dyn Log> = Arc::clone(way) as Arc<_>;
        let origin = LogMembership::join(&*log, &store).expect("joins");
        config.adopt(&origin.agreed);
        evict_others(&store, &config.cluster.members().expect("a member")).expect("evicts");
        let (backlog, streaming) = (Arc::new(Backlog::new(config.fanout.queue)), Arc::new(Streaming::new(60_000)));
        backlog.restore(store.jobs().expect("jobs"));
        let feed = Arc::new(Feed::new(store, backlog, streaming, &config).expect("a feed"));
        let node = Node::start(log, &feed, &origin, &config, true).expect("starts");
        let mut parts = Self { feed, node, workers: None, candidates };
        if works {
            parts.work();
        }
        parts
    }

    pub(crate) fn work(&mut self) {
        if self.workers.is_some() {
            return;
        }
        let (store, backlog) = (Arc::clone(self.feed.store()), Arc::clone(self.feed.backlog()));
        let (streaming, config) = (Arc::clone(self.feed.streaming()), self.feed.config());
        let workers = Workers::start(store, backlog, streaming, config, self.candidates.clone());
        self.workers = Some(workers.expect("workers start"));
    }

    /// Stops the node, then the workers, and returns the store, which nobody else has.
    pub(crate) fn stop(self) -> Arc<Store> {
        let Self { feed, node, workers, .. } = self;
        drop(node);
        workers.into_iter().for_each(Workers::stop);
        let store = Arc::clone(feed.store());
        drop(feed);
        assert_eq!(Arc::strong_count(&store), 1, "nobody else has the store");
        store
    }

    /// Why the node has stopped itself.
    pub(crate) fn fault(&self) -> Option<String> {
        match self.node.health() {
            Health::Stopped(why) => Some(why),
            _ => None,
        }
    }

    /// Whether it has stopped for other settings.
    pub(crate) fn takes_over(fault: &str) -> bool {
        fault.contains("agreed on other settings")
    }
}

/// Walks on, and keeps findings.
#[derive(Default)]
pub(crate) struct Findings(pub(crate) Vec<String>);

impl Watch for Findings {
    fn finds(&mut self, line: String) {
        self.0.push(line);
    }

    fn looked_at(&mut self, _: &'static str, _: u64) -> Done<()> {
        Ok(())
    }
}

/// The digests of the tables that all followers share, at this time of the log.
pub(crate) fn digests(feed: &Feed, time: Millis) -> Vec<TableDigest> {
    let retention = feed.config().content.deleted_retention.as_millis();
    let final_before = feed.streaming().final_before(time, retention);
    feed.store().keep_notices(feed.notices_since(time));
    feed.store().digest(final_before, &mut || (), &mut Findings::default()).expect("digests")
}
