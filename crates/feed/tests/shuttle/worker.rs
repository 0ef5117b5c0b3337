//! Workers: the real ones, by hand, taken from the lanes without waiting; or with steps in a wrong order.

use std::sync::Arc;

use config::Config;
use feed::backlog::Backlog;
use feed::streaming::Streaming;
use feed::worker::ByHand;
use model::store::{Delivery, Store, Then};
use model::{Job, Lane, Work};

use crate::world::Wrong;

#[derive(Debug)]
pub(crate) struct Worker {
    store: Arc<dyn Store>,
    backlog: Arc<Backlog>,
    inbox_limit: usize,
    by_hand: ByHand,
    wrong: Wrong,
}

impl Worker {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        backlog: Arc<Backlog>,
        streaming: Arc<Streaming>,
        config: Config,
        wrong: Wrong,
    ) -> Self {
        let inbox_limit = config.timeline.inbox_limit;
        let by_hand = ByHand::new(Arc::clone(&store), Arc::clone(&backlog), streaming, config);
        Self { store, backlog, inbox_limit, by_hand, wrong }
    }

    /// Does jobs until none is left and `is_over`.
    pub(crate) fn run(&self, is_over: impl Fn() -> bool) {
        loop {
            if self.by_hand.go_on() {
                continue;
            } else if let Ok(lane) = self.backlog.lanes().ready().try_recv() {
                self.run_lane(lane);
            } else if is_over() && self.backlog.is_empty() {
                return;
            } else {
                shuttle::thread::yield_now();
            }
        }
    }

    fn run_lane(&self, lane: Lane) {
        let job = self.backlog.lanes().first(lane);
        if !job.is_some_and(|job| self.is_done_wrongly(&job)) {
            self.by_hand.run_lane(lane);
        }
    }

    fn is_done_wrongly(&self, job: &Job) -> bool {
        match (job.work, self.wrong) {
            (Work::FanOut { entry }, Wrong::FinishBeforeDeliver) => {
                self.backlog.finish(job);
                let recipients = self.store.followers_after(entry.source, None, usize::MAX).expect("followers");
                let delivery = Delivery { job: job.id, entry, recipients: &recipients, then: Then::End };
                self.store.deliver(&delivery).expect("a delivery");
            }
            (Work::Settle { user, source }, Wrong::FinishBeforeSettle) => {
                self.backlog.finish(job);
                self.store.settle(job.id, user, source, self.inbox_limit).expect("a settle");
            }
            (Work::Rebuild { user }, Wrong::RebuildWithoutEntries) => {
                self.store.rebuild(job.id, user, &[], 0).expect("a rebuild");
                self.backlog.finish(job);
            }
            _ => return false,
        }
        true
    }
}
