//! One run: sends operations when they are due, however long earlier ones take, and measures each from that moment.
//!
//! A load that waits for answers before it sends more would ask a slow server less, and leave out the waits of all
//! those who would have asked meanwhile ("coordinated omission"). Here the times are fixed before. If all connections
//! are in use, an operation waits for one, and that wait is a part of its latency.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{sleep, timeout};

use super::client::{Connection, Failure, Server};
use super::figures::Figures;
use super::own::{self, Own};
use super::prepare::figures;
use super::record::Record;
use super::requests::Requests;
use super::timer::{self, Timer};
use crate::cli::terminal::interrupt::Interrupt;
use crate::cli::terminal::progress::Progress;
use crate::trace::Step;
use model::error::{Error, Result};

/// The interval of looks at interruptions, and of reports of progress.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Most waits for one operation: for a connection, and for the answers to two calls.
const CALLS: u32 = 3;
/// The wait after a connection that could not be made.
const REST: Duration = Duration::from_millis(100);
/// Progress tells of waits for connections above this one.
const LATE: Duration = Duration::from_millis(100);

/// A server under load.
pub(super) struct Target {
    pub(super) server: Rc<Server>,
    pub(super) requests: Rc<RefCell<Requests>>,
    /// The process, if it was started for the run.
    pub(super) own: Option<Own>,
}

/// A moment of a server.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) at: Instant,
    pub(super) figures: Result<Figures>,
    /// The processor time so far, in seconds, of a server that was started for the run, and of this thread.
    pub(super) worked: Option<f64>,
    own_worked: Duration,
}

/// The size of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Operations due before this time are sent, but not counted.
    pub(super) warm_up: Duration,
    /// The measured part after it.
    pub(super) length: Duration,
    /// Most operations under way.
    pub(super) connections: usize,
}

/// The result of a run.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) counts: Counts,
    /// The length of the measured part; shorter than planned after an interruption.
    pub(super) length: Duration,
    /// The processor time of this thread in the measured part, as a share of it.
    pub(super) busy: f64,
    pub(super) interrupted: bool,
    /// The server at the begin of the measured part, unless the run was interrupted before, and at its end.
    pub(super) at_begin: Option<Look>,
    pub(super) at_end: Look,
}

/// The answers so far.
#[derive(Debug, Clone)]
pub(super) struct Counts {
    pub(super) record: Record,
    /// Operations due in the measured part.
    pub(super) due: u64,
    /// Of these, those that were never sent, because no connection was free before the end.
    pub(super) unsent: u64,
    /// Answers that came within the measured part.
    pub(super) in_time: u64,
    /// The wait of the operation that was sent last, from the moment when it was due.
    behind: Duration,
    /// The longest such wait.
    pub(super) latest: Duration,
}

struct Run {
    target: Rc<Target>,
    plan: Plan,
    begin: Instant,
    idle: RefCell<Vec<Connection>>,
    counts: RefCell<Counts>,
}

/// Sends the steps due within the plan.
pub(super) async fn run(
    target: &Rc<Target>,
    steps: impl Iterator<Item = Step>,
    plan: Plan,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Ran> {
    let failed = |e: &dyn std::fmt::Display| Error::Setup(format!("cannot measure: {e}"));
    let record = Record::new().map_err(|e| failed(&e))?;
    let timer = Timer::new().map_err(|e| failed(&e))?;
    let counts = Counts { record, due: 0, unsent: 0, in_time: 0, behind: Duration::ZERO, latest: Duration::ZERO };
    let run = Rc::new(Run {
        target: Rc::clone(target),
        plan,
        begin: Instant::now(),
        idle: RefCell::new(Vec::new()),
        counts: RefCell::new(counts),
    });
    let end = plan.warm_up + plan.length;
    let mut steps = steps.take_while(|step| step.due < end).peekable();
    let slots = Arc::new(Semaphore::new(plan.connections));
    let all = async {
        let at_begin = spawn_local(Rc::clone(&run).begin_measured());
        let sending = async {
            send(&run, &mut steps, &timer, &slots).await?;
            std::future::pending().await
        };
        let ended: std::io::Result<bool> = tokio::select! {
            // In this order: what is due and has a connection is sent even if the end is noticed late.
            biased;
            failed = sending => failed,
            () = watch(&run, interrupt, progress) => Ok(true),
            () = sleep(end) => Ok(false),
        };
        let interrupted = ended.map_err(|e| failed(&e))?;
        let length = run.begin.elapsed().min(end).saturating_sub(plan.warm_up);
        if length.is_zero() {
            at_begin.abort();
        }
        if !interrupted {
            // Those that no connection was free for.
            let unsent = steps.filter(|step| step.due >= plan.warm_up).count() as u64;
            let mut counts = run.counts.borrow_mut();
            (counts.due, counts.unsent) = (counts.due + unsent, unsent);
        }
        // Operations under way are waited for, so that slow ones are counted.
        let every = u32::try_from(plan.connections).unwrap_or(u32::MAX);
        let wait = if interrupted { Duration::from_secs(1) } else { target.server.patience * CALLS + REST };
        let (at_end, _) = tokio::join!(run.look(), timeout(wait, slots.acquire_many(every)));
        let at_begin = at_begin.await.ok();
        let worked = at_begin.as_ref().map(|begin: &Look| at_end.own_worked.saturating_sub(begin.own_worked));
        let busy = worked.unwrap_or_default().as_secs_f64() / length.as_secs_f64().max(0.001);
        let counts = run.counts.borrow().clone();
        Ok(Ran { counts, length, busy, interrupted, at_begin, at_end })
    };
    // Requests under way at the end are dropped with the set.
    LocalSet::new().run_until(all).await
}

/// Shows the progress. Ends when an interruption is asked for.
async fn watch(run: &Run, interrupt: &Interrupt, progress: &Progress) {
    while !interrupt.was_asked() {
        sleep(LOOK_EVERY).await;
        let Counts { record, behind, .. } = &*run.counts.borrow();
        let late = if *behind > LATE { format!(", {:.1} s behind", behind.as_secs_f64()) } else { String::new() };
        let (answers, failures) = (record.answers(), record.failures());
        progress.at(run.begin.elapsed().as_secs(), format_args!("{answers} answers, {failures} errors{late}"));
    }
}

/// Sends each step at its time, or as soon after it as a connection is free.
async fn send(
    run: &Rc<Run>,
    steps: &mut std::iter::Peekable<impl Iterator<Item = Step>>,
    timer: &Timer,
    slots: &Arc<Semaphore>,
) -> std::io::Result<()> {
    while let Some(step) = steps.peek().copied() {
        let due = run.begin + step.due;
        timer.until(due).await?;
        let Ok(slot) = Arc::clone(slots).acquire_owned().await else { return Ok(()) };
        steps.next();
        {
            let mut counts = run.counts.borrow_mut();
            counts.behind = due.elapsed();
            if step.due >= run.plan.warm_up {
                counts.latest = counts.latest.max(counts.behind);
                counts.due += 1;
            }
        }
        let run = Rc::clone(run);
        spawn_local(async move {
            run.make(step, due).await;
            drop(slot);
        });
    }
    Ok(())
}

impl Run {
    /// Waits for the begin of the measured part, and notes it.
    async fn begin_measured(self: Rc<Self>) -> Look {
        sleep(self.plan.warm_up.saturating_sub(self.begin.elapsed())).await;
        self.look().await
    }

    async fn look(&self) -> Look {
        let worked = self.target.own.as_ref().and_then(|own| own::worked(own.pid()));
        let (at, own_worked) = (Instant::now(), timer::worked());
        Look { at, figures: figures(&self.target.server).await, worked, own_worked }
    }

    async fn make(&self, step: Step, due: Instant) {
        let done = self.calls(step).await;
        let (answered, kind) = (Instant::now(), step.operation.kind());
        let mut counts = self.counts.borrow_mut();
        let measured = self.begin + self.plan.warm_up..self.begin + self.plan.warm_up + self.plan.length;
        if done.is_ok() && measured.contains(&answered) {
            counts.in_time += 1;
        }
        if step.due >= self.plan.warm_up {
            match done {
                Ok(()) => counts.record.answered(kind, answered - due),
                Err(why) => counts.record.failed(kind, why),
            }
        }
    }

    async fn calls(&self, step: Step) -> Result<(), Failure> {
        let idle = self.idle.borrow_mut().pop();
        let mut connection = match idle.filter(|connection| !connection.is_closed()) {
            Some(connection) => connection,
            None => match self.target.server.connect().await {
                Ok(connection) => connection,
                Err(_) => {
                    sleep(REST).await;
                    return Err(Failure::Connection);
                }
            },
        };
        let (call, next) = self.target.requests.borrow_mut().of(step.operation);
        for call in [Some(call), next].into_iter().flatten() {
            let status = self.target.server.call(&mut connection, call).await?;
            if !(200..300).contains(&status) {
                self.idle.borrow_mut().push(connection);
                return Err(Failure::Status(status));
            }
        }
        self.idle.borrow_mut().push(connection);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
