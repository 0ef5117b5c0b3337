//! Tests with damage of every kind to logs that the store wrote.

use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::*;
use crate::Tier;
use crate::batch::WriteBatch;
use crate::database::Database;
use crate::engine::bare::read_only;
use crate::engine::disk::Disk;
use crate::engine::log::flushed::noted;
use crate::options::Options;
use crate::testing::{ROWS, SUMS, open, schema, try_open};
use crate::view::{Scope, family};

const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A store with rows 1, 2, 3 …, each written by a change of its own.
struct Written {
    dir: TempDir,
    store: Database,
    rows: u64,
}

impl Written {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("temp dir");
        let store = open(dir.path());
        Self { dir, store, rows: 0 }
    }

    fn disk(&self) -> &Disk {
        self.store.disk().expect("on disk")
    }

    fn write(&mut self, rows: u64, sync: bool) {
        for _ in 0..rows {
            self.rows += 1;
            let mut batch = WriteBatch::default();
            batch.put(ROWS, self.rows.to_be_bytes(), vec![b'x'; 20 + (self.rows % 7 * 150) as usize]);
            self.store.commit(batch, sync).expect("writes");
        }
    }

    /// Waits until a note says that all rows are on the device.
    fn rest(&self) {
        let began = Instant::now();
        let vouches = || noted(&fs::read(newest(self.dir.path())).expect("reads"));
        while vouches() != Some(self.disk().db.latest_sequence_number()) {
            assert!(began.elapsed() < TIME_LIMIT, "no note");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Begins a new log, as a flush of one table does.
    fn next_log(&self) {
        let table = family(&self.disk().db, ROWS).expect("there");
        self.disk().db.flush_cf(table).expect("flushes");
    }

    /// A copy of the directory, as after `kill -9`.
    fn copy(&self) -> TempDir {
        let began = Instant::now();
        loop {
            // The engine removes files that it needs no more in the background; a copy meanwhile is of no instant.
            match self.try_copy() {
                Ok(copy) => return copy,
                Err(error) => assert!(began.elapsed() < TIME_LIMIT, "copies: {error}"),
            }
        }
    }

    fn try_copy(&self) -> io::Result<TempDir> {
        let (copy, engine) = (tempfile::tempdir()?, self.dir.path().join("db"));
        let names =
            || -> io::Result<BTreeSet<_>> { fs::read_dir(&engine)?.map(|entry| Ok(entry?.file_name())).collect() };
        fs::create_dir(copy.path().join("db"))?;
        fs::copy(self.dir.path().join("FORMAT"), copy.path().join("FORMAT"))?;
        let before = names()?;
        for name in &before {
            fs::copy(engine.join(name), copy.path().join("db").join(name))?;
        }
        if names()? == before { Ok(copy) } else { Err(io::Error::other("files came or went")) }
    }

    /// The length of the newest log.
    fn length(&self) -> usize {
        fs::read(newest(self.dir.path())).expect("reads").len()
    }
}

fn newest(data: &Path) -> PathBuf {
    files(&data.join("db")).expect("listed").pop_last().expect("a log").1
}

fn change(path: &Path, how: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).expect("reads");
    how(&mut bytes);
    fs::write(path, bytes).expect("writes");
}

/// The number of rows that an engine finds: from 1 on, without a gap.
fn replayed(data: &Path) -> u64 {
    let store = open(data);
    let disk = store.disk().expect("on disk");
    let table = family(&disk.db, ROWS).expect("there");
    let is_there = |row: u64| disk.db.get_cf(table, row.to_be_bytes()).expect("reads").is_some();
    let first_missing = (1..).find(|row| !is_there(*row)).expect("an end");
    assert!((first_missing..first_missing + 2000).all(|row| !is_there(row)), "rows behind row {first_missing}");
    first_missing - 1
}

/// Pseudo-random numbers, the same in each run.
fn numbers(below: usize) -> impl Iterator<Item = usize> {
    let step =
        |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    std::iter::successors(Some(0x7157), step).map(move |state| (state >> 33) as usize % below)
}

#[test]
fn no_flipped_bit_takes_an_acknowledged_row_away() {
    let mut written = Written::new();
    written.write(1000, true);
    written.rest();
    let copy = written.copy();
    let log = newest(copy.path());
    let bytes = fs::read(&log).expect("reads");
    let mut refused = 0;
    for at in numbers(bytes.len()).take(1500).chain(0..100).chain(bytes.len() - 100..bytes.len()) {
        change(&log, |bytes| bytes[at] ^= 1 << (at % 8));
        match prepare(copy.path(), false) {
            Err(error) => {
                refused += 1;
                let error = error.to_string();
                let known = error.contains("damaged at byte") && error.contains("--accept-log-loss");
                assert!(known && error.contains("write"), "{error}");
            }
            Ok(loses) => {
                // There is nothing between blocks, and the last note may be lost.
                let left = survey(copy.path(), &files(&copy.path().join("db")).expect("listed")).expect("reads");
                let last = left.and_then(|damage| damage.last).unwrap_or(written.rows);
                assert!(!loses && last == written.rows, "a flip at {at}: {last} rows are left");
            }
        }
        fs::write(&log, &bytes).expect("writes");
    }
    assert!(refused > 1400, "{refused}");
}

#[test]
fn a_refusal_says_how_much_would_be_lost_and_can_be_overruled() {
    let mut written = Written::new();
    written.write(200, true);
    written.rest();
    let copy = written.copy();
    let log = newest(copy.path());
    let at = {
        let bytes = fs::read(&log).expect("reads");
        let mut reader = Reader::new(&bytes, 0);
        let batches = std::iter::from_fn(|| reader.next_intact());
        batches.filter(|batch| batch.rows > 0).nth(150).expect("there").at
    };
    // A kind that puts the engine into an endless loop.
    change(&log, |bytes| bytes[at + 6] ^= 4);
    let error = try_open(&Options::new(copy.path())).expect_err("damaged").to_string();
    let said = [format!("damaged at byte {at}"), "At least 50 writes from".to_owned(), "(50 rows,".to_owned()];
    assert!(said.iter().all(|words| error.contains(words)), "{error}");
    let error = try_open(&Options::new(copy.path())).expect_err("again").to_string();
    assert!(error.contains(&said[0]), "{error}");
    let command = format!("tideline serve --data-dir {} --accept-log-loss", copy.path().display());
    assert!(error.ends_with(&command), "{error}");
    let accepting = Options { accept_log_loss: true, ..Options::new(copy.path()) };
    drop(try_open(&accepting).expect("opens"));
    assert_eq!(replayed(copy.path()), 150);
}

#[test]
fn the_last_row_is_vouched_for_by_the_next_change_too() {
    let mut written = Written::new();
    written.write(1, true);
    let end = written.length();
    written.write(1, false);
    let copy = written.copy();
    change(&newest(copy.path()), |bytes| bytes[end - 1] ^= 1);
    assert!(prepare(copy.path(), false).is_err());
}

#[test]
fn a_torn_end_is_cut_at_any_byte() {
    let mut written = Written::new();
    written.write(40, true);
    written.rest();
    let copy = written.copy();
    let log = newest(copy.path());
    let bytes = fs::read(&log).expect("reads");
    // Every place in the first batches, then steps that reach every offset in a batch.
    for (number, length) in (0..400).chain((400..bytes.len()).step_by(61)).enumerate() {
        fs::write(&log, &bytes[..length]).expect("writes");
        prepare(copy.path(), false).expect("torn");
        let noise = (0..200).map(|n| (n * n * 7) as u8);
        let noisy = bytes[..length].iter().copied().chain(noise).collect::<Vec<_>>();
        fs::write(&log, &noisy).expect("writes");
        prepare(copy.path(), false).expect("noise");
        // A start takes its time, so not for every length.
        if number % 40 == 0 {
            let mut reader = Reader::new(&bytes[..length], 0);
            let whole = std::iter::from_fn(|| reader.next_intact()).filter(|batch| batch.rows > 0).count() as u64;
            for torn in [&bytes[..length], &noisy] {
                let copy = written.copy();
                fs::write(newest(copy.path()), torn).expect("writes");
                assert_eq!(replayed(copy.path()), whole, "{length} of {} bytes", torn.len());
            }
        }
    }
}

#[test]
fn the_torn_end_of_a_copied_log_is_cut_off_and_then_it_is_whole() {
    let mut written = Written::new();
    written.write(40, false);
    let copy = written.copy();
    let log = newest(copy.path());
    let bytes = fs::read(&log).expect("reads");
    must_be_whole(copy.path()).expect("whole");
    let starts = |bytes: &[u8]| {
        let mut reader = Reader::new(bytes, 0);
        std::iter::from_fn(|| reader.next_intact()).map(|batch| batch.at).collect::<Vec<_>>()
    };
    let all = starts(&bytes);
    for length in (1..bytes.len()).step_by(37) {
        fs::write(&log, &bytes[..length]).expect("writes");
        cut(copy.path()).expect("torn");
        must_be_whole(copy.path()).expect("cut");
        let left = fs::read(&log).expect("reads");
        // All batches that end within the length: perhaps not the last one that begins there.
        let begun = all.iter().filter(|start| **start < length).count();
        assert!(left.len() <= length && bytes.starts_with(&left), "{length}");
        assert!([begun, begun - 1].contains(&starts(&left).len()), "{length}: {begun} begun");
    }
    written.write(1, true);
    written.rest();
    let copy = written.copy();
    change(&newest(copy.path()), |bytes| bytes[40] ^= 1);
    assert!(must_be_whole(copy.path()).is_err() && cut(copy.path()).is_err(), "flushed rows are behind the place");
}

#[test]
fn pages_that_did_not_reach_the_device_end_the_log() {
    const PAGE: usize = 4096;
    let mut written = Written::new();
    written.write(100, true);
    written.rest();
    written.disk().end_keeper();
    let flushed = written.length();
    let rows = written.rows;
    written.write(300, false);
    for number in numbers(1000).take(12) {
        let copy = written.copy();
        let log = newest(copy.path());
        change(&log, |bytes| {
            // One page is lost; sometimes with noise instead of zeros, or with all up to the block's end.
            let pages = flushed.div_ceil(PAGE)..bytes.len() / PAGE;
            let from = (pages.start + number % pages.len()) * PAGE;
            let to = if number % 4 == 1 { (from + 1).next_multiple_of(BLOCK).min(bytes.len()) } else { from + PAGE };
            let fill = if number % 4 == 2 { 5 } else { 0 };
            bytes[from..to].fill(fill);
        });
        let left = replayed(copy.path());
        assert!((rows..rows + 299).contains(&left), "{left}");
    }
    // A block of zeros that begins between two batches: the engine itself skips it.
    let copy = written.copy();
    change(&newest(copy.path()), |bytes| {
        let mut reader = Reader::new(bytes, 0);
        let batches: Vec<_> = std::iter::from_fn(|| reader.next_intact()).collect();
        let hit = batches.iter().find(|batch| batch.first == rows + 10).expect("there").at;
        bytes[hit..(hit + 1).next_multiple_of(BLOCK)].fill(0);
    });
    assert_eq!(replayed(copy.path()), rows + 9);
}

#[test]
fn nothing_is_replayed_behind_a_missing_piece() {
    let mut written = Written::new();
    let other = family(&written.disk().db, SUMS).expect("there");
    // A row of another table keeps the log when the first table is flushed.
    written.disk().db.put_cf(other, b"x", b"x").expect("writes");
    written.write(50, true);
    written.next_log();
    written.write(50, true);
    written.rest();
    let logs = files(&written.dir.path().join("db")).expect("listed");
    assert!(logs.len() > 1, "{logs:?}");
    // Damaged, cut and removed: all of the log was flushed when the next one was begun.
    let damages: [fn(&Path); 3] = [
        |log| change(log, |bytes| bytes[500] ^= 1),
        |log| change(log, |bytes| bytes.truncate(1000)),
        |log| fs::remove_file(log).expect("removes"),
    ];
    let damaged = ["is damaged at byte"].as_slice();
    let missing = ["Missing WAL with log number", "does not continue the log file before it"].as_slice();
    for (damage, words) in damages.into_iter().zip([damaged, damaged, missing]) {
        let copy = written.copy();
        damage(&files(&copy.path().join("db")).expect("listed").pop_first().expect("a log").1);
        let refused = try_open(&Options::new(copy.path())).expect_err("damaged").to_string();
        assert!(words.iter().any(|words| refused.contains(words)), "{words:?}: {refused}");
    }
}

#[test]
fn damage_in_parts_that_the_engine_does_not_need_is_accepted() {
    let mut written = Written::new();
    written.write(50, true);
    let old = newest(written.dir.path());
    let bytes = fs::read(&old).expect("reads");
    written.next_log();
    written.write(50, true);
    written.rest();
    let copy = written.copy();
    // As after a power cut right after the flush: neither the file's removal nor all of its pages reached the device.
    let old = copy.path().join("db").join(old.file_name().expect("name"));
    fs::write(&old, [&bytes[..300], &[0; 300], &bytes[600..]].concat()).expect("writes");
    assert!(!prepare(copy.path(), false).expect("not needed"));
    assert_eq!(replayed(copy.path()), 100);
}

/// The number of rows that a reader finds, which changes nothing.
fn read(data: &Path) -> Result<u64> {
    let (mut rows, before) = (0, files(&data.join("db")).expect("listed").len());
    let engine = read_only(&Options::new(data), &schema(), &[ROWS])?;
    let mut walk = engine.now().walk(ROWS, Tier::Disk, Scope::Once)?;
    walk.seek(true, None);
    while let Some((key, _)) = walk.item() {
        rows += 1;
        assert_eq!(key, u64::to_be_bytes(rows), "a gap");
        walk.step(true);
    }
    walk.status()?;
    assert_eq!(files(&data.join("db")).expect("listed").len(), before);
    Ok(rows)
}

#[test]
fn a_reader_finds_what_a_start_would_replay_or_refuses_the_log() {
    let mut written = Written::new();
    written.write(100, true);
    written.rest();
    written.disk().end_keeper();
    let flushed = written.length();
    written.write(300, false);
    let (mut taken, mut refused) = (0, 0);
    for number in numbers(1 << 20).take(40) {
        let copy = written.copy();
        change(&newest(copy.path()), |bytes| {
            let at = flushed + number % (bytes.len() - flushed);
            match number % 4 {
                0 => bytes.truncate(at),
                1 => bytes[at..].fill(0),
                2 => bytes[at..].fill(5),
                _ => bytes[at] ^= 1,
            }
        });
        let found = read(copy.path());
        match found {
            Ok(rows) => {
                taken += 1;
                assert_eq!(rows, replayed(copy.path()));
            }
            Err(error) => {
                refused += 1;
                assert!(error.to_string().contains("Run tideline check on the directory first"), "{error}");
                let left = replayed(copy.path());
                assert_eq!(read(copy.path()).expect("a start has marked it"), left);
            }
        }
    }
    assert!(taken > 2 && refused > 2, "{taken} {refused}");
    let copy = written.copy();
    change(&newest(copy.path()), |bytes| bytes[flushed / 2] ^= 1);
    assert!(read(copy.path()).expect_err("damaged").to_string().contains("--accept-log-loss"));
}
