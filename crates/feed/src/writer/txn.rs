//! The target of changes: the state before them, and the steps after their write.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::core::Core;
use crate::inbox::backlog::JobReservation;
use crate::items::tables::Push;
use crate::rows::keys::KeyId;
use crate::rows::table::{AnyTable, Table};
use crate::store::Store;
use crate::streaming::{ChangeTime, ShownChange};
use crate::{events, restrictions, timeline, writer};
use kv::Tier;
use model::error::Result;
use model::versions::Thing;
use model::{Effect, Event, Millis, Position, UserId};

/// A list, ordered by time: a table, and the owner of a partition of it, with a kind of reactions if it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct EntryList {
    pub(super) table: AnyTable,
    pub(super) owner: u64,
    pub(super) kind: Option<u8>,
}

impl EntryList {
    /// The list of an owner.
    pub(crate) fn of<P: KeyId, I>(table: Table<(P, Position<I>), ()>, owner: P) -> Self {
        Self { table: table.spec, owner: owner.into(), kind: None }
    }

    /// The list of an owner and a kind.
    pub(crate) fn of_kind<P: KeyId, I>(table: Table<(P, u8, Position<I>), ()>, owner: P, kind: u8) -> Self {
        Self { table: table.spec, owner: owner.into(), kind: Some(kind) }
    }
}

/// The state and the time for some changes, and the rest of them: all that comes once their rows are written.
pub struct Txn<'f> {
    /// The service; its store has the rows of the changes before.
    pub feed: &'f Core,
    /// The time of the changes.
    pub at: ChangeTime,
    /// Steps that come once the rows are written. Without that they are dropped, with the guards that they hold.
    rest: Vec<Box<dyn FnOnce() + 'f>>,
    /// Their events, ascending.
    events: Vec<Event>,
    /// Steps that come once the events are in the log.
    last: Vec<Box<dyn FnOnce() + 'f>>,
    /// Further things that they concern.
    things: Vec<Thing>,
    /// The rows that others see.
    pub(crate) written: Arc<Store>,
    /// The times of the newest entries of lists there, as far as they were looked up.
    pub(crate) newest_entries: HashMap<EntryList, Option<Millis>>,
}

impl fmt::Debug for Txn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Txn").field("at", &self.at).field("rest", &self.rest.len()).finish_non_exhaustive()
    }
}

impl<'f> Txn<'f> {
    /// Without changes.
    pub(crate) fn new(feed: &'f Core, at: ChangeTime) -> Self {
        let written = Arc::clone(&feed.store).written();
        let (rest, events, last, things) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { feed, at, rest, events, last, things, written, newest_entries: HashMap::new() }
    }

    /// How many steps, events, last steps and things there are.
    pub(crate) fn len(&self) -> [usize; 4] {
        [self.rest.len(), self.events.len(), self.last.len(), self.things.len()]
    }

    /// Takes back those of a change that is refused.
    pub(crate) fn take_back(&mut self, [steps, events, last, things]: [usize; 4]) {
        self.events.truncate(events);
        self.last.truncate(last);
        self.things.truncate(things);
        self.rest.truncate(steps);
    }

    /// Lets the event of a change come into the log, after all steps but the last ones.
    pub(crate) fn log(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Adds a step that comes once the events are in the log.
    pub(crate) fn once_logged(&mut self, step: impl FnOnce() + 'f) {
        self.last.push(Box::new(step));
    }

    /// Writes the effects of a change, with the numbers that come next.
    pub(crate) fn log_effects(&self, effects: Vec<Effect>) -> Result<()> {
        if effects.is_empty() {
            return Ok(());
        }
        // Nodes that keep no changes give the same numbers.
        let rows = self.feed.streaming.sequencer().number(effects);
        if self.feed.config.changes.keep.as_millis() > 0 {
            events::tables::log_effects(&self.feed.store, &rows)
        } else {
            Ok(())
        }
    }

    /// Notes things that the change concerns beside those that its rows tell: reads of them that are under way when the rows are
    /// written read again.
    pub(crate) fn concerns(&mut self, things: impl IntoIterator<Item = Thing>) {
        self.things.extend(things);
    }

    /// Notes a change of the sources of readers that adds or removes the authors beside each. Once the rows are written, the
    /// cached list of each is dropped, and then the reader's streams get the change.
    pub(crate) fn change_sources(&mut self, readers: impl IntoIterator<Item = (UserId, Vec<UserId>)>) {
        let feed = self.feed;
        for (reader, authors) in readers {
            self.concerns([Thing::Sources(reader)]);
            let changing = feed.followees.change(reader);
            self.once_written(move || {
                drop(changing);
                tell_streams(feed, reader, authors);
            });
        }
    }

    /// Adds a step that comes once the rows are written.
    pub(crate) fn once_written(&mut self, step: impl FnOnce() + 'f) {
        self.rest.push(Box::new(step));
    }

    /// Whether the change of an import has changed something. The time that it has given, in a field of this name, must not be
    /// ahead then: `time_ahead`.
    pub(crate) fn imported(&self, name: &str, since: Option<Millis>) -> Result<bool> {
        let is_changed = self.feed.store.has_changed();
        match since.filter(|_| is_changed) {
            Some(since) => writer::not_ahead(self.feed, name, since, self.at).map(|()| true),
            None => Ok(is_changed),
        }
    }

    /// Room for settle jobs of a change; `overloaded` if there is none. A change from a command log is made everywhere,
    /// so it waits instead.
    pub(crate) fn room(&self, jobs: usize) -> Result<JobReservation<'f>> {
        match self.at {
            ChangeTime::Clock => self.feed.backlog.reserve(jobs),
            ChangeTime::Log { .. } => Ok(self.feed.backlog.reserve_waiting(jobs)),
        }
    }

    /// Room for settle jobs of an import, which has waited for it.
    pub(crate) fn room_of_import(&self, jobs: usize) -> JobReservation<'f> {
        match self.at {
            ChangeTime::Clock => self.feed.backlog.reserve_in_any_case(jobs),
            ChangeTime::Log { .. } => self.feed.backlog.reserve_waiting(jobs),
        }
    }

    /// Room for the fan-outs of items that become live; `overloaded` if there is none. Items from a command log are
    /// live everywhere, so without room they are left out of the fan-out, and reads take them from the outbox.
    pub(crate) fn room_to_push(&self, items: usize) -> Result<(JobReservation<'f>, Push)> {
        let backlog = &self.feed.backlog;
        match self.at {
            ChangeTime::Clock => Ok((backlog.reserve(items)?, Push::Queued)),
            ChangeTime::Log { .. } => Ok(match backlog.reserve_or_leave_out(items) {
                Some(room) => (room, Push::Queued),
                None => (backlog.reserve_in_any_case(0), Push::LeftOut),
            }),
        }
    }

    /// Writes the rows; then the steps come in order. If it fails, they are dropped.
    pub(crate) fn commit(mut self) -> Result<()> {
        let (feed, sequencer) = (self.feed, self.feed.streaming.sequencer());
        let _changing = feed.versions.change(self.things.into_iter().chain(feed.store.things()));
        sequencer.write_group(self.events);
        let written = feed.store.write_group();
        if written.is_err() {
            self.rest.clear();
            self.last.clear();
        }
        self.rest.into_iter().for_each(|step| step());
        sequencer.end_group(written.is_ok());
        self.last.into_iter().for_each(|step| step());
        written
    }
}

/// Tells the streams of a user which of these authors the user is shown now.
fn tell_streams(feed: &Core, user: UserId, mut authors: Vec<UserId>) {
    let (streams, store) = (feed.streaming.streams(), &feed.store);
    // A first stream that is opened later reads the list later, too.
    if !streams.is_open(user) {
        return;
    }
    // With `include_own` users always see their own items.
    authors.retain(|author| *author != user);
    let pairs: Vec<_> = authors.iter().map(|author| (user, *author)).collect();
    let shown = timeline::tables::authors_among(store, user, &authors, Tier::Disk);
    match shown.and_then(|shown| Ok((shown, restrictions::tables::silences(store, &pairs, Tier::Disk)?))) {
        Ok((shown, silences)) => {
            let change = |(source, is_silenced): (&UserId, bool)| ShownChange {
                source: *source,
                is_shown: shown.has(*source),
                rule: shown.rule(*source),
                is_silenced,
            };
            streams.change(user, &authors.iter().zip(silences).map(change).collect::<Vec<_>>());
        }
        Err(error) => {
            tracing::warn!(%error, %user,
                "the authors shown to a user could not be read; the streams of the user are closed");
            streams.end(user);
        }
    }
}
