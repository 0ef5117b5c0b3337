//! The times at which operations are due: as from many independent users, at random with a given mean rate.

use std::time::Duration;

use fastrand::Rng;

/// How the rate changes with time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrivals {
    /// Not at all.
    Even,
    /// Of five seconds the first has four times the mean rate, and the others a quarter of it.
    Bursts,
}

const CYCLE: f64 = 5.0;
/// The rate within a burst, as a multiple of the mean.
const PEAK: f64 = 4.0;

impl Arrivals {
    /// The time at which as much has come as would have come at `even` seconds of an even rate.
    fn warped(self, even: f64) -> f64 {
        match self {
            Self::Even => even,
            Self::Bursts => {
                let (cycle, within) = ((even / CYCLE).floor(), even % CYCLE);
                let seconds = if within < PEAK { within / PEAK } else { 1.0 + (within - PEAK) * (CYCLE - 1.0) };
                cycle * CYCLE + seconds
            }
        }
    }
}

/// The due times of a sequence: a Poisson process, bent by [`Arrivals`].
#[derive(Debug, Clone)]
pub(super) struct Clock {
    arrivals: Arrivals,
    /// Operations per second.
    rate: f64,
    /// Seconds of an even rate.
    even: f64,
}

impl Clock {
    pub(super) fn new(arrivals: Arrivals, rate: f64) -> Self {
        Self { arrivals, rate, even: 0.0 }
    }

    /// The next due time.
    pub(super) fn next(&mut self, random: &mut Rng) -> Duration {
        self.even -= (1.0 - random.f64()).ln() / self.rate;
        // Beyond all durations only with a rate near 0.
        Duration::try_from_secs_f64(self.arrivals.warped(self.even)).unwrap_or(Duration::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(arrivals: Arrivals) -> [usize; 10] {
        let (mut clock, mut random, mut counts) = (Clock::new(arrivals, 1000.0), Rng::with_seed(1), [0; 10]);
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
    fn an_even_rate_is_met_in_each_second() {
        for (second, count) in counts(Arrivals::Even).into_iter().enumerate() {
            // Five standard deviations of a Poisson distribution.
            assert!((842..=1158).contains(&count), "{count} in second {second}");
        }
    }

    #[test]
    fn bursts_have_the_mean_rate_over_their_cycle() {
        for (second, count) in counts(Arrivals::Bursts).into_iter().enumerate() {
            let wanted = if second % 5 == 0 { 3684..=4316 } else { 171..=329 };
            assert!(wanted.contains(&count), "{count} in second {second}");
        }
    }

    #[test]
    fn gaps_are_those_of_independent_users() {
        let (mut clock, mut random) = (Clock::new(Arrivals::Even, 1000.0), Rng::with_seed(1));
        let dues: Vec<f64> = (0..100_000).map(|_| clock.next(&mut random).as_secs_f64() * 1000.0).collect();
        let gaps: Vec<f64> = dues.windows(2).map(|two| two[1] - two[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let spread = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        assert!((0.97..1.03).contains(&mean) && (0.97..1.03).contains(&spread), "{mean} {spread}");
    }
}
