//! The time of a change.

use model::Millis;
use model::clock;

/// The level of a new command log, and the lowest one that is read. Until the first release, another meaning of a change
/// raises this: no server has to read the logs before, and none may apply them.
pub const FIRST_LEVEL: u32 = 4;

/// The highest level of a command log that this version reads. A log has one level in force, which never falls. All
/// that decides what a change does goes by it, so that servers of two versions come to the same: a version that adds a
/// kind of change, a field that must not be passed over, or another meaning of what there is, raises the level, and keeps
/// the old meaning below it. Nodes write the level in force, so that nodes of the version before can read along until all
/// of them are updated; then `tideline cluster upgrade` brings the new level into force. Builds for tests read one more,
/// so that this can be tried.
pub const LEVEL: u32 = if cfg!(feature = "failpoints") { FIRST_LEVEL + 1 } else { FIRST_LEVEL };

/// The time at which a change applies, and the level by which it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeTime {
    /// The server's clock, each time that it is asked for; the newest level.
    Clock,
    /// The time of the change in a command log, and the level in force there. Neither falls.
    Log {
        /// The time.
        time: Millis,
        /// See [`LEVEL`].
        level: u32,
    },
}

impl ChangeTime {
    /// Now.
    pub fn now(self) -> Millis {
        match self {
            Self::Clock => clock::now(),
            Self::Log { time, .. } => time,
        }
    }

    /// The level: which meaning a change has.
    pub fn level(self) -> u32 {
        match self {
            Self::Clock => LEVEL,
            Self::Log { level, .. } => level,
        }
    }

    /// The latest possible time: now, or the system's clock if that is later and not followed yet.
    pub fn latest(self) -> Millis {
        match self {
            Self::Clock => clock::latest(),
            Self::Log { time, .. } => time,
        }
    }

    /// A time that goes on whatever happens to the system's clock.
    pub(super) fn uptime(self) -> Millis {
        match self {
            Self::Clock => clock::uptime(),
            Self::Log { time, .. } => time,
        }
    }
}
