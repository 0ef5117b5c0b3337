//! Numbers for kinds of content: a change gives them, and they are written with it. A refused change leaves none.

use crate::Feed;
use model::Publish;
use model::error::Result;

impl Feed {
    /// Sets the numbers of the kinds of items for their change; `too_many_kinds` if the server knows too many.
    pub(crate) fn number_kinds(&self, items: &mut [Publish]) -> Result<()> {
        let kinds: Vec<_> = items.iter().map(|item| item.content.kind.as_str()).collect();
        let ids = self.store.give_kinds(&kinds)?;
        items.iter_mut().zip(ids).for_each(|(item, id)| item.content.kind_id = id);
        Ok(())
    }
}
