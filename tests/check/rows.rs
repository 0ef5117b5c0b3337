//! A row that is damaged, that is missing or that is too many, in every table that `fill` fills: what an audit finds, and
//! the digests in which it shows.

use feed::check::TableDigest;
use feed::store::{Options, Store};
use model::error::Error;
use rocksdb::{DB, IteratorMode};
use tempfile::TempDir;

use super::damage::{Row, engine};
use super::everything::{empty_tables, fill};
use super::support::{audit, digest};

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
const MAY_HAVE_MORE: [&str; 13] = [
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
    "settings",
    "erasures",
    "erased",
];

/// The tables that are each node's own: no digest has them.
const OWN: [&str; 5] = ["inboxes", "activity", "unpushed", "jobs", "replica"];
/// Tables whose rows every start reads, so that it may refuse one with another value.
const READ_BY_STARTS: [&str; 6] = ["activity", "jobs", "names", "names_by_number", "topic_ids", "unpushed"];
/// Tables whose values count what each node has removed.
const COUNTED_APART: [&str; 2] = ["erasures", "erased"];

/// A store with something in every table, and the names of these.
fn filled() -> (TempDir, Vec<&'static str>) {
    let dir = tempfile::tempdir().expect("a directory");
    let store = Store::open(&Options::new(dir.path())).expect("opens");
    fill(&store);
    assert_eq!(empty_tables(&store), Vec::<&str>::new(), "not filled");
    let tables = store.usage().expect("reads").tables.into_iter().map(|figures| figures.table).collect();
    (dir, tables)
}

/// What is seen of a store.
#[derive(Debug, PartialEq)]
struct Seen {
    /// The findings of an audit, or of a start that refuses the directory.
    findings: Vec<String>,
    /// `None` if it does not start.
    digests: Option<Vec<TableDigest>>,
}

impl Seen {
    fn of(dir: &TempDir) -> Self {
        match Store::open(&Options::new(dir.path())) {
            Ok(store) => Self { findings: audit(&store), digests: Some(digest(&store, 0)) },
            // Some tables are read by every start.
            Err(Error::Corrupt(why)) => Self { findings: vec![format!("no start: {why}")], digests: None },
            Err(other) => panic!("{other}"),
        }
    }

    /// The tables whose digests differ from those of `before`.
    fn differing(&self, before: &Self) -> Option<Vec<&'static str>> {
        let pairs = before.digests.iter().flatten().zip(self.digests.as_ref()?);
        Some(pairs.filter(|(a, b)| a != b).map(|(a, _)| a.table).collect())
    }
}

/// The digests in which a row of a table shows.
fn counted_as(table: &'static str) -> Vec<&'static str> {
    match table {
        own if OWN.contains(&own) => vec![],
        "outbox_archive" => vec!["outbox"],
        "topic_archive" => vec!["topic_content"],
        other => vec![other],
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
fn a_row_too_few_too_many_or_damaged_is_found_in_each_table_and_shows_in_its_digest() {
    let (dir, tables) = filled();
    let before = Seen::of(&dir);
    let (mut unread, mut unmissed, mut unnoticed) = (Vec::new(), Vec::new(), Vec::new());
    for table in tables {
        let db = engine(dir.path());
        let (row, value) = last_row(&db, table);
        put(&db, &row, Some(&[0xFF; 5]));
        drop(db);
        let names_it = |line: &String| line.contains(&format!(": {table} ")) || line.starts_with("no start: ");
        if !Seen::of(&dir).findings.iter().any(names_it) {
            unread.push(table);
        }
        put(&engine(dir.path()), &row, None);
        let lacking = Seen::of(&dir);
        assert_eq!(lacking.differing(&before), Some(counted_as(table)), "{table} lacks a row");
        if lacking.findings == before.findings {
            unmissed.push(table);
        }
        if let Some((end, start)) = value.split_last() {
            put(&engine(dir.path()), &row, Some(&[start, &[end ^ 1]].concat()));
            let expected = if COUNTED_APART.contains(&table) { vec![] } else { counted_as(table) };
            match Seen::of(&dir).differing(&before) {
                Some(tables) => assert_eq!(tables, expected, "{table} has another value"),
                None => assert!(READ_BY_STARTS.contains(&table), "{table}"),
            }
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
        if Seen::of(&dir).findings == before.findings {
            unnoticed.push(table);
        }
        put(&engine(dir.path()), &other, None);
    }
    // Notes of a node are read by its start.
    assert_eq!(unread, ["replica"]);
    assert_eq!((unmissed, unnoticed), (ONLY_HERE.to_vec(), MAY_HAVE_MORE.to_vec()));
    assert_eq!(Seen::of(&dir), before, "all is repaired");
}
