//! The work of workers, step by step, for threads of a test.

use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::fan_out::FanOut;
use super::{Candidates, Context};
use crate::backlog::Backlog;
use crate::streaming::Streaming;
use config::Config;
use model::store::Store;
use model::{LANES, Lane};

/// The work of workers, without their threads and without their waits.
#[derive(Debug)]
pub struct ByHand {
    context: Context,
    large: Receiver<Arc<FanOut>>,
    /// Workers stop when it is dropped.
    _running: Sender<()>,
    stopped: Receiver<()>,
}

impl ByHand {
    /// Work on this store and backlog.
    pub fn new(store: Arc<dyn Store>, backlog: Arc<Backlog>, streaming: Arc<Streaming>, config: Config) -> Self {
        let (help, large) = bounded(usize::from(LANES));
        let (running, stopped) = bounded(0);
        let members = config.cluster.members();
        let (candidates, tally) = (Candidates::default(), Arc::default());
        let context = Context { store, backlog, streaming, config, members, help, candidates, tally };
        Self { context, large, _running: running, stopped }
    }

    /// Does the first job of a lane, or a part of it.
    ///
    /// # Panics
    ///
    /// If the job fails.
    pub fn run_lane(&self, lane: Lane) {
        self.context.run_lane(lane, &self.stopped);
        self.check();
    }

    /// Goes on with a large fan-out. Whether there was one.
    ///
    /// # Panics
    ///
    /// If the fan-out fails.
    pub fn go_on(&self) -> bool {
        let Ok(fan_out) = self.large.try_recv() else { return false };
        self.context.go_on(&fan_out, &self.stopped);
        self.check();
        true
    }

    fn check(&self) {
        assert_eq!(self.context.tally.failures.get(), 0, "a job failed");
    }
}
