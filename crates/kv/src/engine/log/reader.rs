//! Reads a file of the engine's log.
//!
//! A file is a sequence of blocks, and a block is a sequence of fragments. A fragment has a head: in four bytes a
//! masked CRC-32C of all after it, in two the length of the payload, in one the kind; all numbers lowest byte first. A
//! batch that does not fit into the rest of a block continues in the next one. A rest of a block shorter than a head is
//! unused.
//!
//! The engine's manifest has the same form, with other records.
//!
//! The engine has more kinds, for logs that are recycled, compressed or verified in another way. We use none of these,
//! so they count as damage.

use std::borrow::Cow;
use std::ops::Range;

use super::flushed::noted;

pub(super) const BLOCK: usize = 32_768;
pub(super) const HEAD: usize = 7;
const WHOLE: u8 = 1;
const FIRST: u8 = 2;
const MIDDLE: u8 = 3;
const LAST: u8 = 4;
/// A reader skips unknown kinds from here on.
const IGNORABLE: u8 = 128;
/// Added to a checksum after its bits are rotated, so that a checksum of checksums is not weak.
const MASK_DELTA: u32 = 0xA282_EAD8;

/// A whole batch in a log. It begins with the sequence number of its first row in eight bytes, and the number of its rows in
/// four.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Batch {
    /// The start of its first fragment, in bytes from the start of the file.
    pub(super) at: usize,
    /// The sequence number of its first row.
    pub(super) first: u64,
    /// The number of its rows; each has a sequence number.
    pub(super) rows: u64,
    /// The number in the note at its end. The engine may have merged several batches into one; then this is the note of the
    /// last of them.
    pub(super) flushed: Option<u64>,
}

impl Batch {
    /// The sequence number of its last row; the next batch continues after it.
    pub(super) fn last(&self) -> u64 {
        (self.first + self.rows).saturating_sub(1)
    }
}

/// Reads the bytes of a file from front to back.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Whether bytes are the beginning of one fragment of a kind that we use, and not all of it.
pub(super) fn is_part_of_fragment(bytes: &[u8]) -> bool {
    match bytes.first_chunk::<HEAD>() {
        None => true,
        Some([_, _, _, _, l0, l1, kind]) => {
            (WHOLE..=LAST).contains(kind) && bytes.len() < HEAD + usize::from(u16::from_le_bytes([*l0, *l1]))
        }
    }
}

/// The start of a record, and its bytes.
type Record<'a> = (usize, Cow<'a, [u8]>);

struct Fragment {
    kind: u8,
    payload: Range<usize>,
}

impl<'a> Reader<'a> {
    /// Begins at a byte of a file.
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// The byte at which the next record begins.
    pub(super) fn place(&self) -> usize {
        self.at
    }

    /// The next batch, which has to begin right here; `None` at the end of the file. The error is the byte from which on
    /// there is no whole batch.
    pub(super) fn next(&mut self) -> Result<Option<Batch>, usize> {
        self.next_record()?.map(|(at, record)| batch(at, &record).ok_or(at)).transpose()
    }

    /// The next record and its start; `None` at the end of the file. The error is the start of damage.
    pub(super) fn next_record(&mut self) -> Result<Option<Record<'a>>, usize> {
        let mut begun: Option<(usize, Vec<u8>)> = None;
        loop {
            self.at = start_of_head(self.at);
            let from = begun.as_ref().map_or(self.at, |(from, _)| *from);
            if self.at >= self.bytes.len() {
                return if begun.is_some() { Err(from) } else { Ok(None) };
            }
            let Fragment { kind, payload } = self.fragment(self.at).ok_or(from)?;
            self.at = payload.end;
            let part = &self.bytes[payload];
            match (kind, begun.as_mut()) {
                (WHOLE, None) => return Ok(Some((from, Cow::Borrowed(part)))),
                (FIRST, None) => begun = Some((from, part.to_vec())),
                (MIDDLE, Some((_, parts))) => parts.extend_from_slice(part),
                (LAST, Some((_, parts))) => {
                    parts.extend_from_slice(part);
                    return Ok(Some((from, Cow::Owned(std::mem::take(parts)))));
                }
                (IGNORABLE.., None) => {}
                _ => return Err(from),
            }
        }
    }

    /// The next whole batch anywhere from here on.
    pub(super) fn next_intact(&mut self) -> Option<Batch> {
        loop {
            self.at = start_of_head(self.at);
            if self.at >= self.bytes.len() {
                return None;
            }
            let from = self.at;
            // Checks the kind first: a checksum over a random length takes time.
            let kind = self.bytes.get(from + HEAD - 1);
            let found = kind.filter(|kind| matches!(**kind, WHOLE..=LAST)).and_then(|_| self.fragment(from));
            let after = match &found {
                Some(found) => found.payload.end,
                None => end_of_zeros(self.bytes, from).max(from + 1),
            };
            if found.is_some_and(|found| matches!(found.kind, WHOLE | FIRST))
                && let Ok(Some(batch)) = self.next()
            {
                return Some(batch);
            }
            self.at = after;
        }
    }

    /// The fragment whose head begins at a byte, if it is intact.
    fn fragment(&self, at: usize) -> Option<Fragment> {
        let end_of_block = ((at / BLOCK + 1) * BLOCK).min(self.bytes.len());
        let head = self.bytes[at..end_of_block].first_chunk::<HEAD>()?;
        let &[c0, c1, c2, c3, l0, l1, kind] = head;
        let payload = at + HEAD..at + HEAD + usize::from(u16::from_le_bytes([l0, l1]));
        let is_known = matches!(kind, WHOLE..=LAST | IGNORABLE..);
        if !is_known || payload.end > end_of_block {
            return None;
        }
        let sum = crc32c::crc32c(&self.bytes[at + HEAD - 1..payload.end]);
        let masked = sum.rotate_right(15).wrapping_add(MASK_DELTA);
        (masked == u32::from_le_bytes([c0, c1, c2, c3])).then_some(Fragment { kind, payload })
    }
}

/// The first byte from `at` on where a head can begin.
fn start_of_head(at: usize) -> usize {
    if BLOCK - at % BLOCK < HEAD { at.next_multiple_of(BLOCK) } else { at }
}

/// The end of a run of zeros, less those that may begin a head.
fn end_of_zeros(bytes: &[u8], at: usize) -> usize {
    let zeros = bytes[at..].iter().take_while(|byte| **byte == 0).count();
    at + zeros.saturating_sub(HEAD)
}

/// Reads a batch; `None` if it is too short to be one.
pub(super) fn batch(at: usize, bytes: &[u8]) -> Option<Batch> {
    let (first, rest) = bytes.split_first_chunk()?;
    let rows = u64::from(u32::from_le_bytes(*rest.first_chunk()?));
    Some(Batch { at, first: u64::from_le_bytes(*first), rows, flushed: noted(bytes) })
}

/// The sequence numbers of the first and the last row of a batch; `None` if it is none, or has no rows.
pub(crate) fn first_and_last(bytes: &[u8]) -> Option<(u64, u64)> {
    let found = batch(0, bytes)?;
    (found.rows > 0).then(|| (found.first, found.last()))
}

/// Takes a number off the front: seven bits a byte, the lowest first.
pub(crate) fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Takes a text off the front: its length, then its bytes.
pub(super) fn text<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(varint(rest)?).ok()?;
    let (text, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(text)
}

#[cfg(test)]
mod tests;
