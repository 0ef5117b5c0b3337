//! Progress lines of a long run.

use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_secs(60);

/// Counts the checks.
#[derive(Debug)]
pub(crate) struct Told {
    began: Instant,
    last: Instant,
    rounds: usize,
    reads: usize,
    changes: usize,
}

impl Default for Told {
    fn default() -> Self {
        Self { began: Instant::now(), last: Instant::now(), rounds: 0, reads: 0, changes: 0 }
    }
}

impl Told {
    /// Counts a checked round; writes a line if the last one is a minute old.
    pub(crate) fn count(&mut self, reads: usize, changes: usize) {
        self.rounds += 1;
        self.reads += reads;
        self.changes += changes;
        if self.last.elapsed() >= EVERY {
            self.last = Instant::now();
            self.line("so far");
        }
    }

    /// Writes all counts.
    pub(crate) fn line(&self, when: &str) {
        eprintln!(
            "threads, {when}: {:.1} min, {} rounds, {} reads checked against {} changes, nothing wrong, {} MiB in memory",
            self.began.elapsed().as_secs_f64() / 60.0,
            self.rounds,
            self.reads,
            self.changes,
            resident_mb()
        );
    }
}

/// The resident set of this process, MiB; 0 if unknown.
fn resident_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)).and_then(|number| number.parse::<u64>().ok());
    kilobytes.unwrap_or_default() / 1024
}
