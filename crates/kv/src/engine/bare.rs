//! RocksDB whose log nobody looks after: that of a directory that is only read, and an empty one in memory.

use std::path::Path;
use std::sync::Arc;

use rocksdb::{DB, Env, IteratorMode};

use super::directory::{Directory, must_be_there};
use super::{figures, log, messages, open, open_advice, rows};
use crate::batch::Change;
use crate::error::storage;
use crate::family::{Family, Schema};
use crate::kv::Kv;
use crate::options::{ENGINE, Options};
use crate::view::{Snapshot, View};
use crate::{TableStats, Usage};
use model::error::{Error, Result};

struct Bare {
    db: DB,
    schema: Arc<dyn Schema>,
    /// Released last: fields drop in order.
    _directory: Option<Directory>,
}

/// Opens some tables of a directory of the present format: that of a stopped server, or a backup. Nothing in it changes, not even
/// its log. Others may read it meanwhile, and no server can start on it. Fails with a clear message if a server has it. Takes the
/// memory and the number of open files from the options. Damage of the other tables does not matter.
pub fn read_only(options: &Options, schema: &Arc<dyn Schema>, tables: &[&'static Family]) -> Result<Arc<dyn Kv>> {
    must_be_there(&options.dir)?;
    let directory = Directory::look(&options.dir)?;
    if options.whole_log {
        log::must_be_whole(&options.dir)?;
    } else {
        log::must_be_readable(&options.dir)?;
    }
    let settings = open::options(options, false, false);
    let failed = |error: rocksdb::Error| open_advice::cannot_open(&options.dir, &error);
    let there = DB::list_cf(&settings, directory.engine()).map_err(failed)?;
    let is_read = |name: &str| name == "default" || tables.iter().any(|table| table.name == name);
    let is_there = |name: &str| is_read(name) && there.iter().any(|there| there == name);
    let families = open::families(options, schema, false).into_iter().filter(|family| is_there(family.name()));
    let db = DB::open_cf_descriptors_read_only(&settings, directory.engine(), families, false).map_err(failed)?;
    Ok(Arc::new(Bare { db, schema: Arc::clone(schema), _directory: Some(directory) }))
}

/// Makes an empty engine in memory. Nothing outlasts it.
pub fn in_memory(schema: &Arc<dyn Schema>) -> Result<Arc<dyn Kv>> {
    let options = Options::new("/");
    let mut settings = open::options(&options, true, false);
    settings.set_env(&Env::mem_env().map_err(storage)?);
    let families = open::families(&options, schema, false);
    let db = DB::open_cf_descriptors(&settings, "/db", families).map_err(storage)?;
    Ok(Arc::new(Bare { db, schema: Arc::clone(schema), _directory: None }))
}

impl Kv for Bare {
    fn tables(&self) -> &[&'static Family] {
        self.schema.families()
    }

    fn now(&self) -> View<'_> {
        View::now(&self.db)
    }

    fn snapshot(&self) -> Snapshot<'_> {
        Snapshot::of(&self.db)
    }

    fn write(
        &self,
        changes: &mut dyn Iterator<Item = (&'static Family, Change<'_>)>,
        bytes: usize,
        _: bool,
    ) -> Result<()> {
        self.db.write(rows::batch(&self.db, changes, bytes)?).map_err(storage)
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn compact(&self) -> Result<()> {
        rows::flush(&self.db, self.tables()).map_err(storage)?;
        rows::compact(&self.db, self.tables())
    }

    fn size(&self, table: &'static Family) -> Result<TableStats> {
        figures::size(&self.db, table)
    }

    fn usage(&self) -> Result<Usage> {
        Ok(Usage::default())
    }

    fn refused(&self, cause: &str) -> Error {
        Error::Storage(cause.to_owned())
    }
}

/// Visits all rows of some tables, by their names, of a directory that need not have the present format.
pub fn each_row_of(
    data_dir: &Path,
    tables: &[&str],
    mut visit: impl FnMut(&str, &[u8], &[u8]) -> Result<()>,
) -> Result<()> {
    let dir = data_dir.join(ENGINE);
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
