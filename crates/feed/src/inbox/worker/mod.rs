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
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};

use self::fan_out::FanOut;
use self::retry::guarded;
use crate::inbox::backlog::Backlog;
use crate::streaming::Streaming;
use config::Config;
use model::error::{Error, Result};
use model::failpoint;
use model::failpoint::Failpoint;
use model::priority;
use model::{Job, LANES, Lane, Members, UserId, Work};
use store::Store;

pub use evict::evict_others;
pub use trim::{Candidate, Candidates, slack, topic_room};
pub use usage::{Figures, Usage};

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
    stop: Option<Sender<()>>,
    threads: Vec<JoinHandle<()>>,
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
        let threads = config.fanout.threads();
        let (stop, stopped) = bounded(0);
        let (help, wanted) = bounded(usize::from(LANES));
        let figures = Figures { candidates: candidates.clone(), ..Figures::default() };
        let tally = Arc::clone(&figures.tally);
        let members = config.cluster.members();
        let config = config.clone();
        let context = Arc::new(Context { store, backlog, streaming, config, members, help, candidates, tally });
        let mut workers = Self { stop: Some(stop), threads: Vec::new(), figures };
        for number in 0..threads {
            let (context, wanted, stopped) = (Arc::clone(&context), wanted.clone(), stopped.clone());
            workers.spawn(format!("worker-{number}"), move || context.run(&wanted, &stopped))?;
        }
        let tasks: [(&str, Task); 4] = [
            ("retry", Context::run_retries),
            ("trim", Context::run_trim),
            ("arrivals", Context::run_arrivals),
            ("evict", Context::run_evict),
        ];
        for (name, run) in tasks {
            let (context, stopped) = (Arc::clone(&context), stopped.clone());
            workers.spawn(name.to_owned(), move || run(&context, &stopped))?;
        }
        Ok(workers)
    }

    fn spawn(&mut self, name: String, body: impl FnOnce() + Send + 'static) -> Result<()> {
        let body = || {
            priority::lower(priority::JOBS);
            body();
        };
        let thread = thread::Builder::new().name(name).spawn(body);
        self.threads.push(thread.map_err(|e| Error::Setup(format!("cannot start a thread: {e}")))?);
        Ok(())
    }

    /// The workers in figures.
    pub fn figures(&self) -> &Figures {
        &self.figures
    }

    /// Lets each worker end its chunk or job, and waits for that. The rest stays on disk.
    pub fn stop(mut self) {
        self.join();
    }

    fn join(&mut self) {
        drop(self.stop.take());
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a worker panicked");
            }
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.join();
    }
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
