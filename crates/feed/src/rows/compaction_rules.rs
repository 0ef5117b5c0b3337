//! How rows change by themselves: steps that the engine merges, and rows that a compaction drops, those below floors and those of
//! old notices. The filter of content reports deleted items.
//!
//! A filter sees only the files of one compaction, or a part of their rows. So it decides nothing: it applies the floor at
//! the head of a partition, if it has seen the head. Floors only rise, so an old head is safe. It also reports
//! partitions clearly over the limit to the trim worker, which raises the floor; the next compaction then drops the
//! rows.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::inbox::merge;
use super::tables::{ALL, CONTENT, NOTICES, OUTBOX, TOPIC_CONTENT};
use super::{keys, values};
use crate::options::{InboxRoom, Listeners, Options};
use kv::{Family, Filter, ID, Schema};
use model::{ContentId, Position};

/// How the rows of the tables change by themselves. Its callbacks must not block.
pub struct Rules {
    families: Vec<&'static Family>,
    inbox_room: InboxRoom,
    listeners: Listeners,
    /// An outbox and a topic with more rows is reported; 0 for none.
    notice_outbox_above: usize,
    notice_topic_above: usize,
    /// The time before which notices are neither written nor kept.
    pub(crate) notices_since: Arc<AtomicU64>,
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules").finish_non_exhaustive()
    }
}

impl Rules {
    /// Those of a store with these options.
    pub fn new(options: &Options) -> Self {
        Self {
            families: ALL.iter().map(|table| &***table).collect(),
            inbox_room: options.inbox_room,
            listeners: options.listeners.clone(),
            notice_outbox_above: options.notice_outbox_above,
            notice_topic_above: options.notice_topic_above,
            notices_since: Arc::default(),
        }
    }
}

impl Schema for Rules {
    fn families(&self) -> &[&'static Family] {
        &self.families
    }

    fn filter(&self, family: &Family) -> Option<Filter> {
        Some(match family {
            _ if *family == **OUTBOX => floors(self.notice_outbox_above, &self.listeners.oversized_outbox),
            _ if *family == **TOPIC_CONTENT => floors(self.notice_topic_above, &self.listeners.oversized_topic),
            _ if *family == **CONTENT => deletions(&self.listeners),
            _ if *family == **NOTICES => notices(&self.notices_since),
            _ => return None,
        })
    }

    fn merge(&self, present: Option<&[u8]>, steps: &[&[u8]]) -> Vec<u8> {
        merge::full(self.inbox_room, present, steps.iter().copied())
    }

    fn join(&self, steps: &[&[u8]]) -> Vec<u8> {
        merge::partial(steps.iter().copied())
    }
}

/// Drops rows below floors, and reports partitions with more rows than `notice_above`; none if that is 0.
fn floors<I: TryFrom<u64> + 'static>(notice_above: usize, notice: &Arc<dyn Fn(I) + Send + Sync>) -> Filter {
    let notice = Arc::clone(notice);
    Box::new(move || {
        let notice = Arc::clone(&notice);
        // No partition yet.
        let (mut present, mut floor, mut kept) = (0, None, 0_usize);
        Box::new(move |key, value| {
            let Some((partition, place)) = keys::read::<(u64, Position<u64>)>(key) else { return true };
            if partition != present {
                (present, floor, kept) = (partition, None, 0);
            }
            if keys::is_head(key) {
                floor = values::read_cursor(value).map(|Position { at, id }| Position { at, id: id.get() });
                return true;
            }
            if floor.is_some_and(|floor| place <= floor) {
                return false;
            }
            kept += 1;
            if notice_above > 0
                && kept.checked_sub(1) == Some(notice_above)
                && let Ok(id) = I::try_from(partition)
            {
                notice(id);
            }
            true
        })
    })
}

/// Drops notices before a time.
fn notices(since: &Arc<AtomicU64>) -> Filter {
    let since = Arc::clone(since);
    Box::new(move || {
        let since = since.load(Ordering::Relaxed);
        Box::new(move |key, _| {
            // The time alone: the rest of a damaged key must not keep its row for ever.
            let begin = key.get(..2 * ID).and_then(keys::read);
            begin.is_none_or(|(_, inverted): (u64, u64)| !inverted >= since)
        })
    })
}

/// Reports deleted items with the times of their deletions, and keeps every row: a row in this compaction may be older
/// than one elsewhere.
fn deletions(listeners: &Listeners) -> Filter {
    let notice = Arc::clone(&listeners.deleted_item);
    Box::new(move || {
        let notice = Arc::clone(&notice);
        Box::new(move |key, value| {
            let id = keys::number(key).and_then(|raw| ContentId::new(raw).ok());
            if let (Some(id), Some(deleted_at)) = (id, values::read_deleted_at(value)) {
                notice(id, deleted_at);
            }
            true
        })
    })
}
