//! Kinds of operations, and mixes of them.

use clap::ValueEnum;
use serde::Serialize;

/// A kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// A publish of any author but the giant of [`Mix::BigAuthor`].
    Publish,
    /// A publish of the giant of [`Mix::BigAuthor`].
    PublishBig,
    /// The newest page of a timeline.
    Read,
    /// A new follow.
    Follow,
    /// A heartbeat, and then the newest page.
    LogIn,
    /// The end of the heartbeat.
    LogOut,
}

impl Kind {
    /// All kinds, in the order of reports.
    pub(super) const ALL: [Self; 6] =
        [Self::Publish, Self::PublishBig, Self::Read, Self::Follow, Self::LogIn, Self::LogOut];

    /// The name in reports.
    pub(super) fn name(self) -> &'static str {
        ["publish", "publish-big", "read", "follow", "log-in", "log-out"][self as usize]
    }
}

/// A mix of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Mix {
    /// 50 reads for each publish
    ReadHeavy,
    /// Of 121 operations 100 reads, 10 follows, 5 log-ins, 5 log-outs and 1 publish; 70 % of the users are active
    Pequod,
    /// As many publishes as reads, four times as often in one second of five, and a quarter as often in the others
    WriteBurst,
    /// 20 reads for each publish; and the author with the most followers publishes once in five seconds
    BigAuthor,
}

impl Mix {
    /// Seconds between two publishes of the giant in [`Mix::BigAuthor`].
    pub(super) const GIANT_EVERY: f64 = 5.0;

    /// The name on the command line and in reports.
    pub(super) fn name(self) -> &'static str {
        ["read-heavy", "pequod", "write-burst", "big-author"][self as usize]
    }

    /// Parts of the kinds. The publishes of the giant come on top, by the clock.
    pub(super) fn parts(self) -> &'static [(Kind, u32)] {
        match self {
            Self::ReadHeavy => &[(Kind::Publish, 1), (Kind::Read, 50)],
            Self::Pequod => {
                &[(Kind::Publish, 1), (Kind::Read, 100), (Kind::Follow, 10), (Kind::LogIn, 5), (Kind::LogOut, 5)]
            }
            Self::WriteBurst => &[(Kind::Publish, 1), (Kind::Read, 1)],
            Self::BigAuthor => &[(Kind::Publish, 1), (Kind::Read, 20)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_command_line() {
        for mix in Mix::value_variants() {
            assert_eq!(mix.to_possible_value().expect("shown").get_name(), mix.name());
        }
    }
}
