//! The time of a change.

use model::Millis;
use model::clock;

/// The time at which a change applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeTime {
    /// The server's clock, each time that it is asked for.
    Clock,
    /// The time of the change in a command log. It does not fall.
    Log(Millis),
}

impl ChangeTime {
    /// Now.
    pub fn now(self) -> Millis {
        self.at(clock::now)
    }

    /// The latest possible time: now, or the system's clock if that is later and not followed yet.
    pub fn latest(self) -> Millis {
        self.at(clock::latest)
    }

    /// A time that goes on whatever happens to the system's clock.
    pub(super) fn uptime(self) -> Millis {
        self.at(clock::uptime)
    }

    fn at(self, clock: fn() -> Millis) -> Millis {
        match self {
            Self::Clock => clock(),
            Self::Log(time) => time,
        }
    }
}
