//! The priority of threads.

/// Lowers the priority of this thread by so much niceness: a thread with 5 gets a third of the time of a thread with 0
/// where processors are scarce, one with 10 a tenth. Only on Linux: elsewhere it would be that of the process.
pub(crate) fn lower(niceness: i32) {
    // If the system forbids it, all threads have the same priority.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(niceness);
    #[cfg(not(target_os = "linux"))]
    let _ = niceness;
}
