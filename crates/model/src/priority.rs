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
/// where processors are scarce, one with 10 a tenth. Its policy becomes `SCHED_BATCH`: if an event loop wakes it, the loop
/// goes on, and the thread waits for its turn. Only on Linux: elsewhere it would be the niceness of the process.
pub fn lower(niceness: i32) {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpriority_process, setpriority_process};
        use thread_priority::ThreadPriority;
        use thread_priority::unix::{NormalThreadSchedulePolicy, ThreadSchedulePolicy};
        use thread_priority::unix::{set_thread_priority_and_policy, thread_native_id, thread_schedule_policy};

        const OTHER: ThreadSchedulePolicy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other);
        const BATCH: ThreadSchedulePolicy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Batch);
        // Each step that the system forbids is left out.
        let before = getpriority_process(None).unwrap_or(0);
        // Another policy is the choice of the operator.
        if thread_schedule_policy() == Ok(OTHER) {
            // The library sets a niceness, too. Only root may have that of `Max`; the next call replaces it.
            let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Max, BATCH);
        }
        let _ = setpriority_process(None, before + niceness);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = niceness;
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    /// The niceness of this thread, and its policy.
    fn own() -> (i32, u32) {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("reads");
        // Behind the name, which may have spaces.
        let fields: Vec<_> = stat.rsplit_once(')').expect("a name").1.split_whitespace().collect();
        (fields[16].parse().expect("niceness"), fields[38].parse().expect("policy"))
    }

    #[test]
    fn a_thread_gets_less_time_and_others_keep_theirs() {
        const OTHER: u32 = 0;
        const BATCH: u32 = 3;
        let before = own();
        let lowered = thread::spawn(|| {
            lower(CALLS);
            own()
        });
        let wanted = ((before.0 + CALLS).min(19), if before.1 == OTHER { BATCH } else { before.1 });
        assert_eq!(lowered.join().expect("ends"), wanted);
        assert_eq!(own(), before);
    }
}
