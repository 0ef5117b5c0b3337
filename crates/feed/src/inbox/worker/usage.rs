//! The workers in figures.

use std::sync::Arc;

use super::Candidates;
use model::metrics::Page;
use model::{Count, figures};

/// Counts of finished work.
#[derive(Debug, Default)]
pub struct Tally {
    /// Entries written into inboxes by fan-outs.
    pub deliveries: Count,
    /// Chunks of fan-outs that were written.
    pub chunks: Count,
    /// Entries written into inboxes or removed from them because of follows and unfollows.
    pub settled: Count,
    /// Entries that trims moved from an outbox to its archive.
    pub archived: Count,
    /// Items that trims moved from the list of a topic to its archive.
    pub topics_archived: Count,
    /// Deleted items that were purged.
    pub purged: Count,
    /// Inboxes dropped because their users were away for long.
    pub evicted: Count,
    /// Failed attempts at a job, a trim or a look for idle users.
    pub failures: Count,
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
    /// Counts of their work.
    pub tally: Arc<Tally>,
    pub(super) candidates: Candidates,
}

impl Figures {
    /// Trims waiting or under way.
    pub fn trims_waiting(&self) -> u64 {
        self.candidates.waiting()
    }

    /// Writes the figures to a page.
    pub fn write(&self, page: &mut Page) {
        let tally = &*self.tally;
        figures! { page =>
            /// Entries written into inboxes by fan-outs.
            tideline_deliveries_total = &tally.deliveries;
            /// Chunks of followers written by fan-outs.
            tideline_fan_out_chunks_total = &tally.chunks;
            /// Entries written into inboxes, or removed from them, because of follows and unfollows.
            tideline_settled_entries_total = &tally.settled;
            /// Entries moved by trims from outboxes to their archive.
            tideline_outbox_rows_archived_total = &tally.archived;
            /// Items moved by trims from lists of topics to their archive.
            tideline_topic_rows_archived_total = &tally.topics_archived;
            /// Deleted items purged by compactions.
            tideline_purged_total = &tally.purged;
            /// Inboxes dropped because their users did not read for timeline.evict_after.
            tideline_inboxes_evicted_total = &tally.evicted;
            /// Failed attempts of a job, of a trim or of a search for idle users; each is repeated.
            tideline_job_failures_total = &tally.failures;
            /// Outboxes, topics and deleted items waiting for a trim or a purge.
            tideline_trim_candidates = self.candidates.fill();
            /// Requests for a trim or a purge dropped because the queue was full; the next compaction repeats them.
            tideline_trim_candidates_left_out_total = self.candidates.left_out();
        }
    }
}
