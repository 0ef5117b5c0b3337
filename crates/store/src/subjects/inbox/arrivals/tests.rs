//! Memory, and the order in which changes leave.

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
    let items = arrivals.records.lock().items.bytes();
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
    let items = arrivals.records.lock().items_leaving;
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

#[test]
fn a_deep_inbox_leaves_alone_and_a_failed_write_stays_in_front() {
    let arrivals = Arrivals::new(1 << 20);
    let users = [user(1), user(2)];
    let deep: Vec<_> = (1..=u64::from(DEEP)).map(|at| arrivals.add(&users, step(at, Some(7)))).collect();
    assert!(deep.iter().rev().skip(1).all(Vec::is_empty), "{deep:?}");
    assert_eq!(deep.last(), Some(&users.to_vec()));
    let before = arrivals.copy(user(1));
    let turn = arrivals.turn();
    let more = || Change::of(None, vec![step(5, None), step(1000, Some(8))]);
    let failed = |set: &Set| {
        assert_eq!(set.users(), [user(1)]);
        Err(Error::Corrupt("on purpose".to_owned()))
    };
    arrivals.write_alone(&turn, vec![(user(1), more())], failed).expect_err("fails");
    let expected = [&[step(1000, Some(8))][..], &before.change.steps].concat();
    let expected: Vec<_> =
        expected.into_iter().map(|of| if of == step(5, Some(7)) { step(5, None) } else { of }).collect();
    assert_eq!(arrivals.copy(user(1)).change.steps, expected, "the later step of a place counts");
    assert!(arrivals.goes_with(user(1), &before), "the row lacks them still");
    // A later change is written after it.
    let again = Change::of(None, vec![step(5, Some(7))]);
    arrivals.write_alone(&turn, vec![(user(1), again)], |_| panic!("too early")).expect("waits");
    let mut written = Vec::new();
    let write = |set: &Set| {
        written.extend(set.users().into_iter().map(|user| (user.get(), set.change(user).steps.len())));
        Ok(())
    };
    arrivals.write(&turn, write, |_| Ok(())).expect("writes");
    assert_eq!(written.remove(0), (1, DEEP as usize + 1), "the failed one comes first");
    written.sort_unstable();
    assert_eq!(written, [(1, 1), (2, DEEP as usize)]);
    assert!(!arrivals.goes_with(user(1), &before) && arrivals.copy(user(1)).change.steps.is_empty());
    assert_eq!(arrivals.used(), 0);
}

#[test]
fn a_deep_inbox_leaves_the_others_where_they_are() {
    let arrivals = Arrivals::new(1 << 20);
    arrivals.add(&[user(1), user(2)], step(1, Some(7)));
    let turn = arrivals.turn();
    let mut written = Vec::new();
    let write = |set: &Set| {
        written.extend(set.users());
        Ok(())
    };
    arrivals.write_alone(&turn, vec![(user(1), Change::of(None, vec![step(2, Some(7))]))], write).expect("writes");
    assert_eq!(written, [user(1)]);
    assert!(arrivals.copy(user(1)).change.steps.is_empty());
    assert_eq!(arrivals.copy(user(2)).change.steps, [step(1, Some(7))]);
    arrivals.add(&[user(1)], step(3, Some(7)));
    assert_eq!(arrivals.copy(user(1)).change.steps, [step(3, Some(7))], "a new chain begins");
    assert!(arrivals.used() > 0);
    arrivals.write(&turn, |_| Ok(()), |_| Ok(())).expect("writes");
    assert_eq!(arrivals.used(), 0);
}

#[test]
fn the_memory_is_right_however_many_leave_alone() {
    let arrivals = Arrivals::new(1 << 30);
    let users: Vec<_> = (1..=5000).map(user).collect();
    let turn = arrivals.turn();
    for at in 1..=20 {
        _ = arrivals.add(&users, step(at, Some(7)));
        let alone = users.iter().skip(at as usize).step_by(3).map(|user| (*user, Change::default())).collect();
        let mut rows = 0;
        let write = |set: &Set| {
            rows += set.users().len();
            Ok(())
        };
        arrivals.write_alone(&turn, alone, write).expect("writes");
        assert_eq!((rows, arrivals.used()), ((5000 - at as usize).div_ceil(3), sum(&arrivals)));
    }
    arrivals.write(&turn, |_| Ok(()), |_| Ok(())).expect("writes");
    assert_eq!((arrivals.used(), sum(&arrivals)), (0, 0));
    // A set without changes still has room for them.
    arrivals.change(user(1), Change::of(Some(Cursor::OLDEST), Vec::new()));
    arrivals.write_alone(&turn, vec![(user(1), Change::default())], |_| Ok(())).expect("writes");
    assert!(arrivals.used() > 0);
    arrivals.write(&turn, |_| Ok(()), |_| Ok(())).expect("writes");
    assert_eq!((arrivals.used(), sum(&arrivals)), (0, 0));
}

/// Threads add while another writes: no step is lost, none leaves in two sets, and older ones leave first.
#[test]
fn steps_leave_once_while_others_come() {
    const ITEMS: u64 = 3000;
    let arrivals = Arrivals::new(1 << 20);
    let users: Vec<_> = (1..=100).map(user).collect();
    let written = Mutex::new(HashMap::<u64, Vec<u64>>::new());
    let write = |set: &Set| {
        for user in set.users() {
            let change = set.change(user);
            let times = change.steps.iter().rev().map(|step| step.cursor().at);
            written.lock().entry(user.get()).or_default().extend(times);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let adders = users.chunks(50).map(|half| {
            let arrivals = &arrivals;
            scope.spawn(move || (1..=ITEMS).for_each(|at| _ = arrivals.add(half, step(at, Some(7)))))
        });
        let (adders, mut round) = (adders.collect::<Vec<_>>(), 0);
        while adders.iter().any(|adder| !adder.is_finished()) {
            round += 1;
            let alone = vec![(user(1 + round % 100), Change::default())];
            arrivals.write_alone(&arrivals.turn(), alone, write).expect("writes");
            arrivals.write(&arrivals.turn(), write, |_| Ok(())).expect("writes");
        }
    });
    arrivals.write(&arrivals.turn(), write, |_| Ok(())).expect("writes");
    let (written, all) = (written.into_inner(), (1..=ITEMS).collect::<Vec<_>>());
    assert!(users.iter().all(|user| written[&user.get()] == all));
    assert_eq!((arrivals.used(), sum(&arrivals)), (0, 0));
}
