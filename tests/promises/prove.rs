//! The number of sequences: fixed and small, or as many as the requested operations need.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::case::Batch;
use super::kept::COMPARED;
use super::seed::{cases, operations, seed};
use super::shape::Kind;

/// Most steps of a sequence, for few and for many sequences.
const STEPS: (usize, usize) = (90, 400);
/// Sequences of a seed, for many sequences.
const BATCH: u32 = 10;
/// Time to search for a smaller failure, likewise.
const PATIENCE: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(120));
const TELL_EVERY: Duration = Duration::from_secs(20);

/// Runs random sequences, `times` as many as on RocksDB, or the requested operations.
pub(crate) fn run_sequences(kind: Kind, times: u32) {
    let seed = seed();
    match operations() {
        None => {
            let batch = Batch { kind, seed, cases: cases() * times, steps: STEPS.0, patience: PATIENCE.0 };
            if let Err(failure) = batch.run(|_| {}) {
                panic!("{failure}TIDELINE_TEST_SEED={seed} makes the same sequences again");
            }
        }
        Some(operations) => run_operations(kind, seed, operations),
    }
    assert!(COMPARED.load(Ordering::Relaxed) > 0, "no page was kept from one step to the next");
}

/// Uses twice as many threads as cores, because steps wait now and then.
fn run_operations(kind: Kind, seed: u64, wanted: usize) {
    let (began, told) = (Instant::now(), Mutex::new(Instant::now()));
    let (done, sequences, next) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicU64::new(seed));
    let failed = Mutex::new(None);
    let lock = || failed.lock();
    let tell = |now: &str| {
        let (done, seconds) = (done.load(Ordering::SeqCst), began.elapsed().as_secs_f64());
        let per_second = done as f64 / seconds;
        let sequences = sequences.load(Ordering::SeqCst);
        eprintln!(
            "{kind:?}, {now}: {done} of {wanted} operations in {sequences} sequences, {seconds:.0} s, {per_second:.0} a second, no difference"
        );
    };
    let count = |steps: usize| {
        done.fetch_add(steps, Ordering::SeqCst);
        sequences.fetch_add(1, Ordering::SeqCst);
        let mut told = told.lock();
        if told.elapsed() >= TELL_EVERY {
            *told = Instant::now();
            tell("so far");
        }
    };
    let run = || {
        while done.load(Ordering::SeqCst) < wanted && lock().is_none() {
            let seed = next.fetch_add(1, Ordering::SeqCst);
            let batch = Batch { kind, seed, cases: BATCH, steps: STEPS.1, patience: PATIENCE.1 };
            if let Err(failure) = batch.run(count) {
                lock().get_or_insert((seed, failure));
            }
        }
    };
    let threads = 2 * thread::available_parallelism().map_or(1, std::num::NonZero::get);
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(run))));
    if let Some((seed, failure)) = lock().take() {
        panic!("{failure}TIDELINE_TEST_OPS=1 TIDELINE_TEST_SEED={seed} makes the same sequences again");
    }
    tell("done");
}
