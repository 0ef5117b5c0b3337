//! The feed of changes: what each change did, in one order, from a position on.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::{Feed, Read};
use model::error::{Code, Error, Result};
use model::store::Store;
use model::{Changed, EffectKind, Mentions};

/// The note with the ids of the histories of a directory, 8 bytes each, the present one last.
const NOTE: &str = "histories";
/// Most ids that are kept.
const MOST_HISTORIES: usize = 64;
/// Most changes that one page looks at, of kinds that were not asked for too.
const LOOK_AT: usize = 10_000;
/// Changes read at once.
const SLICE: usize = 1000;

/// A place in the feed of changes: behind the change with this number. A restored directory begins a new history, so that
/// its numbers are not taken for those that were lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangePosition {
    history: u64,
    number: u64,
}

impl ChangePosition {
    /// Whether it is of another history than an older position, or beyond that by so many numbers.
    pub fn is_beyond(self, older: Self, by: u64) -> bool {
        self.history != older.history || self.number >= older.number.saturating_add(by)
    }
}

impl fmt::Display for ChangePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}", self.history, self.number)
    }
}

impl FromStr for ChangePosition {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = || {
            let (history, number) = text.split_once('-')?;
            let history = Some(history).filter(|digits| digits.len() == 16);
            let position = Self { history: u64::from_str_radix(history?, 16).ok()?, number: number.parse().ok()? };
            Some(position).filter(|position| position.to_string() == text)
        };
        read().ok_or("expected a position as the server gives it")
    }
}

/// Where a page of changes begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangesAfter {
    /// With the oldest change that is kept.
    Oldest,
    /// Behind all changes so far.
    Newest,
    /// Behind a change.
    Position(ChangePosition),
}

impl FromStr for ChangesAfter {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "newest" => Ok(Self::Newest),
            "oldest" => Ok(Self::Oldest),
            position => position.parse().map(Self::Position),
        }
    }
}

/// A part of the feed of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangesPage {
    /// The changes, in their order.
    pub changes: Vec<Changed>,
    /// The position behind them, and behind changes of other kinds that were passed.
    pub end: ChangePosition,
}

impl ChangesPage {
    /// The position behind one of the changes.
    pub fn position(&self, changed: &Changed) -> ChangePosition {
        ChangePosition { number: changed.number, ..self.end }
    }
}

impl Mentions for ChangesPage {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        self.changes.iter().for_each(|changed| changed.mentions(see));
    }
}

impl Read<'_> {
    /// The next changes of these kinds, or of all kinds if none is named; at most `limit`, fewer where many of other kinds
    /// lie between. No change ever appears before the end of a page that was given.
    ///
    /// `changes_gone` if changes behind the place are not kept any more, or the history ended there;
    /// `invalid_parameter` for a position of another directory.
    pub fn changes(&self, after: ChangesAfter, limit: usize, kinds: &[EffectKind]) -> Result<ChangesPage> {
        self.needs_disk()?;
        let feed = self.feed;
        if feed.config.changes.keep.as_millis() == 0 {
            return Err(Error::refused(Code::ChangesGone, "the server keeps no changes (changes.keep)"));
        }
        let histories = histories(&*feed.store)?;
        let history = *histories.last().ok_or_else(|| Error::Corrupt("a directory without a history".to_owned()))?;
        let end = feed.streaming.sequencer().end();
        let from = match after {
            ChangesAfter::Oldest => feed.events_on_disk.first(),
            ChangesAfter::Newest => end,
            ChangesAfter::Position(position) if position.history == history => position.number.saturating_add(1),
            ChangesAfter::Position(position) if histories.contains(&position.history) => {
                return Err(Code::ChangesGone.into());
            }
            ChangesAfter::Position(_) => {
                return Err(Error::refused(Code::InvalidParameter, "after: the position is of another directory"));
            }
        };
        let (mut next, mut changes, mut looked_at) = (from, Vec::new(), 0);
        while next < end && changes.len() < limit && looked_at < LOOK_AT {
            let slice = feed.store.changes(next, end, SLICE)?;
            looked_at += slice.len();
            next = if slice.len() < SLICE { end } else { slice.last().map_or(end, |last| last.number + 1) };
            changes.extend(slice.into_iter().filter(|c| kinds.is_empty() || kinds.contains(&c.effect.kind)));
        }
        if let Some(beyond) = changes.get(limit) {
            next = beyond.number;
            // Effects of one change have numbers of their own.
            changes.truncate(limit);
            next = changes.last().map_or(next, |last| last.number + 1);
        }
        // After the rows are read: a trim raises the first number before it removes rows.
        if feed.is_trimmed(from) {
            return Err(Code::ChangesGone.into());
        }
        Ok(ChangesPage { changes, end: ChangePosition { history, number: next.saturating_sub(1) } })
    }
}

impl Feed {
    /// The position up to which a receiver of this name has taken changes; `None` for a new one.
    pub fn receiver_position(&self, name: &str) -> Result<Option<ChangePosition>> {
        let Some(note) = self.store.note(&note_of(name))? else { return Ok(None) };
        let text = std::str::from_utf8(&note).ok().and_then(|text| text.parse().ok());
        text.map(Some).ok_or_else(|| Error::Corrupt(format!("the position of the webhook {name}")))
    }

    /// Keeps this position. A crash may take it back: then changes are sent again.
    pub fn keep_receiver_position(&self, name: &str, position: ChangePosition) -> Result<()> {
        self.store.put_notes(&[(&note_of(name), Some(position.to_string().as_bytes()))])
    }
}

/// The name of the note with the position of a receiver.
fn note_of(name: &str) -> String {
    format!("webhook:{name}")
}

/// Begins a history: with a random id, or that of a command log.
pub fn begin_history(store: &dyn Store, id: Option<u64>) -> Result<()> {
    let mut known = histories(store)?;
    known.push(id.unwrap_or_else(|| fastrand::u64(..)));
    let kept = known.split_off(known.len().saturating_sub(MOST_HISTORIES));
    let note: Vec<u8> = kept.into_iter().flat_map(u64::to_be_bytes).collect();
    store.put_notes(&[(NOTE, Some(&note))])
}

/// Begins the history of a directory that has none, or whose history has ended.
pub(super) fn open(store: &Arc<dyn Store>, has_ended: bool) -> Result<()> {
    if has_ended || histories(&**store)?.is_empty() { begin_history(&**store, None) } else { Ok(()) }
}

fn histories(store: &dyn Store) -> Result<Vec<u64>> {
    let note = store.note(NOTE)?.unwrap_or_default();
    Ok(note.chunks_exact(8).map(|id| id.iter().fold(0, |all, byte| all << 8 | u64::from(*byte))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_it_is_written() {
        let position = ChangePosition { history: 0xAB, number: 7 };
        assert_eq!(position.to_string(), "00000000000000ab-7");
        assert_eq!("00000000000000ab-7".parse(), Ok(position));
        for wrong in
            ["", "7", "ab-7", "00000000000000AB-7", "00000000000000ab-07", "00000000000000ab-", "00000000000000ab-7-"]
        {
            assert!(wrong.parse::<ChangePosition>().is_err(), "{wrong}");
        }
    }
}
