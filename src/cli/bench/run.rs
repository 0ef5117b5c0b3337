//! One run: sends operations when they are due, however long earlier ones take, and measures each from that moment.
//!
//! A load that waits for answers before it sends more would ask a slow server less, and leave out the waits of all
//! those who would have asked meanwhile ("coordinated omission"). Here the times are fixed before. If all connections
//! are in use, an operation waits for one, and that wait is a part of its latency.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, oneshot};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{sleep, timeout};

use super::client::{Connection, Fault, Server};
use super::record::{Failure, Record};
use super::requests::Requests;
use super::timer::{self, Timer};
use crate::cli::terminal::interrupt::Interrupt;
use crate::trace::Step;
use model::error::{Error, Result};

/// The interval of looks at interruptions, and of reports of progress.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Most waits for one operation: for a connection, and for the answers to two calls.
const CALLS: u32 = 3;
/// The wait after a connection that could not be made.
const REST: Duration = Duration::from_millis(100);

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
    pub(super) record: Record,
    /// The length of the measured part; shorter than planned after an interruption.
    pub(super) length: Duration,
    /// Operations due in the measured part.
    pub(super) due: u64,
    /// Of these, those that were never sent, because no connection was free before the end.
    pub(super) unsent: u64,
    /// Answers that came within the measured part.
    pub(super) in_time: u64,
    /// The longest time from the moment when an operation was due until it was sent.
    pub(super) latest: Duration,
    /// The processor time of this thread in the measured part, as a share of it.
    pub(super) busy: f64,
    pub(super) interrupted: bool,
}

/// How far a run is.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunProgress {
    pub(super) elapsed: Duration,
    pub(super) answers: u64,
    pub(super) failures: u64,
    /// The wait of the operation that was sent last.
    pub(super) behind: Duration,
}

/// Told when the measured part of a run begins, and when it ends.
pub(super) struct Marks {
    pub(super) begin: oneshot::Sender<()>,
    pub(super) end: oneshot::Sender<()>,
}

/// Called with the place of a run, several times a second.
pub(super) type Show<'a> = &'a dyn Fn(RunProgress);

struct Run {
    server: Rc<Server>,
    plan: Plan,
    begin: Instant,
    requests: Rc<RefCell<Requests>>,
    idle: RefCell<Vec<Connection>>,
    state: RefCell<State>,
}

struct State {
    record: Record,
    due: u64,
    unsent: u64,
    in_time: u64,
    behind: Duration,
    latest: Duration,
    /// Processor time at the begin of the measured part.
    worked: Option<Duration>,
}

/// Sends the steps due within the plan.
pub(super) async fn run(
    server: &Rc<Server>,
    requests: &Rc<RefCell<Requests>>,
    steps: impl Iterator<Item = Step>,
    plan: Plan,
    marks: Marks,
    interrupt: &Interrupt,
    show: Show<'_>,
) -> Result<Ran> {
    let failed = |e: &dyn std::fmt::Display| Error::Setup(format!("cannot measure: {e}"));
    let record = Record::new().map_err(|e| failed(&e))?;
    let timer = Timer::new().map_err(|e| failed(&e))?;
    let state =
        State { record, due: 0, unsent: 0, in_time: 0, behind: Duration::ZERO, latest: Duration::ZERO, worked: None };
    let run = Rc::new(Run {
        server: Rc::clone(server),
        plan,
        begin: Instant::now(),
        requests: Rc::clone(requests),
        idle: RefCell::new(Vec::new()),
        state: RefCell::new(state),
    });
    LocalSet::new().run_until(all(Rc::clone(&run), steps, timer, marks, interrupt, show)).await.map_err(|e| failed(&e))
}

async fn all(
    run: Rc<Run>,
    steps: impl Iterator<Item = Step>,
    timer: Timer,
    marks: Marks,
    interrupt: &Interrupt,
    show: Show<'_>,
) -> std::io::Result<Ran> {
    let end = run.plan.warm_up + run.plan.length;
    let mut steps = steps.take_while(|step| step.due < end).peekable();
    let slots = Arc::new(Semaphore::new(run.plan.connections));
    let Marks { begin, end: ended_at } = marks;
    let watcher = spawn_local(mark(Rc::clone(&run), begin));
    let sending = async {
        send(&run, &mut steps, &timer, &slots).await?;
        std::future::pending().await
    };
    let ended: std::io::Result<bool> = tokio::select! {
        // In this order: what is due and has a connection is sent even if the end is noticed late.
        biased;
        failed = sending => failed,
        () = watch(&run, interrupt, show) => Ok(true),
        () = sleep(end) => Ok(false),
    };
    let interrupted = ended?;
    let length = run.begin.elapsed().min(end).saturating_sub(run.plan.warm_up);
    let busy = run.state.borrow().worked.map(|before| timer::worked().saturating_sub(before));
    if !interrupted {
        // Those that no connection was free for.
        let unsent = steps.filter(|step| step.due >= run.plan.warm_up).count() as u64;
        let mut state = run.state.borrow_mut();
        (state.due, state.unsent) = (state.due + unsent, unsent);
    }
    watcher.abort();
    // Nobody may want to know.
    let _ = ended_at.send(());
    // Operations under way are waited for, so that slow ones are counted.
    let all = u32::try_from(run.plan.connections).unwrap_or(u32::MAX);
    let wait = if interrupted { Duration::from_secs(1) } else { run.server.patience * CALLS + REST };
    let _ = timeout(wait, slots.acquire_many(all)).await;
    let mut state = run.state.borrow_mut();
    let busy = busy.unwrap_or_default().as_secs_f64() / length.as_secs_f64().max(0.001);
    let State { due, unsent, in_time, latest, .. } = *state;
    let record = std::mem::replace(&mut state.record, Record::new().map_err(std::io::Error::other)?);
    Ok(Ran { record, length, due, unsent, in_time, latest, busy, interrupted })
}

/// Notes the begin of the measured part.
async fn mark(run: Rc<Run>, begin: oneshot::Sender<()>) {
    sleep(run.plan.warm_up.saturating_sub(run.begin.elapsed())).await;
    run.state.borrow_mut().worked = Some(timer::worked());
    // Nobody may want to know.
    let _ = begin.send(());
}

/// Ends when an interruption is asked for.
async fn watch(run: &Run, interrupt: &Interrupt, show: Show<'_>) {
    while !interrupt.was_asked() {
        sleep(LOOK_EVERY).await;
        let place = {
            let state = run.state.borrow();
            let (answers, failures) = (state.record.answers(), state.record.failures());
            RunProgress { elapsed: run.begin.elapsed(), answers, failures, behind: state.behind }
        };
        show(place);
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
            let mut state = run.state.borrow_mut();
            state.behind = due.elapsed();
            if step.due >= run.plan.warm_up {
                state.latest = state.latest.max(state.behind);
                state.due += 1;
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
    async fn make(&self, step: Step, due: Instant) {
        let done = self.calls(step).await;
        let (answered, kind) = (Instant::now(), step.operation.kind());
        let mut state = self.state.borrow_mut();
        let measured = self.begin + self.plan.warm_up..self.begin + self.plan.warm_up + self.plan.length;
        if done.is_ok() && measured.contains(&answered) {
            state.in_time += 1;
        }
        if step.due >= self.plan.warm_up {
            match done {
                Ok(()) => state.record.answered(kind, answered - due),
                Err(why) => state.record.failed(kind, why),
            }
        }
    }

    async fn calls(&self, step: Step) -> Result<(), Failure> {
        let idle = self.idle.borrow_mut().pop();
        let mut connection = match idle.filter(|connection| !connection.is_closed()) {
            Some(connection) => connection,
            None => match self.server.connect().await {
                Ok(connection) => connection,
                Err(_) => {
                    sleep(REST).await;
                    return Err(Failure::Fault(Fault::Connection));
                }
            },
        };
        let (call, next) = self.requests.borrow_mut().of(step.operation);
        for call in [Some(call), next].into_iter().flatten() {
            let status = self.server.call(&mut connection, call).await.map_err(Failure::Fault)?;
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
