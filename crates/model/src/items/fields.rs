//! Types of the fields of requests that write items.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{ExternalId, MAX_MILLIS, Millis};

/// Most topics of one item.
pub const MAX_TOPICS: usize = 10;
/// Most further paths of one item.
pub const MAX_TO: usize = 10;
/// Most users whom an item mentions.
pub const MAX_MENTIONS: usize = 50;
/// Most characters of a topic.
pub const MAX_TOPIC_CHARS: usize = 64;

/// A time in a request, 0 … 2^63-1 ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Time(pub Millis);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Time;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("whole milliseconds since 1970")
            }
            fn visit_u64<E: de::Error>(self, millis: u64) -> Result<Time, E> {
                Time::try_from(millis).map_err(E::custom)
            }
        }
        deserializer.deserialize_u64(Visitor)
    }
}

impl TryFrom<u64> for Time {
    type Error = String;
    fn try_from(millis: u64) -> Result<Self, String> {
        if millis <= MAX_MILLIS {
            Ok(Self(millis))
        } else {
            Err("a time is at most 9223372036854775807 milliseconds".to_owned())
        }
    }
}

/// The kind of an item: 1–32 of `a-z0-9_`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Kind(pub(super) String);

impl Kind {
    /// The name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl Default for Kind {
    fn default() -> Self {
        Self("post".to_owned())
    }
}

impl TryFrom<String> for Kind {
    type Error = String;
    fn try_from(name: String) -> Result<Self, String> {
        let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        if (1..=32).contains(&name.len()) && name.bytes().all(fits) {
            Ok(Self(name))
        } else {
            Err("kind: expected 1 to 32 characters of a-z, 0-9 and _".to_owned())
        }
    }
}

/// Declares lists of a new item that have a limit: the names of the field and of its elements, and the check of one of these.
macro_rules! lists {
    ($($(#[$doc:meta])+ $name:ident = $most:ident $element:ty, $field:literal, $what:literal, $check:expr;)+) => {$(
        $(#[$doc])+
        #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
        pub struct $name(Vec<$element>);

        impl $name {
            /// The elements.
            pub fn into_vec(self) -> Vec<$element> {
                self.0
            }
        }

        impl Deref for $name {
            type Target = [$element];
            fn deref(&self) -> &[$element] {
                &self.0
            }
        }

        impl TryFrom<Vec<$element>> for $name {
            type Error = String;
            fn try_from(list: Vec<$element>) -> Result<Self, String> {
                if list.len() > $most {
                    return Err(format!(concat!($field, ": expected at most {} ", $what), $most));
                }
                let check: fn(&$element) -> Result<(), &'static str> = $check;
                list.iter().try_for_each(check)?;
                Ok(Self(list))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Vec::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
            }
        }
    )+};
}

lists! {
    /// At most [`MAX_TOPICS`] names of 1–64 characters.
    Topics = MAX_TOPICS String, "topics", "topics", |topic| match is_topic(topic) {
        true => Ok(()),
        false => Err("topics: expected 1 to 64 characters for each topic"),
    };
    /// At most [`MAX_TO`] sources.
    Sources = MAX_TO ExternalId, "to", "sources", |_| Ok(());
    /// At most [`MAX_MENTIONS`] users.
    Mentioned = MAX_MENTIONS ExternalId, "mentions", "users", |_| Ok(());
}

/// Whether a text can name a topic: 1–64 characters, whatever they are.
pub fn is_topic(name: &str) -> bool {
    // A character has at most four bytes, so a long text is not counted.
    name.len() <= 4 * MAX_TOPIC_CHARS && (1..=MAX_TOPIC_CHARS).contains(&name.chars().count())
}
