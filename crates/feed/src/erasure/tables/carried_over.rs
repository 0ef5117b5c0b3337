//! Erasures that a directory knows, for another one that is restored in its place.

use std::path::Path;

use crate::ids;
use crate::rows::keys::Part;
use crate::rows::tables::{self, ERASED, ERASURES};
use crate::rows::values::Value;
use crate::rows::walk::partitions_after;
use crate::store::Store;
use kv::Tier;
use model::error::Result;
use model::{ErasedUser, Erasure, ExternalId, MAX_ID, Millis, UserId};

/// Users read at a time.
const AT_ONCE: usize = 1000;

/// The hashes of the erasures that a directory knows, under way or over, with the times at which they began. The directory
/// is only read, and need not have the present format.
pub fn known_erasures(data_dir: &Path) -> Result<Vec<(String, Millis)>> {
    let mut known = Vec::new();
    kv::each_row_of(data_dir, &[ERASURES.name, ERASED.name], |table, key, value| {
        known.push(match table == ERASURES.name {
            true => Erasure::read(key, value).map(|Erasure { hash, since, .. }| (hash, since))?,
            false => ErasedUser::read(key, value).map(|ErasedUser { hash, since, .. }| (hash, since))?,
        });
        Ok(())
    })?;
    Ok(known)
}

/// Visits every user with any row, and the id that the application knows, in the order of the numbers, until a visit fails.
pub fn each_user_named(store: &Store, mut visit: impl FnMut(UserId, &ExternalId) -> Result<()>) -> Result<()> {
    let mut after = None;
    loop {
        let mut users = Vec::new();
        for table in tables::ALL.iter().filter(|table| table.keys.first() == Some(&Part::USER)) {
            users.extend(partitions_after(store, table, after, AT_ONCE)?);
        }
        users.sort_unstable();
        users.dedup();
        users.truncate(AT_ONCE);
        let Some(last) = users.last() else { return Ok(()) };
        after = Some(*last);
        for user in users {
            let raw = user.get();
            let id = match raw > MAX_ID {
                true => match ids::tables::names(store, &[raw], Tier::Disk)?.pop() {
                    Some(name) if !name.is_empty() => ExternalId::Name(name.as_ref().into()),
                    _ => continue,
                },
                false => ExternalId::Number(raw),
            };
            visit(user, &id)?;
        }
    }
}
