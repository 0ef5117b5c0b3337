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
/// where processors are scarce, one with 10 a tenth. The thread also counts as a batch (`SCHED_BATCH`): when an event loop
/// wakes it, it does not take the processor from that loop. Only on Linux: elsewhere it would be that of the process.
pub fn lower(niceness: i32) {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpriority_process, setpriority_process};
        use thread_priority::unix::{NormalThreadSchedulePolicy::Batch, ThreadSchedulePolicy::Normal};
        use thread_priority::unix::{set_thread_priority_and_policy, thread_native_id};

        // If the system forbids any of it, all threads have the same priority.
        let Ok(before) = getpriority_process(None) else { return };
        // With the policy the library sets a niceness of its own, which is replaced then.
        let _ = set_thread_priority_and_policy(thread_native_id(), thread_priority::ThreadPriority::Max, Normal(Batch));
        let _ = setpriority_process(None, before + niceness);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = niceness;
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::getpriority_process;
    use thread_priority::unix::{NormalThreadSchedulePolicy, ThreadSchedulePolicy, thread_schedule_policy};

    use super::*;

    #[test]
    fn a_lowered_thread_is_nicer_and_a_batch() {
        let before = getpriority_process(None).expect("is known");
        thread::scope(|scope| {
            scope.spawn(|| {
                lower(JOBS);
                assert_eq!(getpriority_process(None).expect("is known"), (before + JOBS).min(19));
                let batch = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Batch);
                assert_eq!(thread_schedule_policy().expect("is known"), batch);
            });
        });
        assert_eq!(getpriority_process(None).expect("is known"), before, "other threads keep theirs");
    }
}
