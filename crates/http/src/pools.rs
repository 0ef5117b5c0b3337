//! Threads that may block: some for changes and some for reads, so that reads go on while all changes wait for a device
//! that accepts no writes.

use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::wire::problem::Problem;
use model::priority;

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

/// All threads of the HTTP side that may block. They start on demand, and end after some seconds without work.
#[derive(Debug)]
pub(super) struct Pools {
    changes: Pool,
    reads: Pool,
    large_reads: Pool,
}

#[derive(Debug)]
struct Pool(Option<Runtime>);

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
        LARGE_READS * std::thread::available_parallelism().map_or(1, std::num::NonZero::get).max(2)
    }

    /// Runs `work` in its turn. The work runs to its end even if the caller stops waiting.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        wants: Wants,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let pool = match wants {
            Wants::Change => &self.changes,
            Wants::Read | Wants::Audit => &self.reads,
            Wants::LargeRead => &self.large_reads,
        };
        let Some(runtime) = &pool.0 else { return Err(Problem::internal("there are no threads that may block")) };
        let (tell, told) = oneshot::channel();
        // One type for all work, so that tokio's part is compiled once.
        let work: Box<dyn FnOnce() + Send> = Box::new(move || drop(tell.send(work())));
        runtime.spawn_blocking(work);
        told.await.map_err(|_| Problem::internal("the work panicked"))
    }
}

impl Pool {
    fn new(name: &'static str, threads: usize) -> Self {
        let mut runtime = Builder::new_current_thread();
        runtime.thread_name(name).max_blocking_threads(threads).on_thread_start(|| priority::lower(priority::CALLS));
        // Without timers and sockets it cannot fail.
        Self(runtime.build().ok())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Does not wait: work in progress owns all that it needs.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
