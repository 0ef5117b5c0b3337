//! Tests of the reader with logs that the engine wrote.

use rocksdb::{DB, WriteBatch, WriteOptions};

use super::*;
use crate::engine::log::note;

/// Writes batches of all sizes; returns the bytes of the log and the batches.
fn written() -> (Vec<u8>, Vec<Batch>) {
    let dir = tempfile::tempdir().expect("temp dir");
    let mut options = rocksdb::Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    options.set_merge_operator_associative("last", |_, _, steps| steps.iter().last().map(<[u8]>::to_vec));
    let tables = ["default", "other"].map(|name| (name, options.clone()));
    let db = DB::open_cf_with_opts(&options, dir.path(), tables).expect("opens");
    let other = db.cf_handle("other").expect("there");
    let mut batches = Vec::new();
    for number in 0..64_u64 {
        let mut batch = WriteBatch::default();
        for row in 0..number % 4 {
            let value = vec![number as u8; [0, 10, 900, 40_000][(number / 4 % 4) as usize]];
            batch.put(row.to_be_bytes(), &value);
            batch.put_cf(other, number.to_be_bytes(), &value);
            batch.merge_cf(other, b"sum", b"1");
            batch.delete(b"gone");
            batch.delete_cf(other, b"gone");
            batch.delete_range_cf(other, b"a", b"b");
        }
        batch.put_log_data(note(number));
        if number % 7 == 0 {
            batch.put_log_data(b"something else");
            batch.put_log_data(note(number + 1));
        }
        let first = db.latest_sequence_number() + 1;
        let (rows, more) = (batch.len() as u64, u64::from(number % 7 == 0));
        db.write_opt(batch, &WriteOptions::default()).expect("writes");
        batches.push(Batch { at: 0, first, rows, flushed: Some(number + more) });
    }
    let files = std::fs::read_dir(dir.path()).expect("listed").map(|file| file.expect("listed").path());
    let log = files.filter(|path| path.extension().is_some_and(|kind| kind == "log")).max().expect("a log");
    (std::fs::read(log).expect("reads"), batches)
}

fn all(bytes: &[u8]) -> (Vec<Batch>, Result<Option<Batch>, usize>) {
    let mut reader = Reader::new(bytes, 0);
    let mut batches = Vec::new();
    loop {
        match reader.next() {
            Ok(Some(batch)) => batches.push(batch),
            end => return (batches, end),
        }
    }
}

#[test]
fn reads_what_the_engine_wrote() {
    let (bytes, written) = written();
    let (read, end) = all(&bytes);
    assert_eq!(end, Ok(None));
    let without_places: Vec<_> = read.iter().map(|batch| Batch { at: 0, ..*batch }).collect();
    assert_eq!(without_places, written);
    assert!(bytes.len() > 20 * BLOCK, "too short to have fragments: {}", bytes.len());
}

#[test]
fn a_head_has_golden_bytes() {
    // One batch without rows, with one note, as the engine writes it.
    let bytes =
        [0x29, 0x59, 0x66, 0x7F, 23, 0, 1, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 9, b'F', 7, 0, 0, 0, 0, 0, 0, 0];
    let batch = Batch { at: 0, first: 8, rows: 0, flushed: Some(7) };
    assert_eq!(all(&bytes), (vec![batch], Ok(None)));
    assert_eq!(batch.last(), 7);
}
