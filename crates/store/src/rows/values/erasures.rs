//! Rows of erasures: numbers of eight bytes, big-endian.

use super::{corrupt, number};
use model::error::Result;
use model::{ErasedUser, Erasure, Millis};

/// An erasure under way: when it began, and the rows that are removed so far.
pub(crate) fn erasure(erasure: &Erasure) -> Vec<u8> {
    [erasure.since, erasure.rows].map(u64::to_be_bytes).concat()
}

/// Reads [`erasure`].
pub(crate) fn read_erasure(bytes: &[u8]) -> Result<(Millis, u64)> {
    let [since, rows] = numbers(bytes, "erasure")?;
    Ok((since, rows))
}

/// An erasure that is over: when it began and was over, and the rows that were removed.
pub(crate) fn erased(erased: &ErasedUser) -> Vec<u8> {
    [erased.since, erased.over, erased.rows].map(u64::to_be_bytes).concat()
}

/// Reads [`erased`].
pub(crate) fn read_erased(bytes: &[u8]) -> Result<[u64; 3]> {
    numbers(bytes, "erased")
}

/// A value of so many numbers.
fn numbers<const N: usize>(bytes: &[u8], what: &str) -> Result<[u64; N]> {
    let mut numbers = [0; N];
    if bytes.len() != 8 * N {
        return Err(corrupt(what));
    }
    for (place, bytes) in numbers.iter_mut().zip(bytes.chunks_exact(8)) {
        *place = number(bytes).ok_or_else(|| corrupt(what))?;
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::UserId;

    #[test]
    fn golden_erasures() {
        let row = erasure(&Erasure { user: UserId::MIN, since: 5, rows: 6 });
        assert_eq!(row, [0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 6]);
        assert_eq!(read_erasure(&row).expect("readable"), (5, 6));
        let row = erased(&ErasedUser { hash: "0a".to_owned(), since: 5, over: 7, rows: 6 });
        assert_eq!(row, [0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 6]);
        assert_eq!(read_erased(&row).expect("readable"), [5, 7, 6]);
        assert!(read_erased(&row[..16]).is_err());
    }
}
