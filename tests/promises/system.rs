//! The parts of the server below HTTP, started and stopped as in `server`.

use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;

use cluster::{Log, LogMembership, Node};
use config::{Config, Durability};
use feed::Feed;
use feed::backlog::Backlog;
use feed::store::{InboxRoom, MARK, Options, Rules, Store};
use feed::streaming::Streaming;
use feed::worker::{Candidates, Workers, evict_others};
use kv::{Kv, Schema, in_memory};

use super::crash::copy_live;
use super::faulty::{Fault, Faulty};
use super::shape::Kind;
use crate::wait::PATIENCE;

/// A running service.
pub(crate) struct System {
    pub(crate) config: Config,
    pub(crate) feed: Arc<Feed>,
    workers: Option<Workers>,
    candidates: Candidates,
    home: Home,
    /// The cluster, if this is a node of one, and the node.
    joins: Option<Joins>,
    node: Option<Node>,
}

/// Where a store has its rows.
enum Home {
    Dir(TempDir),
    Memory(Arc<dyn Kv>, Arc<Rules>),
}

impl Home {
    fn new(kind: Kind, config: &Config, candidates: &Candidates) -> Self {
        match kind {
            Kind::Rocks => Self::Dir(temp_dir()),
            Kind::Memory => Self::memory(config, candidates, |engine| engine),
        }
    }

    fn faulty(fault: Fault, config: &Config, candidates: &Candidates) -> Self {
        Self::memory(config, candidates, |engine| Arc::new(Faulty::new(engine, fault)))
    }

    fn memory(config: &Config, candidates: &Candidates, over: impl FnOnce(Arc<dyn Kv>) -> Arc<dyn Kv>) -> Self {
        let rules = Arc::new(Rules::new(&options(config, candidates)));
        let schema: Arc<dyn Schema> = Arc::clone(&rules) as Arc<_>;
        Self::Memory(over(in_memory(&schema).expect("opens")), rules)
    }

    fn dir(&self) -> Option<&Path> {
        match self {
            Self::Dir(dir) => Some(dir.path()),
            Self::Memory(..) => None,
        }
    }

    /// The store. One that does not load answers as a start that has loaded nothing yet.
    fn open(&self, config: &Config, candidates: &Candidates, loads: bool) -> Arc<Store> {
        let options = Options { loads, ..options(config, candidates) };
        let store = match self {
            Self::Dir(dir) => Store::open(&options.with(|engine| engine.dir = dir.path().to_owned())),
            Self::Memory(engine, rules) => Store::on(Arc::clone(engine), Arc::clone(rules), &options),
        };
        Arc::new(store.expect("opens"))
    }
}

/// How a system is a node of a cluster.
#[derive(Debug, Clone)]
pub(crate) struct Joins {
    pub(crate) log: Arc<dyn Log>,
    /// Whether it drops the inboxes of other members when it starts.
    pub(crate) evicts: bool,
    /// A mark that takes the place of the one on disk.
    pub(crate) mark: Option<Vec<u8>>,
    /// Whether its storage refuses a group now and then, if it is in memory.
    pub(crate) is_refused: bool,
}

impl System {
    pub(crate) fn new(kind: Kind, config: Config) -> Self {
        let candidates = Candidates::default();
        Self::at(Home::new(kind, &config, &candidates), candidates, config, None)
    }

    /// Over a store in memory with a fault.
    pub(crate) fn with_fault(fault: Fault, config: Config) -> Self {
        let candidates = Candidates::default();
        Self::at(Home::faulty(fault, &config, &candidates), candidates, config, None)
    }

    /// A node, with an empty store or with the data of a directory.
    pub(crate) fn join(kind: Kind, copy: Option<TempDir>, config: Config, joins: Joins) -> Self {
        let candidates = Candidates::default();
        let home = match (copy, kind) {
            (Some(dir), _) => Home::Dir(dir),
            (None, Kind::Memory) => {
                let fault = if joins.is_refused { Fault::Refused } else { Fault::NotWithoutMark };
                Home::faulty(fault, &config, &candidates)
            }
            (None, Kind::Rocks) => Home::new(kind, &config, &candidates),
        };
        Self::at(home, candidates, config, Some(joins))
    }

    fn at(home: Home, candidates: Candidates, config: Config, joins: Option<Joins>) -> Self {
        let (feed, node) = assemble(home.open(&config, &candidates, true), &config, joins.as_ref());
        Self { config, feed, workers: None, candidates, home, joins, node }
    }

    /// Whether this system is a node of a cluster.
    pub(crate) fn is_node(&self) -> bool {
        self.node.is_some()
    }

    /// This system as a node of a cluster.
    pub(crate) fn node(&self) -> &Node {
        self.node.as_ref().expect("a node")
    }

    /// A copy of the directory in its state of this instant; `None` for a store in memory, and while the engine moves
    /// files.
    pub(crate) fn copy(&self) -> Option<TempDir> {
        copy_live(self.home.dir()?)
    }

    /// Makes such a copy from another thread.
    pub(crate) fn copier(&self) -> impl FnOnce() -> Option<TempDir> + Send + 'static {
        let dir = self.home.dir().map(Path::to_owned);
        move || copy_live(&dir?)
    }

    /// Stops as in a crash, and goes on with a copy of the directory that was made before.
    pub(crate) fn go_on_with(&mut self, copy: TempDir, mark: Option<Vec<u8>>) {
        self.joins.iter_mut().for_each(|joins| joins.mark.clone_from(&mark));
        self.restart(|_| Some(copy));
        self.joins.iter_mut().for_each(|joins| joins.mark = None);
    }

    pub(crate) fn store(&self) -> &Arc<Store> {
        self.feed.store()
    }

    pub(crate) fn backlog(&self) -> &Arc<Backlog> {
        self.feed.backlog()
    }

    /// The candidates for trims.
    pub(crate) fn candidates(&self) -> &Candidates {
        &self.candidates
    }

    pub(crate) fn start(&mut self) {
        if self.workers.is_none() {
            let (store, backlog) = (Arc::clone(self.store()), Arc::clone(self.backlog()));
            let streaming = Arc::clone(self.feed.streaming());
            let workers = Workers::start(store, backlog, streaming, &self.config, self.candidates.clone());
            self.workers = Some(workers.expect("workers start"));
        }
    }

    pub(crate) fn stop(&mut self) {
        if let Some(workers) = self.workers.take() {
            workers.stop();
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.workers.is_some()
    }

    /// Runs all jobs to the end.
    pub(crate) fn drain(&mut self) -> Result<(), String> {
        self.start();
        ensure!(self.backlog().wait_until_empty(PATIENCE), "{} jobs are not done in time", self.backlog().len());
        let left = feed::inbox::tables::jobs(self.store()).map_err(|e| e.to_string())?;
        ensure!(left.is_empty(), "jobs are on disk that nobody knows of: {left:?}");
        Ok(())
    }

    /// Stops properly and opens the same data again, with the present settings in `config`.
    pub(crate) fn reopen(&mut self) {
        self.restart(|system| {
            system.rest();
            None
        });
    }

    /// Continues with the directory in its state of this instant, while the workers run.
    pub(crate) fn crash(&mut self) {
        self.restart(|system| {
            if let Some(copy) = system.copy() {
                return Some(copy);
            }
            // The engine is moving files; without workers it comes to rest.
            system.rest();
            system.copy()
        });
    }

    /// Ends all threads. The node first: it may wait for the workers.
    pub(crate) fn rest(&mut self) {
        drop(self.node.take());
        self.stop();
    }

    /// Replaces all parts. `other` may name another directory than the present one.
    fn restart(&mut self, other: impl FnOnce(&mut Self) -> Option<TempDir>) {
        let replacement = other(self);
        self.rest();
        let nothing = Arc::new(Store::in_memory().expect("opens"));
        let (empty, _) = assemble(nothing, &self.config, None);
        let feed = std::mem::replace(&mut self.feed, empty);
        assert_eq!(Arc::strong_count(feed.store()), 1, "nobody else has the store");
        drop(feed);
        // After a crash, all answers are those of a start that has loaded nothing yet.
        let loads = replacement.is_none();
        if let Some(dir) = replacement {
            self.home = Home::Dir(dir);
        }
        let store = self.home.open(&self.config, &self.candidates, loads);
        (self.feed, self.node) = assemble(store, &self.config, self.joins.as_ref());
    }
}

pub(crate) fn temp_dir() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn options(config: &Config, candidates: &Candidates) -> Options {
    let options = Options {
        inbox_room: InboxRoom { limit: config.timeline.inbox_limit, slack: 1 },
        notice_outbox_above: config.timeline.outbox_limit,
        notice_topic_above: config.topics.limit,
        listeners: candidates.listeners(&config.content),
        ..Options::new("")
    };
    options.with(|engine| {
        engine.sync = config.storage.durability == Durability::Sync;
        engine.cache_memory = config.storage.cache_memory();
    })
}

/// A feed over a store, which goes on with its node if it is of a cluster. The settings that all nodes share are those of
/// the log already.
fn assemble(store: Arc<Store>, config: &Config, joins: Option<&Joins>) -> (Arc<Feed>, Option<Node>) {
    if let Some(mark) = joins.and_then(|joins| joins.mark.as_ref()) {
        store.put_notes(&[(MARK, Some(mark))]).expect("writes");
    }
    let origin = joins.map(|joins| LogMembership::join(&*joins.log, &store).expect("joins"));
    if let Some(members) = config.cluster.members().filter(|_| joins.is_some_and(|joins| joins.evicts)) {
        evict_others(&store, &members).expect("evicts");
    }
    let backlog = Arc::new(Backlog::new(config.fanout.queue));
    backlog.restore(feed::inbox::tables::jobs(&store).expect("jobs"));
    let feed = Arc::new(Feed::new(store, backlog, Arc::new(Streaming::new(60_000)), config).expect("events"));
    let node = origin.zip(joins).map(|(origin, joins)| {
        assert_eq!(origin.agreed, config.agreed(), "all nodes have the settings of the log");
        Node::start(Arc::clone(&joins.log), &feed, &origin, config, true).expect("starts")
    });
    (feed, node)
}
