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

    /// Whether the present change of a group has changed a row.
    pub fn has_changed(&self) -> bool {
        self.group.as_ref().is_some_and(|group| group.lock().staged.has_steps_back())
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

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::Options;
    use crate::kv::Scope;
    use crate::rows::keys;
    use crate::rows::tables::{COUNTS, ITEM_COUNTS, MARKERS, Table};
    use crate::rows::values;
    use crate::rows::values::ItemSteps;
    use model::store::Tier;

    const KEYS: u8 = 12;

    type Bytes = Vec<u8>;

    fn change(random: &mut Rng) -> WriteBatch {
        let mut change = WriteBatch::default();
        if random.u8(..6) == 0 {
            let from = random.u8(..KEYS);
            change.delete_range([COUNTS, MARKERS][random.usize(..2)], [from], [from + random.u8(1..5)]);
        }
        for _ in 0..random.usize(..6) {
            let (key, value) = ([random.u8(..KEYS)], values::count(random.i64(-5..5)));
            match random.u8(..4) {
                0 => change.delete([COUNTS, MARKERS][random.usize(..2)], key),
                1 => change.merge(COUNTS, key, value),
                _ => change.put([COUNTS, MARKERS][random.usize(..2)], key, value),
            }
        }
        change
    }

    fn group_of(store: Store) -> (Arc<Store>, Store) {
        let grouping = Store { inner: Arc::clone(&store.inner), group: Some(Mutex::default()) };
        (Arc::new(store), grouping)
    }

    /// All rows of a table from a key on, by a walk in one direction, and each by its key.
    fn seen(store: &Store, table: Table, from: u8, forward: bool) -> (Vec<[Bytes; 2]>, Vec<Option<Bytes>>) {
        let mut rows = store.now(Tier::Disk).rows(table, Scope::Table).expect("walks");
        if forward {
            rows.seek([from])
        } else {
            rows.seek_for_prev([from])
        }
        let mut walked = Vec::new();
        while let Some((key, value)) = rows.item() {
            walked.push([key.to_vec(), value.to_vec()]);
            if forward { rows.next() } else { rows.prev() }
        }
        rows.status().expect("walks");
        let keys: Vec<_> = (0..KEYS).map(|key| [key]).collect();
        let many = store.get_many(table, &keys, Tier::Disk).expect("reads");
        let one = |key: &[u8; 1]| store.get(table, key, Tier::Disk).expect("reads").map(|row| row.to_vec());
        let found: Vec<_> = keys.iter().map(one).collect();
        assert_eq!(found, many.into_iter().map(|row| row.map(|row| row.to_vec())).collect::<Vec<_>>());
        (walked, found)
    }

    #[test]
    fn a_group_on_disk_is_as_changes_made_at_once_in_memory_and_others_see_it_when_it_is_written() {
        let mut random = Rng::with_seed(7);
        let dir = tempfile::tempdir().expect("temp dir");
        let options = Options::new(dir.path());
        let alone = Store::on(crate::in_memory(&options), &options).expect("opens");
        let (shared, grouping) = group_of(Store::open(&options).expect("opens"));
        for _ in 0..300 {
            let before = [COUNTS, MARKERS].map(|table| seen(&shared, table, 0, true));
            for _ in 0..random.usize(1..6) {
                let is_made = random.u8(..4) > 0;
                for _ in 0..random.usize(1..4) {
                    let change = change(&mut random);
                    if is_made {
                        alone.commit(change.clone(), false).expect("writes");
                    }
                    grouping.acknowledge(Write::Record, change, Vec::new(), |_| ()).expect("stages");
                    if random.u8(..4) == 0 {
                        seen(&grouping, [COUNTS, MARKERS][random.usize(..2)], 0, true);
                    }
                }
                grouping.end_change(is_made);
                for table in [COUNTS, MARKERS].into_iter().filter(|_| random.u8(..4) == 0).collect::<Vec<_>>() {
                    let (from, forward) = (random.u8(..KEYS), random.bool());
                    assert_eq!(seen(&alone, table, from, forward), seen(&grouping, table, from, forward));
                }
            }
            assert_eq!([COUNTS, MARKERS].map(|table| seen(&shared, table, 0, true)), before, "not written yet");
            grouping.write_group().expect("writes");
            for table in [COUNTS, MARKERS] {
                assert_eq!(seen(&alone, table, 0, true), seen(&shared, table, 0, true));
            }
        }
    }

    #[test]
    fn ids_above_all_of_a_table_have_no_row_until_one_is_staged() {
        let dir = tempfile::tempdir().expect("temp dir");
        let item = |id: u64| keys::id(id);
        let lacks = |store: &Store, id: u64| store.highest.lacks(ITEM_COUNTS, &item(id));
        let (store, grouping) = group_of(Store::open(&Options::new(dir.path())).expect("opens"));
        assert!(lacks(&store, 1) && !store.highest.lacks(MARKERS, &item(1)));
        let step = values::item_counts(&ItemSteps { pointing: [1, 0], ..ItemSteps::default() });
        let mut change = WriteBatch::default();
        change.merge(ITEM_COUNTS, item(7), &step);
        grouping.put(None, change.clone(), false, Box::new(|_| ())).expect("stages");
        assert!(lacks(&grouping, 8) && !lacks(&grouping, 7));
        assert_eq!(&*grouping.get(ITEM_COUNTS, &item(7), Tier::Disk).expect("reads").expect("a row"), &*step);
        assert!(store.get(ITEM_COUNTS, &item(7), Tier::Disk).expect("reads").is_none(), "not written");
        grouping.write_group().expect("writes");
        let rows = store.read_many(ITEM_COUNTS, [item(7), item(9)], Tier::Disk, |row| Ok(row.to_vec()));
        assert_eq!(rows.expect("reads"), [Some(step), None]);
        drop((store, grouping));
        let store = Store::open(&Options::new(dir.path())).expect("opens");
        assert!(lacks(&store, 8) && !lacks(&store, 7));
        assert!(store.get(ITEM_COUNTS, &item(7), Tier::Disk).expect("reads").is_some());
    }
}
