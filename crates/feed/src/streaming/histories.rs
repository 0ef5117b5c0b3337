//! The histories of a directory.

use std::ops::ControlFlow;

use crate::events;
use crate::events::tables::HISTORIES;
use crate::store::{MARK, Store};
use model::Event;
use model::error::Result;

/// Most ids that are kept.
const MOST_HISTORIES: usize = 64;

/// A part of the life of a directory in which no change was taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct History {
    pub(crate) id: u64,
    /// The first number whose change is told; [`UNTOLD`] while the settings keep none.
    pub(crate) first: u64,
}

/// Instead of the first number of a history: no change is told.
const UNTOLD: u64 = u64::MAX;

/// The histories of a directory, the present one last.
#[derive(Debug)]
pub(crate) struct Histories {
    pub(crate) all: Vec<History>,
    /// Whether they are on disk as they are here.
    is_saved: bool,
}

impl Histories {
    fn read(store: &Store) -> Result<Self> {
        let note = store.note(HISTORIES)?.unwrap_or_default();
        let number = |bytes: &[u8]| bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte));
        let all = note.chunks_exact(16).map(|row| History { id: number(&row[..8]), first: number(&row[8..]) });
        Ok(Self { all: all.collect(), is_saved: true })
    }

    /// Those of a directory at `end`. A new one begins if there is none, if the last has ended, or if changes are told again
    /// (`keeps`) after a time in which they were not. The last has ended with a `gap`. Begins the run.
    pub(crate) fn open(store: &Store, end: u64, gap: Option<Event>, keeps: bool) -> Result<Self> {
        let mut histories = Self::read(store)?;
        // All nodes have one history.
        let is_node = store.note(MARK)?.is_some();
        match histories.all.last().copied().filter(|_| gap.is_none()) {
            None => histories.begin(None, if keeps { end } else { UNTOLD }),
            Some(last) if keeps && last.first == UNTOLD => histories.begin(is_node.then_some(last.id), end),
            Some(last) if !keeps && last.first != UNTOLD => histories.begin(Some(last.id), UNTOLD),
            Some(_) => {}
        }
        histories.begin_run(store, gap)?;
        Ok(histories)
    }

    /// Begins a run with these histories. A history that ends with a `gap` is on disk with it, or neither is.
    pub(crate) fn begin_run(&mut self, store: &Store, gap: Option<Event>) -> Result<()> {
        let note = (!self.is_saved).then(|| self.note());
        self.is_saved |= events::tables::begin_run(store, gap, note.as_deref())?;
        Ok(())
    }

    /// 16 bytes for each: the id and the first number.
    fn note(&self) -> Vec<u8> {
        self.all.iter().flat_map(|history| [history.id, history.first]).flat_map(u64::to_be_bytes).collect()
    }

    /// Begins a history: with a random id, or that of a command log, which has one alone.
    pub(crate) fn begin(&mut self, id: Option<u64>, first: u64) {
        let id = id.unwrap_or_else(|| fastrand::u64(..));
        self.all.retain(|history| history.id != id);
        self.all.push(History { id, first });
        self.all.drain(..self.all.len().saturating_sub(MOST_HISTORIES));
        self.is_saved = false;
    }

    /// Writes them, if they have changed.
    pub(crate) fn save(&mut self, store: &Store) -> Result<()> {
        if self.is_saved {
            return Ok(());
        }
        store.put_notes(&[(HISTORIES, Some(&self.note()))])?;
        self.is_saved = true;
        Ok(())
    }
}

/// Begins a history behind all changes so far, of a store without a feed: with a random id, or that of a command log.
pub fn begin_history(store: &Store, id: Option<u64>) -> Result<()> {
    let mut histories = Histories::read(store)?;
    if id.is_some() && histories.all.last().map(|history| history.id) == id {
        return Ok(());
    }
    let mut next = 0;
    events::tables::newest_logged(store, &mut |row| {
        next = row.number() + 1;
        ControlFlow::Break(())
    })?;
    histories.begin(id, next);
    histories.save(store)
}
