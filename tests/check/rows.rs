//! A row that is damaged, that is missing or that is too many, in every table that `fill` fills.

use feed::store::{Options, Store};
use model::error::Error;
use rocksdb::{DB, IteratorMode};
use tempfile::TempDir;

use super::damage::{Row, engine};
use super::everything::{empty_tables, fill};
use super::support::audit;

/// Tables with facts of which no other table has a trace: nobody can miss a row. `tideline check` compares inboxes with
/// outboxes beside the audit.
const ONLY_HERE: [&str; 14] = [
    "inboxes",
    "activity",
    "unpushed",
    "markers",
    "suspended",
    "list_markers",
    "jobs",
    "events",
    "replica",
    "taken_off",
    "settings",
    "erasures",
    "erased",
    "notices",
];
/// Tables in which a further row may be right.
const MAY_HAVE_MORE: [&str; 14] = [
    "deleted",
    "inboxes",
    "activity",
    "unpushed",
    "markers",
    "suspended",
    "lists",
    "jobs",
    "events",
    "replica",
    "taken_off",
    "settings",
    "erasures",
    "erased",
];

/// A store with something in every table, and the names of these.
fn filled() -> (TempDir, Vec<&'static str>) {
    let dir = tempfile::tempdir().expect("a directory");
    let store = Store::open(&Options::new(dir.path())).expect("opens");
    fill(&store);
    assert_eq!(empty_tables(&store), Vec::<&str>::new(), "not filled");
    let tables = store.usage().expect("reads").tables.into_iter().map(|figures| figures.table).collect();
    (dir, tables)
}

/// The findings of an audit; those of a start that refuses the directory.
fn findings(dir: &TempDir) -> Vec<String> {
    match Store::open(&Options::new(dir.path())) {
        Ok(store) => audit(&store),
        // Some tables are read by every start.
        Err(Error::Corrupt(why)) => vec![format!("no start: {why}")],
        Err(other) => panic!("{other}"),
    }
}

/// The last row of a table; the first ones may be marks.
fn last_row(db: &DB, table: &'static str) -> (Row, Vec<u8>) {
    let mut rows = db.iterator_cf(db.cf_handle(table).expect("a table"), IteratorMode::End);
    let (key, value) = rows.next().expect("a row").expect("reads");
    (Row(table, key.into()), value.into())
}

/// Sets a row, or removes it.
fn put(db: &DB, Row(table, key): &Row, value: Option<&[u8]>) {
    let family = db.cf_handle(table).expect("a table");
    match value {
        Some(value) => db.put_cf(family, key, value).expect("puts"),
        None => db.delete_cf(family, key).expect("deletes"),
    }
}

#[test]
fn a_row_too_few_too_many_or_damaged_is_found_in_each_table() {
    let (dir, tables) = filled();
    let before = findings(&dir);
    let (mut unread, mut unmissed, mut unnoticed) = (Vec::new(), Vec::new(), Vec::new());
    for table in tables {
        let db = engine(dir.path());
        let (row, value) = last_row(&db, table);
        put(&db, &row, Some(&[0xFF; 5]));
        drop(db);
        let names_it = |line: &String| line.contains(&format!(": {table} ")) || line.starts_with("no start: ");
        if !findings(&dir).iter().any(names_it) {
            unread.push(table);
        }
        put(&engine(dir.path()), &row, None);
        if findings(&dir) == before {
            unmissed.push(table);
        }
        // The same of another user, item or name.
        let mut other = row.clone();
        match other.1.get_mut(6) {
            Some(byte) => *byte ^= 1,
            None => other.1.push(b'x'),
        }
        let db = engine(dir.path());
        put(&db, &row, Some(&value));
        put(&db, &other, Some(&value));
        drop(db);
        if findings(&dir) == before {
            unnoticed.push(table);
        }
        put(&engine(dir.path()), &other, None);
    }
    // Notes of a node are read by its start.
    assert_eq!(unread, ["replica"]);
    assert_eq!((unmissed, unnoticed), (ONLY_HERE.to_vec(), MAY_HAVE_MORE.to_vec()));
    assert_eq!(findings(&dir), before, "all is repaired");
}
