//! The times at which operations are due: as from many independent users, at random with a given mean rate.

use std::time::Duration;

use fastrand::Rng;

/// Seconds from burst to burst. The first of them has four times the mean rate, and the others a quarter of it.
const CYCLE: f64 = 5.0;
/// The rate within a burst, as a multiple of the mean.
const PEAK: f64 = 4.0;

/// The due times of a sequence: a Poisson process, of an even rate or bent into bursts.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    has_bursts: bool,
    /// Operations per second.
    rate: f64,
    /// Seconds of an even rate.
    even: f64,
}

impl Clock {
    pub(super) fn new(has_bursts: bool, rate: f64) -> Self {
        Self { has_bursts, rate, even: 0.0 }
    }

    /// The next due time.
    pub(super) fn next(&mut self, random: &mut Rng) -> Duration {
        self.even -= (1.0 - random.f64()).ln() / self.rate;
        let seconds = if self.has_bursts { in_bursts(self.even) } else { self.even };
        // Beyond all durations only with a rate near 0.
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

/// The time in bursts at which as much has come as would have come at `even` seconds of an even rate.
fn in_bursts(even: f64) -> f64 {
    let within = even % CYCLE;
    let seconds = if within < PEAK { within / PEAK } else { 1.0 + (within - PEAK) * (CYCLE - 1.0) };
    even - within + seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(has_bursts: bool) -> [usize; 10] {
        let (mut clock, mut random, mut counts) = (Clock::new(has_bursts, 1000.0), Rng::with_seed(1), [0; 10]);
        let mut last = Duration::ZERO;
        loop {
            let due = clock.next(&mut random);
            assert!(due >= last);
            last = due;
            match counts.get_mut(due.as_secs() as usize) {
                Some(count) => *count += 1,
                None => return counts,
            }
        }
    }

    #[test]
    fn bursts_have_the_mean_rate_over_their_cycle() {
        for (second, count) in counts(true).into_iter().enumerate() {
            let wanted = if second % 5 == 0 { 3684..=4316 } else { 171..=329 };
            assert!(wanted.contains(&count), "{count} in second {second}");
        }
    }
}
