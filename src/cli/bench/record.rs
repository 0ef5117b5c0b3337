//! Latencies and errors of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;

use super::mix::Kind;

/// Longest latency that is told apart, microseconds.
const LONGEST: u64 = 3_600_000_000;
/// Decimal digits of a latency.
const DIGITS: u8 = 3;

/// The operations of a run that were due in its measured part. A fixed size, but for the kinds of errors.
#[derive(Debug, Clone)]
pub(super) struct Record {
    latencies: [Histogram<u64>; Kind::ALL.len()],
    errors: BTreeMap<(Kind, String), u64>,
}

impl Record {
    pub(super) fn new() -> Result<Self, hdrhistogram::CreationError> {
        let empty = Histogram::new_with_bounds(1, LONGEST, DIGITS)?;
        Ok(Self { latencies: std::array::from_fn(|_| empty.clone()), errors: BTreeMap::new() })
    }

    /// Counts an answered operation, with the time from the moment when it was due until its answer.
    pub(super) fn answered(&mut self, kind: Kind, latency: Duration) {
        let micros = u64::try_from(latency.as_micros()).unwrap_or(LONGEST);
        self.latencies[kind as usize].saturating_record(micros.max(1));
    }

    /// Counts an operation without a good answer, by its status, `connection` or `timeout`.
    pub(super) fn failed(&mut self, kind: Kind, why: String) {
        *self.errors.entry((kind, why)).or_default() += 1;
    }

    /// The latencies of the answered operations of a kind, in microseconds.
    pub(super) fn latencies(&self, kind: Kind) -> &Histogram<u64> {
        &self.latencies[kind as usize]
    }

    /// The errors by kind of operation and cause.
    pub(super) fn errors(&self) -> impl Iterator<Item = (Kind, &str, u64)> {
        self.errors.iter().map(|((kind, why), count)| (*kind, why.as_str(), *count))
    }

    /// The number of answered operations.
    pub(super) fn answers(&self) -> u64 {
        self.latencies.iter().map(Histogram::len).sum()
    }

    /// The number of errors.
    pub(super) fn failures(&self) -> u64 {
        self.errors.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_and_errors_are_counted_by_kind() {
        let mut record = Record::new().expect("bounds");
        (1..=100).for_each(|millis| record.answered(Kind::Read, Duration::from_millis(millis)));
        record.answered(Kind::Publish, Duration::from_secs(7200));
        record.answered(Kind::Publish, Duration::ZERO);
        record.failed(Kind::Follow, "422".to_owned());
        record.failed(Kind::Follow, "422".to_owned());
        record.failed(Kind::Follow, "timeout".to_owned());
        let p99 = record.latencies(Kind::Read).value_at_quantile(0.99);
        assert!((99_000..99_100).contains(&p99), "{p99}");
        assert_eq!((record.answers(), record.failures()), (102, 3));
        let errors: Vec<_> =
            record.errors().map(|(kind, why, count)| format!("{} {why} {count}", kind.name())).collect();
        assert_eq!(errors, ["follow 422 2", "follow timeout 1"]);
        assert!(record.latencies(Kind::Publish).max() >= LONGEST);
    }
}
