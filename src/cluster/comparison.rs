//! Comparisons of nodes: each takes the digests of its store at the record of the log that asks for it.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::record::Token;
use crate::error::{Code, Error, Result};
use crate::feed::Feed;
use crate::model::Millis;
use crate::store::{TableDigest, Watch};

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

/// The newest comparisons of a node.
#[derive(Debug, Default)]
pub(super) struct Comparisons(Mutex<VecDeque<(Token, Comparison)>>);

impl Comparisons {
    pub(super) fn get(&self, id: Token) -> Option<Comparison> {
        self.0.lock().iter().find(|(known, _)| *known == id).map(|(_, comparison)| comparison.clone())
    }

    fn set(&self, id: Token, comparison: Comparison) {
        let mut kept = self.0.lock();
        kept.retain(|(known, _)| *known != id);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back((id, comparison));
    }
}

/// A record that asks for a comparison, once it is applied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) id: Token,
    pub(super) position: u64,
    /// The time of the log there.
    pub(super) time: Millis,
}

/// Takes digests on a thread of its own, for one comparison at a time.
#[derive(Debug, Default)]
pub(super) struct Comparer {
    thread: Option<JoinHandle<()>>,
    /// Until just before the result is there. The thread itself ends a little after it.
    is_busy: Arc<AtomicBool>,
}

impl Comparer {
    /// Begins a comparison. Returns once later changes do not count.
    pub(super) fn begin(
        &mut self,
        asked: Asked,
        feed: &Arc<Feed>,
        into: &Arc<Comparisons>,
        stop: watch::Receiver<bool>,
    ) {
        let Asked { id, position, time } = asked;
        let set = move |into: &Comparisons, state| into.set(id, Comparison { position, state });
        if self.is_busy.load(Ordering::Acquire) {
            let why = "this node was still busy with another comparison";
            tracing::warn!(id = String::from(id), position, cause = why, "a comparison of nodes is left out");
            set(into, Compared::Failed(why.to_owned()));
            return;
        }
        self.end();
        set(into, Compared::Running);
        let retention = feed.config().content.deleted_retention.as_millis();
        // An item deleted before can be purged at any node, and restored at none.
        let final_before = feed.streaming().final_before(time, retention);
        let (tell, taken) = sync_channel(1);
        let (store, kept, is_busy) = (Arc::clone(feed.store()), Arc::clone(into), Arc::clone(&self.is_busy));
        let walk = move || {
            let mut told = || _ = tell.try_send(());
            let digests = || store.digest(final_before, &mut told, &mut Stopping(stop));
            let digests = catch_unwind(AssertUnwindSafe(digests));
            let state = match digests.unwrap_or_else(|_| Err(Error::Panicked("in a digest".to_owned()))) {
                Ok(digests) => Compared::Done(digests.into()),
                Err(error) => {
                    tracing::error!(%error, id = String::from(id), position, "a comparison of nodes failed");
                    Compared::Failed(error.to_string())
                }
            };
            is_busy.store(false, Ordering::Release);
            set(&kept, state);
        };
        self.is_busy.store(true, Ordering::Release);
        match std::thread::Builder::new().name("digest".to_owned()).spawn(walk) {
            Ok(thread) => {
                // An error: the thread has failed before it came so far.
                let _ = taken.recv();
                self.thread = Some(thread);
            }
            Err(error) => {
                self.is_busy.store(false, Ordering::Release);
                set(into, Compared::Failed(format!("cannot start a thread: {error}")));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_comparisons_are_kept() {
        let comparisons = Comparisons::default();
        let set = |id, state| comparisons.set(Token(id), Comparison { position: id, state });
        (1..=6).for_each(|id| set(id, Compared::Running));
        set(3, Compared::Failed("why".to_owned()));
        set(7, Compared::Running);
        let kept: Vec<_> = (1..=7).filter(|id| comparisons.get(Token(*id)).is_some()).collect();
        assert_eq!(kept, [3, 5, 6, 7]);
        let three = comparisons.get(Token(3)).map(|comparison| (comparison.position, comparison.state));
        assert!(matches!(three, Some((3, Compared::Failed(why))) if why == "why"));
    }
}
