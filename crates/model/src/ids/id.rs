//! Ids in the store: numbers. A number of the application, from 1 to 2^63-1, is its own id. A *name*, which is any
//! other id of the application, gets a number with the top bit set; see [`ExternalId`](crate::ExternalId).

use std::fmt;
use std::str::FromStr;

/// The largest number of an application, 2^63-1.
pub const MAX_ID: u64 = i64::MAX as u64;

/// The reason that a text or a number is not an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an id is 1 to 128 bytes of text without control characters, or a number from 1 to 9223372036854775807")]
pub struct InvalidId;

/// Parses canonical decimal digits: no sign, no blanks, no leading zero.
pub(crate) fn parse_digits(text: &str) -> Option<u64> {
    let canonical =
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'));
    if canonical { text.parse().ok() } else { None }
}

/// The common part of all ids.
pub trait Id: Copy + Ord + Into<u64> + TryFrom<u64, Error = InvalidId> {
    /// The smallest id.
    const MIN: Self;
    /// The largest id of all.
    const MAX: Self;
    /// The largest number of an application.
    const LAST_NUMBER: Self;
    /// Stands for a name that has no number. No row has it.
    const UNKNOWN: Self;
    /// Whether it is that of a user.
    const IS_USER: bool;

    /// Takes any number but 0.
    fn of(raw: u64) -> Result<Self, InvalidId> {
        Self::try_from(raw)
    }

    /// Whether it is the number of a name.
    fn is_name(self) -> bool {
        self.into() > MAX_ID
    }

    /// The next greater id; `None` above the largest.
    fn next_greater(self) -> Option<Self> {
        Self::of(self.into().checked_add(1)?).ok()
    }

    /// The next smaller id; `None` below the smallest.
    fn next_smaller(self) -> Option<Self> {
        Self::of(self.into() - 1).ok()
    }
}

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident, $is_user:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// The smallest id.
            pub const MIN: Self = Self(1);
            /// The largest id.
            pub const MAX: Self = Self(u64::MAX);
            /// Stands for a name that has no number. No row has it.
            pub const UNKNOWN: Self = Self(u64::MAX - 1);
            /// The largest number of an application.
            pub const LAST_NUMBER: Self = Self(MAX_ID);

            /// Takes any number but 0: of the application, or of a name.
            pub const fn new(raw: u64) -> Result<Self, InvalidId> {
                if raw >= 1 { Ok(Self(raw)) } else { Err(InvalidId) }
            }

            /// Whether it is the number of a name.
            pub const fn is_name(self) -> bool {
                self.0 > MAX_ID
            }

            /// The number itself.
            pub const fn get(self) -> u64 {
                self.0
            }
        }

        impl Id for $name {
            const MIN: Self = Self::MIN;
            const MAX: Self = Self::MAX;
            const LAST_NUMBER: Self = Self::LAST_NUMBER;
            const UNKNOWN: Self = Self::UNKNOWN;
            const IS_USER: bool = $is_user;
        }

        impl fmt::Display for $name {
            /// The number, for logs. Answers have a [`ExternalId`](crate::ExternalId).
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                parse_digits(text).filter(|raw| *raw <= MAX_ID).ok_or(InvalidId).and_then(Self::new)
            }
        }

        impl TryFrom<u64> for $name {
            type Error = InvalidId;
            fn try_from(raw: u64) -> Result<Self, InvalidId> {
                Self::new(raw)
            }
        }

        impl From<$name> for u64 {
            fn from(id: $name) -> u64 {
                id.0
            }
        }
    };
}

id_type! {
    /// A user of the application. Needs no registration: any id in range is a user.
    UserId, true
}
id_type! {
    /// One published item.
    ContentId, false
}
id_type! {
    /// A list's number in the store; the API knows the lists of a user by their names.
    ListId, false
}
id_type! {
    /// A topic's number in the store; the API knows topics by their names.
    TopicId, false
}
