use super::arrivals::{MOST_RECORDS, RECORD};
use super::*;
use crate::InboxRoom;
use crate::Options;
use model::Lane;

fn open(dir: &tempfile::TempDir) -> Store {
    let inbox_room = InboxRoom { limit: 2 * MOST_ENTRIES, slack: 16 };
    Store::open(&Options { inbox_room, ..Options::new(dir.path()) }).expect("opens")
}

fn end(store: &Store, seq: usize) {
    store.drop_job(JobId { lane: Lane::of(UserId::MIN), seq: seq as u64 }).expect("ends");
}

#[test]
fn the_ends_of_many_jobs_are_written_a_few_at_a_time() {
    const JOBS: usize = 5 * MOST_ROWS + 1;
    let dir = tempfile::tempdir().expect("temp dir");
    let store = open(&dir);
    (1..=JOBS).for_each(|seq| end(&store, seq));
    let before = store.disk().expect("on disk").db.latest_sequence_number();
    store.write_arrivals().expect("writes");
    let writes = store.disk().expect("on disk").db.get_updates_since(before).expect("reads the log");
    let rows: Vec<_> = writes.map(|write| write.expect("reads").1.len()).collect();
    assert_eq!(rows.iter().sum::<usize>(), JOBS);
    assert!(rows.iter().all(|rows| *rows <= MOST_ROWS), "{rows:?}");
}

#[test]
fn a_start_after_a_crash_has_a_bounded_number_of_jobs_that_had_ended() {
    let dir = tempfile::tempdir().expect("temp dir");
    let store = open(&dir);
    for seq in 1..=2 * MOST_RECORDS + 1 {
        end(&store, seq);
        assert!(store.arrivals.usage().used <= (RECORD * MOST_RECORDS) as u64, "{seq} ends of jobs are in memory");
    }
}

#[test]
fn a_read_of_the_newest_entries_decodes_no_others() {
    const ENTRIES: u64 = MOST_ENTRIES as u64 + 1000;
    let dir = tempfile::tempdir().expect("temp dir");
    let store = open(&dir);
    let cursor = |at| Cursor { at, id: ContentId::MIN };
    let steps = (1..=ENTRIES).map(|at| Step::Add(Entry::plain(cursor(at), UserId::MIN))).collect();
    store.arrivals.change(UserId::MIN, Change::of(None, steps));
    store.write_arrivals().expect("writes");
    let read = |after, order, tier| {
        let (mut times, span) = (Vec::new(), Span { before: None, after });
        let read = store.inbox(UserId::MIN, span, order, tier, &mut |entry| {
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
