//! The compaction filters. The one of outboxes and topics drops rows below floors, the one of content reports
//! deleted items.
//!
//! A filter sees only the files of one compaction, or a part of their rows. So it decides nothing: it applies the floor at
//! the head of a partition, if it has seen the head. Floors only rise, so an old head is safe. It also reports
//! partitions clearly over the limit to the trim worker, which raises the floor; the next compaction then drops the
//! rows.

use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rocksdb::CompactionDecision;
use rocksdb::CompactionDecision::{Keep, Remove};
use rocksdb::compaction_filter::CompactionFilter;
use rocksdb::compaction_filter_factory::{CompactionFilterContext, CompactionFilterFactory};

use crate::rows::{keys, values};
use model::{ContentId, Millis};

/// Makes one filter for each compaction, or for each of its parts, which runs on one thread over its rows, in the order of
/// their keys. Several threads may make some at once.
struct Factory<M> {
    name: &'static CStr,
    make: M,
}

struct Filter<D> {
    name: &'static CStr,
    decide: D,
}

impl<M: Fn() -> D + Sync, D: FnMut(&[u8], &[u8]) -> CompactionDecision> CompactionFilterFactory for Factory<M> {
    type Filter = Filter<D>;

    fn create(&mut self, _context: CompactionFilterContext) -> Filter<D> {
        Filter { name: self.name, decide: (self.make)() }
    }

    fn name(&self) -> &CStr {
        self.name
    }
}

impl<D: FnMut(&[u8], &[u8]) -> CompactionDecision> CompactionFilter for Filter<D> {
    fn filter(&mut self, _level: u32, key: &[u8], value: &[u8]) -> CompactionDecision {
        (self.decide)(key, value)
    }

    fn name(&self) -> &CStr {
        self.name
    }
}

/// Drops rows below floors, and reports partitions with more rows than `notice_above`; none if that is 0. The callback
/// must not block.
pub(crate) fn floors<I: TryFrom<u64> + 'static>(
    notice_above: usize,
    notice: &Arc<dyn Fn(I) + Send + Sync>,
) -> impl CompactionFilterFactory + 'static {
    let notice = Arc::clone(notice);
    let make = move || {
        let notice = Arc::clone(&notice);
        // No partition yet.
        let (mut present, mut floor, mut kept) = (0, None, 0_usize);
        move |key: &[u8], value: &[u8]| {
            let Some((partition, at, id)) = keys::split_row(key) else { return Keep };
            if partition != present {
                (present, floor, kept) = (partition, None, 0);
            }
            if keys::is_head(key) {
                floor = values::read_cursor(value);
                return Keep;
            }
            if floor.is_some() && keys::cursor(at, id).is_some_and(|place| Some(place) <= floor) {
                return Remove;
            }
            kept += 1;
            if notice_above > 0
                && kept.checked_sub(1) == Some(notice_above)
                && let Ok(id) = I::try_from(partition)
            {
                notice(id);
            }
            Keep
        }
    };
    Factory { name: c"tideline.floor", make }
}

/// Drops notices before a time.
pub(crate) fn notices(since: &Arc<AtomicU64>) -> impl CompactionFilterFactory + 'static {
    let since = Arc::clone(since);
    let make = move || {
        let since = since.load(Ordering::Relaxed);
        move |key: &[u8], _: &[u8]| if keys::notice_time(key).is_some_and(|at| at < since) { Remove } else { Keep }
    };
    Factory { name: c"tideline.notices", make }
}

/// Reports deleted items with the times of their deletions, and keeps every row: a row in this compaction may be older
/// than one elsewhere. The callback must not block.
pub(crate) fn deletions(
    notice: &Arc<dyn Fn(ContentId, Millis) + Send + Sync>,
) -> impl CompactionFilterFactory + 'static {
    let notice = Arc::clone(notice);
    let make = move || {
        let notice = Arc::clone(&notice);
        move |key: &[u8], value: &[u8]| {
            let id = keys::number(key).and_then(|raw| ContentId::new(raw).ok());
            if let (Some(id), Some(deleted_at)) = (id, values::read_deleted_at(value)) {
                notice(id, deleted_at);
            }
            Keep
        }
    };
    Factory { name: c"tideline.deleted", make }
}
