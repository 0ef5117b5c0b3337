//! Maintains the log of events on disk.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::Feed;
use crate::events::changes::Histories;
use crate::streaming::{Kind, NewestRows, Sequencer, Streaming};
use model::Millis;
use model::clock::now;
use model::error::{Error, Result};
use model::store::{EVENTS_FROM, MARK};
use model::sync::Mutex;
use model::sync::atomic::{AtomicU64, Ordering};
use store::Store;

/// Numbers whose events are kept on disk for streams, those in memory included; some 60 bytes each.
const KEPT: u64 = 1_000_000;
/// The number of the first change of all.
pub(crate) const FIRST: u64 = 1;
/// Events that are removed at once.
const STEP: u64 = 1 << 16;
/// Most rows that a start reads for the events in memory.
const LOOKED_AT: usize = 1 << 19;
/// Numbers after which it is looked for some again.
const LOOK_EVERY: u64 = 1 << 12;

/// The state of the log on disk.
#[derive(Debug)]
pub(crate) struct OnDisk {
    /// Events below this number are removed, or about to be, or not sent any more.
    trimmed: AtomicU64,
    /// Those below this number are removed, or about to be.
    removed: AtomicU64,
    /// The end of the log at which it is next looked for some to remove.
    look_at: AtomicU64,
    pub(super) histories: Mutex<Histories>,
}

impl OnDisk {
    /// Lets the sequencer continue after the events on disk, or after a gap if some may be lost.
    pub(crate) fn open(store: &Arc<Store>, streaming: &Streaming, keeps_changes: bool) -> Result<Self> {
        let note = store.note(EVENTS_FROM)?.unwrap_or_default();
        let first = note.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        streaming.sequencer().restore(newest_rows(store, first)?);
        // A node applies again what it has lost, under the same numbers.
        let is_node = store.note(MARK)?.is_some();
        let gap = (store.is_set_back() && !is_node).then(|| streaming.sequencer().break_off());
        if gap.is_some() {
            tracing::warn!(
                "changes that were sent to streams may be lost: the machine lost power, or the data directory is a \
                 copy, is damaged, or was used by an earlier version. Clients that resume a stream get a reset"
            );
        }
        let end = streaming.sequencer().end();
        let histories = Mutex::new(Histories::open(store, end, (gap.is_some(), keeps_changes))?);
        let gap_number = gap.as_ref().map(|gap| gap.number);
        store.begin_run(gap)?;
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

/// The newest rows of a log, of which those below `first` were removed; `None` of an empty log.
fn newest_rows(store: &Store, first: u64) -> Result<Option<NewestRows>> {
    let (mut events, mut newest, mut from, mut rows) = (Vec::new(), None, 0, 0);
    store.newest_logged(&mut |row| {
        newest.get_or_insert_with(|| row.replaced_by(Kind::Mark));
        (from, rows) = (row.number(), rows + 1);
        events.extend(row.event());
        match events.len() < Sequencer::KEPT && rows < LOOKED_AT {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })?;
    events.reverse();
    if first == 0 && events.len() < Sequencer::KEPT && rows < LOOKED_AT {
        // There were never others.
        from = 0;
    }
    Ok(newest.map(|last| NewestRows { events, last, from }))
}

impl OnDisk {
    /// The number from which on all events and effects are kept.
    pub(crate) fn first(&self) -> u64 {
        self.trimmed.load(Ordering::SeqCst)
    }

    /// Whether changes from this number on may be gone.
    pub(crate) fn is_removed(&self, from: u64) -> bool {
        from < self.removed.load(Ordering::SeqCst)
    }

    /// Removes what is below this number, in memory first, because concurrent readers check it.
    fn remove_below(&self, number: u64) {
        self.trimmed.store(number, Ordering::SeqCst);
        self.removed.store(number, Ordering::SeqCst);
    }
}

impl Feed {
    /// Checks the clock, and removes the oldest events once there are clearly more than are kept, and ends old notices. To
    /// be called regularly; cheap if there is nothing to do.
    pub fn tend_events(&self) -> Result<()> {
        self.end_notices();
        self.events_on_disk.histories.lock().save(&self.store)?;
        // It warns of a clock that is behind.
        let now = now();
        let end = self.streaming.sequencer().end();
        let look_at = &self.events_on_disk.look_at;
        if end < look_at.load(Ordering::SeqCst) {
            return Ok(());
        }
        look_at.store(end + LOOK_EVERY, Ordering::SeqCst);
        self.trim_changes(now, KEPT, STEP)
    }

    /// Keeps the changes of `changes.keep` before a time, but at most `changes.limit`, and at least the newest `least`
    /// numbers; if there are at least `step` more.
    fn trim_changes(&self, now: Millis, least: u64, step: u64) -> Result<()> {
        let changes = &self.config.changes;
        let since = self.first_since(now.saturating_sub(changes.keep.as_millis()), step)?;
        let kept = self.streaming.sequencer().end().saturating_sub(since);
        self.trim_events(kept.min(changes.limit).max(least), step)
    }

    /// About the first number whose change has this time or a later one, and none above that; by `step` less at most. Looks
    /// only at a few.
    pub(crate) fn first_since(&self, time: Millis, step: u64) -> Result<u64> {
        let (first, end) = (self.events_on_disk.first(), self.streaming.sequencer().end());
        let time_at = |number| -> Result<_> {
            let row = self.store.logged(number, 1)?.pop().map(|row| (row.number(), row.times().0));
            Ok(row.filter(|(number, _)| *number < end))
        };
        // Invariant: all changes below `low` are older, and the first one at `high` or above is not.
        let (mut low, mut high) = (first, end);
        if time_at(low)?.is_none_or(|(_, at)| at >= time) {
            return Ok(low);
        }
        while high - low > step {
            let middle = low + (high - low) / 2;
            match time_at(middle)? {
                Some((number, at)) if at < time => low = number,
                _ => high = middle,
            }
        }
        Ok(low)
    }

    /// Lets times go on from the clock if they are far ahead of it, because a clock was wrong once; returns by how much they
    /// were, milliseconds. Streams that are resumed get a reset. No change may be under way, and the store must not be
    /// that of a node: all nodes give the same times.
    pub fn reset_time(&self) -> Result<Option<Millis>> {
        if self.store.note(MARK)?.is_some() {
            return Err(Error::Setup(
                "this directory is that of a node of a cluster, whose times are those of the command log".to_owned(),
            ));
        }
        let sequencer = self.streaming.sequencer();
        let Some(ahead) = sequencer.set_back(now()) else { return Ok(None) };
        let gap = sequencer.break_off();
        let number = gap.number;
        self.store.begin_run(Some(gap))?;
        if self.store.logged(number, 1)?.is_empty() {
            return Err(Error::Setup("the storage takes no changes, so the times stay as they were".to_owned()));
        }
        // The events before it have the wrong times.
        self.events_on_disk.remove_below(number);
        self.store.trim_events(number)?;
        let mut histories = self.events_on_disk.histories.lock();
        histories.begin(None, number);
        histories.save(&self.store)?;
        self.store.sync()?;
        Ok(Some(ahead))
    }

    /// Keeps the newest `kept` numbers, if there are at least `step` more.
    pub fn trim_events(&self, kept: u64, step: u64) -> Result<()> {
        let first = self.events_on_disk.trimmed.load(Ordering::SeqCst);
        let keep_from = self.streaming.sequencer().end().saturating_sub(kept);
        if keep_from < first.saturating_add(step) {
            return Ok(());
        }
        // An erasure changes such rows.
        let _still = self.streaming.hold_changes();
        self.events_on_disk.remove_below(keep_from);
        self.store.trim_events(keep_from)
    }

    /// Whether events from this number on may be gone from the disk.
    pub(crate) fn is_trimmed(&self, from: u64) -> bool {
        from < self.events_on_disk.trimmed.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backlog::Backlog;
    use crate::events::changes::ChangesAfter;
    use config::{Config, Duration};
    use model::HostId;
    use store::Store;

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
            feed.relate(HostId::Number(user), vec![(HostId::Number(user + 1), None)], vec![]).expect("follows");
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
        let begin = feed.read().changes(ChangesAfter::Newest, 9, &[]).expect("reads").end;
        feed.delete(HostId::Number(5)).expect_err("there is no such item");
        feed.set_suspension(HostId::Number(7), true).expect("changes");
        let told = |feed: &Feed| feed.read().changes(ChangesAfter::Position(begin), 9, &[]).map(|page| page.changes);
        let changes = told(&feed).expect("reads");
        drop(feed);
        let feed = open();
        assert_eq!((told(&feed).expect("reads"), changes.len()), (changes, 1));
        feed.trim_events(0, 1).expect("trims");
        drop(feed);
        assert_eq!(told(&open()).expect_err("they are gone").code(), Some(model::error::Code::ChangesGone));
    }

    fn kept(feed: &Feed) -> usize {
        feed.store.logged(0, usize::MAX).expect("reads").len()
    }

    #[test]
    fn changes_leave_by_age_and_by_number_but_never_those_that_streams_need() {
        let later = |feed: &Feed| now() + feed.config.changes.keep.as_millis() + 1;
        let all = feed(100, 1 << 40);
        all.trim_changes(now(), 10, 5).expect("trims");
        assert_eq!(kept(&all), 100, "all are young");
        all.trim_changes(later(&all), 10, 5).expect("trims");
        assert_eq!(kept(&all), 10, "all are old");
        assert_eq!(all.events_on_disk.first(), 91);
        let half = feed(100, 50);
        half.trim_changes(now(), 10, 5).expect("trims");
        assert_eq!(kept(&half), 50);
        half.trim_changes(now(), 10, 51).expect("trims");
        assert_eq!(kept(&half), 50, "too few more");
    }

    #[test]
    fn the_feed_of_changes_begins_with_the_oldest_one_that_is_young_enough() {
        let feed = feed_that_keeps(100, 1 << 40, Duration::from_millis(300));
        let told = || {
            let page = feed.read().changes(ChangesAfter::Oldest, 1000, &[]).expect("reads");
            page.changes.iter().map(|changed| changed.effect.user.get()).collect::<Vec<_>>()
        };
        std::thread::sleep(std::time::Duration::from_millis(350));
        assert_eq!(told(), [] as [u64; 0]);
        feed.relate(HostId::Number(7), vec![(HostId::Number(9), None)], vec![]).expect("follows");
        // Not on a machine that stands still for so long.
        assert!([vec![7], vec![]].contains(&told()));
    }

    #[test]
    fn the_place_of_a_time_is_found() {
        let feed = feed(100, 1 << 40);
        let times: Vec<_> =
            feed.store.logged(0, 100).expect("reads").iter().map(|row| (row.number(), row.times().0)).collect();
        for at in [0, times[0].1, times[50].1, times[99].1, times[99].1 + 1] {
            let first = times.iter().find(|(_, time)| *time >= at).map_or(101, |(number, _)| *number);
            let found = feed.first_since(at, 1).expect("reads");
            assert!(found <= first && first - found <= 1, "{at}: {found}, {first}");
        }
    }
}
