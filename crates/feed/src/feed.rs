//! The service: a core, and the way of changes to the thread that makes them.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use crate::core::Core;
use crate::inbox::backlog::Backlog;
use crate::store::Store;
use crate::streaming::Streaming;
use crate::writer::command::{Change, Command, Made, OnDone, Outcome, no_outcome, of_its_type};
use crate::writer::thread::Writer;
use config::Config;
use model::error::Result;
use model::figures;
use model::metrics::Page;

/// The way of commands through a log that several servers apply.
pub trait Propose: fmt::Debug + Send + Sync {
    /// Appends commands to the log, in their order, and returns the outcome of each once this server has applied it and the
    /// log keeps it.
    fn propose(&self, commands: Vec<Command>) -> Vec<Result<Box<dyn Outcome>>>;
}

/// The service, for HTTP and for commands.
#[derive(Debug)]
pub struct Feed {
    writer: Writer,
    core: Core,
    /// Takes changes to the command log, on a node of a cluster.
    proposer: OnceLock<Arc<dyn Propose>>,
}

impl Deref for Feed {
    type Target = Core;

    fn deref(&self) -> &Core {
        &self.core
    }
}

impl Feed {
    /// A feed over a store and its backlog, which must have been filled from the store's jobs. Its log of events
    /// continues that of the store.
    pub fn new(store: Arc<Store>, backlog: Arc<Backlog>, streaming: Arc<Streaming>, config: &Config) -> Result<Self> {
        let core = Core::new(store, backlog, streaming, config)?;
        // On a node, the thread that applies the log makes the changes.
        let is_node = config.cluster.is_on();
        let writer = if is_node { Writer::default() } else { Writer::start(core.for_changes())? };
        Ok(Self { core, writer, proposer: OnceLock::new() })
    }

    /// Writes the figures of jobs, streams, reads, memory and changes to a page; of changes not those of a command log.
    pub fn write_figures(&self, page: &mut Page) {
        self.backlog().write_figures(page);
        self.streaming().streams().write_figures(page);
        self.writer.write_figures(page);
        self.store().memory.write_figures(page);
        figures! { page =>
            /// Items published, comments included.
            tideline_published_items_total = &self.figures().published;
            /// Outboxes that a read of a home timeline looked into.
            tideline_timeline_read_pulls = &self.figures().pulls;
        }
    }

    /// How many requests were refused because a limit was reached, by the limit.
    pub fn refused(&self) -> [(&'static str, u64); 4] {
        [
            ("jobs", self.backlog().usage().refused),
            ("writer", self.writer.refused()),
            ("streams_of_user", self.streaming().streams().refused.get()),
            ("times", self.figures().times_refused.load(Ordering::Relaxed)),
        ]
    }

    /// From now on [`Feed::submit`] proposes changes here, and the caller makes them in the order of the log, on one thread. To
    /// be called once, before the first change.
    #[inline]
    pub fn propose_to(&self, proposer: Arc<dyn Propose>) {
        // A second one would be a fault of the caller; the first stays.
        let _ = self.proposer.set(proposer);
        self.become_node();
    }

    /// Makes a change, and returns when it is durable and visible to every read.
    pub fn submit<C: Change>(&self, change: C) -> Result<C::Outcome> {
        self.submit_each([change])?.pop().ok_or_else(no_outcome)?
    }

    /// Makes changes in their order, each as [`Feed::submit`] does. Returns the result of each; an error if none is made.
    pub(crate) fn submit_each<C: Change>(
        &self,
        changes: impl IntoIterator<Item = C>,
    ) -> Result<Vec<Result<C::Outcome>>> {
        let is_node = self.proposer.get().is_some();
        let warmed = |change: C| {
            // The change itself tells what is wrong.
            let _ = (!is_node).then(|| change.warm(self.read()));
            change.into()
        };
        let made = self.make(changes.into_iter().map(warmed).collect())?;
        Ok(made.into_iter().map(|outcome| of_its_type::<C>(outcome?)).collect())
    }

    /// Makes commands in their order. Returns the outcome of each; an error if none is made.
    pub(crate) fn make(&self, commands: Vec<Command>) -> Result<Vec<Made>> {
        let proposer = self.proposer.get();
        let waits = commands.iter().any(Command::waits);
        // In the log there is no way back, so a server without room for all of them refuses, or waits, before. Without a log an
        // import alone waits here: the thread that makes changes waits for nothing.
        if waits || proposer.is_some() {
            let jobs = commands.iter().map(Command::jobs).sum();
            drop(if waits { self.backlog.reserve_waiting(jobs) } else { self.backlog.reserve(jobs)? });
        }
        match proposer {
            Some(proposer) => Ok(proposer.propose(commands)),
            None => self.writer.make(commands),
        }
    }

    /// Makes a change without blocking. Calls `told` with the result, on the thread that makes changes. Fails with
    /// `overloaded` if too many wait. Not for nodes. Call [`Change::warm`] first.
    pub fn ask<C: Change>(&self, change: C, told: OnDone<C::Outcome>) -> Result<()> {
        self.writer.ask(change.into(), Box::new(|made| told(made.and_then(of_its_type::<C>))))
    }
}
