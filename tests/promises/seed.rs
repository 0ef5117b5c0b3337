//! How many cases there are, and from which seed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Any number will do.
const SEED: u64 = 20_260_101;
/// Sequences on RocksDB.
const CASES: u32 = 120;
/// Threads that write and read.
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

/// A number that scales with the cases and is `n` without the variable.
pub(crate) fn scaled(n: u32) -> u32 {
    (n * cases()).div_ceil(CASES)
}

/// How many random operations to try on each store, if that was said.
pub(crate) fn operations() -> Option<usize> {
    let text = std::env::var("TIDELINE_TEST_OPS").ok()?;
    Some(text.parse().expect("TIDELINE_TEST_OPS is a number"))
}

/// How long the threads are to go on, if that was said.
pub(crate) fn minutes() -> Option<Duration> {
    let text = std::env::var("TIDELINE_TEST_MINUTES").ok()?;
    Some(Duration::from_secs_f64(60.0 * text.parse::<f64>().expect("TIDELINE_TEST_MINUTES is a number")))
}

/// How many threads write and read at the same time.
pub(crate) fn threads() -> u64 {
    std::env::var("TIDELINE_TEST_THREADS")
        .map_or(THREADS, |text| text.parse().expect("TIDELINE_TEST_THREADS is a number"))
}

/// A small generator for the threads, so that their choices follow from the seed.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed ^ 0x9E37_79B9_7F4A_7C15)
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// True once in `n` times.
    pub(crate) fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of them.
    pub(crate) fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len() as u64) as usize]
    }
}
