//! Copies of the store on disk, checked and damaged.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use feed::check::Watch;
use model::error::{Code, Error, Result};

use super::everything::{Scope, dump, fill};
use super::support::open;

/// The findings of a check of a copy.
#[derive(Default)]
struct Found {
    lines: Vec<String>,
    rows: BTreeMap<&'static str, u64>,
    stop: bool,
}

impl Watch for Found {
    fn finds(&mut self, line: String) {
        self.lines.push(line);
    }

    fn looked_at(&mut self, table: &'static str, rows: u64) -> Result<()> {
        let most = self.rows.entry(table).or_default();
        *most = rows.max(*most);
        if self.stop { Err(Code::Stopping.into()) } else { Ok(()) }
    }
}

/// Every file below a directory, with its bytes.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for part in ["", "db"] {
        for entry in fs::read_dir(dir.join(part)).expect("lists").map(|entry| entry.expect("an entry").path()) {
            if entry.is_file() {
                found.insert(entry.display().to_string(), fs::read(&entry).expect("reads"));
            }
        }
    }
    found
}

#[test]
fn a_check_reads_every_row_and_changes_nothing() {
    let dir = tempfile::tempdir().expect("temp dir");
    let copy = dir.path().join("copy");
    let store = open(&dir.path().join("data"));
    fill(&store);
    let wanted = dump(&store, &Scope::filled());
    store.copy_to(&copy).expect("copies");
    let before = files(&copy);
    let mut found = Found::default();
    feed::check::check_copy(&copy, &mut found).expect("checks");
    assert_eq!(found.lines, [""; 0]);
    let tables: BTreeSet<_> = store.usage().expect("figures").tables.iter().map(|stats| stats.table).collect();
    assert_eq!(found.rows.iter().filter(|(_, rows)| **rows > 0).count(), tables.len(), "{:?}", found.rows);
    let mut stopped = Found { stop: true, ..Found::default() };
    let error = feed::check::check_copy(&copy, &mut stopped).expect_err("stopped");
    assert_eq!(error.code(), Some(Code::Stopping), "{error}");
    assert!(before == files(&copy), "the copy has changed");
    assert!(store.copy_to(&copy).is_err(), "a directory that is there");
    drop(store);
    assert_eq!(dump(&open(&copy), &Scope::filled()), wanted);
}

#[test]
fn a_check_finds_each_flipped_byte_of_data() {
    let dir = tempfile::tempdir().expect("temp dir");
    let copy = dir.path().join("copy");
    let store = open(&dir.path().join("data"));
    fill(&store);
    store.copy_to(&copy).expect("copies");
    let tables = files(&copy).into_iter().filter(|(name, _)| name.ends_with(".sst"));
    let mut count = 0;
    for (name, bytes) in tables {
        let mut bad = bytes.clone();
        // In the first block of data.
        bad[3] ^= 0x10;
        // The file is a link to that of the store, which must keep its bytes.
        fs::remove_file(&name).expect("removes");
        fs::write(&name, &bad).expect("writes");
        let mut found = Found::default();
        let checked = feed::check::check_copy(&copy, &mut found);
        assert!(matches!(checked, Err(Error::Corrupt(_) | Error::Setup(_))), "{name}: {checked:?} {:?}", found.lines);
        fs::write(&name, &bytes).expect("writes");
        count += 1;
    }
    assert!(count > 10, "{count} tables");
    feed::check::check_copy(&copy, &mut Found::default()).expect("whole again");
}
