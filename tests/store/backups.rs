//! Copies of the store on disk, under load and damaged.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use feed::store::{Options, Store};
use kv::FORMAT;
use model::error::{Code, Error, Result};
use model::store::{Batch, Copied, Push, Watch};

use super::everything::{Scope, dump, fill};
use super::support::{audit, content, ids, jobs, open, outbox, post, timed};

const WRITERS: u64 = 4;
const COPIES: usize = 6;

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

/// A copy has what was acknowledged before it began, of each writer's later changes the first ones, and a job for each.
#[test]
fn a_copy_under_load_is_a_state_that_was_there() {
    for sync in [true, false] {
        let dir = tempfile::tempdir().expect("temp dir");
        let data = dir.path().join("data");
        // A small buffer, so that tables are flushed meanwhile.
        let store = Store::open(&Options::new(&data).with(|engine| {
            engine.sync = sync;
            engine.write_buffer = 8 << 20;
        }))
        .expect("opens");
        let acknowledged = [const { AtomicU64::new(0) }; WRITERS as usize];
        let stop = AtomicBool::new(false);
        let mut copies = Vec::new();
        thread::scope(|threads| {
            for writer in 0..WRITERS {
                let (store, stop, acknowledged) = (&store, &stop, &acknowledged[writer as usize]);
                threads.spawn(move || {
                    for number in 1.. {
                        if stop.load(Ordering::Relaxed) {
                            break;
                        }
                        let id = writer * 1_000_000 + number;
                        let item = post(id, 1 + writer, 100 + number);
                        feed::items::tables::publish(store, &[timed(item)], Batch::AllOrNone, Push::Queued)
                            .expect("publishes");
                        acknowledged.store(number, Ordering::SeqCst);
                    }
                });
            }
            // The first change may wait long for a slow device.
            while acknowledged.iter().any(|count| count.load(Ordering::SeqCst) == 0) {
                thread::sleep(Duration::from_millis(1));
            }
            for number in 0..COPIES {
                thread::sleep(Duration::from_millis(60));
                let before = acknowledged.each_ref().map(|count| count.load(Ordering::SeqCst));
                let copy = dir.path().join(format!("copy-{number}"));
                let Copied { format, sequence } = store.copy_to(&copy).expect("copies");
                assert!(format == FORMAT && sequence > 0);
                copies.push((copy, before));
            }
            stop.store(true, Ordering::Relaxed);
        });
        drop(store);
        for (copy, before) in copies {
            assert!(before.iter().all(|count| *count > 0), "{before:?}");
            let store = open(&copy);
            let mut all = 0;
            for (writer, before) in (0..WRITERS).zip(before) {
                let mut there = ids(&outbox(&store, 1 + writer));
                there.reverse();
                let count = there.len() as u64;
                assert!(count >= before, "{count} of {before} acknowledged changes of writer {writer}, sync {sync}");
                assert!(there.into_iter().eq((1..=count).map(|number| writer * 1_000_000 + number)));
                assert!(content(&store, writer * 1_000_000 + count).is_some());
                all += count;
            }
            assert_eq!(jobs(&store).len() as u64, all, "the fan-outs of all items");
            assert_eq!(audit(&store), [""; 0]);
        }
    }
}

#[test]
fn a_check_reads_every_row_and_changes_nothing() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (copy, scratch) = (dir.path().join("copy"), dir.path().join("scratch"));
    let store = open(&dir.path().join("data"));
    fill(&store);
    let wanted = dump(&store, &Scope::filled());
    store.copy_to(&copy).expect("copies");
    let before = files(&copy);
    let mut found = Found::default();
    feed::check::check_copy(&copy, &scratch, &mut found).expect("checks");
    assert_eq!(found.lines, [""; 0]);
    let tables: BTreeSet<_> = store.usage().expect("figures").tables.iter().map(|stats| stats.table).collect();
    assert_eq!(found.rows.iter().filter(|(_, rows)| **rows > 0).count(), tables.len(), "{:?}", found.rows);
    assert!(!scratch.exists());
    let mut stopped = Found { stop: true, ..Found::default() };
    let error = feed::check::check_copy(&copy, &scratch, &mut stopped).expect_err("stopped");
    assert_eq!(error.code(), Some(Code::Stopping), "{error}");
    assert!(!scratch.exists());
    assert!(before == files(&copy), "the copy has changed");
    assert!(store.copy_to(&copy).is_err(), "a directory that is there");
    drop(store);
    assert_eq!(dump(&open(&copy), &Scope::filled()), wanted);
}

#[test]
fn a_check_finds_each_flipped_byte_of_data() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (copy, scratch) = (dir.path().join("copy"), dir.path().join("scratch"));
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
        let checked = feed::check::check_copy(&copy, &scratch, &mut found);
        assert!(matches!(checked, Err(Error::Corrupt(_) | Error::Setup(_))), "{name}: {checked:?} {:?}", found.lines);
        fs::write(&name, &bytes).expect("writes");
        count += 1;
    }
    assert!(count > 10, "{count} tables");
    feed::check::check_copy(&copy, &scratch, &mut Found::default()).expect("whole again");
}
