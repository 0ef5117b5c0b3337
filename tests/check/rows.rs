//! A row that is damaged, that is missing or that is too many, in every table that `fill` fills: what an audit finds, and
//! the digests in which it shows.

use feed::check::TableDigest;
use feed::store::{Options, Store, described};
use model::error::Error;
use rocksdb::{DB, IteratorMode};
use tempfile::TempDir;

use super::damage::{Row, engine};
use super::everything::{empty_tables, fill};
use super::support::{audit, digest};

/// Tables that no declaration binds to others, and of which a missing row is found all the same: others name its rows.
/// `tideline check` compares inboxes with outboxes beside the audit.
const MISSED: [&str; 7] = ["outbox_archive", "counts", "item_counts", "kinds", "topic_ids", "topic_archive", "lists"];
/// Likewise those of which a further row is found.
const NOTICED: [&str; 9] = [
    "taken_off",
    "outbox_archive",
    "counts",
    "item_counts",
    "kinds",
    "topic_ids",
    "topic_archive",
    "list_markers",
    "notices",
];
/// A table that others are bound to, in which a further row may be right.
const MAY_HAVE_MORE: &str = "deleted";

/// Tables whose rows every start reads, so that it may refuse one with another value.
const READ_BY_STARTS: [&str; 6] = ["activity", "jobs", "names", "names_by_number", "topic_ids", "unpushed"];
/// Tables whose values count what each node has removed.
const COUNTED_APART: [&str; 2] = ["erasures", "erased"];

/// The tables by their declarations.
struct Declared {
    /// Those that are each node's own: no digest has them.
    own: Vec<String>,
    /// Those of which no other table has a trace: nobody can miss a row.
    alone: Vec<String>,
}

impl Declared {
    fn new() -> Self {
        let page = described();
        // Name, rows, key, value, sources.
        let lines = page.lines().skip(2).map(|line| line.split('|').skip(1).map(str::trim).collect::<Vec<_>>());
        let lines: Vec<_> = lines.collect();
        let is_alone = |name: &str| {
            lines.iter().all(|cells| if cells[0] == name { cells[4].is_empty() } else { !cells[4].contains(name) })
        };
        let names = |of: &dyn Fn(&[&str]) -> bool| {
            let found = lines.iter().filter(|cells| of(cells));
            found.map(|cells| cells[0].trim_matches('`').to_owned()).collect()
        };
        Self {
            own: names(&|cells| cells[1].ends_with("Each server's own.")),
            alone: names(&|cells| is_alone(cells[0])),
        }
    }

    /// The digests in which a row of a table shows.
    fn counted_as(&self, table: &'static str) -> Vec<&'static str> {
        match table {
            own if self.own.iter().any(|name| name == own) => vec![],
            "outbox_archive" => vec!["outbox"],
            "topic_archive" => vec!["topic_content"],
            other => vec![other],
        }
    }
}

/// A store with something in every table, and the names of these.
fn filled() -> (TempDir, Vec<&'static str>) {
    let dir = tempfile::tempdir().expect("a directory");
    let store = Store::open(&Options::new(dir.path())).expect("opens");
    fill(&store);
    assert_eq!(empty_tables(&store), Vec::<&str>::new(), "not filled");
    let tables = store.usage().expect("reads").tables.into_iter().map(|figures| figures.table).collect();
    (dir, tables)
}

/// Opens the store, or says why it does not start: some tables are read by every start.
fn open(dir: &TempDir) -> Result<Store, String> {
    Store::open(&Options::new(dir.path())).map_err(|error| match error {
        Error::Corrupt(why) => format!("no start: {why}"),
        other => panic!("{other}"),
    })
}

/// The findings of an audit, or of a start that refuses the directory.
fn findings(dir: &TempDir) -> Vec<String> {
    open(dir).map_or_else(|why| vec![why], |store| audit(&store))
}

/// The digests; `None` if the store does not start.
fn digests(dir: &TempDir) -> Option<Vec<TableDigest>> {
    open(dir).ok().map(|store| digest(&store, 0))
}

/// The tables whose digests differ from those of `before`; `None` if the store does not start.
fn differing(dir: &TempDir, before: &[TableDigest]) -> Option<Vec<&'static str>> {
    let now = digests(dir)?;
    Some(before.iter().zip(&now).filter(|(a, b)| a != b).map(|(a, _)| a.table).collect())
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
    let declared = Declared::new();
    let (sound, before) = (findings(&dir), digests(&dir).expect("starts"));
    let (mut unread, mut unmissed, mut unnoticed) = (Vec::new(), Vec::new(), Vec::new());
    for &table in &tables {
        let db = engine(dir.path());
        let (row, value) = last_row(&db, table);
        put(&db, &row, Some(&[0xFF; 5]));
        drop(db);
        let names_it = |line: &String| line.contains(&format!(": {table} ")) || line.starts_with("no start: ");
        if !findings(&dir).iter().any(names_it) {
            unread.push(table);
        }
        put(&engine(dir.path()), &row, None);
        assert_eq!(differing(&dir, &before), Some(declared.counted_as(table)), "{table} lacks a row");
        if findings(&dir) == sound {
            unmissed.push(table);
        }
        if let Some((end, start)) = value.split_last() {
            put(&engine(dir.path()), &row, Some(&[start, &[end ^ 1]].concat()));
            let expected = if COUNTED_APART.contains(&table) { vec![] } else { declared.counted_as(table) };
            match differing(&dir, &before) {
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
        if findings(&dir) == sound {
            unnoticed.push(table);
        }
        put(&engine(dir.path()), &other, None);
    }
    // Notes of a node are read by its start.
    assert_eq!(unread, ["notes"]);
    let alone = |but: &[&str], also: &str| {
        let is_alone = |table: &str| declared.alone.iter().any(|name| name == table) && !but.contains(&table);
        tables.iter().copied().filter(|table| is_alone(table) || *table == also).collect::<Vec<_>>()
    };
    assert_eq!((unmissed, unnoticed), (alone(&MISSED, ""), alone(&NOTICED, MAY_HAVE_MORE)));
    assert_eq!((findings(&dir), digests(&dir)), (sound, Some(before)), "all is repaired");
}
