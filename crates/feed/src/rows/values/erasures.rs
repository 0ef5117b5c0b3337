//! Rows of erasures: numbers of eight bytes, big-endian; then the hash of one that is under way.

use super::{corrupt, number};
use model::error::Result;
use model::{ErasedUser, Erasure, UserId};

/// An erasure under way: when it began, the rows that are removed so far, and the hash.
pub(crate) fn erasure(erasure: &Erasure) -> Vec<u8> {
    let mut bytes = [erasure.since, erasure.rows].map(u64::to_be_bytes).concat();
    bytes.extend(erasure.hash.bytes());
    bytes
}

/// Reads [`erasure`] of a user.
pub(crate) fn read_erasure(user: UserId, bytes: &[u8]) -> Result<Erasure> {
    let (numbers_of, hash) = bytes.split_at_checked(16).ok_or_else(|| corrupt("erasure"))?;
    let [since, rows] = numbers(numbers_of, "erasure")?;
    let hash = std::str::from_utf8(hash).map_err(|_| corrupt("erasure: hash"))?.to_owned();
    Ok(Erasure { user, hash, since, rows })
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

    #[test]
    fn golden_erasures() {
        let of = Erasure { user: UserId::MIN, hash: "0a".to_owned(), since: 5, rows: 6 };
        let row = erasure(&of);
        assert_eq!(row, [0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 6, b'0', b'a']);
        assert_eq!(read_erasure(UserId::MIN, &row).expect("readable"), of);
        assert!(read_erasure(UserId::MIN, &row[..15]).is_err());
        let row = erased(&ErasedUser { hash: "0a".to_owned(), since: 5, over: 7, rows: 6 });
        assert_eq!(row, [0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 6]);
        assert_eq!(read_erased(&row).expect("readable"), [5, 7, 6]);
        assert!(read_erased(&row[..16]).is_err());
    }
}
