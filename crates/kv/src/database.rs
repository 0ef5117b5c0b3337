//! The rows of an engine, and changes of them: single ones, or a group.

use std::fmt;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::access::greatest_keys::Highest;
use crate::access::reads::At;
use crate::access::staged_group::Group;
use crate::batch::WriteBatch;
use crate::engine::disk::Disk;
use crate::family::{Family, Schema};
use crate::kv::Kv;
use crate::options::Options;
use crate::view::{Row, Scope, Snapshot};
use crate::{Tier, Usage, id};
use model::error::{Error, Result};
use model::failpoint;
use model::failpoint::Write;

/// A view of an open engine. All views of one engine share all but the changes that are not written yet.
pub struct Database {
    inner: Arc<Inner>,
    /// Of the view of the thread that makes changes: those that are not written yet.
    group: Option<Mutex<Group>>,
}

/// All that the views of one engine share.
struct Inner {
    kv: Arc<dyn Kv>,
    /// The engine, if it is one in a data directory.
    disk: Option<Arc<Disk>>,
    /// Whether each change is on the device before it is acknowledged.
    syncs: bool,
    highest: Highest,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(disk) = &self.disk {
            disk.stop();
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("dir", &self.inner.disk.as_ref().map(|disk| disk.path()))
            .finish_non_exhaustive()
    }
}

impl Database {
    /// Opens a data directory, or makes one. Fails with a clear message if another process holds it or its format is
    /// unknown.
    pub fn open(options: &Options, schema: &Arc<dyn Schema>) -> Result<Self> {
        let disk = Arc::new(Disk::open(options, schema)?);
        Ok(Self::over(Arc::clone(&disk) as Arc<_>, Some(disk), options.sync))
    }

    /// The rows of an engine without a directory.
    pub fn on(kv: Arc<dyn Kv>) -> Self {
        Self::over(kv, None, false)
    }

    fn over(kv: Arc<dyn Kv>, disk: Option<Arc<Disk>>, syncs: bool) -> Self {
        let highest = Highest::load(kv.tables(), |family| highest_id(&*kv, family));
        Self { inner: Arc::new(Inner { kv, disk, syncs, highest }), group: None }
    }

    /// The same rows for the thread that makes changes: what it acknowledges waits for [`Database::write_group`]. Its own reads
    /// see it at once, others once it is written.
    pub fn grouping(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), group: Some(Mutex::default()) }
    }

    /// The same rows as others see them, without those of a group.
    pub fn written(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), group: None }
    }

    /// The engine.
    pub fn kv(&self) -> &Arc<dyn Kv> {
        &self.inner.kv
    }

    /// The engine in a data directory. Fails for one in memory.
    pub fn disk(&self) -> Result<&Disk> {
        let disk = self.inner.disk.as_deref();
        disk.ok_or_else(|| Error::Storage("an engine in memory has no files and no log".to_owned()))
    }
}

/// Reads.
impl Database {
    /// The rows as they are now.
    pub fn now(&self, tier: Tier) -> At<'_> {
        At { highest: &self.inner.highest, group: self.group.as_ref(), reads: self.inner.kv.now(), tier }
    }

    /// The rows as of an instant.
    pub fn at<'a>(&'a self, snapshot: &'a Snapshot<'_>, tier: Tier) -> At<'a> {
        At { reads: snapshot.view(), ..self.now(tier) }
    }

    /// A row.
    pub fn get(&self, family: &'static Family, key: &[u8], tier: Tier) -> Result<Option<Row<'_>>> {
        self.now(tier).get(family, key)
    }

    /// Rows in the order of their keys.
    pub fn get_many<K: AsRef<[u8]>>(
        &self,
        family: &'static Family,
        keys: impl IntoIterator<Item = K>,
        tier: Tier,
    ) -> Result<Vec<Option<Row<'_>>>> {
        self.now(tier).get_many(family, keys)
    }

    /// Memory and disk that the engine uses, and rows and bytes of each table by its estimates. May look at the disk.
    pub fn usage(&self) -> Result<Usage> {
        let tables = self.inner.kv.tables().iter().map(|family| self.inner.kv.size(family));
        Ok(Usage { tables: tables.collect::<Result<_>>()?, ..self.inner.kv.usage()? })
    }
}

/// Changes.
impl Database {
    /// The changes that are not written yet. Only the thread that makes changes has any, so nobody waits.
    fn group(&self) -> Option<MutexGuard<'_, Group>> {
        self.group.as_ref().map(Mutex::lock)
    }

    /// Writes a change, or puts it into the group; without `what`, the first rows of the present change. It is durable when this
    /// returns if it `acknowledges`, and otherwise no later than the next one that does.
    pub fn write(&self, what: Option<Write>, rows: WriteBatch, acknowledges: bool) -> Result<()> {
        let sync = acknowledges && self.inner.syncs;
        what.map_or(Ok(()), failpoint::begin).map_err(|cause| self.inner.kv.refused(cause))?;
        if let Some(mut group) = self.group() {
            self.inner.highest.raise(&rows);
            return group.add(what, rows, sync);
        }
        self.commit(rows, sync)?;
        what.into_iter().for_each(failpoint::end);
        Ok(())
    }

    /// Writes rows at once, and with `sync` durably.
    pub fn commit(&self, batch: WriteBatch, sync: bool) -> Result<()> {
        self.inner.highest.raise(&batch);
        self.inner.kv.write(&mut batch.changes(), batch.bytes(), sync)
    }

    /// Adds rows that are written with the changes of the group, and dropped if there are none.
    pub fn add_to_group(&self, rows: WriteBatch) -> Result<()> {
        self.group().map_or(Ok(()), |mut group| group.staged.add(rows))
    }

    /// Lets [`Database::write_group`] write nothing and return this error.
    pub fn fail_group(&self, why: Error) {
        if let Some(mut group) = self.group() {
            group.failed = Some(why);
        }
    }

    /// Whether the present change of a group has changed a row.
    pub fn has_changed(&self) -> bool {
        self.group().is_some_and(|group| group.staged.has_steps_back())
    }

    /// Ends a change of a group. Nothing stays of one that fails: a later one may get the numbers that it gave.
    pub fn end_change(&self, is_made: bool) {
        if let Some(mut group) = self.group() {
            group.end_change(is_made);
        }
    }

    /// Writes the changes of a group at once, as one that acknowledges. On an error none of them is made. Without a group, each
    /// change is written already.
    pub fn write_group(&self) -> Result<()> {
        let Some(group) = self.group().map(|mut group| std::mem::take(&mut *group)) else { return Ok(()) };
        if group.is_empty() {
            return Ok(());
        }
        if let Some(error) = group.failed {
            return Err(error);
        }
        self.inner.kv.write(&mut group.staged.changes(), group.staged.bytes, group.sync)?;
        group.writes.into_iter().flatten().for_each(failpoint::end);
        Ok(())
    }
}

/// The greatest id of a table of ids, 0 without any; `None` if it cannot be read.
fn highest_id(kv: &dyn Kv, family: &'static Family) -> Option<u64> {
    let mut rows = kv.now().walk(family, Tier::Disk, Scope::Table).ok()?;
    rows.seek(false, None);
    match rows.item() {
        Some((key, _)) => id::first(key),
        None => rows.status().ok().map(|()| 0),
    }
}

#[cfg(test)]
mod tests;
