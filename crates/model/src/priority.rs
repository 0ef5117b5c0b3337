//! The priority of threads. Answers from memory have that of the process; other long work has less.

use std::thread;
use std::time::{Duration, Instant};

/// Niceness of threads for which a request waits: changes, and reads that may block. Under load hundreds of them work,
/// and without niceness an answer from memory would wait among them.
pub const CALLS: i32 = 5;

/// Niceness of jobs, and of the flushes and compactions that they cause. Pending items are read from memory, so a
/// fan-out that takes longer shows nobody less.
pub const JOBS: i32 = 5;

/// Niceness of checks of backups, which never have to be ready soon.
pub const CHECKS: i32 = 10;

/// Gives the processor away now and then during long work. A thread with an answer to give would otherwise wait for the
/// system's next look at time slices, which may be 4 ms away.
#[derive(Debug)]
pub struct Pace(Instant);

impl Default for Pace {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Pace {
    /// Not more often: Linux charges a thread that gives way for a whole time slice, and work that always gave way would
    /// hardly go on beside busy threads.
    const STRETCH: Duration = Duration::from_millis(1);

    /// To be called between small steps of the work.
    pub fn step(&mut self) {
        if self.0.elapsed() >= Self::STRETCH {
            thread::yield_now();
            *self = Self::default();
        }
    }
}

/// Lowers the priority of this thread by so much niceness: a thread with 5 gets a third of the time of a thread with 0
/// where processors are scarce, one with 10 a tenth. Only on Linux: elsewhere it would be that of the process.
pub fn lower(niceness: i32) {
    // If the system forbids it, all threads have the same priority.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(niceness);
    #[cfg(not(target_os = "linux"))]
    let _ = niceness;
}
