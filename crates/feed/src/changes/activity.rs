//! Marks users as seen: a read of the home timeline keeps its reader active.

use crate::Feed;
use model::clock::now;
use model::error::{Error, Result};
use model::failpoint;
use model::failpoint::Failpoint;
use model::store::Tier;
use model::{Activity, Millis, UserId};

/// The row of a seen user is written again after this part of `active_for`, not at every read.
const REFRESH_PART: Millis = 16;

impl Feed {
    /// Marks the reader as seen and returns its activity. Must come first in a read: fan-outs that choose their
    /// recipients after it choose this reader.
    pub(crate) fn see(&self, user: UserId, tier: Tier) -> Result<Activity> {
        let present = self.activity(user, tier)?;
        if !self.keeps_inbox_of(user) {
            return Ok(present);
        }
        let now = now();
        let refresh = self.config.timeline.whole_for().as_millis() / REFRESH_PART;
        if present.seen().is_some_and(|seen| now.saturating_sub(seen) <= refresh) {
            return Ok(present);
        }
        // An unknown user is not recorded: there is no inbox to keep, and the first follow records the user.
        if present == Activity::default() && self.authors(user, tier)?.iter().all(|author| *author == user) {
            return Ok(present);
        }
        if tier == Tier::Memory {
            return Err(Error::NotCached);
        }
        // Without room for a rebuild the activity stays as it is: reads are exact, only slower.
        let Some(mut room) = self.backlog.reserve_low(1) else { return Ok(present) };
        let touched = match self.store.touch(user, now) {
            // So it does if the store takes no writes at present.
            Err(error) if error.is_unavailable() => return Ok(present),
            touched => touched?,
        };
        if let Some(job) = touched.job {
            self.backlog.add(&mut room, job);
            failpoint::pass(Failpoint::TouchQueued);
        }
        Ok(touched.activity)
    }
}
