use std::time::{Duration, Instant};

use fastrand::Rng;

use std::ops::ControlFlow;
use std::path::Path;

use super::*;
use crate::in_memory;
use crate::testing::{RISING, ROWS, SUMS, open, schema};

const KEYS: u8 = 12;

type Bytes = Vec<u8>;

fn change(random: &mut Rng) -> WriteBatch {
    let mut change = WriteBatch::default();
    if random.u8(..6) == 0 {
        let from = random.u8(..KEYS);
        change.delete_range([SUMS, ROWS][random.usize(..2)], [from], [from + random.u8(1..5)]);
    }
    for _ in 0..random.usize(..6) {
        let (key, value) = ([random.u8(..KEYS)], [random.u8(..)]);
        match random.u8(..4) {
            0 => change.delete([SUMS, ROWS][random.usize(..2)], key),
            1 => change.merge(SUMS, key, value),
            _ => change.put([SUMS, ROWS][random.usize(..2)], key, value),
        }
    }
    change
}

/// All rows of a table from a key on, by a walk in one direction, and each by its key.
fn seen(store: &Database, table: &'static Family, from: u8, forward: bool) -> (Vec<[Bytes; 2]>, Vec<Option<Bytes>>) {
    let mut rows = store.now(Tier::Disk).rows(table, Scope::Table).expect("walks");
    if forward {
        rows.seek([from])
    } else {
        rows.seek_for_prev([from])
    }
    let mut walked = Vec::new();
    while let Some((key, value)) = rows.item() {
        walked.push([key.to_vec(), value.to_vec()]);
        if forward { rows.next() } else { rows.prev() }
    }
    rows.status().expect("walks");
    let keys: Vec<_> = (0..KEYS).map(|key| [key]).collect();
    let many = store.get_many(table, &keys, Tier::Disk).expect("reads");
    let one = |key: &[u8; 1]| store.get(table, key, Tier::Disk).expect("reads").map(|row| row.to_vec());
    let found: Vec<_> = keys.iter().map(one).collect();
    assert_eq!(found, many.into_iter().map(|row| row.map(|row| row.to_vec())).collect::<Vec<_>>());
    (walked, found)
}

#[test]
fn a_group_on_disk_is_as_changes_made_at_once_in_memory_and_others_see_it_when_it_is_written() {
    let mut random = Rng::with_seed(7);
    let dir = tempfile::tempdir().expect("temp dir");
    let alone = Database::on(in_memory(&schema()).expect("opens"));
    let shared = open(dir.path());
    let grouping = shared.grouping();
    for _ in 0..300 {
        let before = [SUMS, ROWS].map(|table| seen(&shared, table, 0, true));
        for _ in 0..random.usize(1..6) {
            let is_made = random.u8(..4) > 0;
            for _ in 0..random.usize(1..4) {
                let change = change(&mut random);
                if is_made {
                    alone.commit(change.clone(), false).expect("writes");
                }
                grouping.write(Some(Write::Record), change, true).expect("stages");
                if random.u8(..4) == 0 {
                    seen(&grouping, [SUMS, ROWS][random.usize(..2)], 0, true);
                }
            }
            grouping.end_change(is_made);
            for table in [SUMS, ROWS].into_iter().filter(|_| random.u8(..4) == 0).collect::<Vec<_>>() {
                let (from, forward) = (random.u8(..KEYS), random.bool());
                assert_eq!(seen(&alone, table, from, forward), seen(&grouping, table, from, forward));
            }
        }
        assert_eq!([SUMS, ROWS].map(|table| seen(&shared, table, 0, true)), before, "not written yet");
        grouping.write_group().expect("writes");
        for table in [SUMS, ROWS] {
            assert_eq!(seen(&alone, table, 0, true), seen(&shared, table, 0, true));
        }
    }
}

#[test]
fn ids_above_all_of_a_table_have_no_row_until_one_is_staged() {
    let dir = tempfile::tempdir().expect("temp dir");
    let key = u64::to_be_bytes;
    let lacks = |store: &Database, id: u64| store.now(Tier::Disk).lacks(RISING, &key(id));
    let store = open(dir.path());
    let grouping = store.grouping();
    assert!(lacks(&store, 1) && !store.now(Tier::Disk).lacks(ROWS, &key(1)));
    let mut change = WriteBatch::default();
    change.merge(RISING, key(7), [1]);
    grouping.write(None, change, true).expect("stages");
    assert!(lacks(&grouping, 8) && !lacks(&grouping, 7));
    assert_eq!(&*grouping.get(RISING, &key(7), Tier::Disk).expect("reads").expect("a row"), [1]);
    assert!(store.get(RISING, &key(7), Tier::Disk).expect("reads").is_none(), "not written");
    grouping.write_group().expect("writes");
    let rows = store.get_many(RISING, [key(7), key(9)], Tier::Disk);
    let rows: Vec<_> = rows.expect("reads").into_iter().map(|row| row.map(|row| row.to_vec())).collect();
    assert_eq!(rows, [Some(vec![1]), None]);
    drop((store, grouping));
    let store = open(dir.path());
    assert!(lacks(&store, 8) && !lacks(&store, 7));
    assert!(store.get(RISING, &key(7), Tier::Disk).expect("reads").is_some());
}

const MIB: u64 = 1 << 20;

fn write_row(store: &Database, table: &'static Family, row: u64, bytes: usize) {
    let mut batch = WriteBatch::default();
    batch.put(table, row.to_be_bytes(), vec![7; bytes]);
    store.commit(batch, false).expect("writes");
}

#[test]
fn a_write_buffer_holds_what_it_says_and_no_more() {
    let dir = tempfile::tempdir().expect("temp dir");
    let open = |dir: &Path, write_buffer| {
        crate::testing::try_open(&Options { write_buffer, ..Options::new(dir) }).expect("opens")
    };
    // Less than the size of one write buffer of a table.
    let write = |store: &Database| {
        (0..6 * 8).for_each(|row| [ROWS, RISING].iter().for_each(|table| write_row(store, table, row, 128 << 10)));
    };
    let large = open(dir.path(), 128 << 20);
    write(&large);
    let Usage { write_buffers, log, .. } = large.usage().expect("figures");
    assert_eq!((write_buffers.limit, log.limit), (128 * MIB, 64 * MIB));
    assert!(write_buffers.used >= 12 * MIB && log.used >= 12 * MIB, "{write_buffers:?} {log:?}");
    drop(large);

    let dir = tempfile::tempdir().expect("temp dir");
    let small = open(dir.path(), 4 << 20);
    write(&small);
    let began = Instant::now();
    loop {
        // The engine checks its limits at a write, and flushes one table at a time.
        write_row(&small, ROWS, 0, 1);
        let Usage { write_buffers, log, .. } = small.usage().expect("figures");
        if write_buffers.used <= write_buffers.limit && log.used <= log.limit + MIB {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{write_buffers:?} {log:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_compaction_leaves_no_sum_of_nothing() {
    let dir = tempfile::tempdir().expect("temp dir");
    let store = open(dir.path());
    let rows = |table| {
        let mut count = 0;
        let counted = store.now(Tier::Disk).each_row(table, &[], |_, _| {
            count += 1;
            Ok(ControlFlow::Continue(()))
        });
        counted.expect("reads");
        count
    };
    let step = |by: u8| {
        for table in [SUMS, RISING] {
            let mut change = WriteBatch::default();
            change.merge(table, 7_u64.to_be_bytes(), [by]);
            store.commit(change, false).expect("writes");
        }
    };
    for is_summed_before in [false, true] {
        step(1);
        if is_summed_before {
            store.kv().compact().expect("compacts");
            assert_eq!([SUMS, RISING].map(rows), [1, 1]);
        }
        step(255);
        store.kv().compact().expect("compacts");
        assert_eq!([SUMS, RISING].map(rows), [0, 0]);
    }
}
