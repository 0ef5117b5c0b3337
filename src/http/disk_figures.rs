//! Figures that may need the disk: those of the store and the process.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::api::Api;
use crate::clock::processor_time;
use crate::cluster::Status;
use crate::store::Usage;

/// A request waits this long for fresh figures, then gets the last ones.
const PATIENCE: Duration = Duration::from_millis(500);
/// The same for figures that a command log must answer.
const PATIENCE_FOR_LOG: Duration = Duration::from_millis(100);

/// Figures of one instant.
#[derive(Debug, Clone)]
pub(super) struct DiskFigures {
    /// When they were taken.
    pub(super) at: Instant,
    pub(super) store: Arc<Usage>,
    pub(super) process: Process,
}

/// The process as the operating system reports it; `None` for a missing figure.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Process {
    /// Memory in use, bytes.
    pub(super) resident_bytes: Option<u64>,
    /// Open files and connections.
    pub(super) open_files: Option<u64>,
    /// Limit of open files.
    pub(super) max_files: Option<u64>,
    /// Time of processors used by all threads, seconds.
    pub(super) processor_seconds: f64,
}

impl Api {
    /// Fresh figures; the last ones if another sample is being taken, or if sampling is slow.
    pub(super) async fn sample(self: &Arc<Self>) -> Option<DiskFigures> {
        let api = Arc::clone(self);
        let take = move || match api.feed().store().usage() {
            Ok(store) => Some(DiskFigures { at: Instant::now(), store: Arc::new(store), process: Process::now() }),
            Err(error) => {
                tracing::warn!(%error, "the figures of the store could not be read");
                None
            }
        };
        self.sampler.sample(PATIENCE, take).await
    }

    /// The figures of this node of a cluster; older ones if its log does not answer soon.
    pub(super) async fn sample_node(&self) -> Option<Status> {
        let node = Arc::clone(self.node.as_ref()?);
        self.node_sampler.sample(PATIENCE_FOR_LOG, move || Some(node.status())).await
    }
}

impl Process {
    fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
        Self {
            resident_bytes: number_after(&status, "VmRSS:").map(|kib| kib * 1024),
            open_files: fs::read_dir("/proc/self/fd").ok().map(|files| files.count() as u64),
            max_files: number_after(&limits, "Max open files"),
            processor_seconds: processor_time().as_secs_f64(),
        }
    }
}

/// The number after a word at the beginning of a line.
fn number_after(text: &str, word: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(word))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_is_read_as_linux_writes_it() {
        let status = "Name:\ttideline\nVmRSS:\t   12345 kB\nRssAnon:\t 1 kB\n";
        assert_eq!(number_after(status, "VmRSS:"), Some(12_345));
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max open files            1024                 4096                 files     \n";
        assert_eq!(number_after(limits, "Max open files"), Some(1024));
        assert_eq!(number_after("Max open files            unlimited", "Max open files"), None);
    }
}
