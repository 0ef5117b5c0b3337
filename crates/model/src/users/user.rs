//! The state of users and authors for fan-outs.

use crate::{Cursor, JobId, Millis};

/// Which pushes a user's inbox receives, and which items it may lack.
///
/// Kept as a state and not computed from a time, so that a fan-out that skips a user and the user's reads agree
/// whatever the clocks do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// Not seen within `active_for`, or never: skipped by partial pushes.
    Dormant {
        /// When the user was last seen, or met; `None` for an unknown user.
        seen: Option<Millis>,
    },
    /// Not seen within `evict_after`: skipped by all pushes. The inbox claims nothing.
    Evicted,
    /// Seen again and pushed to; items skipped before are not back-filled yet.
    Returning {
        /// When the user was last seen.
        seen: Millis,
        /// Whether the user had been evicted: until the rebuild, the inbox claims nothing.
        empty: bool,
        /// The number of the rebuild job; that of an earlier return has no effect.
        rebuild: u64,
    },
    /// Pushed to; only items of unsettled pairs may be missing.
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

    /// Whether the inbox is complete above its floor, except for items that [`Unpushed`], pending items and unsettled
    /// pairs tell of.
    pub fn has_inbox(self) -> bool {
        !matches!(self, Self::Evicted | Self::Returning { empty: true, .. })
    }

    /// Whether the inbox has the items pushed to active followers only.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Active { .. })
    }

    /// The state of a user with partial pushes when seen at `now`; `None` for one who must return first.
    pub fn seen_again(self, now: Millis) -> Option<Self> {
        match self {
            Self::Dormant { .. } | Self::Evicted => None,
            Self::Returning { seen, empty, rebuild } => Some(Self::Returning { seen: seen.max(now), empty, rebuild }),
            Self::Active { seen } => Some(Self::Active { seen: seen.max(now) }),
        }
    }

    /// The state of a dormant or evicted user when seen at `now`, with this job to rebuild the inbox.
    #[must_use]
    pub fn returned(self, now: Millis, rebuild: JobId) -> Self {
        Self::Returning { seen: now, empty: !self.has_inbox(), rebuild: rebuild.seq }
    }

    /// The state when this job has rebuilt the inbox; `None` if the job is out of date.
    pub fn rebuilt(self, job: JobId) -> Option<Self> {
        match self {
            Self::Returning { seen, rebuild, .. } if rebuild == job.seq => Some(Self::Active { seen }),
            _ => None,
        }
    }

    /// The state of a user who gets partial pushes only if seen since `since`; `None` if it stays.
    pub fn lapsed(self, since: Millis) -> Option<Self> {
        let seen = self.seen().filter(|seen| *seen < since)?;
        Some(if self.has_inbox() { Self::Dormant { seen: Some(seen) } } else { Self::Evicted })
    }

    /// Whether there is an inbox, but the user was last seen, or met, before `since`.
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
    /// Whether an inbox with this floor may lack items of the author above it. The inbox of an active reader has the
    /// items pushed to active followers.
    pub fn leaves_gaps(&self, floor: Option<Cursor>, active: bool) -> bool {
        self.to_nobody > floor || (!active && self.to_active > floor)
    }
}
