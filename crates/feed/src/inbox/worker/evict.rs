//! Drops the inboxes of users who have not been seen for long.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::{Context, is_over};
use crate::inbox::tables;
use crate::inbox::tables::Idle;
use crate::store::Store;
use kv::Tier;
use model::clock::now;
use model::error::Result;
use model::{Members, Millis, Order, Span, UserId};

/// Users read at once.
const USERS: usize = 1000;
/// Rounds over all users within `evict_after`, and the shortest and longest pause between two, milliseconds.
const ROUNDS: Millis = 24;
const EVERY: (Millis, Millis) = (10, 3_600_000);
/// How often a long start tells its progress.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// Drops the inbox of a user last seen before `seen_before`; false if there is nothing to drop. The floor rises to the
/// newest entry, not to the time of the clock: a clock that is ahead for a moment would leave later items below the floor.
pub(super) fn evict(store: &Store, user: UserId, seen_before: Millis) -> Result<bool> {
    let mut newest = None;
    tables::inbox(store, user, Span::ALL, Order::NewestFirst, Tier::Disk, &mut |entry| {
        newest = Some(entry.cursor);
        ControlFlow::Break(())
    })?;
    tables::evict(store, user, seen_before, newest)
}

/// Drops the inboxes that this node does not keep, or keeps no more. Must come before the workers start, because
/// fan-outs leave their users out.
pub fn evict_others(store: &Store, members: &Members) -> Result<()> {
    let (mut seen, mut evicted, mut told) = (0_u64, 0_u64, Instant::now());
    each_idle(store, Millis::MAX, |idle| {
        seen += idle.users.len() as u64;
        for user in idle.users.iter().filter(|user| !members.owns(**user)) {
            evicted += u64::from(evict(store, *user, Millis::MAX)?);
        }
        if told.elapsed() >= TELL_EVERY || idle.next.is_none() && evicted > 0 {
            told = Instant::now();
            tracing::info!(users = seen, evicted, "inboxes of other nodes are dropped");
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// Visits the users last seen before a time who have an inbox, some at a time, until `visit` breaks.
fn each_idle(
    store: &Store,
    seen_before: Millis,
    mut visit: impl FnMut(&Idle) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut after = None;
    loop {
        let idle = tables::idle(store, after, USERS, seen_before)?;
        if visit(&idle)?.is_break() || idle.next.is_none() {
            return Ok(());
        }
        after = idle.next;
    }
}

/// Evicts idle users, round after round; does nothing if `evict_after` is 0.
pub(super) fn run(context: &Context, stopped: &Receiver<()>) {
    let evict_after = context.config.timeline.evict_after.as_millis();
    if evict_after == 0 {
        return;
    }
    let pause = Duration::from_millis((evict_after / ROUNDS).clamp(EVERY.0, EVERY.1));
    while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        let evicted = evict_idle(context, now().saturating_sub(evict_after), stopped);
        let evicted = context.done(evicted, "the search for idle users failed; the next round repeats it");
        if let Some(users) = evicted.filter(|users| *users > 0) {
            tracing::info!(users, "the inboxes of idle users were dropped");
        }
    }
}

/// Evicts users last seen before `seen_before`; returns how many.
fn evict_idle(context: &Context, seen_before: Millis, stopped: &Receiver<()>) -> Result<u64> {
    let mut evicted = 0;
    each_idle(&context.store, seen_before, |idle| {
        for user in &idle.users {
            if evict(&context.store, *user, seen_before)? {
                context.tally.evicted.add(1);
                evicted += 1;
            }
        }
        Ok(if is_over(stopped) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(evicted)
}
