//! The state that the threads of a node share.

use std::sync::Arc;

use tokio::sync::watch;

use super::checkpoint::Mark;
use super::clock_drift::ClockDrift;
use super::comparison::Comparisons;
use super::health::Vitals;
use model::Count;

/// The state that the threads of a node share.
#[derive(Debug)]
pub(super) struct Shared {
    /// The mark as it is when the commands under way are written.
    pub(super) mark: watch::Sender<Mark>,
    /// The offset after the last record that is applied as a whole.
    pub(super) position: watch::Sender<u64>,
    /// Told to stop.
    pub(super) stop: watch::Sender<bool>,
    pub(super) vitals: Vitals,
    /// Commands applied since the start.
    pub(super) commands: Count,
    /// Records that this node has appended and the log keeps, empty ones included, and commands in them.
    pub(super) appended_records: Count,
    pub(super) appended_commands: Count,
    /// Entries of the log that are no records of it, since the start.
    pub(super) passed_over: Count,
    /// The digests of this node.
    pub(super) comparisons: Arc<Comparisons>,
    /// The clock of the log beside the clock of this node.
    pub(super) clock_drift: ClockDrift,
}

impl Shared {
    /// The state of a node that goes on from a mark.
    pub(super) fn new(mark: Mark) -> Self {
        Self {
            position: watch::Sender::new(mark.last + 1),
            stop: watch::Sender::new(false),
            vitals: Vitals::default(),
            commands: Count::default(),
            appended_records: Count::default(),
            appended_commands: Count::default(),
            passed_over: Count::default(),
            comparisons: Arc::default(),
            clock_drift: ClockDrift::default(),
            mark: watch::Sender::new(mark),
        }
    }

    /// Whether the node is told to stop.
    pub(super) fn is_stopping(&self) -> bool {
        *self.stop.borrow()
    }
}
