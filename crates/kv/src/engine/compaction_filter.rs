//! The filters of tables, as the engine calls them.

use std::ffi::CStr;

use rocksdb::CompactionDecision;
use rocksdb::compaction_filter::CompactionFilter;
use rocksdb::compaction_filter_factory::{CompactionFilterContext, CompactionFilterFactory};

use crate::family::{Filter, Keeps};

const NAME: &CStr = c"tideline";

pub(crate) struct Factory(pub(crate) Filter);

pub(crate) struct OfCompaction(Keeps);

impl CompactionFilterFactory for Factory {
    type Filter = OfCompaction;

    fn create(&mut self, _context: CompactionFilterContext) -> OfCompaction {
        OfCompaction((self.0)())
    }

    fn name(&self) -> &CStr {
        NAME
    }
}

impl CompactionFilter for OfCompaction {
    fn filter(&mut self, _level: u32, key: &[u8], value: &[u8]) -> CompactionDecision {
        if (self.0)(key, value) { CompactionDecision::Keep } else { CompactionDecision::Remove }
    }

    fn name(&self) -> &CStr {
        NAME
    }
}
