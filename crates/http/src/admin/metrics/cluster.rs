//! Figures of a node of a cluster.

use std::time::Duration;

use cluster::Status;
use model::metrics::{Page, by};
use model::{Histogram, figures};

/// Writes the figures of a node: the id of its log, its position as it is now, its status as it was at its sample, the waits of
/// reads, and the requests that other nodes have answered or should have.
pub(super) fn figures(
    page: &mut Page,
    (log, position): (&str, u64),
    status: Option<&Status>,
    read_index_waits: &Histogram,
    [forwarded, answered_here]: [u64; 2],
) {
    figures! { page =>
        /// The place in the command log up to which this node has applied all changes.
        tideline_cluster_position = position;
        /// 1 for the id of the command log of this node.
        tideline_cluster_log_info = by("log", [(log, 1)]);
        /// Seconds that a read waited until this node had all acknowledged changes.
        tideline_cluster_read_index_wait_seconds = read_index_waits;
        /// Requests that another node has answered, because it keeps the inbox or the presence of the user.
        tideline_cluster_forwarded_total = forwarded;
        /// Requests for another node that this node answered itself, because the other one did not: timelines are
        /// pulled.
        tideline_cluster_answered_here_total = answered_here;
    }
    let Some(status) = status else { return };
    let sign = if status.clock_ahead < 0 { -1.0 } else { 1.0 };
    let ahead = Duration::from_millis(status.clock_ahead.unsigned_abs());
    figures! { page =>
        /// Records in the command log that this node has not applied yet.
        tideline_cluster_lag = status.lag;
        /// 1 if the command log takes changes and was read.
        tideline_cluster_reachable = status.reachable;
        /// 1 if this node has applied all changes that were acknowledged before its start.
        tideline_cluster_caught_up = status.caught_up;
        /// Seconds that the clock of the command log is ahead of the clock of this node; negative if it is behind, 0 if
        /// they may agree.
        tideline_cluster_log_clock_ahead_seconds = ahead.as_secs_f64().copysign(sign);
        /// Nodes whose tables differed from those of this node at the last comparison.
        tideline_cluster_differing_nodes = status.differing as u64;
        /// Time for which the oldest change or strict read of this node waits for the command log; 0 without one.
        tideline_cluster_oldest_wait_seconds = status.oldest_wait.as_secs_f64();
        /// Entries of the command log that are no records of it: another program has written to its topic.
        tideline_cluster_passed_over_total = status.passed_over;
        /// Changes applied from the command log, of all nodes.
        tideline_cluster_applied_total = status.applied;
        /// Records that this node appended to the command log.
        tideline_cluster_records_total = status.records;
        /// Changes in these records.
        tideline_cluster_commands_total = status.commands;
        /// Changes that wait for the command log.
        tideline_cluster_waiting = status.waiting as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::cluster::tests::status;

    fn page(status: Option<Status>) -> String {
        let read_index_waits = Histogram::of_durations(&[1_000_000]);
        let mut page = Page::default();
        figures(&mut page, ("the-log", 42), status.as_ref(), &read_index_waits, [5, 6]);
        page.0
    }

    #[test]
    fn a_node_shows_its_figures() {
        let whole = page(Some(Status { lag: Some(9), ..status() }));
        for line in [
            "tideline_cluster_position 42",
            "tideline_cluster_log_info{log=\"the-log\"} 1",
            "tideline_cluster_lag 9",
            "tideline_cluster_reachable 0",
            "tideline_cluster_caught_up 1",
            "tideline_cluster_log_clock_ahead_seconds -61.5",
            "tideline_cluster_differing_nodes 2",
            "tideline_cluster_applied_total 40",
            "tideline_cluster_records_total 12",
            "tideline_cluster_commands_total 20",
            "tideline_cluster_waiting 3",
            "tideline_cluster_oldest_wait_seconds 2.5",
            "tideline_cluster_passed_over_total 8",
            "tideline_cluster_forwarded_total 5",
            "tideline_cluster_answered_here_total 6",
            "tideline_cluster_read_index_wait_seconds_count 0",
        ] {
            assert!(whole.lines().any(|found| found == line), "{line}: {whole}");
        }
        assert!(whole.lines().filter(|line| line.starts_with("# HELP ")).all(|line| line.ends_with('.')), "{whole}");
        assert!(!page(Some(status())).contains("tideline_cluster_lag "), "unknown while the log does not answer");
        assert!(page(None).contains("tideline_cluster_position 42"), "there is no sample yet");
    }
}
