//! The memory of changes that wait.

use super::*;
use model::error::Error;
use model::{ContentId, Cursor, Entry};

fn user(raw: u64) -> UserId {
    UserId::new(raw).expect("in range")
}

fn step(at: u64, author: Option<u64>) -> Step {
    let cursor = Cursor { at, id: ContentId::MIN };
    match author {
        Some(author) => Step::Add(Entry::plain(cursor, user(author))),
        None => Step::Remove((cursor, user(7))),
    }
}

/// The bytes of all that takes changes.
fn sum(arrivals: &Arrivals) -> usize {
    let items = arrivals.records().items.bytes();
    items + arrivals.parts.all().map(|part| part.lock().filling.bytes()).sum::<usize>()
}

#[test]
fn memory_is_counted_and_given_back() {
    let arrivals = Arrivals::new(1 << 20);
    let users: Vec<_> = (1..=1000).map(user).collect();
    (1..=50).for_each(|at| _ = arrivals.add(&users, step(at, Some(7))));
    arrivals.change(user(5), Change::of(Some(Cursor::OLDEST), vec![step(3, None)]));
    // A node of eight bytes for each step.
    let nodes = 50_001 * 8;
    assert!((nodes..3 * nodes).contains(&arrivals.used()), "{} bytes", arrivals.used());
    assert_eq!(arrivals.used(), sum(&arrivals));
    let job = JobId { lane: model::Lane::of(user(1)), seq: 1 };
    arrivals.record(job, None);
    let (turn, all) = (arrivals.turn(), arrivals.used());
    let fails = || Err(Error::Corrupt("on purpose".to_owned()));
    arrivals.write(&turn, |_| fails(), |_| Ok(())).expect_err("fails");
    assert_eq!(arrivals.used(), all);
    let items = arrivals.records().items_leaving;
    assert!(items > 0);
    let mut rows = 0;
    let written = arrivals.write(
        &turn,
        |set| {
            rows += set.users().len();
            // The steps of items are there until the last set is let go.
            assert!(arrivals.used() > items);
            Ok(())
        },
        |_| fails(),
    );
    written.expect_err("fails");
    assert_eq!((rows, arrivals.used()), (1000, RECORD));
    arrivals.write(&turn, |_| panic!("no set is left"), |_| Ok(())).expect("writes");
    assert_eq!(arrivals.used(), 0);
}
