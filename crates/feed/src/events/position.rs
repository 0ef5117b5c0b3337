//! Places in the feed of changes.

use std::fmt;
use std::str::FromStr;

/// A place in the feed of changes: behind the change with this number. A restored directory begins a new history, so that
/// its numbers are not taken for those that were lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangePosition {
    pub(super) history: u64,
    pub(super) number: u64,
}

impl ChangePosition {
    /// The number of the change.
    pub fn number(self) -> u64 {
        self.number
    }

    /// Whether it is of another history than an older position, or beyond that by so many numbers.
    pub fn is_beyond(self, older: Self, by: u64) -> bool {
        self.history != older.history || self.number >= older.number.saturating_add(by)
    }
}

impl fmt::Display for ChangePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}", self.history, self.number)
    }
}

impl FromStr for ChangePosition {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = || {
            let (history, number) = text.split_once('-')?;
            let history = Some(history).filter(|digits| digits.len() == 16);
            let position = Self { history: u64::from_str_radix(history?, 16).ok()?, number: number.parse().ok()? };
            Some(position).filter(|position| position.to_string() == text)
        };
        read().ok_or("expected a position as the server gives it")
    }
}
