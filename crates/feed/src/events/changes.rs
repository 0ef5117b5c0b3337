//! The feed of changes: what each change did, in one order, from a position on.

use super::position::ChangePosition;
use std::str::FromStr;

use super::tables;
use crate::core::Core;
use crate::read::Read;
use crate::streaming::histories::History;
use crate::{events, items};
use model::clock::now;
use model::error::{Code, Error, Result};
use model::{Changed, EffectKind, Mentions, Millis};

/// Most changes that one page looks at, of kinds that were not asked for too.
const LOOK_AT: usize = 10_000;
/// Changes read at once.
const SLICE: usize = 1000;

/// Where a page of changes begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangesAfter {
    /// With the oldest change that is kept.
    Oldest,
    /// Behind all changes so far.
    Newest,
    /// Behind a change.
    Position(ChangePosition),
    /// Behind the change with this number, of whatever history, and however old: for the receivers of this directory.
    Receiver(u64),
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

/// Where a receiver of changes goes on.
#[derive(Debug)]
pub struct ReceiverStart {
    /// The position up to which it has taken changes.
    pub at: ChangePosition,
    /// Whether the position is not kept yet.
    pub is_new: bool,
    /// Why it may have missed changes; `None` if it has not.
    pub missed: Option<Error>,
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

/// The next changes of these kinds, or of all kinds if none is named; at most `limit`, fewer where many of other kinds
/// lie between. No change ever appears before the end of a page that was given.
///
/// `changes_gone` if changes behind the place are not kept any more, or the history ended there;
/// `invalid_parameter` for a position of another directory, and for one that was not given yet.
pub fn changes(read: Read<'_>, after: ChangesAfter, limit: usize, kinds: &[EffectKind]) -> Result<ChangesPage> {
    read.needs_disk()?;
    let feed = read.feed;
    let oldest = oldest_time(feed);
    let (history, from) = place_of_changes(feed, after, oldest)?;
    let end = feed.streaming.sequencer().end();
    let oldest = if let ChangesAfter::Receiver(_) = after { 0 } else { oldest };
    let names = items::tables::kind_names(&feed.store)?;
    let (mut next, mut changes, mut looked_at, mut is_first) = (from, Vec::new(), 0, true);
    while next < end && changes.len() < limit && looked_at < LOOK_AT {
        let mut rows = tables::logged(&feed.store, next, SLICE)?;
        looked_at += rows.len();
        next = if rows.len() < SLICE { end } else { rows.last().map_or(end, |last| last.number() + 1).min(end) };
        rows.retain(|row| row.number() < end);
        for changed in rows.into_iter().filter_map(|row| row.told(&names)) {
            if changed.at < oldest && after == ChangesAfter::Oldest {
                // The search for the first one ends one before it.
                continue;
            }
            if std::mem::take(&mut is_first) && changed.at < oldest {
                return Err(Code::ChangesGone.into());
            }
            changes.extend(Some(changed).filter(|c| kinds.is_empty() || kinds.contains(&c.effect.kind)));
        }
    }
    if changes.len() > limit {
        // Effects of one change have numbers of their own.
        changes.truncate(limit);
        next = changes.last().map_or(next, |last| last.number + 1);
    }
    // After the rows are read: a trim raises the first number before it removes rows.
    let is_gone = match after {
        ChangesAfter::Receiver(_) => feed.events_on_disk.is_removed(from),
        _ => feed.events_on_disk.is_trimmed(from),
    };
    if is_gone {
        return Err(Code::ChangesGone.into());
    }
    Ok(ChangesPage { changes, end: ChangePosition { history: history.id, number: next.saturating_sub(1) } })
}

/// The present history, and the first number behind a place.
fn place_of_changes(feed: &Core, after: ChangesAfter, oldest: Millis) -> Result<(History, u64)> {
    if feed.config.changes.keep.as_millis() == 0 {
        return Err(Error::refused(Code::ChangesGone, "the server keeps no changes (changes.keep)"));
    }
    let histories = feed.events_on_disk.histories().all.clone();
    let history = *histories.last().ok_or_else(|| Error::Corrupt("a directory without a history".to_owned()))?;
    let end = feed.streaming.sequencer().end();
    let wrong = |what: &str| Error::refused(Code::InvalidParameter, format_args!("the position is {what}"));
    let from = match after {
        ChangesAfter::Oldest => {
            history.first.max(feed.events_on_disk.first()).max(events::first_since(feed, oldest, 1)?)
        }
        ChangesAfter::Newest => end,
        ChangesAfter::Receiver(number) => number.saturating_add(1).min(end),
        ChangesAfter::Position(position) if position.history == history.id => {
            let from = position.number.saturating_add(1);
            // A node may lag behind the one that gave it.
            if from > end && !feed.is_node() {
                return Err(wrong("beyond the end of the feed"));
            }
            if from < history.first {
                return Err(Code::ChangesGone.into());
            }
            from
        }
        ChangesAfter::Position(position) if histories.iter().any(|known| known.id == position.history) => {
            return Err(Code::ChangesGone.into());
        }
        ChangesAfter::Position(_) => return Err(wrong("of another directory")),
    };
    Ok((history, from))
}

/// The time of the oldest change that readers may see.
fn oldest_time(feed: &Core) -> Millis {
    now().saturating_sub(feed.config.changes.keep.as_millis())
}

/// Where a receiver of this name goes on; a new one begins at `start`. Receivers go on by numbers: with their directory
/// they also come into its next history. A place that this directory does not know is no error: a restored directory,
/// or that of a promoted standby, must serve. Then the receiver begins with the oldest change.
pub fn begin_receiver(feed: &Core, name: &str, start: ChangesAfter) -> Result<ReceiverStart> {
    let end = feed.streaming.sequencer().end();
    let mut missed = match events::kept_position(feed, name) {
        Ok(Some(kept)) => {
            let at = ChangePosition { number: kept.number.min(end.saturating_sub(1)), ..kept };
            return Ok(ReceiverStart { at, is_new: false, missed: None });
        }
        Ok(None) => None,
        Err(damaged @ Error::Corrupt(_)) => Some(damaged),
        Err(error) => return Err(error),
    };
    let start = if missed.is_some() { ChangesAfter::Oldest } else { start };
    let (history, from) = match (place_of_changes(feed, start, oldest_time(feed)), start) {
        (Err(_), ChangesAfter::Position(position)) if knows_history(feed, position.history) => {
            place_of_changes(feed, ChangesAfter::Receiver(position.number), oldest_time(feed))?
        }
        (Err(error), ChangesAfter::Position(_)) => {
            missed = Some(error);
            place_of_changes(feed, ChangesAfter::Oldest, oldest_time(feed))?
        }
        (place, _) => place?,
    };
    let at = ChangePosition { history: history.id, number: from.saturating_sub(1) };
    Ok(ReceiverStart { at, is_new: true, missed })
}

/// Whether a history is one of this directory.
fn knows_history(feed: &Core, id: u64) -> bool {
    feed.events_on_disk.histories().all.iter().any(|history| history.id == id)
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
