//! Content ids for items to which the application gives none.

use super::sequence_state::SequenceState;
use model::{ContentId, MAX_ID, Millis};

/// Bits below the milliseconds: ten for the number of the server, ten for a counter.
const BELOW_TIME: u32 = SERVER_BITS + COUNTER_BITS;
const SERVER_BITS: u32 = 10;
const COUNTER_BITS: u32 = 10;
/// Bits of an id.
const ID_BITS: u32 = 63;
/// The farthest skip, in powers of two milliseconds.
const FARTHEST_SKIP: u32 = 20;

/// Ids are above this one if all are made later than at this time.
pub(super) fn first(at: Millis) -> u64 {
    id_of(at, 0, 0)
}

/// Content ids that rise with time: milliseconds, the number of the server, and a counter. If more are made in a millisecond
/// than the counter has, they have later times. After the year 2248, when milliseconds need more bits, they begin again from
/// below.
///
/// Unique among servers with different numbers, and within a process. An id that an earlier process has made, or an application has
/// named, may be taken; then some are skipped, see [`SequenceState::skip_ids`].
impl SequenceState {
    /// The next id of the server with this number.
    pub(super) fn next_id(&mut self, server: u16) -> ContentId {
        const MOST: u64 = (1 << COUNTER_BITS) - 1;
        let (time, counter) = (self.last_id >> BELOW_TIME, self.last_id & MOST);
        // On a ring: a time less than half of it ahead is later.
        let ahead = self.at.wrapping_sub(time) & (MAX_ID >> BELOW_TIME);
        let is_later = ahead > 0 && ahead >> (ID_BITS - BELOW_TIME - 1) == 0;
        self.last_id = match counter {
            _ if is_later => id_of(self.at, server, 0),
            MOST => id_of(time + 1, server, 0),
            _ => id_of(time, server, counter + 1),
        };
        ContentId::new(self.last_id).unwrap_or(ContentId::MIN)
    }

    /// Skips the ids of some milliseconds, because a made one is taken; of more, the more often in a row that happened.
    pub(super) fn skip_ids(&mut self, times: u32) {
        self.last_id = id_of((self.last_id >> BELOW_TIME) + (1 << times.min(FARTHEST_SKIP)), 0, 0);
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

    /// The next id at a time.
    fn next(state: &mut SequenceState, at: Millis, server: u16) -> ContentId {
        state.at = at;
        state.next_id(server)
    }

    #[test]
    fn servers_with_different_numbers_never_make_the_same_id() {
        let made = |server| {
            let mut maker = SequenceState::new(7);
            (0..5000).map(|n| next(&mut maker, 7 + n / 1000, server)).collect::<std::collections::HashSet<_>>()
        };
        let [first, last] = [made(0), made(1023)];
        assert_eq!((first.len(), last.len()), (5000, 5000));
        assert!(first.is_disjoint(&last));
    }

    #[test]
    fn a_server_whose_number_changes_goes_on_above_its_ids() {
        let mut maker = SequenceState::new(7);
        let before = next(&mut maker, 9, 1023);
        assert!(next(&mut maker, 10, 0) > before && next(&mut maker, 10, 3) != next(&mut maker, 10, 2));
    }

    #[test]
    fn after_all_bits_are_used_ids_begin_again() {
        let end = 1 << (ID_BITS - BELOW_TIME);
        let mut maker = SequenceState::new(end - 1);
        let before = next(&mut maker, end - 1, 0);
        assert_eq!(before.get() >> BELOW_TIME, end - 1);
        let after: Vec<_> = (0..3).map(|_| next(&mut maker, end, 0).get()).collect();
        assert_eq!(after, [1, 2, 3]);
        assert_eq!(next(&mut maker, end + 5, 0).get(), 5 << BELOW_TIME);
        // Also when they are made faster than time passes.
        maker.last_id = MAX_ID - 1;
        let over: Vec<_> = (0..3).map(|_| next(&mut maker, end - 1, 1023).get()).collect();
        assert_eq!(over, [MAX_ID, 1023 << COUNTER_BITS, 1023 << COUNTER_BITS | 1]);
    }

    #[test]
    fn taken_ids_are_skipped_in_growing_steps() {
        let mut maker = SequenceState::new(1 << 40);
        let mut last = next(&mut maker, 1 << 40, 0).get();
        for times in 0..5 {
            maker.skip_ids(times);
            let id = next(&mut maker, 1 << 40, 0).get();
            assert_eq!((id >> BELOW_TIME) - (last >> BELOW_TIME), 1 << times);
            last = id;
        }
    }
}
