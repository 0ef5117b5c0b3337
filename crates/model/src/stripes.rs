//! A bounded number of locks and counts for any number of ids.

use crate::sync::Mutex;

/// A `T` for every number, in bounded memory: all numbers share `N` of them. Two numbers may share one lock, so a
/// thread holds at most one of each [`Striped`] unless it takes them all by [`Striped::many`].
#[derive(Debug)]
pub struct Striped<T, const N: usize = 1024>(Box<[T]>);

impl<T: Default, const N: usize> Default for Striped<T, N> {
    #[inline]
    fn default() -> Self {
        Self((0..N).map(|_| T::default()).collect())
    }
}

impl<T, const N: usize> Striped<T, N> {
    /// The `T` of a number.
    #[inline]
    pub fn of(&self, number: u64) -> &T {
        &self.0[Self::index(number)]
    }

    /// All of them, in one order.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }

    /// Locks several numbers, each of their locks once and in an order that cannot deadlock.
    pub fn many<'a, G>(&'a self, numbers: impl IntoIterator<Item = u64>, lock: impl FnMut(&'a T) -> G) -> Vec<G> {
        let mut indices: Vec<_> = numbers.into_iter().map(Self::index).collect();
        indices.sort_unstable();
        indices.dedup();
        indices.into_iter().map(|index| &self.0[index]).map(lock).collect()
    }

    #[inline]
    fn index(number: u64) -> usize {
        (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % N
    }
}

#[derive(Debug, Default)]
struct Count {
    under_way: u64,
    /// Changes that have ended.
    ended: u64,
}

/// Detects changes between two reads (a sequence lock): each change is announced before and after. Several ids share a
/// count; then a change of one looks like a change of the others, too.
#[derive(Debug, Default)]
pub struct Changes(Striped<Mutex<Count>>);

impl Changes {
    /// Must come before a change.
    #[inline]
    pub fn begin(&self, number: u64) {
        self.0.of(number).lock().under_way += 1;
    }

    /// Must come after it, even if it failed.
    #[inline]
    pub fn end(&self, number: u64) {
        let mut count = self.0.of(number).lock();
        count.under_way -= 1;
        count.ended += 1;
    }

    /// A number that differs after each change; `None` while one is under way. If it is the same before and after some
    /// reads, all of them saw the state of one instant.
    #[inline]
    pub fn version(&self, number: u64) -> Option<u64> {
        self.if_still(number, |version| version)
    }

    /// Runs `act` with the present version; no change begins or ends meanwhile.
    pub fn if_still<R>(&self, number: u64, act: impl FnOnce(Option<u64>) -> R) -> R {
        let count = self.0.of(number).lock();
        act((count.under_way == 0).then_some(count.ended))
    }
}
