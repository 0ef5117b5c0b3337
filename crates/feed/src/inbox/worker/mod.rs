//! The workers: threads that do the jobs of the backlog.
//!
//! Each takes a lane, does its first job and gives the lane back. All free workers share the chunks of a fan-out. See
//! `turns.rs` for whose turn it is.

mod arrivals;
mod evict;
mod fan_out;
mod online;
mod retry;
mod settle;
mod trim;
mod turns;
mod usage;

use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};

use self::fan_out::FanOut;
use self::retry::guarded;
use crate::inbox::backlog::Backlog;
use crate::store::Store;
use crate::streaming::Streaming;
use config::Config;
use model::error::Result;
use model::failpoint;
use model::failpoint::Failpoint;
use model::threads::Threads;
use model::{Job, LANES, Lane, Members, UserId, Work};

pub use evict::evict_others;
pub(crate) use trim::purge_item;
pub use trim::{Candidate, Candidates, slack, topic_room};
pub use usage::Figures;

/// The state shared by all workers.
#[derive(Debug)]
struct Context {
    store: Arc<Store>,
    backlog: Arc<Backlog>,
    streaming: Arc<Streaming>,
    config: Config,
    /// The members of the cluster, on a node of one.
    members: Option<Members>,
    /// Fan-outs with more chunks to take, each once.
    help: Sender<Arc<FanOut>>,
    candidates: Candidates,
    tally: Arc<usage::Tally>,
}

/// Work beside that of the workers, until they stop.
type Task = fn(&Context, &Receiver<()>);

/// Running workers.
#[derive(Debug)]
pub struct Workers {
    _threads: Threads,
    figures: Figures,
}

impl Workers {
    /// Starts the threads. The store names lists to trim in `candidates`.
    pub fn start(
        store: Arc<Store>,
        backlog: Arc<Backlog>,
        streaming: Arc<Streaming>,
        config: &Config,
        candidates: Candidates,
    ) -> Result<Self> {
        let (many, mut threads) = (config.fanout.threads(), Threads::default());
        let (help, wanted) = bounded(usize::from(LANES));
        let figures = Figures { candidates: candidates.clone(), ..Figures::default() };
        let tally = Arc::clone(&figures.tally);
        let members = config.cluster.members();
        let config = config.clone();
        let context = Arc::new(Context { store, backlog, streaming, config, members, help, candidates, tally });
        for number in 0..many {
            let (context, wanted) = (Arc::clone(&context), wanted.clone());
            threads.start_jobs(&format!("worker-{number}"), move |stopped| context.run(&wanted, stopped))?;
        }
        let tasks: [(&str, Task); 4] =
            [("retry", Context::run_retries), ("trim", trim::run), ("arrivals", arrivals::run), ("evict", evict::run)];
        for (name, run) in tasks {
            let context = Arc::clone(&context);
            threads.start_jobs(name, move |stopped| run(&context, stopped))?;
        }
        Ok(Self { _threads: threads, figures })
    }

    /// The workers in figures.
    pub fn figures(&self) -> &Figures {
        &self.figures
    }

    /// Lets each worker end its chunk or job, and waits for that. The rest stays on disk.
    pub fn stop(self) {}
}

/// Whether the workers are to stop.
fn is_over(stopped: &Receiver<()>) -> bool {
    stopped.try_recv() == Err(TryRecvError::Disconnected)
}

impl Context {
    /// Whether the inbox of a user is kept here: always, but on a node of a cluster.
    fn keeps_inbox_of(&self, user: UserId) -> bool {
        self.members.as_ref().is_none_or(|members| members.owns(user))
    }

    /// Does the first job of a lane. Then the lane continues, or is given back after a failure.
    fn run_lane(&self, lane: Lane, stopped: &Receiver<()>) {
        let Some(job) = self.backlog.lanes().first(lane) else { return };
        failpoint::pass(Failpoint::JobTaken);
        let done = match job.work {
            Work::FanOut { entry } => match guarded(|| self.begin_fan_out(&job, entry)) {
                Ok(fan_out) => return self.fan_out(&Arc::new(fan_out), stopped),
                Err(error) => Err(error),
            },
            Work::Settle { user, source } => guarded(|| self.settle(&job, user, source)),
            Work::Rebuild { user } => guarded(|| self.rebuild(&job, user)),
        };
        self.close(&job, done);
    }

    /// Removes from the backlog a job that is gone from disk, or gives its lane back after a failure.
    fn close(&self, job: &Job, done: Result<()>) {
        match done {
            Ok(()) => self.finish(job),
            Err(error) => self.failed(job, &error),
        }
    }

    /// Removes from the backlog a job that is gone from disk.
    fn finish(&self, job: &Job) {
        failpoint::pass(Failpoint::JobDone);
        self.backlog.finish(job);
        failpoint::pass(Failpoint::JobFinished);
    }
}
