//! Everything but the HTTP server: opened and closed in order.

use crossbeam_channel::bounded;

use super::files;
use crate::prelude::*;
use cluster::Node;
use config::Durability;
use feed::Eraser;
use feed::backlog::Backlog;
use feed::backup::Backups;
use feed::standbys::Standbys;
use feed::store::{InboxRoom, Options};
use feed::streaming::Streaming;
use feed::worker;
use feed::worker::{Candidates, Figures, Workers};
use model::failpoint;
use model::failpoint::Failpoint;

/// How often a stop checks whether the store is still in use.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// An open data directory with its workers running: everything but the HTTP server.
#[derive(Debug)]
pub struct App {
    pub(super) feed: Arc<Feed>,
    pub(super) backups: Arc<Backups>,
    pub(super) standbys: Arc<Standbys>,
    workers: Workers,
    eraser: Option<Eraser>,
    /// This server as a node of a cluster.
    pub(super) node: Option<Arc<Node>>,
    /// Connections for which files are left.
    pub(super) connections: usize,
}

/// Options of one start that are not settings.
#[derive(Debug, Clone, Copy, Default)]
pub struct StartOptions {
    /// Start although the log is damaged, without the acknowledged changes that are lost.
    pub accept_log_loss: bool,
    /// Refuse a log with a torn end, which a backup does not have.
    pub whole_log: bool,
    /// Reserve no room for a later start on a full device.
    pub reserve_nothing: bool,
    /// Make changes. On a node of a cluster they go through the command log, so its brokers must be there.
    pub changes: bool,
    /// Serve, so that standbys may follow.
    pub has_standbys: bool,
    /// Name no node in the command log, so that the node of the settings goes on beside this one.
    pub unnamed: bool,
}

/// The options of the store by the settings, without listeners.
pub fn options(config: &Config) -> Options {
    let Config { server, storage, timeline, topics, .. } = config;
    let files::Shares { tables, .. } = files::share(storage.max_open_files, server.max_connections);
    let engine = kv::Options {
        // On a node of a cluster, the command log is what survives.
        sync: storage.durability == Durability::Sync && !config.cluster.is_on(),
        keep_room: true,
        min_free: mebibytes(storage.min_free_mb) as u64,
        cache_memory: storage.cache_memory(),
        write_buffer: mebibytes(storage.write_buffer_mb),
        max_open_files: tables,
        ..kv::Options::new(&storage.data_dir)
    };
    Options {
        engine,
        arrivals: mebibytes(storage.arrivals_mb),
        inbox_room: InboxRoom { limit: timeline.inbox_limit, slack: worker::slack(timeline.inbox_limit) },
        notice_outbox_above: match timeline.outbox_limit {
            0 => 0,
            limit => limit + worker::slack(limit),
        },
        notice_topic_above: worker::topic_room(topics.limit) + worker::slack(topics.limit),
        ..Options::new(&storage.data_dir)
    }
}

/// Opens the data directory that `config` names, takes over the jobs in it and starts the workers.
pub fn open(config: &Config, start_options: StartOptions) -> Result<App> {
    let mut config = config.clone();
    let Config { server, storage, fanout, content, presence, .. } = &config;
    let candidates = Candidates::default();
    let files::Shares { connections, .. } = files::share(storage.max_open_files, server.max_connections);
    let options = Options { listeners: candidates.listeners(content), ..options(&config) };
    let store: Arc<Store> = Arc::new(Store::open(&options.with(|engine| {
        engine.accept_log_loss = start_options.accept_log_loss;
        engine.whole_log = start_options.whole_log;
        engine.keep_room = !start_options.reserve_nothing;
        engine.keeps_log = start_options.has_standbys && config.standby.keep_mb > 0 && !config.cluster.is_on();
    }))?);
    failpoint::pass(Failpoint::StartOpened);
    let backlog = Arc::new(Backlog::new(fanout.queue));
    let streaming = Arc::new(Streaming::new(presence.ttl.as_millis()));
    let joined = cluster::join(&mut config, &store, start_options.changes)?;
    cluster::keep_time(&store, &streaming)?;
    if let Some(members) = config.cluster.members() {
        worker::evict_others(&store, &members)?;
    }
    backlog.restore(feed::inbox::tables::jobs(&store)?);
    failpoint::pass(Failpoint::StartRestored);
    let feed = Feed::new(Arc::clone(&store), Arc::clone(&backlog), Arc::clone(&streaming), &config)?;
    let feed = Arc::new(feed);
    let start = |(log, membership)| Node::start(log, &feed, &membership, &config, !start_options.unnamed).map(Arc::new);
    let node = joined.map(start).transpose()?;
    let workers = Workers::start(store, backlog, streaming, &config, candidates)?;
    let eraser = start_options.changes.then(|| Eraser::start(Arc::clone(&feed))).transpose()?;
    let (backups, standbys) = (Arc::new(Backups::new(&config)), Arc::new(Standbys::new(&config)));
    Ok(App { feed, backups, standbys, workers, eraser, node, connections })
}

fn mebibytes(n: usize) -> usize {
    n.saturating_mul(1 << 20)
}

impl App {
    /// The service.
    pub fn feed(&self) -> &Arc<Feed> {
        &self.feed
    }

    /// This server as a node of a cluster; `None` if it is not.
    pub fn node(&self) -> Option<&Arc<Node>> {
        self.node.as_ref()
    }

    /// The figures of the workers.
    pub fn figures(&self) -> &Figures {
        self.workers.figures()
    }

    /// Stops the workers as [`App::stop`] does, and keeps the store open, without a writer. Fails if they do not stop
    /// in time.
    pub fn rest(self, timeout: Duration) -> Result<Arc<Store>> {
        let Self { feed, workers, eraser, node, .. } = self;
        let stopped = stop_within(timeout, eraser, node, workers);
        let late = || Error::Setup("a worker did not stop within server.shutdown_timeout".to_owned());
        stopped.then(|| Arc::clone(feed.store())).ok_or_else(late)
    }

    /// Stops the workers, each at the end of its chunk or job, then closes the store, once nothing else holds the
    /// [`Feed`]. Waits for up to `timeout`; jobs not done by then are on disk, and continue after the next start. Fails
    /// if written data cannot be made durable.
    pub fn stop(self, timeout: Duration) -> Result<()> {
        let began = Instant::now();
        let Self { feed, backups, standbys, workers, eraser, node, .. } = self;
        backups.stop();
        standbys.stop();
        if !stop_within(timeout, eraser, node, workers) {
            tracing::warn!(
                "a worker did not stop within server.shutdown_timeout; its job continues after the next start"
            );
            return feed.store().sync();
        }
        failpoint::pass(Failpoint::StopWorkers);
        feed.store().sync()?;
        failpoint::pass(Failpoint::StopSynced);
        while Arc::strong_count(&feed) > 1 || Arc::strong_count(feed.store()) > 1 {
            if began.elapsed() >= timeout {
                tracing::warn!(
                    "a request did not end within server.shutdown_timeout; the next start replays the write-ahead log"
                );
                break;
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }
}

/// Stops all that makes changes. False if that has not ended in time: then it goes on, on a thread of its own.
fn stop_within(timeout: Duration, eraser: Option<Eraser>, node: Option<Arc<Node>>, workers: Workers) -> bool {
    let (done, stopped) = bounded(1);
    let stopping = std::thread::spawn(move || {
        drop(eraser);
        if let Some(node) = node {
            node.stop();
        }
        workers.stop();
        // Nobody listens after the timeout.
        let _ = done.send(());
    });
    stopped.recv_timeout(timeout).is_ok() || stopping.is_finished()
}
