//! Writes: of one change, or of a group. In a group each change stands on those before it, and others see none before all
//! are on the device.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::Store;
use crate::access::staged::Staged;
use crate::rows::batch::WriteBatch;
use model::Effect;
use model::error::{Error, Result};
use model::failpoint;
use model::failpoint::Write;

/// The rest of a change, once it is written, or has failed.
pub(crate) type After = Box<dyn FnOnce(bool) + Send>;

/// The changes that are not written yet.
#[derive(Default)]
pub(crate) struct Group {
    /// Their rows, for reads of later ones.
    pub(crate) staged: Staged,
    rest: Vec<(Option<Write>, After)>,
    /// How many of the rest are of changes that have ended.
    ended: usize,
    /// Those of the present change.
    pub(crate) effects: Vec<Effect>,
    /// Whether one of them acknowledges.
    sync: bool,
    /// Set if they must not be written.
    pub(crate) failed: Option<Error>,
}

impl Store {
    /// Writes a change that acknowledges. [`Store::effects`] returns its effects. `after` gets to know whether it is written.
    pub(crate) fn acknowledge(
        &self,
        what: Write,
        batch: WriteBatch,
        effects: Vec<Effect>,
        after: impl FnOnce(bool) + Send + 'static,
    ) -> Result<()> {
        self.put(Some(what), batch, self.syncs, Box::new(after))?;
        if let Some(group) = &self.group {
            group.lock().effects.extend(effects);
        }
        Ok(())
    }

    /// Writes the first rows of the present change, as [`Store::acknowledge`] does the others.
    pub(crate) fn prepare(&self, batch: WriteBatch, after: impl FnOnce(bool) + Send + 'static) -> Result<()> {
        self.put(None, batch, self.syncs, Box::new(after))
    }

    /// The same store for the thread that makes changes: what it acknowledges waits for [`Store::write_group`]. Its own reads
    /// see it at once, others once it is written.
    pub fn grouping(&self) -> Arc<Self> {
        Arc::new(Self { inner: Arc::clone(&self.inner), group: Some(Mutex::default()) })
    }

    /// The same store as others see it, without the rows of a group.
    pub fn written(&self) -> Arc<Self> {
        Arc::new(Self { inner: Arc::clone(&self.inner), group: None })
    }

    /// The effects of the present change, in their order, once. Changes of items have events instead, but for
    /// imported items.
    pub fn effects(&self) -> Vec<Effect> {
        self.group.as_ref().map_or_else(Vec::new, |group| std::mem::take(&mut group.lock().effects))
    }

    /// Adds rows that are written with the changes of the group, and dropped if there are none.
    pub(crate) fn add_to_group(&self, rows: WriteBatch) -> Result<()> {
        self.group.as_ref().map_or(Ok(()), |group| group.lock().staged.add(rows))
    }

    /// Lets [`Store::write_group`] write nothing and return this error.
    pub fn fail_group(&self, why: Error) {
        if let Some(group) = &self.group {
            group.lock().failed = Some(why);
        }
    }

    /// Ends a change of a group. Nothing stays of one that fails: others get the numbers of its names, topics and kinds.
    pub fn end_change(&self, is_made: bool) {
        let Some(group) = &self.group else { return };
        let mut group = group.lock();
        if is_made {
            group.staged.keep();
            group.ended = group.rest.len();
            return;
        }
        group.staged.take_back();
        group.effects.clear();
        let ended = group.ended;
        let rest = group.rest.split_off(ended);
        drop(group);
        give_up(rest);
    }

    /// Writes rows that each server has for itself. They wait for no group, and are durable no later than the next change that
    /// acknowledges.
    pub(crate) fn follow_up(&self, what: Write, batch: WriteBatch) -> Result<()> {
        failpoint::begin(what).map_err(|cause| self.kv.refused(cause))?;
        self.commit(batch, false)?;
        failpoint::end(what);
        Ok(())
    }

    pub(crate) fn commit(&self, batch: WriteBatch, sync: bool) -> Result<()> {
        self.highest.raise(&batch);
        self.kv.write(&mut batch.changes(), batch.bytes(), sync)
    }

    /// Writes a change, or puts it into the group. `after` gets to know whether it is written.
    pub(crate) fn put(&self, what: Option<Write>, change: WriteBatch, sync: bool, after: After) -> Result<()> {
        let begun = what.map_or(Ok(()), |what| failpoint::begin(what).map_err(|cause| self.kv.refused(cause)));
        let done = begun.and_then(|()| match &self.group {
            None => self.commit(change, sync).map(|()| None),
            Some(group) => {
                self.highest.raise(&change);
                let mut group = group.lock();
                group.staged.add(change)?;
                group.sync |= sync;
                Ok(Some(group))
            }
        });
        match done {
            Ok(Some(mut group)) => group.rest.push((what, after)),
            Ok(None) => end(what, after, true),
            Err(error) => {
                end(what, after, false);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Writes the changes of a group at once, as one that acknowledges. On an error none of them is made. Of a store that is
    /// not grouping, each change is written already.
    pub fn write_group(&self) -> Result<()> {
        let Some(group) = &self.group else { return Ok(()) };
        let Group { staged, rest, sync, failed, .. } = std::mem::take(&mut *group.lock());
        if rest.is_empty() && failed.is_none() {
            return Ok(());
        }
        let written = failed.map_or_else(|| self.kv.write(&mut staged.changes(), staged.bytes, sync), Err);
        match written.is_ok() {
            true => rest.into_iter().for_each(|(what, after)| end(what, after, true)),
            false => give_up(rest),
        }
        written
    }
}

/// Ends changes that are not written, the last one first, so that each leaves what was there before it.
fn give_up(rest: Vec<(Option<Write>, After)>) {
    rest.into_iter().rev().for_each(|(what, after)| end(what, after, false));
}

fn end(what: Option<Write>, after: After, is_written: bool) {
    after(is_written);
    if let Some(what) = what.filter(|_| is_written) {
        failpoint::end(what);
    }
}
