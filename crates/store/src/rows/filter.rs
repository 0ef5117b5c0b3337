//! The rows that a compaction drops: below floors, of old notices, and sums of nothing. The filter of content reports deleted
//! items.
//!
//! A filter sees only the files of one compaction, or a part of their rows. So it decides nothing: it applies the floor at
//! the head of a partition, if it has seen the head. Floors only rise, so an old head is safe. It also reports
//! partitions clearly over the limit to the trim worker, which raises the floor; the next compaction then drops the
//! rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::tables::{CONTENT, COUNTS, ITEM_COUNTS, NOTICES, OUTBOX, TOPIC_CONTENT, Table};
use crate::rows::{keys, values};
use model::ContentId;
use model::store::Listeners;

/// Whether a compaction keeps a row. Gets the rows of one compaction, or of one of its parts, in the order of their keys.
pub(crate) type Keeps = Box<dyn FnMut(&[u8], &[u8]) -> bool>;

/// Makes one for each compaction, or for each of its parts, which runs on one thread. Several threads may make some at once.
pub(crate) type Filter = Box<dyn Fn() -> Keeps + Send + Sync>;

/// The filters of all tables. Their callbacks must not block.
#[derive(Debug, Clone)]
pub struct Filters {
    listeners: Listeners,
    /// An outbox and a topic with more rows is reported; 0 for none.
    notice_outbox_above: usize,
    notice_topic_above: usize,
    notices_since: Arc<AtomicU64>,
}

impl Filters {
    pub(crate) fn new(listeners: Listeners, notice_outbox_above: usize, notice_topic_above: usize) -> Self {
        Self { listeners, notice_outbox_above, notice_topic_above, notices_since: Arc::default() }
    }

    /// The time before which notices are neither written nor kept.
    pub(crate) fn notices_since(&self) -> &AtomicU64 {
        &self.notices_since
    }

    /// The filter of a table, if it has one.
    pub(crate) fn of(&self, table: Table) -> Option<Filter> {
        Some(match table {
            _ if table == OUTBOX => floors(self.notice_outbox_above, &self.listeners.oversized_outbox),
            _ if table == TOPIC_CONTENT => floors(self.notice_topic_above, &self.listeners.oversized_topic),
            _ if table == CONTENT => deletions(&self.listeners),
            _ if table == NOTICES => notices(&self.notices_since),
            // As a missing row is. The engine asks for whole sums only: steps that a compaction adds up leave in the next one.
            _ if [COUNTS, ITEM_COUNTS].contains(&table) => {
                Box::new(|| Box::new(|_, sum| sum.iter().any(|byte| *byte != 0)))
            }
            _ => return None,
        })
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
            let Some((partition, at, id)) = keys::split_row(key) else { return true };
            if partition != present {
                (present, floor, kept) = (partition, None, 0);
            }
            if keys::is_head(key) {
                floor = values::read_cursor(value);
                return true;
            }
            if floor.is_some() && keys::cursor(at, id).is_some_and(|place| Some(place) <= floor) {
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
        Box::new(move |key, _| keys::notice_time(key).is_none_or(|at| at >= since))
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
