//! Erasures that a directory knows, for another one that is restored in its place.

use std::path::Path;

use rocksdb::DB;

use super::messages;
use crate::rows::tables::{self, ERASED, ERASURES, Keys, Table};
use crate::rows::values;
use crate::{Store, storage};
use model::error::{Error, Result};
use model::store::Tier;
use model::{HostId, MAX_ID, Millis, UserId};

/// Users read at a time.
const AT_ONCE: usize = 1000;

/// The hashes of the erasures that a directory knows, under way or over, with the times at which they began. The directory
/// is only read, and need not have the present format.
pub fn known_erasures(data_dir: &Path) -> Result<Vec<(String, Millis)>> {
    let dir = data_dir.join("db");
    let mut engine = rocksdb::Options::default();
    if let Some(logger) = messages::logger() {
        engine.set_info_logger(logger);
    }
    let there = DB::list_cf(&engine, &dir).map_err(storage)?;
    let tables: Vec<_> =
        [ERASURES, ERASED].into_iter().filter(|table| there.iter().any(|name| name == table.name)).collect();
    if tables.is_empty() {
        return Ok(Vec::new());
    }
    let db = DB::open_cf_for_read_only(&engine, &dir, tables.iter().map(|table| table.name), false).map_err(storage)?;
    let mut known = Vec::new();
    for table in tables {
        let family = db.cf_handle(table.name).ok_or_else(|| Error::Storage(format!("no table {table}")))?;
        for row in db.iterator_cf(family, rocksdb::IteratorMode::Start) {
            let (key, value) = row.map_err(storage)?;
            known.push(match table == ERASURES {
                true => {
                    let erasure = values::erasures::read_erasure(UserId::MIN, &value)?;
                    (erasure.hash, erasure.since)
                }
                false => {
                    let hash = std::str::from_utf8(&key).map_err(|_| Error::Corrupt("a key in erased".to_owned()))?;
                    let [since, ..] = values::erasures::read_erased(&value)?;
                    (hash.to_owned(), since)
                }
            });
        }
    }
    Ok(known)
}

impl Store {
    /// Visits every user with any row, and the id that the host knows, in the order of the numbers, until a visit fails.
    pub fn each_user_named(&self, mut visit: impl FnMut(UserId, &HostId) -> Result<()>) -> Result<()> {
        let mut after = None;
        loop {
            let mut users = Vec::new();
            for table in tables::ALL.iter().filter(|table| is_of_users(table)) {
                users.extend(self.partitions_after(table, after, AT_ONCE)?);
            }
            users.sort_unstable();
            users.dedup();
            users.truncate(AT_ONCE);
            let Some(last) = users.last() else { return Ok(()) };
            after = Some(*last);
            for user in users {
                let raw = user.get();
                let id = match raw > MAX_ID {
                    true => match self.names(&[raw], Tier::Disk)?.pop() {
                        Some(name) if !name.is_empty() => HostId::Name(name.as_ref().into()),
                        _ => continue,
                    },
                    false => HostId::Number(raw),
                };
                visit(user, &id)?;
            }
        }
    }
}

/// Whether each row of a table belongs to the user with whose number it begins.
fn is_of_users(table: &Table) -> bool {
    match table.keys {
        Keys::Row(what) | Keys::KindRow(what) | Keys::Pair(what) | Keys::One(what) => what == "user",
        Keys::OfUser(_) | Keys::Counter => true,
        _ => false,
    }
}
