//! Waiting for what other threads do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// Longer than anything that is waited for takes on the slowest machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something holds; `complaint` is the failure if it never does.
pub(crate) fn until(complaint: &str, mut holds: impl FnMut() -> bool) -> Result<(), String> {
    until_some(complaint, || holds().then_some(()))
}

/// Waits until there is a value.
pub(crate) fn until_some<T>(complaint: &str, mut look: impl FnMut() -> Option<T>) -> Result<T, String> {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        ensure!(began.elapsed() < PATIENCE, "{complaint}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Lets threads go on for a time, or until one of them ends, then tells all to stop.
pub(crate) fn stop_after<T>(time: Duration, threads: &[ScopedJoinHandle<'_, T>], stop: &AtomicBool) {
    let end = Instant::now() + time;
    while Instant::now() < end && threads.iter().all(|thread| !thread.is_finished()) {
        thread::sleep(Duration::from_millis(5));
    }
    stop.store(true, Ordering::Relaxed);
}
