//! A distribution of values, counted without a lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Nanoseconds in the unit in which durations are shown.
const NANOS: f64 = 1e9;

/// Counts values by size. An observation is two additions; a reader may see only one of them.
#[derive(Debug)]
pub struct Histogram {
    /// The largest value of each bucket, ascending. One more bucket takes the rest.
    bounds: &'static [u64],
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
    /// Values are divided by this number when they are shown.
    scale: f64,
}

/// A histogram as it was read, in the unit in which it is shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Distribution {
    /// The largest value of each bucket, ascending, and the number of values in it. The last bound is infinite.
    pub buckets: Vec<(f64, u64)>,
    /// The sum of all values.
    pub sum: f64,
}

impl Histogram {
    /// An empty histogram of plain numbers.
    pub fn of_numbers(bounds: &'static [u64]) -> Self {
        Self::new(bounds, 1.0)
    }

    /// An empty histogram of durations, shown in seconds. The bounds are nanoseconds.
    pub fn of_durations(bounds: &'static [u64]) -> Self {
        Self::new(bounds, NANOS)
    }

    fn new(bounds: &'static [u64], scale: f64) -> Self {
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self { bounds, counts, sum: AtomicU64::new(0), scale }
    }

    /// Counts a number.
    pub fn observe(&self, value: u64) {
        let bucket = self.bounds.partition_point(|bound| *bound < value);
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    /// Counts a duration.
    pub fn observe_duration(&self, took: Duration) {
        self.observe(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }

    /// The values counted so far.
    pub fn read(&self) -> Distribution {
        let bounds = self.bounds.iter().map(|bound| *bound as f64 / self.scale).chain([f64::INFINITY]);
        Distribution {
            buckets: bounds.zip(self.counts.iter().map(|count| count.load(Ordering::Relaxed))).collect(),
            sum: self.sum.load(Ordering::Relaxed) as f64 / self.scale,
        }
    }
}

impl Distribution {
    /// The number of values.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum()
    }

    /// The values that came after `before` was read of the same histogram.
    pub fn since(&self, before: &Self) -> Self {
        let earlier = before.buckets.iter().map(|(_, count)| *count).chain(std::iter::repeat(0));
        let new = self.buckets.iter().zip(earlier).map(|((bound, now), before)| (*bound, now.saturating_sub(before)));
        Self { buckets: new.collect(), sum: self.sum - before.sum }
    }

    /// Adds the values of a histogram with the same bounds.
    pub fn add(&mut self, other: &Self) {
        if self.buckets.is_empty() {
            return self.clone_from(other);
        }
        for ((_, count), (_, more)) in self.buckets.iter_mut().zip(&other.buckets) {
            *count += more;
        }
        self.sum += other.sum;
    }

    /// The value below which this part of the values lies, as if those of a bucket were spread evenly, as in
    /// `histogram_quantile` of Prometheus; `None` without values. In the last bucket it is the bucket's lower bound.
    pub fn quantile(&self, part: f64) -> Option<f64> {
        let wanted = part * self.count() as f64;
        let (mut lower, mut below) = (0.0, 0.0);
        for (bound, count) in self.buckets.iter().map(|(bound, count)| (*bound, *count as f64)) {
            if count > 0.0 && below + count >= wanted {
                return Some(if bound.is_infinite() {
                    lower
                } else {
                    lower + (bound - lower) * (wanted - below) / count
                });
            }
            (lower, below) = (bound, below + count);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_in_the_first_bucket_that_it_does_not_exceed() {
        let histogram = Histogram::of_numbers(&[0, 10]);
        for value in [0, 1, 10, 11, 1000] {
            histogram.observe(value);
        }
        let read = histogram.read();
        assert_eq!(read.buckets, [(0.0, 1), (10.0, 2), (f64::INFINITY, 2)]);
        assert_eq!((read.sum, read.count()), (1022.0, 5));
    }
}
