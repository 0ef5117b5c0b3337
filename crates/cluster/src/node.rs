//! A node: from its start, with the checks that its directory and the log belong together, to its stop.

use super::applier::Applier;
use super::comparison::{Comparer, Comparison};
use super::health::Health;
use super::log::Log;
use super::log_tail::LogTail;
use super::membership::LogMembership;
use super::position::Position;
use super::record::{LEVEL, Token};
use super::runs::Runs;
use super::shared_state::Shared;
use super::writer::Writer;
use crate::prelude::*;
use config::Config;
use model::Histogram;
use model::threads::Threads;

/// Longest wait for the ends of the log, for figures.
const LOOK: Duration = Duration::from_secs(2);
/// A strict read that waits for longer is passed on to another node.
pub const SLOW: Duration = super::writer::SLOW;
/// The usual time until a position comes.
const SOON: Duration = Duration::from_millis(200);

/// A running node.
pub struct Node {
    log: Arc<dyn Log>,
    shared: Arc<Shared>,
    writer: Arc<Writer>,
    timeout: Duration,
    threads: Mutex<Threads>,
}

/// A node in figures.
#[derive(Debug, Clone)]
pub struct Status {
    /// The id of the log.
    pub log: String,
    /// The offset after the last record that is applied.
    pub position: u64,
    /// The time of the last command.
    pub time: Millis,
    /// Milliseconds that the clock of the log is ahead of the clock of this node; negative if it is behind, 0 if they may
    /// agree.
    pub clock_ahead: i64,
    /// The offset of the first record of this run of the node, its *incarnation*; `None` until it is applied.
    pub incarnation: Option<u64>,
    /// Nodes whose tables differed from those of this one at the last comparison.
    pub differing: usize,
    /// The level in force, and the highest one that this node reads.
    pub level: u64,
    /// See `level`.
    pub newest_level: u64,
    /// Records in the log that are not applied yet; `None` if the log does not answer.
    pub lag: Option<u64>,
    /// Whether the log takes records and was read.
    pub reachable: bool,
    /// Whether the node answers strict reads and takes changes.
    pub ready: bool,
    /// Whether they take longer than they should, and the time for which the oldest of them waits.
    pub slow: bool,
    /// See `slow`.
    pub oldest_wait: Duration,
    /// Whether this node has applied all that was acknowledged before its start.
    pub caught_up: bool,
    /// Why the node has stopped itself.
    pub fault: Option<String>,
    /// Commands applied since the start, of all nodes.
    pub applied: u64,
    /// Entries of the log since the start that are no records of it.
    pub passed_over: u64,
    /// Records appended since the start, empty ones included.
    pub records: u64,
    /// Commands appended since the start.
    pub commands: u64,
    /// Commands that wait for the log.
    pub waiting: usize,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").field("position", &self.position()).finish_non_exhaustive()
    }
}

impl Node {
    /// Starts to append and to apply. The feed must be new, over a store that `membership` was read from; from here on its
    /// changes go through the log. A node that is not `named` makes none: it only reads the log.
    pub fn start(
        log: Arc<dyn Log>,
        feed: &Arc<Feed>,
        membership: &LogMembership,
        config: &Config,
        named: bool,
    ) -> Result<Self> {
        let name = named.then(|| config.cluster.node.clone());
        let mark = membership.begin(&*log, feed.store())?;
        let sequencer = feed.streaming().sequencer();
        sequencer.go_on_from(&mark.sequence);
        feed.streaming().set_log_time(mark.time.max(1));
        feed.streaming().set_final_before(mark.final_before);
        tracing::info!(
            node = config.cluster.node.as_str(),
            log = String::from(mark.log),
            position = mark.last + 1,
            "joined the cluster"
        );
        let log_tail = LogTail::new(&mark);
        let shared = Arc::new(Shared::new(mark));
        let (timeout, session) = (config.cluster.timeout.get(), Token::random()?.0);
        let runs = Runs::new(name.clone(), &config.cluster);
        let writer = Arc::new(Writer::new(Arc::clone(&log), Arc::clone(&shared), name, session, timeout));
        feed.propose_to(Arc::clone(&writer) as Arc<_>);
        let applier = Applier {
            feed: Arc::clone(feed),
            making: feed.for_changes(),
            log: Arc::clone(&log),
            writer: Arc::clone(&writer),
            shared: Arc::clone(&shared),
            agreed: membership.agreed.clone(),
            log_tail,
            refused: config.cluster.refuse.clone(),
            checked: [false; 2],
            told: [None; 2],
            comparer: Comparer::default(),
            runs,
        };
        let node = Self { log, shared, writer: Arc::clone(&writer), timeout, threads: Mutex::default() };
        // So that the node knows when it has caught up. Before the applier, which may stop the node at once.
        node.writer.ask()?;
        node.threads.lock().start("applier", move |_| applier.run())?;
        node.threads.lock().start("appender", move |_| writer.run())?;
        Ok(node)
    }

    /// Waits until this node has applied all that any node acknowledged before the call. `log_unavailable` if the log
    /// cannot be reached, or that takes longer than `cluster.timeout`.
    pub async fn read_index(&self) -> Result<()> {
        self.writer.read_index().await
    }

    /// Waits until this node has applied all records below a place in its log. A place that does not come soon may be of
    /// records that the log has lost, so then the read index does as well: it has all that was ever shown. `log_unavailable` if
    /// both take longer than `cluster.timeout`.
    pub async fn reach(&self, position: u64) -> Result<()> {
        self.shared.vitals.health().goes_on()?;
        let mut reached = self.shared.position.subscribe();
        let read_index = async {
            tokio::time::sleep(SOON).await;
            if self.writer.read_index().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let reached = async {
            tokio::select! {
                reached = reached.wait_for(|reached| *reached >= position) => reached.is_ok(),
                () = read_index => true,
            }
        };
        match tokio::time::timeout(self.timeout, reached).await {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => {
                let detail = format!("this node has not reached the position {position} of the command log in time");
                Err(Error::refused(Code::LogUnavailable, detail))
            }
        }
    }

    /// Whether this node has applied all records below a position, or does so within a time.
    pub async fn has(&self, position: u64, within: Duration) -> bool {
        let mut reached = self.shared.position.subscribe();
        let waits = reached.wait_for(|reached| *reached >= position);
        tokio::time::timeout(within, waits).await.is_ok_and(|reached| reached.is_ok())
    }

    /// The health of the node at present.
    pub fn health(&self) -> Health {
        // Looks how long the oldest record waits.
        self.is_slow();
        self.shared.vitals.health()
    }

    /// The offset after the last record that is applied.
    pub fn position(&self) -> u64 {
        *self.shared.position.borrow()
    }

    /// A position that has all that this node can have shown until now: the commands of a record are seen one after
    /// another, before its position is reached.
    pub fn shown(&self) -> Position {
        let mark = self.shared.mark.borrow();
        Position { log: mark.log.0, place: mark.last + 1 + u64::from(mark.done > 0) }
    }

    /// Waits as [`Node::reach`] does, or as [`Node::read_index`] for a position of another log.
    pub async fn come_to(&self, position: Position) -> Result<()> {
        if position.log == self.shown().log { self.reach(position.place).await } else { self.read_index().await }
    }

    /// Whether changes and strict reads of this node take longer than they should, as far as it knows; then another node
    /// should take them.
    pub fn is_slow(&self) -> bool {
        self.writer.is_slow()
    }

    /// Waits until this node has applied all that was acknowledged before its start, or `is_over`. Fails if it has stopped
    /// itself.
    pub fn catch_up(&self, is_over: impl Fn() -> bool) -> Result<()> {
        while !self.shared.vitals.has_served() && !is_over() {
            self.shared.vitals.health().goes_on()?;
            std::thread::sleep(LOOK / 40);
        }
        self.shared.vitals.health().goes_on()
    }

    /// The id of its log.
    pub fn log_id(&self) -> String {
        self.shared.mark.borrow().log.into()
    }

    /// Waits until the node has stopped itself, and returns why.
    pub async fn failed(&self) -> String {
        let mut fault = self.shared.vitals.fault.subscribe();
        let failed = fault.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
        match failed {
            Some(why) => why,
            None => std::future::pending().await,
        }
    }

    /// The node in figures. May wait for the log for two seconds.
    pub fn status(&self) -> Status {
        let (position, mark) = (self.position(), self.shared.mark.borrow().clone());
        let (shared, vitals, health) = (&*self.shared, &self.shared.vitals, self.health());
        let end = self.log.bounds(LOOK).ok().map(|bounds| bounds.end);
        Status {
            log: mark.log.into(),
            position,
            time: mark.time,
            clock_ahead: shared.clock_drift.ahead(),
            incarnation: self.writer.since(),
            differing: shared.comparisons.differing(),
            level: mark.level.into(),
            newest_level: LEVEL.into(),
            lag: end.map(|end| end.saturating_sub(position)),
            reachable: !vitals.appends.is_on() && !vitals.reads.is_on(),
            ready: health.is_ready().is_ok(),
            slow: self.is_slow(),
            oldest_wait: self.writer.oldest_wait(),
            caught_up: vitals.has_served(),
            fault: if let Health::Stopped(why) = health { Some(why) } else { None },
            applied: shared.commands.get(),
            passed_over: shared.passed_over.get(),
            records: shared.appended_records.get(),
            commands: shared.appended_commands.get(),
            waiting: self.writer.waiting(),
        }
    }

    /// Asks all nodes for the digests of their stores at one position of the log. Returns the id of the comparison.
    /// `log_unavailable` if the log cannot be reached. If it does not take the record, no node ever has the digests.
    pub fn compare(&self) -> Result<u64> {
        self.writer.ask_comparison(Token::random()?).map(|Token(id)| id)
    }

    /// The part of this node in a comparison. `None` if the record has not come here yet, if no node has asked for it, or
    /// after some later comparisons.
    pub fn comparison(&self, id: u64) -> Option<Comparison> {
        self.shared.comparisons.get(Token(id))
    }

    /// How long reads waited for the read index.
    pub fn read_index_waits(&self) -> &Histogram {
        &self.writer.read_index_waits
    }

    /// Stops to append, then to apply. Commands that wait are refused with `stopping`.
    pub fn stop(&self) {
        self.writer.close();
        self.shared.stop.send_replace(true);
        drop(std::mem::take(&mut *self.threads.lock()));
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.stop();
    }
}
