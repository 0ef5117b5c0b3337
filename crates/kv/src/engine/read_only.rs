//! A directory that is only read: that of a stopped server, or a backup. Nothing in it changes, not even its log.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use rocksdb::{DB, IteratorMode, properties};

use super::directory::{Directory, must_be_there};
use super::disk::{Walk, walking};
use super::{advice, log, messages, open};
use crate::batch::Change;
use crate::error::storage;
use crate::family::{Family, Schema};
use crate::kv::{Kv, Reads, Row, RowWalk, Scope};
use crate::options::Options;
use crate::{TableStats, Tier, Usage};
use model::error::{Error, Result};

/// Some tables of a directory that nothing changes.
pub struct ReadOnly {
    db: DB,
    /// Released last: fields drop in order.
    _directory: Directory,
}

impl fmt::Debug for ReadOnly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadOnly").field("dir", &self.db.path()).finish_non_exhaustive()
    }
}

impl ReadOnly {
    /// Opens some tables of a directory of the present format. Others may read it meanwhile, and no server can start on it. Fails
    /// with a clear message if a server has it. Takes the memory and the number of open files from the options. Damage of the
    /// other tables does not matter.
    pub fn open(options: &Options, schema: &Arc<dyn Schema>, tables: &[&'static Family]) -> Result<Self> {
        must_be_there(&options.dir)?;
        let directory = Directory::look(&options.dir)?;
        log::must_be_readable(&options.dir)?;
        let settings = open::options(options, false, false);
        let failed = |error: rocksdb::Error| advice::cannot_open(&options.dir, &error);
        let there = DB::list_cf(&settings, directory.engine()).map_err(failed)?;
        // A table that an earlier version did not know is empty.
        let is_read = |name: &str| name == "default" || tables.iter().any(|table| table.name == name);
        let is_there = |name: &str| is_read(name) && there.iter().any(|there| there == name);
        let families = open::families(options, schema, false).into_iter().filter(|family| is_there(family.name()));
        let db = DB::open_cf_descriptors_read_only(&settings, directory.engine(), families, false).map_err(failed)?;
        Ok(Self { db, _directory: directory })
    }
}

impl Reads for ReadOnly {
    fn get(&self, table: &'static Family, key: &[u8], _: Tier) -> Result<Option<Row<'_>>> {
        let Some(family) = self.db.cf_handle(table.name) else { return Ok(None) };
        Ok(self.db.get_pinned_cf(family, key).map_err(storage)?.map(Row::Written))
    }

    fn walk(&self, table: &'static Family, tier: Tier, scope: Scope<'_>) -> Result<Box<dyn RowWalk + '_>> {
        let walk = |family| Walk(self.db.raw_iterator_cf_opt(family, walking(tier, scope)));
        Ok(match self.db.cf_handle(table.name) {
            Some(family) => Box::new(walk(family)),
            None => Box::new(NoRows),
        })
    }
}

/// Nothing changes the rows, and there are no figures but the sizes of tables.
impl Kv for ReadOnly {
    fn snapshot(&self) -> Box<dyn Reads + '_> {
        Box::new(AsItIs(self))
    }

    fn write(&self, _: &mut dyn Iterator<Item = (&'static Family, Change<'_>)>, _: usize, _: bool) -> Result<()> {
        Err(self.refused("the directory is only read"))
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn compact(&self) -> Result<()> {
        Err(self.refused("the directory is only read"))
    }

    fn size(&self, table: &'static Family) -> Result<TableStats> {
        let estimate = |family| self.db.property_int_value_cf(family, properties::ESTIMATE_NUM_KEYS).map_err(storage);
        let rows = self.db.cf_handle(table.name).map(estimate).transpose()?.flatten().unwrap_or_default();
        Ok(TableStats { table: table.name, rows, bytes: 0 })
    }

    fn usage(&self) -> Result<Usage> {
        Ok(Usage::default())
    }

    fn refused(&self, cause: &str) -> Error {
        Error::Storage(cause.to_owned())
    }
}

/// The rows, which are those of any instant.
struct AsItIs<'a>(&'a ReadOnly);

impl Reads for AsItIs<'_> {
    fn get(&self, table: &'static Family, key: &[u8], tier: Tier) -> Result<Option<Row<'_>>> {
        self.0.get(table, key, tier)
    }

    fn walk(&self, table: &'static Family, tier: Tier, scope: Scope<'_>) -> Result<Box<dyn RowWalk + '_>> {
        self.0.walk(table, tier, scope)
    }
}

/// A walk over a table that is not there.
struct NoRows;

impl RowWalk for NoRows {
    fn seek(&mut self, _: bool, _: Option<&[u8]>) {}

    fn step(&mut self, _: bool) {}

    fn item(&self) -> Option<(&[u8], &[u8])> {
        None
    }

    fn status(&self) -> Result<()> {
        Ok(())
    }
}

/// Visits all rows of some tables, by their names, of a directory that need not have the present format.
pub fn each_row_of(
    data_dir: &Path,
    tables: &[&str],
    mut visit: impl FnMut(&str, &[u8], &[u8]) -> Result<()>,
) -> Result<()> {
    let dir = data_dir.join("db");
    let mut engine = rocksdb::Options::default();
    if let Some(logger) = messages::logger() {
        engine.set_info_logger(logger);
    }
    let there = DB::list_cf(&engine, &dir).map_err(storage)?;
    let tables: Vec<_> = tables.iter().filter(|table| there.iter().any(|name| name == *table)).collect();
    if tables.is_empty() {
        return Ok(());
    }
    let db = DB::open_cf_for_read_only(&engine, &dir, &tables, false).map_err(storage)?;
    for table in tables {
        let family = db.cf_handle(table).ok_or_else(|| Error::Storage(format!("no table {table}")))?;
        for row in db.iterator_cf(family, IteratorMode::Start) {
            let (key, value) = row.map_err(storage)?;
            visit(table, &key, &value)?;
        }
    }
    Ok(())
}
