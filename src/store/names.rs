//! Numbers of names. A name is an id of the host that is not a number; see [`HostId`](crate::model::HostId).

use std::sync::Arc;

use crate::error::Result;
use crate::model::MAX_ID;
use crate::store::Tier;

/// Names and their numbers. Users and items share them. A name keeps its number for ever.
pub trait Names {
    /// The numbers of names, in their order; `None` for a name that has none.
    fn numbers(&self, names: &[&str], tier: Tier) -> Result<Vec<Option<u64>>>;

    /// The same, and gives numbers to the names that have none, ascending in their order. New numbers are above all
    /// given before. They are durable no later than the next change of the caller, and lost in a crash before it.
    fn give_numbers(&self, names: &[&str]) -> Result<Vec<u64>>;

    /// The number of a name; without one, the number that it would get. That number is kept for it, in memory only,
    /// until [`Names::release`].
    fn reserve_number(&self, name: &str) -> Result<u64>;

    /// The number that is reserved for a name.
    fn reserved_number(&self, name: &str) -> Option<u64>;

    /// Ends one reservation of a name, if it has any.
    fn release_number(&self, name: &str);

    /// The names of numbers, in their order. `Corrupt` if one has no name.
    fn names(&self, numbers: &[u64], tier: Tier) -> Result<Vec<Arc<str>>>;
}

/// The id of a user or an item for a report: the name of a number in quotes. A number without a name stays as it is.
pub fn shown(names: &(impl Names + ?Sized), id: impl Into<u64>) -> String {
    let id = id.into();
    let name = if id > MAX_ID { names.names(&[id], Tier::Disk).ok().and_then(|mut names| names.pop()) } else { None };
    name.map_or_else(|| id.to_string(), |name| format!("{name:?}"))
}
