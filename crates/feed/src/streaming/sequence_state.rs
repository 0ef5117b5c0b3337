//! The state from which times, ids and numbers of events follow, as bytes.

use super::ids::IdMaker;
use super::times::{Times, TimesCourse};
use model::{ContentId, Cursor, Millis};

/// All that the next times, made ids and numbers of events depend on. Two servers with equal courses that make the same
/// changes at the same times give the same ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceState {
    pub(super) times: TimesCourse,
    pub(super) last_id: u64,
    pub(super) next: u64,
    pub(super) top: Millis,
}

impl SequenceState {
    /// The length of [`SequenceState::bytes`].
    pub const BYTES: usize = 8 * 8;

    /// The course of a server without changes, for changes from this time on.
    pub fn new(at: Millis) -> Self {
        Self { times: Times::new(at).course, last_id: IdMaker::new(at).last(), next: 1, top: at }
    }

    /// This state as bytes: eight numbers, big-endian.
    pub fn bytes(&self) -> [u8; Self::BYTES] {
        let TimesCourse { at, last, steps, filled } = self.times;
        let numbers = [at, last.at, last.id.get(), steps, filled, self.last_id, self.next, self.top];
        let mut bytes = [0; Self::BYTES];
        bytes.chunks_exact_mut(8).zip(numbers).for_each(|(place, number)| place.copy_from_slice(&number.to_be_bytes()));
        bytes
    }

    /// Reads [`SequenceState::bytes`]; `None` if they are not a course.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != Self::BYTES {
            return None;
        }
        let mut numbers = bytes.chunks_exact(8).map(|part| part.try_into().map(u64::from_be_bytes).ok());
        let mut next = || numbers.next().flatten();
        let (at, last_at, id, steps, filled) = (next()?, next()?, ContentId::new(next()?).ok()?, next()?, next()?);
        let times = TimesCourse { at, last: Cursor { at: last_at, id }, steps, filled };
        Some(Self { times, last_id: next()?, next: next()?, top: next()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_comes_back_as_it_was() {
        let course = SequenceState { last_id: u64::MAX, next: 7, ..SequenceState::new(1_700_000_000_000) };
        assert_eq!(SequenceState::read(&course.bytes()), Some(course));
        assert_eq!(course.bytes()[..8], 1_700_000_000_000_u64.to_be_bytes());
        assert_eq!(SequenceState::read(&course.bytes()[1..]), None);
        assert_eq!(SequenceState::read(&[0; SequenceState::BYTES]), None, "0 is no id");
    }
}
