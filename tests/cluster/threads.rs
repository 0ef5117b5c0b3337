//! Writers and readers on any node at the same time. Each read waits for a read index at its node, and then must show all
//! changes that any node answered before it began.

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use model::UserId;

use super::log::Chances;
use super::nodes::{NODES, Nodes, meet, read_index};
use crate::promises::actor::{Part, Round};
use crate::promises::history::Clock;
use crate::promises::names::{Ids, USERS};
use crate::promises::polls::{check_polls, give_polls};
use crate::promises::replay::seen;
use crate::promises::seed::{modes, pick, scaled, seed, threads};
use crate::promises::shape::{self, NEVER};
use crate::promises::system::System;
use crate::promises::threads::{check, history, shares};
use crate::wait::stop_after;

/// Logs, each with nodes of its own.
const LIVES: u32 = 4;
/// Rounds of a life.
const ROUNDS: u32 = 3;
const ROUND: Duration = Duration::from_millis(400);
const CHANCES: Chances =
    Chances { unknown: 8, refused: 4, twice: 40, delay: 100, read: 40, back: 60, ahead: 0, lie: 0 };

pub(crate) fn run_lives() {
    let (mut reads, mut changes) = (0, 0);
    for number in 0..scaled(LIVES) {
        let seed = seed() + u64::from(number);
        match Life::new(seed).live() {
            Ok((of_reads, of_changes)) => (reads, changes) = (reads + of_reads, changes + of_changes),
            Err(failure) => panic!("{failure}\nlife {number}; TIDELINE_TEST_SEED={seed} makes the same choices again"),
        }
    }
    eprintln!("threads on three nodes: {reads} reads checked against {changes} changes, nothing wrong");
    assert!(reads > 0 && changes > 0, "nothing was compared");
}

struct Life {
    nodes: Nodes,
    clock: Clock,
    parts: Vec<Part>,
    ids: Ids,
    /// In the order of [`USERS`].
    users: Vec<UserId>,
}

impl Life {
    fn new(seed: u64) -> Self {
        let modes = modes();
        let ids = modes[seed as usize % modes.len()];
        let nodes = Nodes::steady(seed, &shape::random(&mut Rng::with_seed(seed)), ids);
        let users: Vec<_> = USERS.into_iter().map(|raw| ids.user(&nodes.case.system.feed, raw)).collect();
        let part = |(n, share)| Part::new(share, Rng::with_seed(seed.wrapping_mul(1000) + n as u64));
        let mut parts: Vec<_> = shares(threads()).into_iter().enumerate().map(part).collect();
        let clock = Clock::default();
        give_polls(&nodes.case.system.feed, ids, &clock, &users, &mut parts);
        Self { nodes, clock, parts, ids, users }
    }

    /// The numbers of reads and changes.
    fn live(mut self) -> Result<(usize, usize), String> {
        let mut counts = (0, 0);
        for number in 0..ROUNDS {
            let (reads, changes) = self.round().map_err(|failure| format!("{failure}\nin round {number}"))?;
            counts = (counts.0 + reads, counts.1 + changes);
            self.nodes.go_anywhere();
            match self.nodes.random.u32(..4) {
                0 => self.nodes.crash(),
                1 => self.nodes.reopen(),
                2 => self.nodes.replace(),
                _ => self.nodes.change_members(),
            }
        }
        self.nodes.log().calm();
        meet(&self.nodes)?;
        let mut all = self.nodes.systems().map(|system| seen(&system.feed, self.ids, 7));
        let first = all.next().ok_or("no nodes")?;
        ensure!(all.all(|other| other == first), "nodes at one position differ");
        Ok(counts)
    }

    fn round(&mut self) -> Result<(usize, usize), String> {
        for number in 0..NODES {
            self.nodes.go_to(number);
            self.nodes.case.system.start();
        }
        self.nodes.log().set(CHANCES);
        let (stop, can_restore) = (AtomicBool::new(false), self.nodes.plan.config_of_all().1 > NEVER);
        let since = self.clock.tick();
        let systems: Vec<&System> = self.nodes.systems().collect();
        let ready: Vec<_> =
            systems.iter().map(|system| move || read_index(system).expect("has a read index")).collect();
        // Threads ask their nodes for the names of users and of earlier items.
        ready.iter().for_each(|ready| ready());
        let rounds: Vec<_> = systems
            .iter()
            .zip(&ready)
            .map(|(system, ready)| Round {
                feed: &system.feed,
                candidates: system.candidates(),
                clock: &self.clock,
                stop: &stop,
                inbox_limit: system.config.timeline.inbox_limit,
                ids: self.ids,
                users: &self.users,
                can_restore,
                by_clock: false,
                ready,
            })
            .collect();
        thread::scope(|scope| {
            let mut threads = Vec::new();
            for part in &mut self.parts {
                let round = pick(&mut part.random, &rounds);
                threads.push(scope.spawn(move || part.run(round)));
            }
            stop_after(ROUND, &threads, &stop);
            threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
        })?;
        rounds.iter().try_for_each(|round| self.parts[0].scroll_all(*round))?;
        let all = history(&mut self.parts);
        all.check_numbers(&self.users)?;
        ready.iter().for_each(|ready| ready());
        check_polls(&mut self.parts, rounds[0].feed, &all, since)?;
        check(&all, self.nodes.plan.config_of_all().0)?;
        let counts = (all.reads.len(), self.parts.iter().map(|part| part.history.changes()).sum());
        self.parts.iter_mut().for_each(|part| part.history.forget());
        Ok(counts)
    }
}
