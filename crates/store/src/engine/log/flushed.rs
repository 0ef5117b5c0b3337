//! The place up to which the log is flushed to the device, and the note of it in each batch.

use std::sync::atomic::{AtomicU64, Ordering};

/// The first byte of a note, before the number in eight bytes, lowest first.
const KIND: u8 = b'F';
const LENGTH: usize = 9;

/// Sequence numbers of the engine. They may be behind the truth, never ahead of it: a note that is too high would turn
/// a torn end into a loss.
#[derive(Debug)]
pub(crate) struct Flushed {
    through: AtomicU64,
    noted: AtomicU64,
}

impl Flushed {
    /// For a newly opened engine, whose rows up to `sequence` are in table files.
    pub(crate) fn new(sequence: u64) -> Self {
        Self { through: AtomicU64::new(sequence), noted: AtomicU64::new(sequence) }
    }

    /// All rows up to this number are on the device.
    pub(crate) fn through(&self) -> u64 {
        self.through.load(Ordering::Acquire)
    }

    /// Call after a flush of the log; `sequence` is the last row in it before the flush began.
    pub(crate) fn raise(&self, sequence: u64) {
        self.through.fetch_max(sequence, Ordering::AcqRel);
    }

    /// The highest number in a note of a written batch.
    pub(crate) fn noted(&self) -> u64 {
        self.noted.load(Ordering::Acquire)
    }

    /// Call after a batch with a note of this number was written.
    pub(crate) fn set_noted(&self, sequence: u64) {
        self.noted.fetch_max(sequence, Ordering::AcqRel);
    }
}

/// A note for a batch, as log data: the engine writes it to the log and keeps it nowhere else.
pub(crate) fn note(sequence: u64) -> [u8; LENGTH] {
    let mut note = [KIND; LENGTH];
    note[1..].copy_from_slice(&sequence.to_le_bytes());
    note
}

/// The number in a note; `None` for log data of another kind.
pub(super) fn read_note(data: &[u8]) -> Option<u64> {
    let (&KIND, number) = data.split_first()? else { return None };
    Some(u64::from_le_bytes(number.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_have_golden_bytes() {
        assert_eq!(note(0x0102_0304), [b'F', 4, 3, 2, 1, 0, 0, 0, 0]);
        assert_eq!(read_note(&note(77)), Some(77));
        assert_eq!(read_note(b""), None);
        assert_eq!(read_note(b"F1234567"), None);
        assert_eq!(read_note(b"G12345678"), None);
    }
}
