//! The time of a change.

use crate::clock;
use crate::model::Millis;

/// The time at which a change applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The server's clock, each time that it is asked for.
    Clock,
    /// The time of the change in a log of changes. These times do not fall.
    Log(Millis),
}

impl At {
    /// Now.
    pub fn now(self) -> Millis {
        match self {
            Self::Clock => clock::now(),
            Self::Log(at) => at,
        }
    }

    /// The latest possible time: now, or the system's clock if that is later and not followed yet.
    pub fn latest(self) -> Millis {
        match self {
            Self::Clock => clock::latest(),
            Self::Log(at) => at,
        }
    }

    /// A time that goes on whatever happens to the system's clock.
    pub(super) fn uptime(self) -> Millis {
        match self {
            Self::Clock => clock::uptime(),
            Self::Log(at) => at,
        }
    }
}
