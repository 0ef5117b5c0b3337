//! The state of the log of events on disk.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::events;
use crate::store::{EVENTS_FROM, MARK, Store};
use crate::streaming::histories::Histories;
use crate::streaming::{Kind, Streaming};
use model::error::Result;
use model::sync::atomic::{AtomicU64, Ordering};
use model::sync::{Mutex, MutexGuard};

/// The number of the first change of all.
pub(crate) const FIRST: u64 = 1;

/// The state of the log on disk.
#[derive(Debug)]
pub(crate) struct OnDisk {
    /// Events below this number are removed, or about to be, or not sent any more.
    pub(crate) trimmed: AtomicU64,
    /// Those below this number are removed, or about to be.
    removed: AtomicU64,
    /// The end of the log at which it is next looked for some to remove.
    pub(crate) look_at: AtomicU64,
    histories: Mutex<Histories>,
}

impl OnDisk {
    /// Lets the sequencer continue after the events on disk, or after a gap if some may be lost.
    pub(crate) fn open(store: &Arc<Store>, streaming: &Streaming, keeps_changes: bool) -> Result<Self> {
        let note = store.note(EVENTS_FROM)?.unwrap_or_default();
        let first = note.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let mut last = None;
        events::tables::newest_logged(store, &mut |row| {
            last = Some(row.replaced_by(Kind::Mark));
            ControlFlow::Break(())
        })?;
        streaming.sequencer().restore(last);
        // A node applies again what it has lost, under the same numbers.
        let is_node = store.note(MARK)?.is_some();
        let gap = (events::tables::is_set_back(store) && !is_node).then(|| streaming.sequencer().break_off());
        if gap.is_some() {
            tracing::warn!(
                "changes that were sent to streams may be lost: the machine lost power, or the data directory is a \
                 copy, is damaged, or was used by an earlier version. Clients that resume a stream get a reset"
            );
        }
        let end = streaming.sequencer().end();
        let gap_number = gap.as_ref().map(|gap| gap.number);
        let histories = Mutex::new(Histories::open(store, end, gap, keeps_changes)?);
        // Also if the gap could not be written: events before it are never sent.
        let told_from = gap_number.map_or(first, |gap| first.max(gap + 1));
        Ok(Self {
            trimmed: AtomicU64::new(told_from),
            removed: AtomicU64::new(first),
            look_at: AtomicU64::new(0),
            histories,
        })
    }
}

impl OnDisk {
    pub(crate) fn histories(&self) -> MutexGuard<'_, Histories> {
        self.histories.lock()
    }

    /// The number from which on all events and effects are kept.
    pub(crate) fn first(&self) -> u64 {
        self.trimmed.load(Ordering::SeqCst)
    }

    /// Whether events from this number on may be gone.
    pub(crate) fn is_trimmed(&self, from: u64) -> bool {
        from < self.first()
    }

    /// Whether changes from this number on may be gone.
    pub(crate) fn is_removed(&self, from: u64) -> bool {
        from < self.removed.load(Ordering::SeqCst)
    }

    /// Removes what is below this number, in memory first, because concurrent readers check it.
    pub(crate) fn remove_below(&self, number: u64) {
        self.trimmed.store(number, Ordering::SeqCst);
        self.removed.store(number, Ordering::SeqCst);
    }
}
