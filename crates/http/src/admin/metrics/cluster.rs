//! Figures of a node of a cluster.

use std::fmt;
use std::time::Duration;

use super::page::Page;
use cluster::Status;
use model::Histogram;

/// Writes the figures of a node: its position as it is now, its status as it was at its sample, the waits of reads, and the
/// requests that other nodes have answered or should have.
pub(super) fn figures(
    page: &mut Page<'_>,
    position: u64,
    status: Option<&Status>,
    barriers: &Histogram,
    [forwarded, answered_here]: [u64; 2],
) -> fmt::Result {
    page.one(
        "tideline_cluster_position",
        "The place in the command log up to which this node has applied all changes.",
        position,
    )?;
    page.histogram(
        "tideline_cluster_barrier_wait_seconds",
        "Seconds that a read waited until this node had all acknowledged changes.",
        barriers,
    )?;
    page.one(
        "tideline_cluster_forwarded_total",
        "Requests that another node has answered, because it keeps the inbox or the presence of the user.",
        forwarded,
    )?;
    page.one(
        "tideline_cluster_answered_here_total",
        "Requests for another node that this node answered itself, because the other one did not: timelines are pulled.",
        answered_here,
    )?;
    let Some(status) = status else { return Ok(()) };
    let sign = if status.clock_ahead < 0 { -1.0 } else { 1.0 };
    if let Some(lag) = status.lag {
        page.one("tideline_cluster_lag", "Records in the command log that this node has not applied yet.", lag)?;
    }
    page.one(
        "tideline_cluster_reachable",
        "1 if the command log takes changes and was read.",
        u64::from(status.reachable),
    )?;
    page.one(
        "tideline_cluster_caught_up",
        "1 if this node has applied all changes that were acknowledged before its start.",
        u64::from(status.caught_up),
    )?;
    page.fraction(
        "tideline_cluster_log_clock_ahead_seconds",
        "Seconds that the clock of the command log is ahead of the clock of this node; negative if it is behind, 0 if they \
         may agree.",
        Duration::from_millis(status.clock_ahead.unsigned_abs()).as_secs_f64().copysign(sign),
    )?;
    page.one(
        "tideline_cluster_differing_nodes",
        "Nodes whose tables differed from those of this node at the last comparison.",
        u64::try_from(status.differing).unwrap_or(u64::MAX),
    )?;
    page.fraction(
        "tideline_cluster_oldest_wait_seconds",
        "Time for which the oldest change or strict read of this node waits for the command log; 0 without one.",
        status.oldest_wait.as_secs_f64(),
    )?;
    page.one(
        "tideline_cluster_passed_over_total",
        "Entries of the command log that are no records of it: another program has written to its topic.",
        status.passed_over,
    )?;
    page.one("tideline_cluster_applied_total", "Changes applied from the command log, of all nodes.", status.applied)?;
    page.one("tideline_cluster_records_total", "Records that this node appended to the command log.", status.records)?;
    page.one("tideline_cluster_commands_total", "Changes in these records.", status.commands)?;
    page.one(
        "tideline_cluster_waiting",
        "Changes that wait for the command log.",
        u64::try_from(status.waiting).unwrap_or(u64::MAX),
    )
}

#[cfg(test)]
mod tests {
    use prometheus_client::collector::Collector;
    use prometheus_client::encoding::{DescriptorEncoder, text};
    use prometheus_client::registry::Registry;

    use super::*;
    use crate::admin::cluster::tests::status;

    #[derive(Debug)]
    struct One(Option<Status>);

    impl Collector for One {
        fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
            figures(&mut Page(encoder), 42, self.0.as_ref(), &Histogram::of_durations(&[1_000_000]), [5, 6])
        }
    }

    fn page(status: Option<Status>) -> String {
        let (mut registry, mut page) = (Registry::default(), String::new());
        registry.register_collector(Box::new(One(status)));
        text::encode_registry(&mut page, &registry).expect("text");
        page
    }

    #[test]
    fn a_node_shows_its_figures() {
        let whole = page(Some(Status { lag: Some(9), ..status() }));
        for line in [
            "tideline_cluster_position 42",
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
            "tideline_cluster_barrier_wait_seconds_count 0",
        ] {
            assert!(whole.lines().any(|found| found == line), "{line}: {whole}");
        }
        assert!(whole.lines().filter(|line| line.starts_with("# HELP ")).all(|line| line.ends_with('.')), "{whole}");
        assert!(!page(Some(status())).contains("tideline_cluster_lag "), "unknown while the log does not answer");
        assert!(page(None).contains("tideline_cluster_position 42"), "there is no sample yet");
    }
}
