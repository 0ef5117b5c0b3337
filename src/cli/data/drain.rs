//! Waiting until the jobs of a data directory are done.

use crate::prelude::*;

/// The interval of looks at the jobs.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Longest wait while jobs fail and none makes progress. The engine looks every five seconds whether a full device has
/// room again, and a failed job pauses for as long at most.
const TIME_LIMIT: Duration = Duration::from_secs(15);

/// Waits until no job is left and their inboxes are written, and shows the number of jobs; false if `stop` says so first. Fails
/// if the jobs cannot be done, for example because the device has no room.
pub(crate) fn drain(app: &App, stop: &dyn Fn() -> bool) -> Result<bool> {
    let backlog = app.feed().backlog();
    let total = backlog.len() as u64;
    let progress = Progress::new("waiting jobs", Some(total), Unit::Count("jobs"));
    let state = || (backlog.len(), app.figures().tally.chunks.get());
    let (mut before, mut since, mut failures) = (state(), Instant::now(), app.figures().tally.failures.get());
    loop {
        if backlog.wait_until_empty(LOOK_EVERY) {
            if backlog.usage().parked > 0 {
                return Err(failing(app, "waiting jobs"));
            }
            match app.feed().store().write_arrivals() {
                Ok(()) => return Ok(true),
                Err(error) if !error.is_unavailable() => return Err(error),
                Err(_) if since.elapsed() >= TIME_LIMIT => return Err(failing(app, "waiting jobs")),
                Err(_) => std::thread::sleep(LOOK_EVERY),
            }
        }
        if stop() {
            return Ok(false);
        }
        let now = state();
        if now != before {
            (before, since, failures) = (now, Instant::now(), app.figures().tally.failures.get());
        } else if since.elapsed() >= TIME_LIMIT && app.figures().tally.failures.get() > failures {
            return Err(failing(app, "waiting jobs"));
        }
        let done = total.saturating_sub(backlog.len() as u64);
        progress.at(done, format_args!("{}/s", progress.rate(done)));
    }
}

/// The error for work that fails again and again.
pub(crate) fn failing(app: &App, work: &str) -> Error {
    Error::Setup(match app.feed().store().disk().ok().and_then(|disk| disk.health.refusal()) {
        Some(why) => format!("the storage takes no changes, so the {work} cannot be done: {why}"),
        None => format!("the {work} fail; the log on stderr has the cause"),
    })
}
