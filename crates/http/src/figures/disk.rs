//! Figures that may need the disk: those of the store and the process.

use std::fs;
use std::sync::Arc;
use std::time::Instant;

use feed::store::Store;
use kv::Usage;
use model::clock::processor_time;

/// Figures of one instant.
#[derive(Debug, Clone)]
pub(crate) struct DiskFigures {
    /// When they were taken.
    pub(crate) at: Instant,
    pub(crate) engine: Arc<Usage>,
    pub(crate) process: Process,
}

/// The process as the operating system reports it; `None` for a missing figure.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Process {
    /// Memory in use, bytes.
    pub(crate) resident_bytes: Option<u64>,
    /// Open files and connections.
    pub(crate) open_files: Option<u64>,
    /// Limit of open files.
    pub(crate) max_files: Option<u64>,
    /// Time of processors used by all threads, seconds.
    pub(crate) processor_seconds: f64,
}

impl DiskFigures {
    /// Those of now; `None`, and a line in the log, if the store cannot tell.
    pub(crate) fn take(store: &Store) -> Option<Self> {
        match store.usage() {
            Ok(engine) => Some(Self { at: Instant::now(), engine: Arc::new(engine), process: Process::now() }),
            Err(error) => {
                tracing::warn!(%error, "the figures of the store could not be read");
                None
            }
        }
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
pub(crate) fn number_after(text: &str, word: &str) -> Option<u64> {
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
