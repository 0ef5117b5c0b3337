//! Content ids for hosts that name none.

use model::{ContentId, MAX_ID, Millis};

/// Bits below the milliseconds: ten for the number of the server, ten for a counter.
const BELOW_TIME: u32 = SERVER_BITS + COUNTER_BITS;
const SERVER_BITS: u32 = 10;
const COUNTER_BITS: u32 = 10;
/// Bits of an id.
const ID_BITS: u32 = 63;
/// The farthest skip, in powers of two milliseconds.
const FARTHEST_SKIP: u32 = 20;

/// Makes content ids that rise with time: milliseconds, the number of the server, and a counter. If more are made in a
/// millisecond than the counter has, they have later times. After the year 2248, when milliseconds need more bits, they begin
/// again from below.
///
/// Unique among servers with different numbers, and within a process. An id that an earlier process has made, or a host has
/// named, may be taken; then some are skipped, see [`IdMaker::skip`].
#[derive(Debug)]
pub(super) struct IdMaker {
    last: u64,
}

impl IdMaker {
    /// Ids are above all that were made at this time or before.
    pub(super) fn new(at: Millis) -> Self {
        Self { last: id_of(at, 0, 0) }
    }

    /// The last id, on which the next one depends.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Goes on from an id, also back.
    pub(super) fn continue_from(&mut self, last: u64) {
        self.last = last;
    }

    /// The next id of the server with this number, made at this time.
    pub(super) fn next(&mut self, at: Millis, server: u16) -> ContentId {
        const MOST: u64 = (1 << COUNTER_BITS) - 1;
        let (time, counter) = (self.last >> BELOW_TIME, self.last & MOST);
        // On a ring: a time less than half of it ahead is later.
        let ahead = at.wrapping_sub(time) & (MAX_ID >> BELOW_TIME);
        let is_later = ahead > 0 && ahead >> (ID_BITS - BELOW_TIME - 1) == 0;
        self.last = match counter {
            _ if is_later => id_of(at, server, 0),
            MOST => id_of(time + 1, server, 0),
            _ => id_of(time, server, counter + 1),
        };
        ContentId::new(self.last).unwrap_or(ContentId::MIN)
    }

    /// Skips the ids of some milliseconds, because a made one is taken; of more, the more often in a row that happened.
    pub(super) fn skip(&mut self, times: u32) {
        self.last = id_of((self.last >> BELOW_TIME) + (1 << times.min(FARTHEST_SKIP)), 0, 0);
    }
}

fn id_of(at: Millis, server: u16, counter: u64) -> u64 {
    let id = (at << BELOW_TIME) & MAX_ID | u64::from(server) << COUNTER_BITS | counter;
    // 0 is no id.
    id.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_with_different_numbers_never_make_the_same_id() {
        let made = |server| {
            let mut maker = IdMaker::new(7);
            (0..5000).map(|n| maker.next(7 + n / 1000, server)).collect::<std::collections::HashSet<_>>()
        };
        let [first, last] = [made(0), made(1023)];
        assert_eq!((first.len(), last.len()), (5000, 5000));
        assert!(first.is_disjoint(&last));
    }

    #[test]
    fn a_server_whose_number_changes_goes_on_above_its_ids() {
        let mut maker = IdMaker::new(7);
        let before = maker.next(9, 1023);
        assert!(maker.next(10, 0) > before && maker.next(10, 3) != maker.next(10, 2));
    }

    #[test]
    fn after_all_bits_are_used_ids_begin_again() {
        let end = 1 << (ID_BITS - BELOW_TIME);
        let mut maker = IdMaker::new(end - 1);
        let before = maker.next(end - 1, 0);
        assert_eq!(before.get() >> BELOW_TIME, end - 1);
        let after: Vec<_> = (0..3).map(|_| maker.next(end, 0).get()).collect();
        assert_eq!(after, [1, 2, 3]);
        assert_eq!(maker.next(end + 5, 0).get(), 5 << BELOW_TIME);
        // Also when they are made faster than time passes.
        maker.last = MAX_ID - 1;
        let over: Vec<_> = (0..3).map(|_| maker.next(end - 1, 1023).get()).collect();
        assert_eq!(over, [MAX_ID, 1023 << COUNTER_BITS, 1023 << COUNTER_BITS | 1]);
    }

    #[test]
    fn taken_ids_are_skipped_in_growing_steps() {
        let mut maker = IdMaker::new(1 << 40);
        let mut last = maker.next(1 << 40, 0).get();
        for times in 0..5 {
            maker.skip(times);
            let id = maker.next(1 << 40, 0).get();
            assert_eq!((id >> BELOW_TIME) - (last >> BELOW_TIME), 1 << times);
            last = id;
        }
    }
}
