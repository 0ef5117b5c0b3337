//! Threads that may block. Some are for changes and some for reads, so that reads go on while all changes wait for a device
//! that accepts no writes.

mod pool;

use tokio::sync::oneshot;

use self::pool::Pool;
use config::cores;
use model::error::{Error, Result};

/// Threads for changes. The more changes share one flush of the log, the less each costs.
const CHANGES: usize = 384;
/// Threads for reads.
const READS: usize = 128;
/// Threads for large reads, for each core; at least two cores are assumed. Each keeps a processor busy for
/// milliseconds: as many as for other reads would delay everything else, whatever the niceness.
const LARGE_READS: usize = 2;

/// The purpose for which a request uses a thread that may block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wants {
    /// To write.
    Change,
    /// To read only.
    Read,
    /// To read up to a whole timeline.
    Audit,
    /// To read much and write a large answer.
    LargeRead,
}

/// All threads of the HTTP side that may block.
#[derive(Debug)]
pub(super) struct Pools {
    changes: Pool,
    reads: Pool,
    large_reads: Pool,
}

impl Pools {
    pub(super) fn new() -> Self {
        Self {
            changes: Pool::new("change", CHANGES),
            reads: Pool::new("read", READS),
            large_reads: Pool::new("large read", Self::large_reads()),
        }
    }

    /// Most large reads at once.
    pub(super) fn large_reads() -> usize {
        LARGE_READS * cores().max(2)
    }

    /// Runs `work` in its turn. The work runs to its end even if the caller stops waiting.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        wants: Wants,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let pool = match wants {
            Wants::Change => &self.changes,
            Wants::Read | Wants::Audit => &self.reads,
            Wants::LargeRead => &self.large_reads,
        };
        let (tell, told) = oneshot::channel();
        pool.give(Box::new(move || drop(tell.send(work())))).map_err(Error::internal)?;
        told.await.map_err(|_| Error::internal("the work ended without a result"))
    }
}
