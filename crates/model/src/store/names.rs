//! Numbers of names. A name is an id of the host that is not a number; see [`HostId`](crate::HostId).

use std::sync::Arc;

use crate::MAX_ID;
use crate::error::Result;
use crate::store::Tier;

/// Names and their numbers. Users and items share them. A name keeps its number until its user is erased.
pub trait Names {
    /// The numbers of names, in their order; `None` for a name without a number.
    fn numbers(&self, names: &[&str], tier: Tier) -> Result<Vec<Option<u64>>>;

    /// The number of each name, for a change. A name that has none gets one: new numbers ascend in the order of the names, above
    /// all numbers before. They stay if the change is made; see [`Store::end_change`](super::Store::end_change).
    /// Acknowledges.
    fn give_numbers(&self, names: &[&str]) -> Result<Vec<u64>>;

    /// The first `limit` written names that begin with `text`, in the order of their bytes, with their numbers.
    fn names_beginning(&self, text: &str, limit: usize) -> Result<Vec<(Arc<str>, u64)>>;

    /// The names of numbers, in their order; an empty one for a number whose name was erased with its user. What others
    /// have may still mention it, as the item of a marker or of a `ref_id`. `Corrupt` if one never had a name.
    fn names(&self, numbers: &[u64], tier: Tier) -> Result<Vec<Arc<str>>>;
}

/// The id of a user or an item for a report: the name of a number in quotes. A number without a name stays as it is.
pub fn shown(names: &(impl Names + ?Sized), id: impl Into<u64>) -> String {
    let id = id.into();
    let name = if id > MAX_ID { names.names(&[id], Tier::Disk).ok().and_then(|mut names| names.pop()) } else { None };
    name.filter(|name| !name.is_empty()).map_or_else(|| id.to_string(), |name| format!("{name:?}"))
}
