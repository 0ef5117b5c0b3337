//! The compaction filters. The one of outboxes and topics drops rows below floors, the one of content reports
//! deleted items.
//!
//! A filter sees only the files of one compaction. So it decides nothing: it applies the floor at the head of a
//! partition, if the head is in the same compaction. Floors only rise, so an old head is safe. It also reports
//! partitions clearly over the limit to the trim worker, which raises the floor; the next compaction then drops the
//! rows.

use std::ffi::CStr;
use std::sync::Arc;

use rocksdb::compaction_filter::CompactionFilter;
use rocksdb::compaction_filter_factory::{CompactionFilterContext, CompactionFilterFactory};

use crate::rows::{keys, values};
use model::{ContentId, Cursor, Millis};

/// The callback for a partition with too many rows. Must not block.
type Notice = Arc<dyn Fn(u64) + Send + Sync>;

/// Makes one filter for each compaction.
pub(crate) struct FloorFilterFactory {
    /// A partition with more rows is reported.
    notice_above: usize,
    notice: Notice,
}

impl FloorFilterFactory {
    /// Reports partitions with more rows than `notice_above`; none if that is 0.
    pub(crate) fn new<I: TryFrom<u64> + 'static>(notice_above: usize, notice: &Arc<dyn Fn(I) + Send + Sync>) -> Self {
        let notice = Arc::clone(notice);
        Self {
            notice_above: if notice_above == 0 { usize::MAX } else { notice_above },
            notice: Arc::new(move |partition| {
                if let Ok(id) = I::try_from(partition) {
                    notice(id);
                }
            }),
        }
    }
}

impl CompactionFilterFactory for FloorFilterFactory {
    type Filter = FloorFilter;

    fn create(&mut self, _context: CompactionFilterContext) -> FloorFilter {
        FloorFilter {
            notice_above: self.notice_above,
            notice: Arc::clone(&self.notice),
            partition: 0,
            floor: None,
            kept: 0,
        }
    }

    fn name(&self) -> &CStr {
        c"tideline.floor"
    }
}

/// Runs on one thread over the keys of one compaction, in order.
pub(crate) struct FloorFilter {
    notice_above: usize,
    notice: Notice,
    /// The partition of the present row; 0 for none yet.
    partition: u64,
    floor: Option<Cursor>,
    kept: usize,
}

impl CompactionFilter for FloorFilter {
    fn filter(&mut self, _level: u32, key: &[u8], value: &[u8]) -> rocksdb::CompactionDecision {
        use rocksdb::CompactionDecision::{Keep, Remove};
        let Some((partition, at, id)) = keys::split_row(key) else { return Keep };
        if partition != self.partition {
            (self.partition, self.floor, self.kept) = (partition, None, 0);
        }
        if keys::is_head(key) {
            self.floor = values::read_cursor(value);
            return Keep;
        }
        if let (Some(floor), Some(place)) = (self.floor, keys::cursor(at, id))
            && place <= floor
        {
            return Remove;
        }
        self.kept += 1;
        if self.kept.checked_sub(1) == Some(self.notice_above) {
            (self.notice)(partition);
        }
        Keep
    }

    fn name(&self) -> &CStr {
        c"tideline.floor"
    }
}

/// The callback for a deleted item, with the time of the deletion. Must not block.
type DeletedNotice = Arc<dyn Fn(ContentId, Millis) + Send + Sync>;

/// Makes one filter for each compaction.
pub(crate) struct DeletedFilterFactory {
    pub(crate) notice: DeletedNotice,
}

impl CompactionFilterFactory for DeletedFilterFactory {
    type Filter = DeletedFilter;

    fn create(&mut self, _context: CompactionFilterContext) -> DeletedFilter {
        DeletedFilter { notice: Arc::clone(&self.notice) }
    }

    fn name(&self) -> &CStr {
        c"tideline.deleted"
    }
}

/// Keeps every row: a row in this compaction may be older than one elsewhere.
pub(crate) struct DeletedFilter {
    notice: DeletedNotice,
}

impl CompactionFilter for DeletedFilter {
    fn filter(&mut self, _level: u32, key: &[u8], value: &[u8]) -> rocksdb::CompactionDecision {
        let id = keys::number(key).and_then(|raw| ContentId::new(raw).ok());
        if let (Some(id), Some(deleted_at)) = (id, values::read_deleted_at(value)) {
            (self.notice)(id, deleted_at);
        }
        rocksdb::CompactionDecision::Keep
    }

    fn name(&self) -> &CStr {
        c"tideline.deleted"
    }
}
