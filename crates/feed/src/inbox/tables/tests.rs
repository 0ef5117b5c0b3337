use super::rows::MOST_ENTRIES;
use crate::memory::arrivals::{MOST_RECORDS, RECORD};
use crate::store::{InboxRoom, Options, Store};
use model::{JobId, Lane, UserId};

fn open(dir: &tempfile::TempDir) -> Store {
    let inbox_room = InboxRoom { limit: 2 * MOST_ENTRIES, slack: 16 };
    Store::open(&Options { inbox_room, ..Options::new(dir.path()) }).expect("opens")
}

fn end(store: &Store, seq: usize) {
    crate::inbox::tables::drop_job(store, JobId { lane: Lane::of(UserId::MIN), seq: seq as u64 }).expect("ends");
}

#[test]
fn a_start_after_a_crash_has_a_bounded_number_of_jobs_that_had_ended() {
    let dir = tempfile::tempdir().expect("temp dir");
    let store = open(&dir);
    for seq in 1..=2 * MOST_RECORDS + 1 {
        end(&store, seq);
        assert!(
            store.memory.inboxes.arrivals.usage().used <= (RECORD * MOST_RECORDS) as u64,
            "{seq} ends of jobs are in memory"
        );
    }
}
