//! What is kept of users and authors for fan-out.

use super::job::JobId;
use super::position::{Cursor, Millis};

/// Which pushes a user's inbox receives, and what it is good for.
///
/// Kept as a state and not computed from a time, so that the fan-out that skips a user and the
/// read that must know of it agree whatever the clocks do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// Not seen within `active_for`, or never: skipped by partial pushes.
    Dormant {
        /// When the user was last seen, or first heard of; `None` for one nobody has heard of.
        seen: Option<Millis>,
    },
    /// Not seen within `evict_after`: skipped by all pushes. The inbox claims nothing.
    Evicted,
    /// Seen again and pushed to; what was skipped before is not yet back-filled.
    Returning {
        /// When the user was last seen.
        seen: Millis,
        /// Whether the user had been evicted: until the rebuild, the inbox claims nothing.
        empty: bool,
        /// The number of the job that rebuilds; a rebuild of an earlier return does not do.
        rebuild: u64,
    },
    /// Pushed to, with nothing missing but what unsettled pairs cover.
    Active {
        /// When the user was last seen.
        seen: Millis,
    },
}

impl Default for Activity {
    fn default() -> Self {
        Self::Dormant { seen: None }
    }
}

impl Activity {
    /// When a user who gets partial pushes was last seen; `None` for the dormant and the evicted.
    pub fn seen(self) -> Option<Millis> {
        match self {
            Self::Dormant { .. } | Self::Evicted => None,
            Self::Returning { seen, .. } | Self::Active { seen } => Some(seen),
        }
    }

    /// Whether the inbox is what it claims to be: complete above its floor, but for what
    /// [`Unpushed`], pending items and unsettled pairs say.
    pub fn has_inbox(self) -> bool {
        !matches!(self, Self::Evicted | Self::Returning { empty: true, .. })
    }

    /// Whether the inbox has what was pushed to active followers only.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Active { .. })
    }

    /// Whether a read that took the user to be so may still do so: all but the time is the same.
    pub fn is_like(self, other: Self) -> bool {
        (self.is_active(), self.has_inbox()) == (other.is_active(), other.has_inbox())
    }

    /// What a user who gets partial pushes becomes when seen at `now`; `None` for one who has to
    /// return first.
    pub fn seen_again(self, now: Millis) -> Option<Self> {
        match self {
            Self::Dormant { .. } | Self::Evicted => None,
            Self::Returning { seen, empty, rebuild } => Some(Self::Returning { seen: seen.max(now), empty, rebuild }),
            Self::Active { seen } => Some(Self::Active { seen: seen.max(now) }),
        }
    }

    /// What a dormant or evicted user becomes when seen at `now`, with this job to rebuild the inbox.
    #[must_use]
    pub fn returned(self, now: Millis, rebuild: JobId) -> Self {
        Self::Returning { seen: now, empty: !self.has_inbox(), rebuild: rebuild.seq }
    }

    /// What a user becomes when this job has rebuilt the inbox; `None` if the job is out of date.
    pub fn rebuilt(self, job: JobId) -> Option<Self> {
        match self {
            Self::Returning { seen, rebuild, .. } if rebuild == job.seq => Some(Self::Active { seen }),
            _ => None,
        }
    }

    /// What a user becomes who is to get partial pushes only if seen since `since`; `None` if there
    /// is nothing to change.
    pub fn lapsed(self, since: Millis) -> Option<Self> {
        let seen = self.seen().filter(|seen| *seen < since)?;
        Some(if self.has_inbox() { Self::Dormant { seen: Some(seen) } } else { Self::Evicted })
    }

    /// Whether the inbox is there although the user was last seen, or first heard of, before `since`.
    pub fn is_idle(self, since: Millis) -> bool {
        let last = match self {
            Self::Dormant { seen } => seen,
            other => other.seen(),
        };
        self.has_inbox() && last.is_some_and(|last| last < since)
    }
}

/// The newest of an author's items that did not reach all followers' inboxes.
///
/// A reader whose floor lies below one of these must pull the author. Only ever rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unpushed {
    /// Newest item that was pushed to nobody.
    pub to_nobody: Option<Cursor>,
    /// Newest item that was pushed to active followers only.
    pub to_active: Option<Cursor>,
}

impl Unpushed {
    /// Whether an inbox with this floor may lack something of the author above it. The inbox of an
    /// active reader has what was pushed to active followers.
    pub fn leaves_gaps(&self, floor: Option<Cursor>, active: bool) -> bool {
        self.to_nobody > floor || (!active && self.to_active > floor)
    }
}
