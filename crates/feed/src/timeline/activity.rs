//! Marks users as seen: a read of the home timeline keeps its reader active.

use crate::read::Read;
use crate::{inbox, timeline};
use model::clock::now;
use model::error::Result;
use model::failpoint::Failpoint;
use model::{Activity, Millis, UserId, failpoint};

/// The row of a seen user is written again after this part of `active_for`, not at every read.
const REFRESH_PART: Millis = 16;

/// The activity of a user. On a node that does not keep the user's inbox, that of an evicted user: reads pull.
#[inline]
pub(crate) fn activity(read: Read<'_>, user: UserId) -> Result<Activity> {
    match read.feed.keeps_inbox_of(user) {
        true => inbox::tables::activity(&read.feed.store, user, read.tier),
        false => Ok(Activity::Evicted),
    }
}

/// Marks the reader as seen and returns its activity. Must come first in a read: fan-outs that choose their
/// recipients after it choose this reader.
pub fn mark_seen(read: Read<'_>, user: UserId) -> Result<Activity> {
    let (feed, present) = (read.feed, activity(read, user)?);
    if !feed.keeps_inbox_of(user) {
        return Ok(present);
    }
    let now = now();
    let refresh = feed.config.timeline.whole_for().as_millis() / REFRESH_PART;
    if present.seen().is_some_and(|seen| now.saturating_sub(seen) <= refresh) {
        return Ok(present);
    }
    // An unknown user is not recorded: there is no inbox to keep, and the first follow records the user.
    if present == Activity::default() && timeline::authors(read, user)?.iter().all(|author| *author == user) {
        return Ok(present);
    }
    read.needs_disk()?;
    // Without room for a rebuild the activity stays as it is: reads are exact, only slower.
    let Some(mut room) = feed.backlog.reserve_low(1) else { return Ok(present) };
    let touched = match inbox::tables::touch(&feed.store, user, now) {
        // So it does if the store takes no writes at present.
        Err(error) if error.is_unavailable() => return Ok(present),
        touched => touched?,
    };
    if let Some(job) = touched.job {
        feed.backlog.add(&mut room, job);
        failpoint::pass(Failpoint::TouchQueued);
    }
    Ok(touched.activity)
}
