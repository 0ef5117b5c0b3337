//! Writes the inboxes' changes in memory now and then, so that a crash repeats little and a quiet server is clean: soon
//! after the last job, and at the latest after `storage.arrivals_for`. Under load, the fan-outs write them themselves,
//! each time the memory is half full. The same thread drops damaged inboxes.

use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::Context;
use crate::inbox::tables;

/// Without an end of a job or a chunk for this time, all is written,
const QUIET: Duration = Duration::from_millis(200);
/// but not so soon after the write before: under a light load, each write would have few changes of each inbox.
const PAUSE: Duration = Duration::from_secs(2);

pub(super) fn run(context: &Context, stopped: &Receiver<()>) {
    let longest = context.config.storage.arrivals_for.get();
    let (mut seen, mut written) = (None, None);
    let mut since = Instant::now();
    while stopped.recv_timeout(longest.min(QUIET)) == Err(RecvTimeoutError::Timeout) {
        context.done(
            tables::drop_damaged_inboxes(&context.store),
            "a damaged inbox was not dropped; a later round repeats it",
        );
        let now = Some((context.backlog.usage().done, context.tally.chunks.get()));
        let is_quiet = now == std::mem::replace(&mut seen, now);
        let pause = if is_quiet && now != written { longest.min(PAUSE) } else { longest };
        if since.elapsed() < pause {
            continue;
        }
        (since, written) = (Instant::now(), now);
        context.done(context.store.write_arrivals(), "inboxes were not written; a later round repeats it");
    }
}
