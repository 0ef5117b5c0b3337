//! The erasure of a user: all rows that name the user go, part by part.

use serde::{Deserialize, Serialize};

use crate::{Millis, UserId};

/// Rows that name a user who is erased, by the ids in the store of what else they name. A part stands in command logs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErasedPart {
    /// Items of the user, which are deleted for good, and items of others on the path of the user, which lose it.
    Items(Vec<u64>),
    /// Users with a follow, a request or a restriction of the user, or against the user: all between the two ends.
    Others(Vec<u64>),
    /// Items of others that were taken off the path of the user.
    TakenOff(Vec<u64>),
    /// Reactions of the user: the byte of the kind, and time and id of the item.
    Reactions(Vec<(u8, Millis, u64)>),
    /// Lists of the user, by their names, with their members.
    Lists(Vec<String>),
    /// Lists of others that have the user as a member.
    Memberships(Vec<u64>),
    /// Numbers of events and of effects that name the user.
    Changes(Vec<u64>),
}

/// How far the search for such rows has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ErasurePlace {
    /// The table that is searched, in the order of the store.
    pub table: usize,
    /// The last row that was found there: two numbers of its key.
    pub after: Option<(u64, u64)>,
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
    /// The rows that are removed so far: items, pairs of users, reactions, lists, memberships and changes.
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
