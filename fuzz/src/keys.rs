//! Keys: every key that is written is read back, keys sort as the lists do, and any bytes are read without a panic.

use super::keys;
use model::{JobId, Lane, MAX_MILLIS};

/// Two rows made of the first 48 bytes, then any bytes as a key.
pub fn keys(input: &[u8]) {
    any(input);
    let number = |at: usize| input.get(8 * at..8 * at + 8).and_then(keys::number);
    let numbers: Option<Vec<u64>> = (0..6).map(number).collect();
    let Some(numbers) = numbers else { return };
    let row = |first: usize| (numbers[first], numbers[first + 1] & MAX_MILLIS, numbers[first + 2]);
    let (one, other) = (row(0), row(3));
    let write = |(partition, at, id)| keys::row(partition, at, id);
    assert_eq!(keys::split_row(&write(one)), Some(one));
    // Newest first: within a partition, the greater time and then the greater id come first.
    let place = |(partition, at, id): (u64, u64, u64)| (partition, !at, !id);
    assert_eq!(write(one).cmp(&write(other)), place(one).cmp(&place(other)));
    any(&write(one));
}

fn any(key: &[u8]) {
    if let Some((partition, at, id)) = keys::split_row(key) {
        assert_eq!(keys::row(partition, at, id), key);
        _ = keys::is_head(key);
    }
    if let Some(job) = keys::split_job(key) {
        assert_eq!(keys::job(job), key);
    }
    _ = keys::second(key);
    _ = keys::number(key);
}
