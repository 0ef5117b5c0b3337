//! Maintains the log of events on disk.

use super::tables;
use crate::core::Core;
use crate::store::MARK;
use model::clock::now;
use model::error::{Error, Result};
use model::sync::atomic::Ordering;
use model::{Logged, Millis};

/// Numbers whose events are kept on disk for streams, those in memory included; some 60 bytes each.
const KEPT: u64 = 1_000_000;
/// Events that are removed at once.
const STEP: u64 = 1 << 16;
/// Numbers after which it is looked for some again.
const LOOK_EVERY: u64 = 1 << 12;

/// Checks the clock, and removes the oldest events once there are clearly more than are kept, and ends old notices. To
/// be called regularly; cheap if there is nothing to do.
pub fn tend(feed: &Core) -> Result<()> {
    feed.end_notices();
    feed.events_on_disk.histories().save(&feed.store)?;
    // It warns of a clock that is behind.
    let now = now();
    let end = feed.streaming.sequencer().end();
    let look_at = &feed.events_on_disk.look_at;
    if end < look_at.load(Ordering::SeqCst) {
        return Ok(());
    }
    look_at.store(end + LOOK_EVERY, Ordering::SeqCst);
    trim_changes(feed, now, KEPT, STEP)
}

/// Keeps the changes of `changes.keep` before a time, but at most `changes.limit`, and at least the newest `least`
/// numbers; if there are at least `step` more.
fn trim_changes(feed: &Core, now: Millis, least: u64, step: u64) -> Result<()> {
    let changes = &feed.config.changes;
    let since = first_since(feed, now.saturating_sub(changes.keep.as_millis()), step)?;
    let kept = feed.streaming.sequencer().end().saturating_sub(since);
    trim(feed, kept.min(changes.limit).max(least), step)
}

/// About the first number whose change has this time or a later one, and none above that; by `step` less at most. Looks
/// only at a few.
pub(crate) fn first_since(feed: &Core, time: Millis, step: u64) -> Result<u64> {
    let (first, end) = (feed.events_on_disk.first(), feed.streaming.sequencer().end());
    let is_older = |row: &Logged| row.times().0 < time;
    if tables::logged(&feed.store, first, 1)?.pop().is_none_or(|row| row.number() >= end || !is_older(&row)) {
        return Ok(first);
    }
    Ok(border(feed, (first, end), step, is_older)?.0)
}

/// The border between the rows that are older, and the others, as two numbers that are `step` apart at most. The first row at the
/// lower one is older, and the first one at the higher one is not, or is beyond the end.
pub(crate) fn border(
    feed: &Core,
    (mut low, mut high): (u64, u64),
    step: u64,
    is_older: impl Fn(&Logged) -> bool,
) -> Result<(u64, u64)> {
    while high - low > step {
        let middle = low + (high - low) / 2;
        match tables::logged(&feed.store, middle, 1)?.pop() {
            Some(row) if row.number() < high && is_older(&row) => low = row.number(),
            _ => high = middle,
        }
    }
    Ok((low, high))
}

/// Lets times go on from the clock if they are far ahead of it, because a clock was wrong once; returns by how much they
/// were, milliseconds. Streams that are resumed get a reset. No change may be under way, and the store must not be
/// that of a node: all nodes give the same times.
pub fn reset_time(feed: &Core) -> Result<Option<Millis>> {
    if feed.store.note(MARK)?.is_some() {
        return Err(Error::Setup(
            "this directory is that of a node of a cluster, whose times are those of the command log".to_owned(),
        ));
    }
    let sequencer = feed.streaming.sequencer();
    let Some(ahead) = sequencer.set_back(now()) else { return Ok(None) };
    let gap = sequencer.break_off();
    let number = gap.number;
    let mut histories = feed.events_on_disk.histories();
    histories.begin(None, number);
    histories.begin_run(&feed.store, Some(gap))?;
    if tables::logged(&feed.store, number, 1)?.is_empty() {
        return Err(Error::Setup("the storage takes no changes, so the times stay as they were".to_owned()));
    }
    // The events before it have the wrong times.
    feed.events_on_disk.remove_below(number);
    tables::trim_events(&feed.store, number)?;
    feed.store.sync()?;
    Ok(Some(ahead))
}

/// Keeps the newest `kept` numbers, if there are at least `step` more.
pub fn trim(feed: &Core, kept: u64, step: u64) -> Result<()> {
    let first = feed.events_on_disk.trimmed.load(Ordering::SeqCst);
    let keep_from = feed.streaming.sequencer().end().saturating_sub(kept);
    if keep_from < first.saturating_add(step) {
        return Ok(());
    }
    // An erasure changes such rows.
    let _still = feed.streaming.hold_changes();
    feed.events_on_disk.remove_below(keep_from);
    tables::trim_events(&feed.store, keep_from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Feed;
    use crate::backlog::Backlog;
    use crate::events;
    use crate::events::changes::ChangesAfter;
    use crate::store::Store;
    use crate::streaming::Streaming;
    use crate::writer::command::{DeleteItem, Relate, SetSuspension};
    use config::{Config, Duration};
    use model::ExternalId;
    use std::sync::Arc;

    /// A feed with a change of each of these numbers, 1 to `many`.
    fn feed(many: u64, limit: u64) -> Feed {
        feed_that_keeps(many, limit, Config::default().changes.keep)
    }

    fn feed_that_keeps(many: u64, limit: u64, keep: Duration) -> Feed {
        let mut config = Config::default();
        (config.changes.limit, config.changes.keep) = (limit, keep);
        let (store, backlog) = (Arc::new(Store::in_memory().expect("opens")), Arc::new(Backlog::new(10_000)));
        let feed = Feed::new(store, backlog, Arc::new(Streaming::new(1000)), &config).expect("opens");
        for user in 1..=many {
            feed.submit(Relate::of(ExternalId::Number(user), vec![(ExternalId::Number(user + 1), None)], vec![]))
                .expect("follows");
        }
        feed
    }

    #[test]
    fn nothing_is_gone_because_a_change_was_refused_before_all_others() {
        let store = Arc::new(Store::in_memory().expect("opens"));
        let open = || {
            let (backlog, streaming) = (Arc::new(Backlog::new(100)), Arc::new(Streaming::new(1000)));
            Feed::new(Arc::clone(&store), backlog, streaming, &Config::default()).expect("opens")
        };
        let feed = open();
        let begin = events::changes(feed.read(), ChangesAfter::Newest, 9, &[]).expect("reads").end;
        feed.submit(DeleteItem { item: ExternalId::Number(5), purge: false }).expect_err("there is no such item");
        feed.submit(SetSuspension { user: ExternalId::Number(7), suspended: true }).expect("changes");
        let told =
            |feed: &Feed| events::changes(feed.read(), ChangesAfter::Position(begin), 9, &[]).map(|page| page.changes);
        let changes = told(&feed).expect("reads");
        drop(feed);
        let feed = open();
        assert_eq!((told(&feed).expect("reads"), changes.len()), (changes, 1));
        trim(&feed, 0, 1).expect("trims");
        drop(feed);
        assert_eq!(told(&open()).expect_err("they are gone").code(), Some(model::error::Code::ChangesGone));
    }

    fn kept(feed: &Feed) -> usize {
        tables::logged(&feed.store, 0, usize::MAX).expect("reads").len()
    }

    #[test]
    fn changes_leave_by_age_and_by_number_but_never_those_that_streams_need() {
        let later = |feed: &Feed| now() + feed.config.changes.keep.as_millis() + 1;
        let all = feed(100, 1 << 40);
        trim_changes(&all, now(), 10, 5).expect("trims");
        assert_eq!(kept(&all), 100, "all are young");
        trim_changes(&all, later(&all), 10, 5).expect("trims");
        assert_eq!(kept(&all), 10, "all are old");
        assert_eq!(all.events_on_disk.first(), 91);
        let half = feed(100, 50);
        trim_changes(&half, now(), 10, 5).expect("trims");
        assert_eq!(kept(&half), 50);
        trim_changes(&half, now(), 10, 51).expect("trims");
        assert_eq!(kept(&half), 50, "too few more");
    }

    #[test]
    fn the_place_of_a_time_is_found() {
        let feed = feed(100, 1 << 40);
        let times: Vec<_> = tables::logged(&feed.store, 0, 100)
            .expect("reads")
            .iter()
            .map(|row| (row.number(), row.times().0))
            .collect();
        for at in [0, times[0].1, times[50].1, times[99].1, times[99].1 + 1] {
            let first = times.iter().find(|(_, time)| *time >= at).map_or(101, |(number, _)| *number);
            let found = first_since(&feed, at, 1).expect("reads");
            assert!(found <= first && first - found <= 1, "{at}: {found}, {first}");
        }
    }
}
