//! Each row of a replicated table shows in the digest of its table, and no other row does.

use feed::check::TableDigest;
use feed::store::{Options, Store};
use model::error::Error;
use rocksdb::IteratorMode;
use tempfile::TempDir;

use super::damage::{Row, count, engine, key, row, set};
use super::everything::fill;
use super::support;

/// The tables that are each node's own.
const OWN: [&str; 5] = ["inboxes", "activity", "unpushed", "jobs", "replica"];

fn filled() -> (TempDir, Vec<&'static str>, Vec<TableDigest>) {
    let dir = tempfile::tempdir().expect("a directory");
    let store = Store::open(&Options::new(dir.path())).expect("opens");
    fill(&store);
    let tables = store.usage().expect("reads").tables.into_iter().map(|figures| figures.table).collect();
    let digests = support::digest(&store, 0);
    drop(store);
    (dir, tables, digests)
}

/// The tables whose digests differ from those of before; `None` if the store does not start.
fn differing(dir: &TempDir, before: &[TableDigest]) -> Option<Vec<&'static str>> {
    match Store::open(&Options::new(dir.path())) {
        Ok(store) => {
            let after = support::digest(&store, 0);
            Some(before.iter().zip(&after).filter(|(a, b)| a != b).map(|(a, _)| a.table).collect())
        }
        Err(Error::Corrupt(_)) => None,
        Err(other) => panic!("{other}"),
    }
}

/// The name under which the rows of a table count.
fn counted_as(table: &'static str) -> &'static str {
    match table {
        "outbox_archive" => "outbox",
        "topic_archive" => "topic_content",
        other => other,
    }
}

#[test]
fn each_row_shows_in_the_digest_of_its_table() {
    let (dir, tables, before) = filled();
    for table in tables {
        let expected = if OWN.contains(&table) { vec![] } else { vec![counted_as(table)] };
        let (last, value) = {
            let db = engine(dir.path());
            let mut rows = db.iterator_cf(db.cf_handle(table).expect("a table"), IteratorMode::End);
            rows.next().expect("a row").expect("reads")
        };
        let row = Row(table, last.into());
        set(dir.path(), &row, None);
        assert_eq!(differing(&dir, &before), Some(expected.clone()), "{table} lacks a row");
        if let Some((end, start)) = value.split_last() {
            set(dir.path(), &row, Some(&[start, &[end ^ 1]].concat()));
            // These tables are read by every start.
            let may_refuse = ["activity", "jobs", "names", "names_by_number", "topic_ids", "unpushed"];
            // Their values count what each node has removed.
            let expected = if ["erasures", "erased"].contains(&table) { vec![] } else { expected };
            match differing(&dir, &before) {
                Some(tables) => assert_eq!(tables, expected, "{table} has another value"),
                None => assert!(may_refuse.contains(&table), "{table}"),
            }
        }
        set(dir.path(), &row, Some(&value));
        assert_eq!(differing(&dir, &before), Some(vec![]), "{table} is repaired");
    }
}

#[test]
fn rows_that_stay_until_a_compaction_count_for_nothing() {
    let (dir, _, before) = filled();
    let zero = 0_u64.to_le_bytes().to_vec();
    for (row, value) in [
        // At or below the floors.
        (Row("outbox", row(2, 1, 2001)), vec![]),
        (Row("topic_content", row(1, 4, 3004)), key(&[3])),
        (Row("counts", count(99, 1)), zero.clone()),
        (Row("item_counts", key(&[99])), zero.repeat(4)),
        (Row("replica", b"note".to_vec()), vec![7]),
    ] {
        set(dir.path(), &row, Some(&value));
        assert_eq!(differing(&dir, &before), Some(vec![]), "{row:?}");
    }
}
