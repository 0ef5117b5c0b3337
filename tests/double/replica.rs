//! The notes of a node.

use model::error::Result;
use model::store::{MakeMark, Replica};

use super::Double;

impl Replica for Double {
    fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.state().notes.get(name).cloned())
    }

    fn put_notes(&self, notes: &[(&str, Option<&[u8]>)]) -> Result<()> {
        let mut state = self.state();
        for (name, note) in notes {
            match note {
                Some(note) => state.notes.insert((*name).to_owned(), note.to_vec()),
                None => state.notes.remove(*name),
            };
        }
        Ok(())
    }

    // This store does not crash, and a node that stops writes its mark.
    fn keep_mark(&self, _: MakeMark) {}
}
