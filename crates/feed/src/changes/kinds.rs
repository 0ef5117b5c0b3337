//! Numbers for kinds of content: a change holds them, and they are written with it. A refused change leaves none.

use crate::Feed;
use model::error::Result;
use model::store::Store;
use model::{KindId, Publish};

/// Numbers of kinds, valid while this exists.
pub(crate) struct HeldKinds<'a> {
    store: &'a dyn Store,
    /// The numbers, in the order of the call.
    pub(crate) ids: Vec<KindId>,
    /// Those that are not built in.
    names: Vec<String>,
}

impl Drop for HeldKinds<'_> {
    fn drop(&mut self) {
        if !self.names.is_empty() {
            self.store.release_kinds(&self.names.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}

impl Feed {
    /// The numbers of kinds for a change; `too_many_kinds` if the server knows too many.
    pub(crate) fn hold_kinds(&self, kinds: &[&str]) -> Result<HeldKinds<'_>> {
        let ids = self.store.hold_kinds(kinds)?;
        let named = kinds.iter().filter(|kind| KindId::built_in(kind).is_none());
        Ok(HeldKinds { store: &*self.store, ids, names: named.map(|kind| (*kind).to_owned()).collect() })
    }

    /// Sets the numbers of the kinds of items for their change; `too_many_kinds` if the server knows too many.
    pub(crate) fn number_kinds(&self, items: &mut [Publish]) -> Result<HeldKinds<'_>> {
        let kinds: Vec<_> = items.iter().map(|item| item.content.kind.as_str()).collect();
        let held = self.hold_kinds(&kinds)?;
        items.iter_mut().zip(&held.ids).for_each(|(item, id)| item.content.kind_id = *id);
        Ok(held)
    }
}
