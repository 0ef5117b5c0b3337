//! Ids given by the host application: unsigned integers from 1 to 2^63-1.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The largest id, 2^63-1.
pub const MAX_ID: u64 = i64::MAX as u64;

/// Why a text or a number is not an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an id is a whole number from 1 to 9223372036854775807")]
pub struct InvalidId;

/// Parses canonical decimal digits: no sign, no blanks, no leading zero.
pub(super) fn parse_digits(text: &str) -> Option<u64> {
    let canonical =
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'));
    if canonical { text.parse().ok() } else { None }
}

/// The common part of all ids.
pub trait Id: Copy + Ord {
    /// The smallest id.
    const MIN: Self;
    /// The largest id.
    const MAX: Self;

    /// The next greater id; `None` above the largest.
    fn next_greater(self) -> Option<Self>;

    /// The next smaller id; `None` below the smallest.
    fn next_smaller(self) -> Option<Self>;
}

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// The smallest id.
            pub const MIN: Self = Self(1);
            /// The largest id.
            pub const MAX: Self = Self(MAX_ID);

            /// Takes a number in range.
            pub const fn new(raw: u64) -> Result<Self, InvalidId> {
                if raw >= 1 && raw <= MAX_ID { Ok(Self(raw)) } else { Err(InvalidId) }
            }

            /// The number itself.
            pub const fn get(self) -> u64 {
                self.0
            }
        }

        impl Id for $name {
            const MIN: Self = Self::MIN;
            const MAX: Self = Self::MAX;

            fn next_greater(self) -> Option<Self> {
                Self::new(self.0 + 1).ok()
            }

            fn next_smaller(self) -> Option<Self> {
                Self::new(self.0 - 1).ok()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Self::new(parse_digits(text).ok_or(InvalidId)?)
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

        impl Serialize for $name {
            /// As a string: JavaScript loses integers above 2^53.
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(itoa::Buffer::new().format(self.0))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            /// From a string or a number.
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl de::Visitor<'_> for Visitor {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("an id from 1 to 9223372036854775807, as a string or a number")
                    }
                    fn visit_u64<E: de::Error>(self, raw: u64) -> Result<$name, E> {
                        $name::new(raw).map_err(E::custom)
                    }
                    fn visit_i64<E: de::Error>(self, raw: i64) -> Result<$name, E> {
                        u64::try_from(raw).map_err(|_| InvalidId).and_then($name::new).map_err(E::custom)
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_any(Visitor)
            }
        }
    };
}

id_type! {
    /// A user of the host application. Needs no registration: any id in range is a user.
    UserId
}
id_type! {
    /// One published item.
    ContentId
}
id_type! {
    /// A topic's number in the store; the API knows topics by their names.
    TopicId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_whole_range_and_nothing_else() {
        assert_eq!("1".parse(), Ok(UserId::MIN));
        assert_eq!("9223372036854775807".parse(), Ok(UserId::MAX));
        for bad in ["", "0", "-1", "+1", " 1", "01", "1.0", "9223372036854775808", "99999999999999999999", "１"] {
            assert_eq!(bad.parse::<UserId>(), Err(InvalidId), "{bad:?}");
        }
    }

    #[test]
    fn json_is_a_string_out_and_either_in() {
        let id = ContentId::new(42).expect("in range");
        assert_eq!(serde_json::to_string(&id).expect("json"), "\"42\"");
        assert_eq!(serde_json::from_str::<ContentId>("42").expect("number"), id);
        assert_eq!(serde_json::from_str::<ContentId>("\"42\"").expect("string"), id);
        for bad in ["0", "-1", "1.5", "1e3", "true", "null", "\"\"", "[1]", "9223372036854775808"] {
            assert!(serde_json::from_str::<ContentId>(bad).is_err(), "{bad}");
        }
    }
}
