//! Content ids for hosts that name none.

use xxhash_rust::xxh3::xxh3_64;

use model::{ContentId, MAX_ID, Millis};

/// Bits below the milliseconds.
const COUNTER_BITS: u32 = 20;
/// Bits of an id.
const ID_BITS: u32 = 63;
/// The farthest first skip, and how much farther each later one goes, in powers of two.
const FIRST_SKIP: u32 = 19;
const MORE: u32 = 4;

/// Makes content ids that rise with time: milliseconds in the upper bits, a counter in the lower 20. After the year
/// 2248, when milliseconds need more bits, they begin again from below.
///
/// Unique within a process. The store refuses an id that an earlier process has made, or a host has named; then some
/// are skipped, see [`IdMaker::skip`].
#[derive(Debug)]
pub(super) struct IdMaker {
    last: u64,
}

impl IdMaker {
    /// Ids are above all that were made at this time or before.
    pub(super) fn new(at: Millis) -> Self {
        Self { last: first_of(at) }
    }

    /// The last id, on which the next one depends.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Goes on from an id, also back.
    pub(super) fn continue_from(&mut self, last: u64) {
        self.last = last;
    }

    /// The next id, made at this time.
    pub(super) fn next(&mut self, at: Millis) -> ContentId {
        let first = first_of(at);
        // On a ring: an id less than half of it ahead is later.
        let is_later = (first.wrapping_sub(self.last) & MAX_ID) >> (ID_BITS - 1) == 0;
        self.advance(if is_later && first != self.last { 0 } else { 1 }, if is_later { first } else { self.last });
        ContentId::new(self.last).unwrap_or(ContentId::MIN)
    }

    fn advance(&mut self, by: u64, from: u64) {
        // 0 is no id.
        self.last = (from.wrapping_add(by) & MAX_ID).max(1);
    }

    /// Skips a number of ids that looks random, because a made one is taken; more, the more often in a row that happened.
    pub(super) fn skip(&mut self, times: u32) {
        let bits = FIRST_SKIP.saturating_add(MORE.saturating_mul(times)).min(ID_BITS - 2);
        let random = xxh3_64(&self.last.to_le_bytes());
        self.advance(random >> (u64::BITS - bits), self.last);
    }
}

/// The smallest id of a time.
fn first_of(at: Millis) -> u64 {
    (at << COUNTER_BITS) & MAX_ID
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_rise_and_never_repeat() {
        let mut maker = IdMaker::new(1000);
        let mut last = ContentId::MIN;
        for at in [1000, 1000, 1001, 999, 5, 1 << 42, 1000] {
            for _ in 0..10_000 {
                let id = maker.next(at);
                assert!(id > last, "{at}");
                last = id;
            }
        }
    }

    #[test]
    fn ids_of_a_millisecond_may_be_more_than_its_own() {
        let mut maker = IdMaker::new(0);
        let ids: Vec<_> = (0..(1 << COUNTER_BITS) + 10).map(|_| maker.next(7)).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
        assert!(maker.next(8) > ids[ids.len() - 1]);
    }

    #[test]
    fn after_all_bits_are_used_ids_begin_again() {
        let end = 1 << (ID_BITS - COUNTER_BITS);
        let mut maker = IdMaker::new(end - 1);
        let before = maker.next(end - 1);
        assert_eq!(before.get() >> COUNTER_BITS, end - 1);
        let after: Vec<_> = (0..3).map(|_| maker.next(end).get()).collect();
        assert_eq!(after, [1, 2, 3]);
        assert_eq!(maker.next(end + 5).get(), 5 << COUNTER_BITS);
        // Also when they are made faster than time passes.
        maker.last = MAX_ID - 1;
        let over: Vec<_> = (0..3).map(|_| maker.next(end - 1).get()).collect();
        assert_eq!(over, [MAX_ID, 1, 2]);
    }

    #[test]
    fn taken_ids_are_skipped_in_growing_steps() {
        let mut maker = IdMaker::new(1 << 40);
        let (mut last, mut ways) = (maker.next(1 << 40).get(), Vec::new());
        for times in 0..5 {
            maker.skip(times);
            let id = maker.next(1 << 40).get();
            ways.push(id - last);
            last = id;
        }
        assert!(ways.iter().zip(0..).all(|(way, times)| *way <= 1 << (FIRST_SKIP + MORE * times)), "{ways:?}");
        assert!(ways.iter().any(|way| *way > 1000), "{ways:?}");
    }
}
