//! The part of the engine's manifest about the files of the log.

use std::fs;
use std::path::Path;

use super::reader::{Reader, text, varint};

/// The number of the oldest file of the log that the engine would replay; 0 if the manifest cannot be read: then the
/// engine reports it when it is opened.
pub(super) fn oldest_needed(engine: &Path) -> u64 {
    let current = fs::read_to_string(engine.join("CURRENT")).unwrap_or_default();
    let manifest = fs::read(engine.join(current.trim_end())).unwrap_or_default();
    let mut reader = Reader::new(&manifest, 0);
    let mut oldest = 0;
    while let Ok(Some((_, record))) = reader.next_record() {
        oldest = oldest.max(in_edit(&record).unwrap_or_default());
    }
    oldest
}

/// The number in one edit. An edit begins with single numbers and texts, then come lists; this is one of the numbers.
fn in_edit(mut rest: &[u8]) -> Option<u64> {
    loop {
        match varint(&mut rest)? {
            // The lowest number of a file to keep.
            10 => return varint(&mut rest),
            // The comparator's name, and the database's.
            1 | 8193 => drop(text(&mut rest)?),
            // A table's log, the next file, the last row, an earlier log, the highest table.
            2 | 3 | 4 | 9 | 203 => drop(varint(&mut rest)?),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_says_what_is_needed_before_its_lists() {
        assert_eq!(in_edit(&[2, 5, 3, 0x80, 1, 10, 0x82, 1, 4, 9, 103, 1]), Some(130));
        assert_eq!(in_edit(&[1, 2, b'a', b'b', 0x81, 0x40, 1, b'x', 10, 7]), Some(7));
        assert_eq!(in_edit(&[4, 9, 103, 10, 7]), None);
        assert_eq!(in_edit(&[10]), None);
        assert_eq!(in_edit(&[]), None);
    }
}
