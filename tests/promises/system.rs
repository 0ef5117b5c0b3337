//! The parts of the server below HTTP, started and stopped as in `server`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;

use cluster::{Log, LogMembership, Node};
use config::{Config, Durability};
use double::{Double, Fault};
use feed::Feed;
use feed::backlog::Backlog;
use feed::streaming::Streaming;
use feed::worker::{Candidates, Workers, evict_others};
use model::store::{MARK, Store};
use store::{InboxRoom, Options, Rocks};

use super::crash::{copy_live, cut_log, ends_of_writes};
use super::shape::Kind;

/// Longest time for the jobs of a case.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running service.
pub(crate) struct System {
    pub(crate) config: Config,
    pub(crate) feed: Arc<Feed>,
    workers: Option<Workers>,
    candidates: Candidates,
    /// `None` for a store in memory.
    dir: Option<TempDir>,
    /// The cluster, if this is a node of one, and the node.
    joins: Option<Joins>,
    node: Option<Node>,
}

/// How a system is a node of a cluster.
#[derive(Debug, Clone)]
pub(crate) struct Joins {
    pub(crate) log: Arc<dyn Log>,
    /// Whether it drops the inboxes of other members when it starts.
    pub(crate) evicts: bool,
    /// A mark that takes the place of the one on disk.
    pub(crate) mark: Option<Vec<u8>>,
}

impl System {
    pub(crate) fn new(kind: Kind, config: Config) -> Self {
        let dir = (kind == Kind::Rocks).then(temp_dir);
        Self::over(dir, config, None)
    }

    /// Over a store in memory with a fault.
    pub(crate) fn with_fault(fault: Fault, config: Config) -> Self {
        Self::of(Arc::new(Double::with(fault)), None, config, None, Candidates::default())
    }

    /// A node, with an empty store or with the data of a directory.
    #[allow(dead_code, reason = "for tests/cluster")]
    pub(crate) fn join(kind: Kind, copy: Option<TempDir>, config: Config, joins: Joins) -> Self {
        Self::over(copy.or_else(|| (kind == Kind::Rocks).then(temp_dir)), config, Some(joins))
    }

    fn over(dir: Option<TempDir>, config: Config, joins: Option<Joins>) -> Self {
        let candidates = Candidates::default();
        let store = match &dir {
            Some(dir) => open(dir.path(), &config, &candidates, true),
            None => Arc::new(Double::new()),
        };
        Self::of(store, dir, config, joins, candidates)
    }

    fn of(
        store: Arc<dyn Store>,
        dir: Option<TempDir>,
        config: Config,
        joins: Option<Joins>,
        candidates: Candidates,
    ) -> Self {
        let (feed, node) = assemble(store, &config, joins.as_ref());
        Self { config, feed, workers: None, candidates, dir, joins, node }
    }

    /// Whether this system is a node of a cluster.
    pub(crate) fn is_node(&self) -> bool {
        self.node.is_some()
    }

    /// This system as a node of a cluster.
    #[allow(dead_code, reason = "for tests/cluster")]
    pub(crate) fn node(&self) -> &Node {
        self.node.as_ref().expect("a node")
    }

    /// A copy of the directory in its state of this instant; `None` for a store in memory, and while the engine moves
    /// files.
    #[allow(dead_code, reason = "for tests/cluster")]
    pub(crate) fn copy(&self) -> Option<TempDir> {
        copy_live(self.dir.as_ref()?.path())
    }

    /// Makes such a copy from another thread.
    #[allow(dead_code, reason = "for tests/cluster")]
    pub(crate) fn copier(&self) -> impl FnOnce() -> Option<TempDir> + Send + 'static {
        let dir = self.dir.as_ref().map(|dir| dir.path().to_owned());
        move || copy_live(&dir?)
    }

    /// Stops as in a crash, and goes on with a copy of the directory that was made before.
    #[allow(dead_code, reason = "for tests/cluster")]
    pub(crate) fn go_on_with(&mut self, copy: TempDir, mark: Option<Vec<u8>>) {
        self.joins.iter_mut().for_each(|joins| joins.mark.clone_from(&mark));
        self.restart(|_| Some(copy));
        self.joins.iter_mut().for_each(|joins| joins.mark = None);
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        self.feed.store()
    }

    pub(crate) fn backlog(&self) -> &Arc<Backlog> {
        self.feed.backlog()
    }

    /// The candidates for trims.
    pub(crate) fn candidates(&self) -> &Candidates {
        &self.candidates
    }

    /// Trims that are waiting or under way, while workers run.
    pub(crate) fn trims_waiting(&self) -> u64 {
        self.workers.as_ref().map_or(0, |workers| workers.figures().trims_waiting())
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
        let left = self.store().jobs().map_err(|e| e.to_string())?;
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

    /// The end of each write in the engine's log. For a store on disk.
    pub(crate) fn ends_of_writes(&self) -> Vec<u64> {
        ends_of_writes(self.dir.as_ref().expect("on disk").path())
    }

    /// The state after a restart, without workers, if only this much of the log was written. For a store on disk at
    /// rest.
    pub(crate) fn with_log_of(&self, bytes: u64) -> Self {
        let dir = copy_live(self.dir.as_ref().expect("on disk").path()).expect("at rest");
        cut_log(dir.path(), bytes);
        let candidates = Candidates::default();
        let (feed, node) = assemble(open(dir.path(), &self.config, &candidates, true), &self.config, None);
        Self { config: self.config.clone(), feed, workers: None, candidates, dir: Some(dir), joins: None, node }
    }

    /// Replaces all parts. `other` may name another directory than the present one.
    fn restart(&mut self, other: impl FnOnce(&mut Self) -> Option<TempDir>) {
        let replacement = other(self);
        self.rest();
        let (empty, _) = assemble(Arc::new(Double::new()), &self.config, None);
        let feed = std::mem::replace(&mut self.feed, empty);
        let store = Arc::clone(feed.store());
        drop(feed);
        let store = match &self.dir {
            None => store,
            Some(dir) => {
                assert_eq!(Arc::strong_count(&store), 1, "nobody else has the store");
                drop(store);
                // After a crash, all answers are those of a start that has loaded nothing yet.
                let loads = replacement.is_none();
                let dir = replacement.as_ref().unwrap_or(dir);
                open(dir.path(), &self.config, &self.candidates, loads)
            }
        };
        self.dir = replacement.or(self.dir.take());
        (self.feed, self.node) = assemble(store, &self.config, self.joins.as_ref());
    }
}

pub(crate) fn temp_dir() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn open(dir: &Path, config: &Config, candidates: &Candidates, loads: bool) -> Arc<dyn Store> {
    let options = Options {
        sync: config.storage.durability == Durability::Sync,
        cache_memory: config.storage.cache_memory(),
        inbox_room: InboxRoom { limit: config.timeline.inbox_limit, slack: 1 },
        notice_outbox_above: config.timeline.outbox_limit,
        notice_topic_above: config.topics.limit,
        listeners: candidates.listeners(&config.content),
        loads,
        ..Options::new(dir)
    };
    Arc::new(Rocks::open(&options).expect("the directory opens"))
}

/// A feed over a store, which goes on with its node if it is of a cluster. The settings that all nodes share are those of
/// the log already.
fn assemble(store: Arc<dyn Store>, config: &Config, joins: Option<&Joins>) -> (Arc<Feed>, Option<Node>) {
    if let Some(mark) = joins.and_then(|joins| joins.mark.as_ref()) {
        store.put_notes(&[(MARK, Some(mark))]).expect("writes");
    }
    let origin = joins.map(|joins| LogMembership::join(&*joins.log, &*store).expect("joins"));
    if let Some(members) = config.cluster.members().filter(|_| joins.is_some_and(|joins| joins.evicts)) {
        evict_others(&*store, &members).expect("evicts");
    }
    let backlog = Arc::new(Backlog::new(config.fanout.queue));
    backlog.restore(store.jobs().expect("jobs"));
    let feed = Arc::new(Feed::new(store, backlog, Arc::new(Streaming::new(60_000)), config).expect("events"));
    let node = origin.zip(joins).map(|(origin, joins)| {
        assert_eq!(origin.agreed, config.agreed(), "all nodes have the settings of the log");
        Node::start(Arc::clone(&joins.log), &feed, &origin, config, true).expect("starts")
    });
    (feed, node)
}
