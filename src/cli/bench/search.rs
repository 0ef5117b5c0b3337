//! The search for the largest rate that a server keeps.

/// The search ends when the smallest rate that was too high is at most this multiple of the largest that was kept.
const CLOSE: f64 = 1.1;
/// Rates are multiplied by this number until one is too high.
const GROWTH: f64 = 2.0;
/// The smallest rate that is tried.
const LEAST: f64 = 1.0;

/// Proposes rates: doubled until one is too high, then between the two.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Search {
    kept: Option<f64>,
    too_high: Option<f64>,
    next: f64,
}

impl Search {
    /// Begins with a rate per second.
    pub(super) fn new(first: f64) -> Self {
        Self { kept: None, too_high: None, next: first }
    }

    /// The rate to try; `None` when the search is over.
    pub(super) fn rate(&self) -> Option<f64> {
        let is_over = match (self.kept, self.too_high) {
            (Some(kept), Some(too_high)) => too_high <= kept * CLOSE,
            _ => self.too_high.is_some_and(|too_high| too_high <= LEAST),
        };
        (!is_over).then_some(self.next)
    }

    /// Notes the result of that rate.
    pub(super) fn tried(&mut self, kept: bool) {
        if kept {
            self.kept = Some(self.next);
        } else {
            self.too_high = Some(self.next);
        }
        self.next = match (self.kept, self.too_high) {
            (Some(kept), Some(too_high)) => (kept * too_high).sqrt(),
            (Some(kept), None) => kept * GROWTH,
            (None, Some(too_high)) => (too_high / GROWTH / GROWTH).max(LEAST),
            (None, None) => self.next,
        };
    }

    /// The largest rate that was kept.
    pub(super) fn best(&self) -> Option<f64> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_kept_rate_is_found_in_few_steps() {
        for limit in [3.0, 70.0, 1000.0, 1001.0, 23_456.0, 900_000.0] {
            let (mut search, mut steps) = (Search::new(1000.0), 0);
            while let Some(rate) = search.rate() {
                search.tried(rate <= limit);
                steps += 1;
            }
            let best = search.best().expect("one is kept");
            assert!(best <= limit && limit < best * CLOSE, "{best} for {limit}");
            assert!(steps <= 16, "{steps} steps for {limit}");
        }
    }

    #[test]
    fn a_server_that_keeps_no_rate_ends_the_search() {
        let mut search = Search::new(1000.0);
        while search.rate().is_some() {
            search.tried(false);
        }
        assert_eq!(search.best(), None);
    }
}
