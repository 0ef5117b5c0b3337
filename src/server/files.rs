//! Divides the operating system's limit of open files between table files and connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Other open files: the log, the lock, the listener, the threads' own.
const OTHERS: u64 = 128;
/// Least number for tables; with fewer, they are opened and closed all the time.
const FEWEST: i32 = 64;

/// The numbers of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shares {
    /// For the storage engine's tables.
    pub(super) tables: i32,
    /// For clients.
    pub(super) connections: usize,
}

/// Raises the limit of open files as far as needed and allowed, and divides it. Otherwise the engine would fail on a
/// write, or the server on an accept, when the limit is reached.
pub(super) fn share(tables: i32, connections: usize) -> Shares {
    let wanted = Shares { tables, connections };
    let needed = wanted.sum();
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let Some(current) = current.filter(|current| *current < needed) else { return wanted };
    let raised = maximum.map_or(needed, |most| most.min(needed)).max(current);
    let limit = Rlimit { current: Some(raised), maximum };
    let allowed = if setrlimit(Resource::Nofile, limit).is_ok() { raised } else { current };
    let shares = wanted.within(allowed);
    if shares != wanted {
        tracing::warn!(
            allowed,
            needed,
            tables = shares.tables,
            connections = shares.connections,
            "the limit of open files (ulimit -n) is too low: the server keeps fewer table files open and accepts fewer \
             connections"
        );
    }
    shares
}

impl Shares {
    fn sum(self) -> u64 {
        OTHERS + u64::from(self.tables.unsigned_abs()) + http::accepted(self.connections) as u64
    }

    /// Shares in these proportions, with a sum of at most `allowed`.
    fn within(self, allowed: u64) -> Self {
        let needed = self.sum();
        if needed <= allowed {
            return self;
        }
        let part = allowed.saturating_sub(OTHERS) as f64 / (needed - OTHERS) as f64;
        let tables = i32::max((f64::from(self.tables) * part) as i32, FEWEST);
        Self { tables, connections: usize::max((self.connections as f64 * part) as usize, 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_shared_in_proportion() {
        let wanted = Shares { tables: 4096, connections: 4096 };
        assert_eq!(wanted.sum(), 128 + 4096 + 4096 + 512);
        assert_eq!(wanted.within(14_000), wanted);
        let shares = wanted.within(1024);
        assert!(shares.sum() <= 1024 && shares.tables > 250 && shares.connections > 250, "{shares:?}");
        assert_eq!(wanted.within(100), Shares { tables: 64, connections: 1 });
    }
}
