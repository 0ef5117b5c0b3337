//! Three nodes on one log, and the model of what they were told.

use std::future::Future;
use std::mem;
use std::sync::Arc;
use std::time::{Duration as StdDuration, Instant};

use cluster::{Health, LogMembership};
use config::{Agreed, Config, Durability, Duration, Refusal};
use fastrand::Rng;
use model::Millis;
use serde::de::DeserializeOwned;
use tempfile::TempDir;

use super::log::TestLog;
use super::wrong::AHEAD;
use crate::promises::case::Case;
use crate::promises::names::Ids;
use crate::promises::seed::pick;
use crate::promises::shape::{self, Kind, LONG, NEVER};
use crate::promises::system::{Joins, System};
use crate::wait::PATIENCE;

pub(crate) const NODES: usize = 3;
/// The timeout of nodes that give up appends, milliseconds.
const HASTY: u64 = 300;
/// How far a time of the log may jump back, milliseconds.
const BACK: Millis = 5000;
thread_local! {
    static RUNTIME: tokio::runtime::Runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
}

/// Waits for a future on this thread.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    RUNTIME.with(|runtime| runtime.block_on(future))
}

/// Waits until a node has all that was acknowledged before, however long the log is away.
pub(crate) fn read_index(system: &System) -> Result<(), String> {
    until_done(system, || wait(system.node().read_index()))
}

/// Waits until a node has applied all below a position.
pub(crate) fn reach(system: &System, position: u64) -> Result<(), String> {
    until_done(system, || wait(system.node().reach(position)))
}

fn until_done(system: &System, attempt: impl Fn() -> model::error::Result<()>) -> Result<(), String> {
    let began = Instant::now();
    while let Err(error) = attempt() {
        if let Some(fault) = fault(system) {
            return Err(format!("a node has stopped: {fault}"));
        }
        ensure!(began.elapsed() < PATIENCE, "a node waits for ever: {error}, {:?}", system.node().status());
        std::thread::sleep(StdDuration::from_millis(5));
    }
    Ok(())
}

/// Why a node has stopped itself.
pub(crate) fn fault(system: &System) -> Option<String> {
    match system.node().health() {
        Health::Stopped(why) => Some(why),
        _ => None,
    }
}

/// Waits until all nodes are at the end of the log.
pub(crate) fn meet(nodes: &Nodes) -> Result<(), String> {
    nodes.systems().try_for_each(read_index)?;
    let began = Instant::now();
    loop {
        let end = nodes.log().end();
        nodes.systems().try_for_each(|system| reach(system, end))?;
        std::thread::sleep(StdDuration::from_millis(1));
        if nodes.log().end() == end && nodes.systems().all(|system| system.node().position() == end) {
            return Ok(());
        }
        ensure!(began.elapsed() < PATIENCE, "the log does not come to rest");
    }
}

/// The settings of nodes at their next start.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) log: Arc<TestLog>,
    pub(crate) agreed: Agreed,
    timeout: Duration,
    /// The names of the nodes, by their numbers.
    names: Vec<String>,
    /// Members without a node.
    pub(crate) absent: usize,
    /// How many members keep an inbox.
    copies: usize,
    /// Whether all readers have whole inboxes.
    pub(crate) pushes: bool,
    /// Whether they drop the inboxes of others.
    pub(crate) evicts: bool,
    /// The number of a node with room for few jobs.
    pub(crate) narrow: Option<usize>,
    /// Commands that all nodes refuse.
    pub(crate) refuse: Vec<Refusal>,
    /// Whether the storage of node 2 refuses a group now and then.
    is_refused: bool,
}

impl Plan {
    /// The settings of a node: its own ones, those of all, and its place in the cluster.
    fn config(&self, number: usize, random: &mut Rng) -> Config {
        let mut config = shape::random(random);
        if self.pushes {
            (config.timeline.active_for, config.timeline.evict_after) = (LONG, NEVER);
            (config.timeline.inbox_limit, config.timeline.outbox_limit) = (1000, 1000);
            (config.fanout.push_threshold, config.fanout.pull_threshold) = (100, 100);
        }
        if self.narrow == Some(number) {
            config.fanout.queue = random.usize(1..=4);
        }
        config.adopt(&self.agreed);
        // The log is what survives.
        config.storage.durability = Durability::Os;
        config.cluster.brokers = vec!["none:9092".to_owned()];
        config.cluster.node = value(&self.names[number]);
        let absent: Vec<_> = (0..self.absent).map(|number| format!("absent{number}")).collect();
        let members = self.names.iter().chain(&absent);
        config.cluster.members = members.map(|name| value(&format!("{name}=http://{name}"))).collect();
        config.cluster.inbox_copies = self.copies;
        config.cluster.timeout = self.timeout;
        config.cluster.refuse.clone_from(&self.refuse);
        config
    }

    /// Whether timelines have their users' own items, and how long a deleted item can come back.
    pub(crate) fn config_of_all(&self) -> (bool, Duration) {
        let mut config = Config::default();
        config.adopt(&self.agreed);
        (config.timeline.include_own, config.content.deleted_retention)
    }

    fn joins(&self, number: usize) -> Joins {
        Joins { log: self.log.way(number), evicts: self.evicts, mark: None, is_refused: self.is_refused }
    }
}

/// A setting from its text.
fn value<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_value(text.into()).expect("a setting")
}

/// The nodes, one of which is that of the case at present.
pub(crate) struct Nodes {
    pub(crate) case: Case,
    others: Vec<System>,
    /// The number of the node of the case, and those of the others.
    numbers: Vec<usize>,
    pub(crate) plan: Plan,
    pub(crate) random: Rng,
    renamed: usize,
    /// Items for which nodes had no room before their last start.
    left_out: u64,
}

impl Nodes {
    /// Nodes that give up appends now and then, and may leave the inboxes of others.
    pub(crate) fn new(seed: u64, base: &Config, ids: Ids, evicts: bool) -> Self {
        let mut random = Rng::with_seed(seed);
        let timeout = Duration::from_millis(pick(&mut random, &[HASTY, 4000, 4000, 4000]));
        Self::start(random, base, ids, timeout, evicts, false)
    }

    /// Nodes that give up appends soon.
    pub(crate) fn hasty(seed: u64, base: &Config, ids: Ids) -> Self {
        Self::start(Rng::with_seed(seed), base, ids, Duration::from_millis(HASTY), true, false)
    }

    /// Nodes that give up no append.
    pub(crate) fn steady(seed: u64, base: &Config, ids: Ids) -> Self {
        Self::start(Rng::with_seed(seed), base, ids, Duration::from_secs(60), true, false)
    }

    /// Nodes that give up no append. The storage of node 2 refuses a group now and then.
    pub(crate) fn refused(seed: u64, base: &Config, ids: Ids) -> Self {
        Self::start(Rng::with_seed(seed), base, ids, Duration::from_secs(60), true, true)
    }

    fn start(mut random: Rng, base: &Config, ids: Ids, timeout: Duration, evicts: bool, is_refused: bool) -> Self {
        // A log whose clock differs from record to record by more than callers wait takes no changes.
        let back = BACK.min(timeout.as_millis() / 3);
        let log = TestLog::new(random.u64(..), NODES, back);
        let agreed = base.agreed();
        LogMembership::found(&*log.way(0), None, agreed.clone()).expect("begins");
        let names = (0..NODES).map(|number| format!("n{number}")).collect();
        let (pushes, narrow, refuse) = (false, None, Vec::new());
        let plan =
            Plan { log, agreed, timeout, names, absent: 0, copies: 1, pushes, evicts, narrow, refuse, is_refused };
        let join = |number| {
            let kind = if number == 2 { Kind::Memory } else { Kind::Rocks };
            System::join(kind, None, plan.config(number, &mut random), plan.joins(number))
        };
        let mut systems: Vec<_> = (0..NODES).map(join).collect();
        let mut case = Case::new(systems.remove(0), ids);
        (case.behind, case.ahead) = (BACK, AHEAD);
        Self { case, others: systems, numbers: (0..NODES).collect(), plan, random, renamed: 0, left_out: 0 }
    }

    /// The number of the node of the case.
    pub(crate) fn present(&self) -> usize {
        self.numbers[0]
    }

    /// Whether given-up appends cost little time.
    pub(crate) fn is_hasty(&self) -> bool {
        self.plan.timeout == Duration::from_millis(HASTY)
    }

    pub(crate) fn log(&self) -> &TestLog {
        &self.plan.log
    }

    /// Lets the case go on with another node.
    pub(crate) fn go_to(&mut self, number: usize) {
        let place = self.numbers.iter().position(|other| *other == number).expect("a node");
        if place > 0 {
            mem::swap(&mut self.case.system, &mut self.others[place - 1]);
            self.numbers.swap(0, place);
        }
    }

    pub(crate) fn go_anywhere(&mut self) {
        let number = self.random.usize(..NODES);
        self.go_to(number);
    }

    /// All nodes.
    pub(crate) fn systems(&self) -> impl Iterator<Item = &System> {
        [&self.case.system].into_iter().chain(&self.others)
    }

    /// Gives the present node the settings that are planned, at its next start.
    fn set_up(&mut self) {
        self.left_out += self.case.system.backlog().usage().left_out;
        self.case.system.config = self.plan.config(self.present(), &mut self.random);
    }

    /// Restarts the present node properly, with other settings.
    pub(crate) fn reopen(&mut self) {
        self.set_up();
        self.case.system.reopen();
        self.go_on();
    }

    /// Gives a node room for few jobs.
    pub(crate) fn narrow(&mut self, number: usize) {
        let present = self.present();
        self.plan.narrow = Some(number);
        self.go_to(number);
        self.reopen();
        self.go_to(present);
    }

    /// Items for which nodes had no room.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out + self.systems().map(|system| system.backlog().usage().left_out).sum::<u64>()
    }

    /// Whether the present node has room for few jobs.
    pub(crate) fn is_narrow(&self) -> bool {
        self.plan.narrow == Some(self.present())
    }

    /// Starts the workers that a node with little room cannot do without.
    pub(crate) fn go_on(&mut self) {
        if self.is_narrow() {
            self.case.system.start();
        }
    }

    /// Restarts it as after a crash at this instant.
    pub(crate) fn crash(&mut self) {
        self.set_up();
        self.case.system.crash();
        self.go_on();
    }

    /// Goes on with a copy that was made before.
    pub(crate) fn go_on_with(&mut self, copy: TempDir, mark: Option<Vec<u8>>) {
        self.set_up();
        self.case.system.go_on_with(copy, mark);
        self.go_on();
    }

    /// Loses the present node for ever. A copy of another one takes its place, with a name of its own.
    pub(crate) fn replace(&mut self) {
        let copy = self.others.iter().find_map(System::copy);
        if copy.is_some() {
            self.replace_with(copy);
        }
    }

    /// Replaces the node by one with a copy of a directory, or with an empty one.
    pub(crate) fn replace_with(&mut self, copy: Option<TempDir>) {
        let number = self.present();
        self.renamed += 1;
        self.plan.names[number] = format!("n{number}-{}", self.renamed);
        let config = self.plan.config(number, &mut self.random);
        let kind = Kind::Rocks;
        let system = System::join(kind, copy, config, self.plan.joins(number));
        mem::replace(&mut self.case.system, system).rest();
        self.go_on();
    }

    /// Starts a copy of the present node beside it, with the same name. The older one must stop, soon if it is known not
    /// to. True if there is a copy.
    pub(crate) fn twin(&mut self, soon: bool) -> Result<bool, String> {
        let Some(copy) = self.case.system.copy() else { return Ok(false) };
        let number = self.present();
        let config = self.plan.config(number, &mut self.random);
        let system = System::join(Kind::Rocks, Some(copy), config, self.plan.joins(number));
        let mut older = mem::replace(&mut self.case.system, system);
        self.go_on();
        let began = Instant::now();
        let why = loop {
            if let Some(why) = fault(&older) {
                break why;
            }
            let most = if soon { StdDuration::from_secs(5) } else { PATIENCE };
            ensure!(began.elapsed() < most, "the older of two runs of a node goes on");
            std::thread::sleep(StdDuration::from_millis(1));
        };
        ensure!(why.contains("another server runs as the node"), "the older run has stopped: {why}");
        self.left_out += older.backlog().usage().left_out;
        older.rest();
        Ok(true)
    }

    /// Plans another list of members.
    pub(crate) fn change_members(&mut self) {
        self.plan.absent = pick(&mut self.random, &[0, 1, 6]);
        self.plan.copies = self.random.usize(1..=2);
    }
}
