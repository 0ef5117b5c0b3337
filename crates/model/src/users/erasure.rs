//! The erasure of a user: all rows that name the user go, part by part.

use serde::{Deserialize, Serialize};

use crate::{Millis, UserId};

/// Rows that name a user who is erased, or from which such rows follow. Keys are the same on all nodes of a cluster. A part
/// stands in command logs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErasedPart {
    /// The name of their table.
    pub table: String,
    /// Their keys.
    pub keys: Vec<Vec<u8>>,
}

/// How far the search for such rows has come.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErasurePlace {
    /// The table that is searched, in the order of the store.
    pub table: usize,
    /// The key of the last row that was looked at there.
    pub after: Option<Vec<u8>>,
}

/// An erasure under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasure {
    /// The user.
    pub user: UserId,
    /// The hash that is left of the id.
    pub hash: String,
    /// When it began.
    pub since: Millis,
    /// The rows that are removed so far, without those that follow from others; of a user who follows or is followed both ends
    /// are one.
    pub rows: u64,
}

/// An erasure that is over. It does not tell whose it was, but to who knows the id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasedUser {
    /// A hash of the id.
    pub hash: String,
    /// When it began.
    pub since: Millis,
    /// When it was over.
    pub over: Millis,
    /// The rows that were removed.
    pub rows: u64,
}
