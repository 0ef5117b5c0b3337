//! Up to where the log has been flushed to the device, and the note of it that every batch carries.

use std::sync::atomic::{AtomicU64, Ordering};

/// The first byte of a note, before the number in eight bytes, lowest first.
const KIND: u8 = b'F';
const LENGTH: usize = 9;

/// Sequence numbers of the engine. What it says lags behind the truth, and never runs ahead of it: a note that
/// says too much would turn a torn end into a loss.
#[derive(Debug)]
pub(in crate::store::rocks) struct Flushed {
    through: AtomicU64,
    noted: AtomicU64,
}

impl Flushed {
    /// For an engine that has just been opened, whose rows up to `sequence` are in table files.
    pub(in crate::store::rocks) fn new(sequence: u64) -> Self {
        Self { through: AtomicU64::new(sequence), noted: AtomicU64::new(sequence) }
    }

    /// All rows up to this number are on the device.
    pub(in crate::store::rocks) fn through(&self) -> u64 {
        self.through.load(Ordering::Acquire)
    }

    /// The log was flushed, and it had all rows up to this number before that began.
    pub(in crate::store::rocks) fn raise(&self, sequence: u64) {
        self.through.fetch_max(sequence, Ordering::AcqRel);
    }

    /// A batch in the log says that rows are on the device up to this number.
    pub(in crate::store::rocks) fn noted(&self) -> u64 {
        self.noted.load(Ordering::Acquire)
    }

    /// A batch with a note of this number has been written.
    pub(in crate::store::rocks) fn set_noted(&self, sequence: u64) {
        self.noted.fetch_max(sequence, Ordering::AcqRel);
    }
}

/// A note for a batch, as log data: the engine writes it to the log and keeps it nowhere else.
pub(in crate::store::rocks) fn note(sequence: u64) -> [u8; LENGTH] {
    let mut note = [KIND; LENGTH];
    note[1..].copy_from_slice(&sequence.to_le_bytes());
    note
}

/// What a note says; `None` for log data of another kind.
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
