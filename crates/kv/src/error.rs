//! Errors of RocksDB.

use rocksdb::ErrorKind;

use model::error::Error;

/// Converts an error of the engine by its meaning.
pub(crate) fn storage(error: rocksdb::Error) -> Error {
    match error.kind() {
        ErrorKind::Incomplete => Error::NotCached,
        ErrorKind::Corruption => Error::Corrupt(error.into_string()),
        _ => Error::Storage(error.into_string()),
    }
}
