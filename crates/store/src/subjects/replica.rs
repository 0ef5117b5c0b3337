//! The notes of a node. One of them, the mark, is written with each group of commands.

use crate::Store;
use crate::rows::batch::WriteBatch;
use crate::rows::tables::REPLICA;
use model::error::Result;
use model::store::Tier;

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

    /// Writes a note with the group of changes that [`Store::write_group`] writes next, if it has any. The last one counts.
    pub fn note_group(&self, name: &str, note: &[u8]) -> Result<()> {
        let mut row = WriteBatch::default();
        row.put(REPLICA, name, note);
        self.add_to_group(row)
    }
}
