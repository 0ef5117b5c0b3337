//! The notes of a node. One of them, the mark, is written with each group of commands.

use crate::Store;
use crate::rows::batch::WriteBatch;
use crate::rows::tables::REPLICA;
use model::error::Result;
use model::store::{MARK, MakeMark, Tier};

impl Store {
    /// A note; `None` if there is none of this name.
    pub fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.get(REPLICA, name.as_bytes(), Tier::Disk)?.map(|row| row.to_vec()))
    }

    /// Writes notes, or removes them (`None`), in one change. Durable no later than the next write that acknowledges.
    pub fn put_notes(&self, notes: &[(&str, Option<&[u8]>)]) -> Result<()> {
        let mut change = WriteBatch::default();
        for (name, note) in notes {
            change.set(REPLICA, name, *note);
        }
        self.commit(change, false)
    }

    /// From now on each group of changes that is not empty has a new mark. To be called once, before the first change.
    pub fn keep_mark(&self, mark: MakeMark) {
        // A second one would come from a second node on one directory, which its lock refuses.
        let _ = self.mark.set(mark);
    }
}

impl Store {
    /// The row of the mark, if this is the store of a node.
    pub(crate) fn mark_now(&self) -> WriteBatch {
        let mut row = WriteBatch::default();
        if let Some(mark) = self.mark.get() {
            row.put(REPLICA, MARK.as_bytes(), mark());
        }
        row
    }
}
