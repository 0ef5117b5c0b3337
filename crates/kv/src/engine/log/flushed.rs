//! The place up to which the log is flushed to the device, and the note of it in each batch.

use std::sync::atomic::{AtomicU64, Ordering};

/// The first byte of a note, before the number in eight bytes, lowest first.
const KIND: u8 = b'F';
const LENGTH: usize = 9;
/// The bytes in a batch before those of a note: log data, and its length.
const HEAD: [u8; 2] = [3, LENGTH as u8];

/// The sequence number of the last row on the device. It may be behind the truth, never ahead of it: a note that is too high
/// would turn a torn end into a loss.
#[derive(Debug)]
pub(crate) struct Flushed(AtomicU64);

impl Flushed {
    /// For a newly opened engine, whose rows up to `sequence` are in table files.
    pub(crate) fn new(sequence: u64) -> Self {
        Self(AtomicU64::new(sequence))
    }

    /// All rows up to this number are on the device.
    pub(crate) fn through(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Call after a flush of the log; `sequence` is the last row in it before the flush began.
    pub(crate) fn raise(&self, sequence: u64) {
        self.0.fetch_max(sequence, Ordering::AcqRel);
    }
}

/// A note for the end of a batch, as log data: the engine writes it to the log and keeps it nowhere else.
pub(crate) fn note(sequence: u64) -> [u8; LENGTH] {
    let mut note = [KIND; LENGTH];
    note[1..].copy_from_slice(&sequence.to_le_bytes());
    note
}

/// The number in the note at the end of a batch; `None` if it has none.
pub(super) fn noted(batch: &[u8]) -> Option<u64> {
    let (rest, number) = batch.split_last_chunk()?;
    rest.ends_with(&[HEAD[0], HEAD[1], KIND]).then(|| u64::from_le_bytes(*number))
}

#[cfg(test)]
mod tests {
    use rocksdb::WriteBatch;

    use super::*;

    #[test]
    fn notes_have_golden_bytes() {
        assert_eq!(note(0x0102_0304), [b'F', 4, 3, 2, 1, 0, 0, 0, 0]);
        let mut batch = WriteBatch::default();
        batch.put(b"a", b"b");
        assert_eq!(noted(batch.data()), None);
        batch.put_log_data(note(77));
        assert_eq!(noted(batch.data()), Some(77));
        batch.put_log_data(b"G12345678");
        assert_eq!(noted(batch.data()), None);
        assert_eq!(noted(b""), None);
    }
}
