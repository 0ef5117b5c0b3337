//! A bounded number of locks and counts for any number of ids.

/// A `T` for every number, in bounded memory: all numbers share `N` of them. Two numbers may share one lock, so a
/// thread holds at most one of each [`Striped`] unless it takes them all by [`Striped::many`].
#[derive(Debug)]
pub struct Striped<T, const N: usize = 1024>(Box<[T]>);

impl<T: Default, const N: usize> Default for Striped<T, N> {
    fn default() -> Self {
        Self((0..N).map(|_| T::default()).collect())
    }
}

impl<T, const N: usize> Striped<T, N> {
    /// The `T` of a number.
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

    fn index(number: u64) -> usize {
        (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % N
    }
}
