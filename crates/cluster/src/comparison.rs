//! Comparisons of nodes: each takes the digests of its store at the record of the log that asks for it, and tells them to
//! the others in a later record.
//!
//! A node asks for a comparison once a day, if no other one has: a fault of a device, or of a version that gives a command
//! another meaning, is found without a reader who sees it.

use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;

use parking_lot::{MappedMutexGuard, MutexGuard};
use tokio::sync::watch;

use super::record::{Digests, Token};
use crate::prelude::*;
use config::{MAX_MEMBERS, NodeName};
use feed::check::{TableDigest, Watch};
use model::threads;

/// Comparisons whose results are kept, the newest ones.
const KEPT: usize = 4;

/// The part of one node in a comparison.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The position at which the digests are taken: the offset after the record that asked for it.
    pub position: u64,
    /// The state of the walk over the tables.
    pub state: Compared,
}

/// The state of a comparison at one node.
#[derive(Debug, Clone)]
pub enum Compared {
    /// The walk over the tables is under way.
    Running,
    /// The digests.
    Done(Arc<[TableDigest]>),
    /// The node has no digests, and why.
    Failed(String),
}

/// The time between comparisons, and from a start to the first one. Other nodes must not ask at the same moment, so each
/// waits for a random part of the second time longer.
const EVERY: Duration = Duration::from_secs(24 * 3600);
const SOON: Duration = Duration::from_secs(3600);

/// The newest comparisons of a node.
#[derive(Debug)]
pub(super) struct Comparisons(Mutex<State>);

#[derive(Debug)]
struct State {
    kept: VecDeque<Kept>,
    /// When this node asks for one, unless there is one before.
    due: Instant,
}

#[derive(Debug)]
struct Kept {
    id: Token,
    comparison: Comparison,
    /// Digests of other nodes that came before those of this node.
    told: Vec<(NodeName, Digests)>,
    /// The nodes whose tables differ from those of this one.
    differing: BTreeSet<NodeName>,
}

impl Default for Comparisons {
    fn default() -> Self {
        Self(Mutex::new(State { kept: VecDeque::new(), due: after(SOON) }))
    }
}

/// This time from now, and a random part of [`SOON`] more.
fn after(time: Duration) -> Instant {
    Instant::now() + time + SOON.mul_f64(fastrand::f64())
}

impl Comparisons {
    pub(super) fn get(&self, id: Token) -> Option<Comparison> {
        self.find(id).map(|kept| kept.comparison.clone())
    }

    fn find(&self, id: Token) -> Option<MappedMutexGuard<'_, Kept>> {
        MutexGuard::try_map(self.0.lock(), |state| state.kept.iter_mut().find(|kept| kept.id == id)).ok()
    }

    fn begin(&self, id: Token, comparison: Comparison) {
        let State { kept, due } = &mut *self.0.lock();
        *due = after(EVERY);
        kept.retain(|known| known.id != id);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(Kept { id, comparison, told: Vec::new(), differing: BTreeSet::new() });
    }

    /// The result of this node.
    fn end(&self, id: Token, state: Compared) {
        let Some(mut kept) = self.find(id) else { return };
        kept.comparison.state = state;
        std::mem::take(&mut kept.told).into_iter().for_each(|(node, digests)| kept.judge(node, digests));
    }

    /// The result of another node.
    pub(super) fn reported(&self, node: NodeName, digests: Digests) {
        if let Some(mut kept) = self.find(digests.of) {
            kept.judge(node, digests);
        }
    }

    /// Whether this node is to ask for a comparison.
    pub(super) fn is_due(&self) -> bool {
        self.0.lock().due <= Instant::now()
    }

    /// At the newest comparison of which this node has a result: how many nodes have other tables.
    pub(super) fn differing(&self) -> usize {
        let state = self.0.lock();
        let newest = state.kept.iter().rev().find(|kept| matches!(kept.comparison.state, Compared::Done(_)));
        newest.map_or(0, |kept| kept.differing.len())
    }
}

impl Kept {
    /// Compares the result of another node with that of this one, once this one has its own.
    fn judge(&mut self, node: NodeName, digests: Digests) {
        let own = match &self.comparison.state {
            Compared::Done(own) => own,
            Compared::Running if self.told.len() < MAX_MEMBERS => return self.told.push((node, digests)),
            Compared::Running | Compared::Failed(_) => return,
        };
        // A table of one version only has no digest of the other.
        let differs = |table: &&TableDigest| digests.tables.get(table.table).is_some_and(|other| *other != cut(table));
        let tables: Vec<_> = own.iter().filter(differs).map(|table| table.table).collect();
        if !tables.is_empty() && self.differing.len() < MAX_MEMBERS && self.differing.insert(node.clone()) {
            tracing::error!(
                node = node.as_str(),
                position = self.comparison.position,
                ?tables,
                "another node has other rows in these tables than this one: compare all nodes with \"tideline check --against\""
            );
        }
    }
}

/// The half of a digest that other nodes are told.
fn cut(table: &TableDigest) -> Token {
    Token(table.digest as u64)
}

/// Takes digests on a thread of its own, for one comparison at a time.
#[derive(Debug, Default)]
pub(super) struct Comparer {
    thread: Option<JoinHandle<()>>,
    /// Until just before the result is there. The thread itself ends a little after it.
    is_busy: Arc<AtomicBool>,
}

impl Comparer {
    /// Begins a comparison at a position, with the time of the log there. Returns once later changes do not count.
    pub(super) fn begin(
        &mut self,
        (id, position, time): (Token, u64, Millis),
        feed: &Arc<Feed>,
        into: &Arc<Comparisons>,
        stop: watch::Receiver<bool>,
        tell_others: impl FnOnce(Digests) + Send + 'static,
    ) {
        into.begin(id, Comparison { position, state: Compared::Running });
        if self.is_busy.load(Ordering::Acquire) {
            let why = "this node was still busy with another comparison";
            tracing::warn!(id = String::from(id), position, cause = why, "a comparison of nodes is left out");
            into.end(id, Compared::Failed(why.to_owned()));
            return;
        }
        self.end();
        let retention = feed.config().content.deleted_retention.as_millis();
        // An item deleted before can be purged at any node, and restored at none.
        let final_before = feed.streaming().final_before(time, retention);
        feed::notices::tables::keep_notices(feed.store(), feed.notices_since(time));
        let (tell, taken) = sync_channel(1);
        let (store, kept, is_busy) = (Arc::clone(feed.store()), Arc::clone(into), Arc::clone(&self.is_busy));
        let walk = move || {
            let mut told = || _ = tell.try_send(());
            let digests = || feed::check::digest(&store, final_before, &mut told, &mut Stopping(stop));
            let digests = catch_unwind(AssertUnwindSafe(digests));
            let state = match digests.unwrap_or_else(|_| Err(Error::Panicked("in a digest".to_owned()))) {
                Ok(digests) => Compared::Done(digests.into()),
                Err(error) => {
                    tracing::error!(%error, id = String::from(id), position, "a comparison of nodes failed");
                    Compared::Failed(error.to_string())
                }
            };
            is_busy.store(false, Ordering::Release);
            if let Compared::Done(tables) = &state {
                let tables = tables.iter().map(|table| (table.table.to_owned(), cut(table))).collect();
                tell_others(Digests { of: id, tables });
            }
            kept.end(id, state);
        };
        self.is_busy.store(true, Ordering::Release);
        let _still = feed.streaming().hold_changes();
        match threads::start("digest", walk) {
            Ok(thread) => {
                // An error: the thread has failed before it came so far.
                let _ = taken.recv();
                self.thread = Some(thread);
            }
            Err(error) => {
                self.is_busy.store(false, Ordering::Release);
                into.end(id, Compared::Failed(error.to_string()));
            }
        }
    }

    /// Waits for the end of the comparison under way.
    pub(super) fn end(&mut self) {
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread of a comparison panicked");
        }
    }
}

/// Ends a walk when the node stops.
struct Stopping(watch::Receiver<bool>);

impl Watch for Stopping {
    fn finds(&mut self, _line: String) {}

    fn looked_at(&mut self, _table: &'static str, _rows: u64) -> Result<()> {
        if *self.0.borrow() { Err(Code::Stopping.into()) } else { Ok(()) }
    }
}
