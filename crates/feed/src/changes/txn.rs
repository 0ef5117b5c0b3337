//! The target of changes: the state before them, and the steps after their write.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::Feed;
use crate::streaming::ChangeTime;
use crate::timeline::lists::EntryList;
use model::error::Result;
use model::versions::Thing;
use model::{Content, Effect, Event, Millis, UserId};
use store::Store;

/// The state and the time for some changes, and the rest of them: all that comes once their rows are written.
pub struct Txn<'f> {
    /// The service; its store has the rows of the changes before.
    pub feed: &'f Feed,
    /// The time of the changes.
    pub at: ChangeTime,
    rest: Vec<Box<dyn FnOnce(bool) + 'f>>,
    /// The things that the rows concern.
    things: Vec<Thing>,
    /// The rows that others see.
    pub(super) written: Arc<Store>,
    /// The times of the newest entries of lists there, as far as they were looked up.
    pub(super) newest_entries: HashMap<EntryList, Option<Millis>>,
}

impl fmt::Debug for Txn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Txn").field("at", &self.at).field("rest", &self.rest.len()).finish_non_exhaustive()
    }
}

impl<'f> Txn<'f> {
    /// Without changes.
    pub(crate) fn new(feed: &'f Feed, at: ChangeTime) -> Self {
        let written = Arc::clone(&feed.store).written();
        Self { feed, at, rest: Vec::new(), things: Vec::new(), written, newest_entries: HashMap::new() }
    }

    /// How many steps, things and events there are.
    pub(crate) fn len(&self) -> [usize; 3] {
        [self.rest.len(), self.things.len(), self.feed.streaming.sequencer().unlogged()]
    }

    /// Takes back the steps, things and events of a change that is refused.
    pub(crate) fn take_back(&mut self, [steps, things, events]: [usize; 3]) {
        self.feed.streaming.sequencer().forget(events);
        self.things.truncate(things);
        self.rest.drain(steps..).for_each(|step| step(false));
    }

    /// Lets the event of a change come into the log at this step.
    pub(crate) fn log(&mut self, event: Event) {
        let (sequencer, number) = (self.feed.streaming.sequencer(), event.number);
        sequencer.add(event);
        self.once_written(move || sequencer.log(number));
    }

    /// Writes the effects of a change, with the numbers that come next.
    pub(super) fn log_effects(&self, effects: Vec<Effect>) -> Result<()> {
        if effects.is_empty() {
            return Ok(());
        }
        // Nodes that keep no changes give the same numbers.
        let rows = self.feed.streaming.sequencer().number(effects);
        if self.feed.config.changes.keep.as_millis() > 0 { self.feed.store.log_effects(&rows) } else { Ok(()) }
    }

    /// Notes things that the rows concern: reads of them that are under way when the rows are written read again.
    pub(crate) fn concerns(&mut self, things: impl IntoIterator<Item = Thing>) {
        self.things.extend(things);
    }

    /// Notes items that come or go, or whose paths change. They concern the readers of all their paths, and the counts of the
    /// items at which they point.
    pub(crate) fn concerns_items<'c>(&mut self, items: impl IntoIterator<Item = &'c Content>) {
        for item in items {
            self.concerns([item.author].iter().chain(&item.to).map(|source| Thing::User(*source)));
            self.concerns(item.ref_id.map(Thing::Item));
        }
    }

    /// Begins a change of the sources of readers that adds or removes the authors beside each. It ends once the rows are
    /// written, or have failed.
    pub(crate) fn change_sources(&mut self, readers: impl IntoIterator<Item = (UserId, Vec<UserId>)>) {
        let readers: Vec<_> = readers.into_iter().collect();
        self.concerns(readers.iter().map(|(reader, _)| Thing::Sources(*reader)));
        self.keep(self.feed.followees.change(&self.feed.store, readers));
    }

    /// Adds a step that comes once the rows are written.
    pub(crate) fn once_written(&mut self, step: impl FnOnce() + 'f) {
        self.rest.push(Box::new(move |is_written| {
            if is_written {
                step();
            }
        }));
    }

    /// Keeps a guard until the rows are written, or have failed.
    pub(crate) fn keep(&mut self, guard: impl Sized + 'f) {
        self.rest.push(Box::new(move |_| drop(guard)));
    }

    /// Writes the rows; then the steps come in order. If it fails, they are taken back.
    pub(crate) fn write(mut self) -> Result<()> {
        let (feed, things) = (self.feed, std::mem::take(&mut self.things));
        let _changing = feed.versions.change(things);
        let written = feed.store.write_group();
        match written.is_ok() {
            true => self.rest.into_iter().for_each(|step| step(true)),
            false => self.take_back([0; 3]),
        }
        feed.streaming.sequencer().end_group(written.is_ok());
        written
    }
}
