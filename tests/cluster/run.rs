//! The number of sequences: few, or as many as the requested operations need.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::machine::{Counts, Machine};
use super::wrong::Wrong;
use crate::promises::broken::sequence;
use crate::promises::seed::{operations, scaled, seed};

/// Sequences, with the usual number of cases.
const SEQUENCES: u32 = 24;
const TELL_EVERY: Duration = Duration::from_secs(20);

/// The machine after the sequence of a seed.
pub(crate) fn machine(seed: u64, wrong: Option<Wrong>) -> Result<Machine, String> {
    let sequence = sequence(seed);
    Machine::run(seed, &sequence, wrong)
        .map_err(|failure| format!("{failure}\n{:?}, with {:?}", sequence.ids, sequence.config))
}

/// Runs the sequence of a seed.
pub(crate) fn run_one(seed: u64, wrong: Option<Wrong>) -> Result<Counts, String> {
    machine(seed, wrong).map(|machine| machine.counts)
}

/// Runs sequences on many more threads than there are cores, because most steps wait for the log.
pub(crate) fn run() {
    let (first, began) = (seed(), Instant::now());
    let wanted = operations();
    let (next, all, told) = (AtomicU64::new(first), Mutex::new(Counts::default()), Mutex::new(Instant::now()));
    let failed = Mutex::new(None);
    let tell = |now: &str| {
        eprintln!("{now}: {:?} in {:.0} s, no difference", all.lock(), began.elapsed().as_secs_f64());
    };
    let goes_on = |seed: u64| match wanted {
        Some(operations) => all.lock().operations < operations as u64,
        None => seed < first + u64::from(scaled(SEQUENCES)),
    };
    let run = || {
        loop {
            let seed = next.fetch_add(1, Ordering::SeqCst);
            if !goes_on(seed) || failed.lock().is_some() {
                break;
            }
            match std::panic::catch_unwind(|| run_one(seed, None)) {
                Ok(Ok(counts)) => all.lock().add(counts),
                Ok(Err(failure)) => _ = failed.lock().get_or_insert((seed, failure)),
                Err(_) => _ = failed.lock().get_or_insert((seed, "a panic".to_owned())),
            }
            let mut told = told.lock();
            if told.elapsed() >= TELL_EVERY {
                *told = Instant::now();
                tell("so far");
            }
        }
    };
    // Few beside other tests.
    let of_core = if wanted.is_some() { 10 } else { 2 };
    let threads = of_core * thread::available_parallelism().map_or(1, std::num::NonZero::get);
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(run))));
    if let Some((seed, failure)) = failed.lock().take() {
        panic!("{failure}\nTIDELINE_TEST_OPS=1 TIDELINE_TEST_SEED={seed} makes the same sequence again");
    }
    tell("done");
    let all = *all.lock();
    assert!(10 * all.undecided <= all.starts, "too many sequences end early: {all:?}");
    assert!(all.operations < 1000 || all.refused > 0, "no change was refused: {all:?}");
    assert!(all.operations < 1000 || all.strangers > 0, "nobody else wrote to the log: {all:?}");
    assert!(all.operations < 10_000 || all.lost > 0, "the log lost nothing: {all:?}");
    assert!(all.operations < 10_000 || all.left_out > 0, "all nodes had room: {all:?}");
    assert!(all.operations < 10_000 || all.outlived > 0, "no change had to wait: {all:?}");
    assert!(all.operations < 10_000 || all.twins > 0, "no node ran twice: {all:?}");
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.operations += other.operations;
        self.records += other.records;
        self.starts += other.starts;
        self.refused += other.refused;
        self.undecided += other.undecided;
        self.outlived += other.outlived;
        self.twins += other.twins;
        self.left_out += other.left_out;
        self.strangers += other.strangers;
        self.lost += other.lost;
    }
}
