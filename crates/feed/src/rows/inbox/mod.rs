//! Rows of inboxes: their bytes, and changes that the engine merges into them.

pub(crate) mod merge;
pub(crate) mod packed;

use self::packed::Packed;
use model::Cursor;

/// The floor of a damaged inbox, and of no other.
pub(crate) const TOP: Cursor = Cursor::NEWEST;

/// Whether a row can be read to its end.
pub(crate) fn is_readable(row: &[u8]) -> bool {
    let Ok(mut row) = Packed::read(row) else { return false };
    row.entries.all(|entry| entry.is_ok()) && row.removed.all(|place| place.is_ok())
}

/// Whether a row has neither entries nor a floor.
pub(crate) fn is_empty(row: &[u8]) -> bool {
    Packed::read(row).is_ok_and(|row| row.entries.len() == 0 && row.floor.is_none())
}
