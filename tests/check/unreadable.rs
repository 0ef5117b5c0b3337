//! A row that cannot be read is named, in every table that `fill` fills.

use model::error::Error;
use rocksdb::IteratorMode;
use store::{Options, Store};
use tempfile::TempDir;

use super::damage::{Row, engine, set};
use super::everything::{empty_tables, fill};
use super::support::audit;

fn open(dir: &TempDir) -> Store {
    Store::open(&Options::new(dir.path())).expect("opens")
}

#[test]
fn a_row_that_cannot_be_read_is_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = open(&dir);
    fill(&store);
    assert_eq!(empty_tables(&store), Vec::<&str>::new(), "not filled");
    let tables: Vec<_> = store.stats().expect("reads").into_iter().map(|figures| figures.table).collect();
    drop(store);
    for table in tables {
        let row = Row(table, last_key(&dir, table));
        let before = set(dir.path(), &row, Some(&[0xFF; 5]));
        let is_named = match Store::open(&Options::new(dir.path())) {
            Ok(store) => audit(&store).iter().any(|line| line.contains(&format!(": {table} "))),
            // These tables are read by every start.
            Err(Error::Corrupt(_)) => true,
            Err(other) => panic!("{table}: {other}"),
        };
        // Notes of a node are read by its start.
        assert_eq!(is_named, table != "replica", "{table}");
        set(dir.path(), &row, before.as_deref());
    }
}

/// The first rows of a table may be marks.
fn last_key(dir: &TempDir, table: &str) -> Vec<u8> {
    let db = engine(dir.path());
    let mut rows = db.iterator_cf(db.cf_handle(table).expect("a table"), IteratorMode::End);
    rows.next().expect("a row").expect("reads").0.into()
}
