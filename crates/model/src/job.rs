//! Jobs: the work that a change leaves for the workers, durable with the change itself.

use crate::{Entry, UserId};

/// How many lanes there are. Part of the format on disk: a job's lane is in its key.
pub const LANES: u16 = 1024;

/// A queue whose jobs run one after the other.
///
/// All jobs that concern one source share a lane, so that a fan-out and a settle of the same
/// source never run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane(u16);

impl Lane {
    /// The lane of a user's jobs. Fibonacci hashing, so that neighbouring ids spread.
    pub fn of(user: UserId) -> Self {
        const BITS: u32 = LANES.trailing_zeros();
        Self((user.get().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - BITS)) as u16)
    }

    /// The lane with this number, below [`LANES`].
    pub fn new(number: u16) -> Option<Self> {
        (number < LANES).then_some(Self(number))
    }

    /// Its number.
    pub fn number(self) -> u16 {
        self.0
    }
}

/// Identifies a job: its lane and a number that only rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId {
    /// The lane it runs in.
    pub lane: Lane,
    /// Unique among all jobs on disk; in the order of creation.
    pub seq: u64,
}

/// The work of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Work {
    /// Push an item into the inboxes of a source's followers. In the source's lane.
    FanOut {
        /// The item, on the path whose followers get it.
        entry: Entry,
    },
    /// Make the user's inbox agree with whether the user follows the source. In the source's lane.
    Settle {
        /// The user of the inbox.
        user: UserId,
        /// The source of the entries.
        source: UserId,
    },
    /// Unsettle the pairs whose entries a dormant user missed, and make the user active. In the user's lane.
    Rebuild {
        /// The user of the inbox.
        user: UserId,
    },
}

impl Work {
    /// The lane the work belongs to.
    pub fn lane(&self) -> Lane {
        match self {
            Self::FanOut { entry } => Lane::of(entry.source),
            Self::Settle { source, .. } => Lane::of(*source),
            Self::Rebuild { user } => Lane::of(*user),
        }
    }
}

/// The followers who get a push, decided once per fan-out by their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Every follower.
    All,
    /// Active followers; the dormant pull on their return.
    Active,
    /// Nobody; every reader pulls.
    Nobody,
}

/// The progress of a fan-out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Progress {
    /// The followers who get the item.
    pub reach: Reach,
    /// Every follower up to and including this id is done; `None` at the start.
    pub done_to: Option<UserId>,
}

/// A job as it stands on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// Its work.
    pub work: Work,
    /// Set once a fan-out has begun.
    pub progress: Option<Progress>,
}
