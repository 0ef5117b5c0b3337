//! One run: sends operations when they are due, however long earlier ones take, and measures each from that moment.
//!
//! A load that waits for answers before it sends more would ask a slow server less, and leave out the waits of all
//! those who would have asked meanwhile ("coordinated omission"). Here the times are fixed before. If all connections
//! are in use, an operation waits for one, and that wait is a part of its latency.

use std::thread;

use http_body_util::BodyExt;
use tokio::pin;
use tokio::sync::mpsc::{self, Receiver};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{interval, sleep, timeout};

use super::load::Step;
use super::mix::Kind;
use super::own_server::{self, Own};
use super::prepare::figures;
use super::record::Record;
use super::requests::{Call, Requests};
use crate::cli::remote::calls::Client;
use crate::prelude::*;
use http::Reading;
use model::clock::processor_time;

/// The interval of looks at interruptions, and of reports of progress.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// A part of the load has panicked.
const PANICKED: &str = "a task failed";
/// Most calls of one operation.
const CALLS: u32 = 2;
/// Progress tells of waits for connections above this one.
const LATE: Duration = Duration::from_millis(100);
/// Most steps between the thread that waits for their times and the one that sends them.
const PASSED_ON: usize = 1024;

/// A server under load.
pub(super) struct Target {
    pub(super) client: Arc<Client>,
    pub(super) requests: Requests,
    /// The process, if it was started for the run.
    pub(super) own: Option<Own>,
}

/// A moment of a server.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) at: Instant,
    pub(super) figures: Reading,
    /// The processor time so far of a server that was started for the run …
    pub(super) server_worked: Option<Duration>,
    /// … and of this process.
    pub(super) load_worked: Duration,
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
    pub(super) interrupted: bool,
    /// The server at the begin of the measured part, unless the run was interrupted before, and at its end.
    pub(super) at_begin: Option<Result<Look>>,
    pub(super) at_end: Result<Look>,
}

/// An operation after its calls.
struct Done {
    kind: Kind,
    due: Duration,
    /// The time of the answer, since the begin of the run.
    at: Duration,
    result: Result<(), String>,
}

/// Sends the steps due within the plan.
pub(super) async fn run(
    target: &mut Target,
    steps: impl Iterator<Item = Step> + Send + 'static,
    plan: Plan,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Ran> {
    let Target { client, requests, own } = target;
    let pid = own.as_ref().map(Own::pid);
    let (begin, end) = (Instant::now(), plan.warm_up + plan.length);
    let mut due = when_due(begin, steps.take_while(move |step| step.due < end))?;
    let at_begin = tokio::spawn(look(Arc::clone(client), pid, plan.warm_up));
    let record = Record::new().context("cannot measure")?;
    let (wait, longest_wait) = (Duration::ZERO, Duration::ZERO);
    let mut counts = Counts { plan, record, due: 0, unsent: 0, in_time: 0, wait, longest_wait };
    let mut under_way = JoinSet::new();
    let mut send = |step: Step, counts: &mut Counts, under_way: &mut JoinSet<Done>| {
        counts.sent(step.due, begin.elapsed());
        let calls = make(Arc::clone(client), requests.of(step));
        let Step { kind, due, .. } = step;
        under_way.spawn(async move {
            let result = calls.await;
            Done { kind, due, at: begin.elapsed(), result }
        });
    };
    let (mut looks, all) = (interval(LOOK_EVERY), sleep(end));
    pin!(all);
    let interrupted = loop {
        tokio::select! {
            Some(step) = due.recv(), if under_way.len() < plan.connections => send(step, &mut counts, &mut under_way),
            Some(done) = under_way.join_next() => counts.done(done)?,
            _ = looks.tick() => {
                if interrupt.was_asked() {
                    break true;
                }
                progress.at(begin.elapsed().as_secs(), counts.so_far());
            }
            () = &mut all => break false,
        }
    };
    let length = begin.elapsed().min(end).saturating_sub(plan.warm_up);
    if length.is_zero() {
        at_begin.abort();
    }
    // What is due and has a connection is sent even if the end is noticed late.
    while !interrupted && let Some(step) = due.recv().await {
        if under_way.len() < plan.connections {
            send(step, &mut counts, &mut under_way);
        } else {
            counts.unsent(step.due);
        }
    }
    let at_end = tokio::spawn(look(Arc::clone(client), pid, Duration::ZERO));
    // Operations under way are waited for, so that slow ones are counted.
    let wait = if interrupted { Duration::from_secs(1) } else { client.time_limit * CALLS };
    let rest = async {
        while let Some(done) = under_way.join_next().await {
            counts.done(done)?;
        }
        Ok::<(), Error>(())
    };
    timeout(wait, rest).await.unwrap_or(Ok(()))?;
    let (at_begin, at_end) = (at_begin.await.ok(), at_end.await.context(PANICKED)?);
    Ok(Ran { counts, length, interrupted, at_begin, at_end })
}

/// Passes on each step when it is due. A thread wakes up in time; the timers of the runtime are late by up to two
/// milliseconds, which would be a part of each latency.
fn when_due(begin: Instant, steps: impl Iterator<Item = Step> + Send + 'static) -> Result<Receiver<Step>> {
    let (passed_on, due) = mpsc::channel(PASSED_ON);
    let wait = move || {
        for step in steps {
            thread::sleep((begin + step.due).saturating_duration_since(Instant::now()));
            if passed_on.blocking_send(step).is_err() {
                return;
            }
        }
    };
    threads::start("due", wait)?;
    Ok(due)
}

/// The server after a time.
async fn look(client: Arc<Client>, pid: Option<u32>, after: Duration) -> Result<Look> {
    sleep(after).await;
    let (load_worked, at, server_worked) = (processor_time(), Instant::now(), pid.and_then(own_server::worked));
    Ok(Look { at, figures: figures(&client).await?, server_worked, load_worked })
}

/// Makes the calls of an operation, one after the other.
async fn make(client: Arc<Client>, calls: Vec<Call>) -> Result<(), String> {
    for (method, path, body) in calls {
        let answered = async {
            let mut answer = client.send(method, &path, body).await.ok()?;
            while let Some(frame) = answer.frame().await {
                frame.ok()?;
            }
            Some(answer.status())
        };
        match timeout(client.time_limit, answered).await {
            Ok(Some(status)) if status.is_success() => {}
            Ok(Some(status)) => return Err(status.as_u16().to_string()),
            Ok(None) => return Err("connection".to_owned()),
            Err(_) => return Err("timeout".to_owned()),
        }
    }
    Ok(())
}

/// The operations so far.
#[derive(Debug)]
pub(super) struct Counts {
    plan: Plan,
    pub(super) record: Record,
    /// Operations due in the measured part.
    pub(super) due: u64,
    /// Of these, those that were never sent, because no connection was free before the end.
    pub(super) unsent: u64,
    /// Answers that came within the measured part.
    pub(super) in_time: u64,
    /// The wait of the operation that was sent last, from the moment when it was due.
    wait: Duration,
    /// The longest such wait.
    pub(super) longest_wait: Duration,
}

impl Counts {
    fn is_measured(&self, due: Duration) -> bool {
        due >= self.plan.warm_up
    }

    fn sent(&mut self, due: Duration, at: Duration) {
        self.wait = at.saturating_sub(due);
        if self.is_measured(due) {
            self.longest_wait = self.longest_wait.max(self.wait);
            self.due += 1;
        }
    }

    fn unsent(&mut self, due: Duration) {
        let measured = u64::from(self.is_measured(due));
        self.due += measured;
        self.unsent += measured;
    }

    fn done(&mut self, done: Result<Done, JoinError>) -> Result<()> {
        let Done { kind, due, at, result } = done.context(PANICKED)?;
        let Plan { warm_up, length, .. } = self.plan;
        if result.is_ok() && (warm_up..warm_up + length).contains(&at) {
            self.in_time += 1;
        }
        if self.is_measured(due) {
            match result {
                Ok(()) => self.record.answered(kind, at.saturating_sub(due)),
                Err(why) => self.record.failed(kind, why),
            }
        }
        Ok(())
    }

    /// A remark beside the progress.
    fn so_far(&self) -> String {
        let late = if self.wait > LATE { format!(", {:.1} s behind", self.wait.as_secs_f64()) } else { String::new() };
        format!("{} answers, {} errors{late}", self.record.answers(), self.record.failures())
    }
}

#[cfg(test)]
mod tests;
