//! The workers in figures.

use std::sync::Arc;

use super::Candidates;
use model::{Count, Fill};

/// Counts of finished work; see [`Usage`].
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) deliveries: Count,
    pub(super) chunks: Count,
    pub(super) settled: Count,
    pub(super) archived: Count,
    pub(super) topics_archived: Count,
    pub(super) purged: Count,
    pub(super) evicted: Count,
    pub(super) failures: Count,
}

impl Tally {
    pub(super) fn chunk(&self, recipients: usize) {
        self.chunks.add(1);
        self.deliveries.add(recipients);
    }
}

/// The figures of workers, readable at any time, also after they stopped.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    pub(super) tally: Arc<Tally>,
    pub(super) candidates: Candidates,
}

/// All figures of the workers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Entries written into inboxes by fan-outs.
    pub deliveries: u64,
    /// Chunks of fan-outs that were written.
    pub chunks: u64,
    /// Entries written into inboxes or removed from them because of follows and unfollows.
    pub settled: u64,
    /// Entries that trims moved from an outbox to its archive.
    pub archived: u64,
    /// Items that trims moved from the list of a topic to its archive.
    pub topics_archived: u64,
    /// Deleted items that were purged.
    pub purged: u64,
    /// Inboxes dropped because their users were away for long.
    pub evicted: u64,
    /// Failed attempts at a job, a trim or a look for idle users.
    pub failures: u64,
    /// Outboxes and topics that wait for a trim.
    pub candidates: Fill,
    /// Candidates left out because the queue was full.
    pub left_out: u64,
}

impl Figures {
    /// Trims waiting or under way.
    pub fn trims_waiting(&self) -> u64 {
        self.candidates.waiting()
    }

    /// The figures now.
    pub fn usage(&self) -> Usage {
        let Tally { deliveries, chunks, settled, archived, topics_archived, purged, evicted, failures } = &*self.tally;
        Usage {
            deliveries: deliveries.get(),
            chunks: chunks.get(),
            settled: settled.get(),
            archived: archived.get(),
            topics_archived: topics_archived.get(),
            purged: purged.get(),
            evicted: evicted.get(),
            failures: failures.get(),
            candidates: self.candidates.fill(),
            left_out: self.candidates.left_out(),
        }
    }
}
