//! A place in a command log as clients see it.

use std::fmt;
use std::str::FromStr;

/// A place in a command log: the id of the log and the offset after a record. For clients it is text without a meaning,
/// so that a later version can put more into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The id of the log.
    pub log: u64,
    /// The offset after a record.
    pub place: u64,
}

impl Position {
    /// A position of no log.
    pub const ELSEWHERE: Self = Self { log: 0, place: 0 };

    /// A position that has all that both have. Of two logs, none has.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if self.log == other.log { Self { place: self.place.max(other.place), ..self } } else { Self::ELSEWHERE }
    }
}

/// Digits of the id.
const ID: usize = 16;

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0ID$x}{:x}", self.log, self.place)
    }
}

impl FromStr for Position {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let (log, place) = text.split_at_checked(ID).ok_or(())?;
        let number = |text: &str| u64::from_str_radix(text, 16).map_err(|_| ());
        let position = Self { log: number(log)?, place: number(place)? };
        // One spelling only.
        if position.to_string() == text { Ok(position) } else { Err(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_comes_back_as_it_was() {
        for (log, place, text) in
            [(0xA1, 42, "00000000000000a12a"), (u64::MAX, u64::MAX, &"f".repeat(32)), (1, 0, "00000000000000010")]
        {
            let position = Position { log, place };
            assert_eq!((position.to_string(), text.parse()), (text.to_owned(), Ok(position)));
        }
        for wrong in ["", "42", "00000000000000a1", "00000000000000A12a", "00000000000000a102a", "é0000000000000a12a"]
        {
            assert_eq!(wrong.parse::<Position>(), Err(()), "{wrong}");
        }
        let long = "f".repeat(33);
        assert_eq!(long.parse::<Position>(), Err(()));
    }

    #[test]
    fn two_positions_of_a_log_are_one() {
        let at = |log, place| Position { log, place };
        assert_eq!(at(1, 5).and(at(1, 7)), at(1, 7));
        assert_eq!(at(1, 7).and(at(1, 5)), at(1, 7));
        assert_eq!(at(1, 7).and(at(2, 9)), Position::ELSEWHERE);
    }
}
