//! Live items, for whoever sees them.

use std::sync::Arc;

use crate::read::Read;
use crate::{caches, items};
use model::error::Result;
use model::{ContentId, SharedContent};

/// The live items among `ids`, also of suspended authors, as changes see them.
pub(crate) fn live_contents(read: Read<'_>, ids: &[ContentId]) -> Result<Vec<Arc<SharedContent>>> {
    let rows = |part: &[ContentId]| {
        let contents = items::tables::contents(&read.feed.store, part, read.tier)?.into_iter();
        Ok(contents.map(|content| content.map(|content| Arc::new(content.into()))).collect())
    };
    read.cached(&read.feed.store.memory.shown.contents, ids, |content| caches::content_bytes(content), rows)
}
