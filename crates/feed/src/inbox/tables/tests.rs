use std::ops::ControlFlow;

use super::inbox;
use super::rows::MOST_ENTRIES;
use crate::memory::arrivals::{MOST_RECORDS, RECORD};
use crate::rows::inbox::merge::{Change, Step};
use crate::store::{InboxRoom, Options, Store};
use kv::Tier;
use model::error::Error;
use model::{ContentId, Cursor, Entry, JobId, Lane, Order, Span, UserId};

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

#[test]
fn a_read_of_the_newest_entries_decodes_no_others() {
    const ENTRIES: u64 = MOST_ENTRIES as u64 + 1000;
    let dir = tempfile::tempdir().expect("temp dir");
    let store = open(&dir);
    let cursor = |at| Cursor { at, id: ContentId::MIN };
    let steps = (1..=ENTRIES).map(|at| Step::Add(Entry::plain(cursor(at), UserId::MIN))).collect();
    store.memory.inboxes.arrivals.change(UserId::MIN, Change::of(None, steps));
    store.write_arrivals().expect("writes");
    let read = |after, order, tier| {
        let (mut times, span) = (Vec::new(), Span { before: None, after });
        let read = inbox(&store, UserId::MIN, span, order, tier, &mut |entry| {
            times.push(entry.cursor.at);
            ControlFlow::Continue(())
        });
        read.map(|_| times)
    };
    let all: Vec<_> = (1..=ENTRIES).collect();
    assert_eq!(read(None, Order::OldestFirst, Tier::Disk).expect("reads"), all);
    // A read from memory decodes a bounded number of entries.
    for order in [Order::OldestFirst, Order::NewestFirst] {
        assert!(matches!(read(None, order, Tier::Memory), Err(Error::NotCached)), "{order:?}");
        let mut newest = read(Some(cursor(ENTRIES - 3)), order, Tier::Memory).expect("reads a few");
        newest.sort_unstable();
        assert_eq!(newest, all[ENTRIES as usize - 3..], "{order:?}");
    }
}
