//! The workers in figures.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Candidates;
use model::Fill;

/// Counts of finished work.
#[derive(Debug, Default)]
pub(super) struct Tally {
    deliveries: AtomicU64,
    chunks: AtomicU64,
    settled: AtomicU64,
    archived: AtomicU64,
    topics_archived: AtomicU64,
    purged: AtomicU64,
    evicted: AtomicU64,
    failures: AtomicU64,
}

impl Tally {
    pub(super) fn chunk(&self, recipients: usize) {
        self.chunks.fetch_add(1, Ordering::Relaxed);
        self.deliveries.fetch_add(recipients as u64, Ordering::Relaxed);
    }

    pub(super) fn chunks(&self) -> u64 {
        self.chunks.load(Ordering::Relaxed)
    }

    pub(super) fn settle(&self, entries: usize) {
        self.settled.fetch_add(entries as u64, Ordering::Relaxed);
    }

    pub(super) fn archive(&self, entries: usize) {
        self.archived.fetch_add(entries as u64, Ordering::Relaxed);
    }

    pub(super) fn archive_topic(&self, items: usize) {
        self.topics_archived.fetch_add(items as u64, Ordering::Relaxed);
    }

    pub(super) fn purge(&self) {
        self.purged.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn evict(&self) {
        self.evicted.fetch_add(1, Ordering::Relaxed);
    }

    #[cfg(feature = "shuttle")]
    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    pub(super) fn failure(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
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
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Usage {
            deliveries: count(deliveries),
            chunks: count(chunks),
            settled: count(settled),
            archived: count(archived),
            topics_archived: count(topics_archived),
            purged: count(purged),
            evicted: count(evicted),
            failures: count(failures),
            candidates: self.candidates.fill(),
            left_out: self.candidates.left_out(),
        }
    }
}
