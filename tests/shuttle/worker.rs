//! Workers: the real fan-out, settle and rebuild, taken from the lanes without waiting.

use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::backlog::Backlog;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::model::{Job, LANES, Lane, UserId, Work};
use crate::store::{Delivery, Store, Then};
use crate::streaming::Streaming;
use crate::world::Wrong;

#[path = "../../src/worker/fan_out.rs"]
#[allow(dead_code, unused_imports)]
mod fan_out;
#[path = "../../src/worker/online.rs"]
mod online;
#[path = "../../src/worker/settle.rs"]
mod settle;

/// The module that the sources name `super::evict`.
mod evict {
    use crate::error::Result;
    use crate::model::{Millis, UserId};
    use crate::store::Store;

    /// Only the node of a cluster evicts here.
    pub(super) fn evict(store: &dyn Store, user: UserId, seen_before: Millis) -> Result<bool> {
        store.evict(user, seen_before, None)
    }
}

/// The module that the sources name `super::retry`.
mod retry {
    use crate::error::Result;

    /// A panic fails the test.
    pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
        work()
    }
}

/// The type of `tally` in the sources.
#[derive(Debug)]
struct Tally;

impl Tally {
    fn chunk(&self, _: usize) {}
    fn settle(&self, _: usize) {}
}

use fan_out::FanOut;

/// The type that the sources name `super::Context`.
#[derive(Debug)]
pub(crate) struct Context {
    store: Arc<dyn Store>,
    backlog: Arc<Backlog>,
    streaming: Arc<Streaming>,
    config: Config,
    help: Sender<Arc<FanOut>>,
    wanted: Receiver<Arc<FanOut>>,
    tally: Tally,
    wrong: Wrong,
}

impl Context {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        backlog: Arc<Backlog>,
        streaming: Arc<Streaming>,
        config: Config,
        wrong: Wrong,
    ) -> Self {
        let (help, wanted) = bounded(usize::from(LANES));
        Self { store, backlog, streaming, config, help, wanted, tally: Tally, wrong }
    }

    fn keeps_inbox_of(&self, _: UserId) -> bool {
        true
    }

    /// Does jobs until none is left and `is_over`.
    pub(crate) fn run(&self, is_over: impl Fn() -> bool) {
        let (_running, stopped) = bounded(0);
        loop {
            if let Ok(fan_out) = self.wanted.try_recv() {
                self.go_on(&fan_out, &stopped);
            } else if let Ok(lane) = self.backlog.lanes().ready().try_recv() {
                self.run_lane(lane, &stopped);
            } else if is_over() && self.backlog.is_empty() {
                return;
            } else {
                shuttle::thread::yield_now();
            }
        }
    }

    fn run_lane(&self, lane: Lane, stopped: &Receiver<()>) {
        let Some(job) = self.backlog.lanes().first(lane) else { return };
        let done = match (job.work, self.wrong) {
            (Work::FanOut { entry }, Wrong::FinishBeforeDeliver) => {
                self.backlog.finish(&job);
                let recipients = self.store.followers_after(entry.author, None, usize::MAX).expect("followers");
                let delivery = Delivery { job: job.id, entry, recipients: &recipients, then: Then::End };
                return self.store.deliver(&delivery).expect("a delivery");
            }
            (Work::Settle { user, author }, Wrong::FinishBeforeSettle) => {
                self.backlog.finish(&job);
                self.store.settle(job.id, user, author, self.config.timeline.inbox_limit).expect("a settle");
                return;
            }
            (Work::Rebuild { user }, Wrong::RebuildWithoutEntries) => {
                self.store.rebuild(job.id, user, &[], 0).map(drop)
            }
            (Work::FanOut { entry }, _) => match self.begin_fan_out(&job, entry) {
                Ok(fan_out) => return self.fan_out(&Arc::new(fan_out), stopped),
                Err(error) => Err(error),
            },
            (Work::Settle { user, author }, _) => self.settle(&job, user, author),
            (Work::Rebuild { user }, _) => self.rebuild(&job, user),
        };
        self.close(&job, done);
    }

    fn close(&self, job: &Job, done: Result<()>) {
        done.expect("a job");
        self.backlog.finish(job);
    }

    fn failed(&self, job: &Job, error: &Error) {
        panic!("{job:?} failed: {error}");
    }
}
