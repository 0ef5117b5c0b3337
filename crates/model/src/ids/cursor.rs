//! Places in time-ordered lists: the cursor of content and of users.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::external_id::ExternalId;
use super::id::{ContentId, Id, UserId, parse_digits};

/// Milliseconds since the Unix epoch.
pub type Millis = u64;

/// The latest time that is accepted, 2^63-1 ms.
pub const MAX_MILLIS: Millis = i64::MAX as u64;

/// A place in a list that is ordered by time, then by id, both as numbers; greater is newer.
///
/// Any pair is a valid place, whether or not an item stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position<I> {
    /// The time: publishing time of content, `since` of a relation.
    pub at: Millis,
    /// The id, which orders places of the same millisecond.
    pub id: I,
}

/// A place in a list of content: `"<published_at>-<content_id>"`.
pub type Cursor = Position<ContentId>;

/// A place in a list of users: `"<since>-<user_id>"`.
pub type UserCursor = Position<UserId>;

/// An id in a cursor.
pub trait Placed: FromStr {
    /// The form of a cursor with it, for messages.
    const FORM: &'static str = "<milliseconds>-<id>";
    /// Such a cursor.
    const EXAMPLE: &'static str = "1689089522000-32850";
}

impl Placed for ContentId {}
impl Placed for UserId {}
impl Placed for ExternalId {}

/// The reason that a text is not a cursor: the form of one, and an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a cursor is \"{0}\", such as \"{1}\"")]
pub struct InvalidPosition(&'static str, &'static str);

impl<I: Id> Position<I> {
    /// The lowest place of all; nothing is older.
    pub const OLDEST: Self = Self { at: 0, id: I::MIN };
    /// The highest place of all; nothing is newer.
    pub const NEWEST: Self = Self { at: MAX_MILLIS, id: I::MAX };

    /// The next newer place, or `None` at the very top.
    pub fn next_newer(self) -> Option<Self> {
        match self.id.next_greater() {
            Some(id) => Some(Self { at: self.at, id }),
            None if self.at < MAX_MILLIS => Some(Self { at: self.at + 1, id: I::MIN }),
            None => None,
        }
    }

    /// A place that an application can name, above this one and at or below every newer item, if there is nothing newer of the
    /// same time; this place itself at the very top.
    pub fn just_above(self) -> Self {
        let next = match self.id.next_greater() {
            Some(id) if !id.is_name() => Some(Self { at: self.at, id }),
            _ => (self.at < MAX_MILLIS).then(|| Self { at: self.at + 1, id: I::MIN }),
        };
        next.unwrap_or(self)
    }

    /// The place just below this one, if there is nothing older of the same time.
    pub fn just_below(self) -> Self {
        match self.id.next_smaller() {
            Some(id) if id.is_name() => Self { at: self.at, id: I::LAST_NUMBER },
            Some(id) => Self { at: self.at, id },
            None => self.at.checked_sub(1).map_or(self, |at| Self { at, id: I::LAST_NUMBER }),
        }
    }

    /// The next older place, or `None` at the very end.
    pub fn next_older(self) -> Option<Self> {
        match self.id.next_smaller() {
            Some(id) => Some(Self { at: self.at, id }),
            None => Some(Self { at: self.at.checked_sub(1)?, id: I::MAX }),
        }
    }
}

impl<I: fmt::Display> fmt::Display for Position<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.at, self.id)
    }
}

impl<I: Placed> FromStr for Position<I> {
    type Err = InvalidPosition;
    fn from_str(text: &str) -> Result<Self, InvalidPosition> {
        let place = || {
            let (at, id) = text.split_once('-')?;
            let at = parse_digits(at).filter(|at| *at <= MAX_MILLIS)?;
            Some(Self { at, id: id.parse().ok()? })
        };
        place().ok_or(InvalidPosition(I::FORM, I::EXAMPLE))
    }
}

impl<I: fmt::Display> Serialize for Position<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, I: Placed> Deserialize<'de> for Position<I> {
    /// From a string.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<I>(PhantomData<I>);

        impl<I: Placed> de::Visitor<'_> for Visitor<I> {
            type Value = Position<I>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a cursor, such as \"{}\"", I::EXAMPLE)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Position<I>, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Visitor(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_by_time_then_id_as_numbers() {
        let cursor = |text: &str| text.parse::<Cursor>().expect(text);
        assert!(cursor("10-9") < cursor("10-10"));
        assert!(cursor("9-100") < cursor("10-1"));
        assert_eq!(cursor("10-9").next_newer(), Some(cursor("10-10")));
        let last_number = cursor("10-9223372036854775807");
        let first_name = last_number.next_newer().expect("a name's");
        assert!(first_name.id.is_name() && last_number < first_name && first_name < cursor("11-1"));
        assert_eq!(Cursor { at: 10, id: ContentId::MAX }.next_newer(), Some(cursor("11-1")));
        assert_eq!(Cursor::NEWEST.next_newer(), None);
        assert_eq!(cursor("10-10").next_older(), Some(cursor("10-9")));
        assert_eq!(cursor("10-1").next_older(), Some(Cursor { at: 9, id: ContentId::MAX }));
        assert_eq!(Cursor::OLDEST.next_older(), None);
    }

    #[test]
    fn a_host_can_name_the_neighbours() {
        let cursor = |text: &str| text.parse::<Cursor>().expect(text);
        let name = cursor("10-9223372036854775807").next_newer().expect("a name's");
        for (place, above, below) in [
            (cursor("10-9"), "10-10", "10-8"),
            (cursor("10-9223372036854775807"), "11-1", "10-9223372036854775806"),
            (name, "11-1", "10-9223372036854775807"),
            (Cursor { at: 10, id: ContentId::UNKNOWN }, "11-1", "10-9223372036854775807"),
            (cursor("10-1"), "10-2", "9-9223372036854775807"),
            (cursor("0-1"), "0-2", "0-1"),
            (
                cursor("9223372036854775807-9223372036854775807"),
                "9223372036854775807-9223372036854775807",
                "9223372036854775807-9223372036854775806",
            ),
        ] {
            assert_eq!((place.just_above(), place.just_below()), (cursor(above), cursor(below)), "{place}");
        }
    }
}
