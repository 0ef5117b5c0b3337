//! Values that wait for the thread that takes them.

use crossbeam_channel::{Receiver, Sender, unbounded};

/// Values in the order in which they came, at most so many. It has no memory for more than those that wait.
#[derive(Debug)]
pub(crate) struct Waiting<T> {
    push: Sender<T>,
    take: Receiver<T>,
    most: usize,
}

impl<T> Waiting<T> {
    /// None yet, and at most so many.
    pub(crate) fn new(most: usize) -> Self {
        let (push, take) = unbounded();
        Self { push, take, most }
    }

    /// Adds a value; false if too many wait.
    pub(crate) fn push(&self, value: T) -> bool {
        self.push.len() < self.most && self.push.send(value).is_ok()
    }

    /// Takes the oldest of those that wait now, at most this many.
    pub(crate) fn take(&self, most: usize) -> Vec<T> {
        self.take.try_iter().take(most.min(self.take.len())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_bounded_and_comes_in_order() {
        let waiting = Waiting::new(10);
        assert!((0..10).all(|value| waiting.push(value)));
        assert!(!waiting.push(0));
        assert_eq!(waiting.take(2), [0, 1]);
        assert!(waiting.push(7));
        assert_eq!(waiting.take(usize::MAX).last(), Some(&7));
        assert!(waiting.take(1).is_empty());
    }
}
