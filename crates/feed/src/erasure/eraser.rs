//! The thread that erases users: part by part, with pauses, until no row names them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::tables;
use crate::erasure;
use crate::feed::Feed;
use crate::writer::command::{EndErasure, EraseRows};
use model::error::Result;
use model::failpoint::Failpoint;
use model::threads::Threads;
use model::{ErasedPart, Erasure, ErasurePlace, UserId, failpoint};

/// Rows of one part, and items: each of them has several rows. Changes of others wait for a part that is being written. With 100
/// their 99th percentile was 1.8 times that of a quiet time, with 20 it was 1.4 times (`tests/erasure_load.py`).
const ROWS: usize = 20;
/// How often it looks for erasures, and for the end of their jobs.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// The pause after each part is so many times as long as the part took, within these bounds: so it takes at most a ninth
/// of the time of the disk, and others come between.
const PAUSES: u32 = 8;
const PAUSE: (Duration, Duration) = (Duration::from_millis(1), Duration::from_secs(1));
/// How long it waits for the jobs of a part, which settle ended follows. It pauses for as long again, so that workers have them for
/// half of the time at most, unless the server has other jobs all the time.
const JOBS: Duration = Duration::from_millis(100);
/// After so long without progress the next node goes on with an erasure; after twice the time the one behind it, and so on.
const STALLED: Duration = Duration::from_secs(5);
/// The longest pause after a part that was refused, and the one after an erasure that failed.
const AFTER_REFUSAL: Duration = Duration::from_secs(5);

/// The running thread.
#[derive(Debug)]
pub struct Eraser {
    _thread: Threads,
}

impl Eraser {
    /// Starts the thread. It goes on with the erasures that an earlier run has left. When this is dropped, it ends after the part
    /// under way.
    pub fn start(feed: Arc<Feed>) -> Result<Self> {
        let mut thread = Threads::default();
        thread.start_jobs("erase", move |stopped| {
            let mut before = HashMap::new();
            let mut pause = LOOK_EVERY;
            while !stops(stopped, pause) {
                pause = match erase_all(&feed, &mut before, stopped) {
                    Ok(true) => LOOK_EVERY,
                    Ok(false) => AFTER_REFUSAL,
                    Err(error) => {
                        tracing::warn!(%error, "cannot look for erasures; tries again soon");
                        AFTER_REFUSAL
                    }
                };
            }
        })?;
        Ok(Self { _thread: thread })
    }

    /// Ends after the part under way. The next start goes on.
    pub fn stop(self) {}
}

/// Whether the thread is to stop, after a pause.
fn stops(stopped: &Receiver<()>, pause: Duration) -> bool {
    stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout)
}

fn pause_after(took: Duration) -> Duration {
    took.saturating_mul(PAUSES).clamp(PAUSE.0, PAUSE.1)
}

/// Goes on with all erasures; false if one of them failed. `before` has the rows that each had removed at the last look, and
/// since when.
fn erase_all(feed: &Feed, before: &mut HashMap<UserId, (u64, Instant)>, stopped: &Receiver<()>) -> Result<bool> {
    if !tables::has_erasures(&feed.store) {
        before.clear();
        return Ok(true);
    }
    let mut all_well = true;
    for erasure in tables::erasures(&feed.store)? {
        // On a node, the first owner of the user erases for all nodes, or the next one if it is away. The others purge their
        // rows when the parts have come.
        let (user, seen) = (erasure.user, (erasure.rows, Instant::now()));
        let known = before.get(&user).filter(|(rows, _)| *rows == erasure.rows).copied();
        before.insert(user, known.unwrap_or(seen));
        let stands = known.map(|(_, since)| since.elapsed());
        let goes_on = if stands.unwrap_or_default() >= STALLED.saturating_mul(feed.rank_for(user)) {
            erase_one(feed, &erasure, stopped)
        } else if stands.is_some() {
            purge_with_pauses(feed, user, stopped)
        } else {
            Ok(!stops(stopped, Duration::ZERO))
        };
        match goes_on {
            Ok(true) => {}
            Ok(false) => return Ok(all_well),
            Err(error) => {
                tracing::warn!(%error, since = erasure.since, "an erasure failed; it goes on soon");
                all_well = false;
            }
        }
    }
    Ok(all_well)
}

/// Erases a user; false if it stopped before the end.
fn erase_one(feed: &Feed, erasure: &Erasure, stopped: &Receiver<()>) -> Result<bool> {
    let user = erasure.user;
    let (mut place, mut refused) = (ErasurePlace::default(), PAUSE.0);
    loop {
        let (began, before) = (Instant::now(), place.clone());
        let Some(part) = tables::to_erase(&feed.store, user, &mut place, ROWS)? else { break };
        let looked = began.elapsed();
        let pause = match erase_rows(feed, user, part) {
            Ok(took) => {
                refused = PAUSE.0;
                let waits = Instant::now();
                feed.backlog.wait_until_empty(JOBS);
                pause_after(looked + took) + waits.elapsed()
            }
            Err(error) if error.is_unavailable() => {
                place = before;
                refused = (2 * refused).min(AFTER_REFUSAL);
                refused
            }
            Err(error) => return Err(error),
        };
        failpoint::pass(Failpoint::ErasedPart);
        if stops(stopped, pause) {
            return Ok(false);
        }
    }
    // Fan-outs of the user's items may bring entries into inboxes until they end.
    loop {
        let began = Instant::now();
        if !erasure::has_jobs_of(feed, user)? {
            break;
        }
        if stops(stopped, LOOK_EVERY.max(3 * began.elapsed())) {
            return Ok(false);
        }
    }
    if !purge_with_pauses(feed, user, stopped)? {
        return Ok(false);
    }
    if feed.submit(EndErasure { user: user.get() })? {
        tracing::info!(took_s = model::clock::now().saturating_sub(erasure.since) / 1000, "a user is erased");
    }
    Ok(true)
}

/// Removes a part. Returns how long this server took for it, without the way through a command log.
fn erase_rows(feed: &Feed, user: UserId, part: ErasedPart) -> Result<Duration> {
    if part.keys.is_empty() {
        return Ok(Duration::ZERO);
    }
    feed.submit(EraseRows { user: user.get(), part }).map(|took| took.0)
}

fn purge_with_pauses(feed: &Feed, user: UserId, stopped: &Receiver<()>) -> Result<bool> {
    let mut began = Instant::now();
    erasure::purge_erased(feed, user, || {
        let goes_on = !stops(stopped, pause_after(began.elapsed()));
        began = Instant::now();
        goes_on
    })
}
