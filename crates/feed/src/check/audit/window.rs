//! A value for each of many numbers, in bounded memory: by several passes over the data, each for the next numbers
//! only.

use std::collections::BTreeMap;

/// Most numbers in a pass: with their tree some 64 MiB.
pub(super) const MOST: usize = 1 << 20;

/// The values of the lowest numbers from a start on, as many as fit.
#[derive(Debug)]
pub(super) struct Window<T> {
    start: u64,
    most: usize,
    /// The first number that did not fit.
    end: Option<u64>,
    known: BTreeMap<u64, T>,
}

impl<T: Default> Window<T> {
    pub(super) fn new(start: u64, most: usize) -> Self {
        Self { start, most, end: None, known: BTreeMap::new() }
    }

    /// The value of a number, to be changed; `None` for a number of another pass.
    pub(super) fn at(&mut self, number: u64) -> Option<&mut T> {
        if number < self.start || self.end.is_some_and(|end| number >= end) {
            return None;
        }
        self.known.entry(number).or_default();
        if self.known.len() > self.most
            && let Some((last, _)) = self.known.pop_last()
        {
            self.end = Some(last);
        }
        self.known.get_mut(&number)
    }

    /// The start of the next pass; `None` if this was the last.
    pub(super) fn end(&self) -> Option<u64> {
        self.end
    }

    /// The values of all numbers before [`Window::end`], ascending.
    pub(super) fn into_known(self) -> BTreeMap<u64, T> {
        self.known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_over_the_same_numbers_count_each_once_and_fully() {
        let numbers: Vec<u64> = (0..500).map(|n| n * 7919 % 101 + 1).collect();
        let mut whole: BTreeMap<u64, u64> = BTreeMap::new();
        numbers.iter().for_each(|number| *whole.entry(*number).or_default() += 1);
        for most in [1, 2, 10, 100, 101, 1000] {
            let (mut counted, mut from, mut passes) = (BTreeMap::new(), Some(0), 0);
            while let Some(start) = from {
                let mut window = Window::<u64>::new(start, most);
                for number in &numbers {
                    if let Some(count) = window.at(*number) {
                        *count += 1;
                    }
                }
                from = window.end();
                passes += 1;
                let known = window.into_known();
                assert!(known.len() <= most);
                counted.extend(known);
            }
            assert_eq!(counted, whole, "{most}");
            assert_eq!(passes, whole.len().div_ceil(most).max(1), "{most}");
        }
    }
}
