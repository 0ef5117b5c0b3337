//! Writers, readers and workers at the same time, for a given duration.
//!
//! A *life* is one store that goes through several rounds: threads run, then every read is checked against all changes,
//! then there may be a restart with other settings. Checked data is forgotten, so memory does not grow with time.

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use model::{Entry, UserId};

use super::actor::{Part, Role, Round, Share};
use super::history::{Clock, History};
use super::names::{Ids, USERS};
use super::polls::{check_polls, give_polls};
use super::seed::{minutes, modes, scaled, seed, threads};
use super::settled::{Right, check_settled};
use super::shape::{self, Kind, NEVER};
use super::swap;
use super::system::System;
use super::told::Told;
use crate::wait::stop_after;

/// Lives when no minutes are given.
const LIVES: u32 = 6;
/// Rounds of a life.
const ROUNDS: u32 = 5;
const ROUND: Duration = Duration::from_millis(250);

/// Lives with separate settings, one in four in memory: for the requested minutes, or a few.
pub(crate) fn run_lives() {
    let until = minutes().map(|minutes| Instant::now() + minutes);
    let mut told = Told::default();
    for number in 0.. {
        if until.map_or(number >= scaled(LIVES), |until| Instant::now() >= until) {
            break;
        }
        let seed = seed() + u64::from(number);
        let kind = if number % 4 == 3 { Kind::Memory } else { Kind::Rocks };
        let lived = Life::new(kind, seed).live(&mut told);
        if let Err(failure) = lived.and_then(|()| if until.is_some() { swap::run_one(kind, seed) } else { Ok(()) }) {
            panic!("{failure}\nlife {number} on {kind:?}; TIDELINE_TEST_SEED={seed} makes the same choices again");
        }
    }
    told.line("done");
}

/// One store, its threads, and their recorded history.
struct Life {
    system: System,
    clock: Clock,
    random: Rng,
    parts: Vec<Part>,
    ids: Ids,
    /// In the order of [`USERS`].
    users: Vec<UserId>,
}

/// The threads by role.
pub(crate) fn shares(threads: u64) -> Vec<Share> {
    let quarter = (threads / 4).max(1);
    let readers = threads.saturating_sub(2 * quarter + 1).max(1);
    let of_role = |role, of| (0..of).map(move |number| Share { role, number, of });
    let workers = of_role(Role::Poster, quarter).chain(of_role(Role::Grapher, quarter));
    workers.chain(of_role(Role::Reader, readers)).chain(of_role(Role::Keeper, 1)).collect()
}

impl Life {
    fn new(kind: Kind, seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let system = System::new(kind, shape::random(&mut random));
        let modes = modes();
        let ids = modes[seed as usize % modes.len()];
        // Their names get numbers in any order.
        let mut order = USERS;
        random.shuffle(&mut order);
        order.into_iter().for_each(|raw| _ = ids.user(&system.feed, raw));
        let users: Vec<_> = USERS.into_iter().map(|raw| ids.user(&system.feed, raw)).collect();
        let part = |(n, share)| Part::new(share, Rng::with_seed(seed.wrapping_mul(1000) + n as u64));
        let mut parts: Vec<_> = shares(threads()).into_iter().enumerate().map(part).collect();
        let clock = Clock::default();
        give_polls(&system.feed, ids, &clock, &users, &mut parts);
        Self { system, clock, random, parts, ids, users }
    }

    fn live(mut self, told: &mut Told) -> Result<(), String> {
        for number in 0..ROUNDS {
            let config = self.system.config.clone();
            self.round(told).map_err(|failure| format!("{failure}\nin round {number} with {config:?}"))?;
            self.between();
        }
        Ok(())
    }

    /// Runs the threads, and checks their reads.
    fn round(&mut self, told: &mut Told) -> Result<(), String> {
        // Sometimes all jobs wait, because no answer may depend on them.
        if self.random.u64(..6) == 0 {
            self.system.stop()
        } else {
            self.system.start()
        }
        let (stop, since) = (AtomicBool::new(false), self.clock.tick());
        let round = Round {
            feed: &self.system.feed,
            candidates: self.system.candidates(),
            clock: &self.clock,
            stop: &stop,
            inbox_limit: self.system.config.timeline.inbox_limit,
            ids: self.ids,
            users: &self.users,
            can_restore: self.system.config.content.deleted_retention > NEVER,
            by_clock: true,
            ready: &|| (),
        };
        thread::scope(|scope| {
            let threads: Vec<_> = self.parts.iter_mut().map(|part| scope.spawn(move || part.run(round))).collect();
            stop_after(ROUND, &threads, &stop);
            threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
        })?;
        // Again without writers, and half the time with all jobs done.
        self.parts[0].scroll_all(round)?;
        let all = history(&mut self.parts);
        check_polls(&mut self.parts, &self.system.feed, &all, since)?;
        if self.random.bool() {
            self.system.drain()?;
            check_settled(&self.system, &self.users, &all)?;
        }
        all.check_numbers(&self.users)?;
        check(&all, self.system.config.timeline.include_own)?;
        told.count(all.reads.len(), self.parts.iter().map(|part| part.history.changes()).sum());
        self.parts.iter_mut().for_each(|part| part.history.forget());
        Ok(())
    }

    /// Sometimes restarts with other settings, properly or by a crash.
    fn between(&mut self) {
        if self.random.bool() {
            self.system.config = shape::random(&mut self.random);
            if self.random.bool() { self.system.reopen() } else { self.system.crash() }
        }
    }
}

/// The history of all threads.
pub(crate) fn history(parts: &mut [Part]) -> History {
    let mut all = History::default();
    for part in parts {
        let reads = std::mem::take(&mut part.history.reads);
        all.merge(History { reads, ..part.history.clone() });
    }
    all
}

/// Compares every read, on all cores.
pub(crate) fn check(all: &History, include_own: bool) -> Result<(), String> {
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let share = all.reads.len().div_ceil(cores).max(1);
    let check = |reads: &[super::history::Read]| {
        reads.iter().try_for_each(|read| all.check(read, include_own).map_err(|wrong| all.tell(read, &wrong)))
    };
    thread::scope(|scope| {
        let checks: Vec<_> = all.reads.chunks(share).map(|reads| scope.spawn(move || check(reads))).collect();
        checks.into_iter().try_for_each(|check| check.join().expect("no panic"))
    })
}

impl Right for History {
    fn follows(&self, user: UserId, author: UserId) -> bool {
        self.follows_now(user, author)
    }

    /// Items deleted in an earlier round are forgotten, and their rows may remain.
    fn is_content(&self, entry: Entry) -> bool {
        self.lives.iter().all(|life| life.entry.cursor.id != entry.cursor.id || life.entry == entry)
    }

    fn followed(&self, user: UserId) -> Vec<(UserId, Entry)> {
        let live = self.lives.iter().filter(|life| life.lives());
        let of_paths = live.flat_map(|life| life.paths().map(|source| (source, life.entry)));
        of_paths.filter(|(source, _)| self.follows_now(user, *source)).collect()
    }
}
