//! The number of cases, and their seed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fastrand::Rng;

use super::names::Ids;

/// An arbitrary number.
const SEED: u64 = 20_260_101;
/// Sequences on RocksDB.
const CASES: u32 = 120;
/// Number of threads that write and read.
const THREADS: u64 = 8;

/// The seed of this run.
pub(crate) fn seed() -> u64 {
    match std::env::var("TIDELINE_TEST_SEED").as_deref() {
        Err(_) => SEED,
        Ok("random") => SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_nanos() as u64,
        Ok(text) => text.parse().expect("TIDELINE_TEST_SEED is a number or `random`"),
    }
}

/// Sequences on RocksDB in this run.
pub(crate) fn cases() -> u32 {
    std::env::var("TIDELINE_TEST_CASES").map_or(CASES, |text| text.parse().expect("TIDELINE_TEST_CASES is a number"))
}

/// `n`, scaled with the number of cases if the variable is set.
pub(crate) fn scaled(n: u32) -> u32 {
    (n * cases()).div_ceil(CASES)
}

/// Number of random operations on each store, if given.
pub(crate) fn operations() -> Option<usize> {
    let text = std::env::var("TIDELINE_TEST_OPS").ok()?;
    Some(text.parse().expect("TIDELINE_TEST_OPS is a number"))
}

/// The ids of hosts to try: all, or those of `TIDELINE_TEST_IDS`.
pub(crate) fn modes() -> Vec<Ids> {
    let wanted = std::env::var("TIDELINE_TEST_IDS").unwrap_or_default().to_lowercase();
    let modes = Ids::ALL.into_iter().filter(|ids| format!("{ids:?}").to_lowercase().starts_with(&wanted));
    let modes: Vec<_> = modes.collect();
    assert!(!modes.is_empty(), "TIDELINE_TEST_IDS is `numbers`, `names`, `mixed` or not set");
    modes
}

/// Running time of the threads, if given.
pub(crate) fn minutes() -> Option<Duration> {
    let text = std::env::var("TIDELINE_TEST_MINUTES").ok()?;
    Some(Duration::from_secs_f64(60.0 * text.parse::<f64>().expect("TIDELINE_TEST_MINUTES is a number")))
}

/// Number of threads that write and read at the same time.
pub(crate) fn threads() -> u64 {
    std::env::var("TIDELINE_TEST_THREADS")
        .map_or(THREADS, |text| text.parse().expect("TIDELINE_TEST_THREADS is a number"))
}

/// A random element.
pub(crate) fn pick<T: Copy>(random: &mut Rng, among: &[T]) -> T {
    among[random.usize(..among.len())]
}
