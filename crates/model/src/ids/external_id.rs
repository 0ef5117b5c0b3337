//! Ids as the application writes them.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::id::{InvalidId, MAX_ID, parse_digits};

/// Most bytes of a name.
pub const MAX_NAME: usize = 128;

/// The id of a user or an item, as the application gave it. The text of a number and of a name differ always.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ExternalId {
    /// From 1 to [`MAX_ID`].
    Number(u64),
    /// Any other text of 1 to [`MAX_NAME`] bytes of UTF-8 without control characters, compared byte by byte.
    Name(Arc<str>),
}

impl ExternalId {
    /// The name; `None` for a number.
    pub fn name(&self) -> Option<&Arc<str>> {
        match self {
            Self::Number(_) => None,
            Self::Name(name) => Some(name),
        }
    }

    /// This id for an answer.
    pub fn show(&self) -> ShownId<'_> {
        match self {
            Self::Number(raw) => ShownId::Number(*raw),
            Self::Name(name) => ShownId::Name(name),
        }
    }

    fn number(raw: u64) -> Result<Self, InvalidId> {
        if (1..=MAX_ID).contains(&raw) { Ok(Self::Number(raw)) } else { Err(InvalidId) }
    }
}

impl fmt::Display for ExternalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(raw) => raw.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl FromStr for ExternalId {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        if let Some(Ok(number)) = parse_digits(text).map(Self::number) {
            return Ok(number);
        }
        let is_name = (1..=MAX_NAME).contains(&text.len()) && !text.chars().any(char::is_control);
        if is_name { Ok(Self::Name(text.into())) } else { Err(InvalidId) }
    }
}

impl Serialize for ExternalId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.show().serialize(serializer)
    }
}

/// An id in an answer, which the answer does not own.
#[derive(Debug, Clone, Copy)]
pub enum ShownId<'a> {
    /// See [`ExternalId::Number`].
    Number(u64),
    /// See [`ExternalId::Name`].
    Name(&'a str),
}

impl Serialize for ShownId<'_> {
    /// As a string: JavaScript loses integers above 2^53.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(raw) => serializer.serialize_str(itoa::Buffer::new().format(*raw)),
            Self::Name(name) => serializer.serialize_str(name),
        }
    }
}

impl<'de> Deserialize<'de> for ExternalId {
    /// From a string, or from a number of an application.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = ExternalId;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an id: a string of 1 to 128 bytes, or a number from 1 to 9223372036854775807")
            }
            fn visit_u64<E: de::Error>(self, raw: u64) -> Result<ExternalId, E> {
                ExternalId::number(raw).map_err(E::custom)
            }
            fn visit_i64<E: de::Error>(self, raw: i64) -> Result<ExternalId, E> {
                u64::try_from(raw).map_err(|_| InvalidId).and_then(ExternalId::number).map_err(E::custom)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<ExternalId, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}
