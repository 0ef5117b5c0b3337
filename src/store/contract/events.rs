//! The log of events.

use crate::error::Result;
use crate::model::Event;
use crate::store::Store;

/// The log of events: what publishes, edits, deletes and restores were given a stamp for. Each is written in the
/// change of which it tells, so it is there if and only if that is. Those of several changes may be written in
/// another order than that of their numbers.
impl Store {
    /// The first `limit` events with this number or a higher one, ascending.
    pub fn events(&self, from: u64, limit: usize) -> Result<Vec<Event>> {
        dispatch!(self, s => s.events(from, limit))
    }

    /// The `limit` events with the highest numbers, ascending.
    pub fn newest_events(&self, limit: usize) -> Result<Vec<Event>> {
        dispatch!(self, s => s.newest_events(limit))
    }

    /// Takes away the events with smaller numbers than this.
    pub fn trim_events(&self, from: u64) -> Result<()> {
        dispatch!(self, s => s.trim_events(from))
    }

    /// Whether changes may be gone of which streams had told: since the machine lost its power, changes were left behind, or
    /// the directory is a copy.
    pub fn is_set_back(&self) -> bool {
        dispatch!(self, s => s.is_set_back())
    }

    /// Streams are told of changes from now on; until then a store is as its last run left it. If that has set it back,
    /// a gap is written first, durably.
    pub fn begin_run(&self, gap: Option<Event>) -> Result<()> {
        dispatch!(self, s => s.begin_run(gap))
    }

    /// Whether there is any content, deleted content included.
    pub fn has_content(&self) -> Result<bool> {
        dispatch!(self, s => s.has_content())
    }
}
