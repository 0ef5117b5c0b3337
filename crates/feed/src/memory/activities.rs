//! Activities of users in memory.

use super::user_rows::Mirror;
use model::cache;
use model::cache::ReadThrough;
use model::cache::memory::{CacheMemory, Share};
use model::{Activity, Millis, UserId};

/// The size of one activity, bytes.
const ACTIVITY_BYTES: u64 = 64 - cache::OVERHEAD;

/// Activities that were read recently and often. Never older than their rows. Reads take no activity lock.
pub(crate) type Activities = ReadThrough<UserId, Activity>;

/// An empty cache of activities.
pub(crate) fn activities(memory: CacheMemory) -> Activities {
    ReadThrough::new(memory.of(Share::ACTIVITIES), ACTIVITY_BYTES, |_| ACTIVITY_BYTES)
}

/// Most users who get partial pushes and are kept in memory, at 20 to 40 bytes each.
pub(crate) const MOST_RECIPIENTS: usize = 1_800_000;

/// For each user who gets partial pushes, when the user was last seen; beside the table `activity`, because a fan-out to a
/// million users looks up each. A user comes in before the row is visible, and goes after that.
pub(crate) type PartialPushRecipients = Mirror<Millis, 64>;
