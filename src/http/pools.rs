//! Threads that may block: some for changes, and some for reads only, so that reads go on while the device takes no
//! changes and all who make some wait for it.

use tokio::runtime::{Builder, Runtime};

use super::problem::Problem;

/// How much these threads stand back behind those that answer from memory, where there are not processors enough for all:
/// one of these gets a third of the time of one of those. There are hundreds of these at work when much is asked for, and
/// without it a small answer waits for its turn among them.
const NICE: i32 = 5;

/// Threads for changes. The more of them are in one flush of the log, the less each costs.
const CHANGES: usize = 384;
/// Threads for reads.
const READS: usize = 128;
/// Threads for large reads, for each core, of two cores or more. Each keeps a processor busy for milliseconds: with as
/// many as there are for reads, all others have their turns late, whatever the niceness.
const LARGE_READS: usize = 2;

/// What a request wants of a thread that may block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wants {
    /// To write.
    Change,
    /// To read only.
    Read,
    /// To read what may be all of a timeline.
    Audit,
    /// To read much, and to write a large answer.
    LargeRead,
}

/// All threads of the HTTP side that may block. They are started as they are needed, and end after some seconds without
/// work.
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

    /// How many large reads are made at once.
    pub(super) fn large_reads() -> usize {
        LARGE_READS * std::thread::available_parallelism().map_or(1, std::num::NonZero::get).max(2)
    }

    /// Runs `work`, in its turn. It goes on to its end, whether or not the caller waits for that.
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
        runtime.spawn_blocking(work).await.map_err(|_| Problem::internal("the work panicked"))
    }
}

impl Pool {
    fn new(name: &'static str, threads: usize) -> Self {
        let mut runtime = Builder::new_current_thread();
        runtime.thread_name(name).max_blocking_threads(threads).on_thread_start(stand_back);
        // Without timers and sockets there is nothing in it that could fail.
        Self(runtime.build().ok())
    }
}

/// Lets other threads go first. On Linux this is of the thread; elsewhere it would be of the process.
fn stand_back() {
    // A system that does not allow it runs all threads alike, as without it.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(NICE);
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Waits for nobody: whoever is still at work holds what it needs.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
