//! Rows of erasures: numbers of eight bytes, big-endian; then the hash of one that is under way.

use super::{Value, corrupt, id_of, number};
use model::error::Result;
use model::{ErasedUser, Erasure};

/// Its begin, the number of rows removed so far, and the hash.
impl Value for Erasure {
    const FORM: &'static str = "since, and the rows removed so far, 8 bytes each; the hash of the id, as in `erased`";

    fn read(key: &[u8], bytes: &[u8]) -> Result<Self> {
        let (fields, hash) = bytes.split_at_checked(16).ok_or_else(|| corrupt("erasure"))?;
        let [since, rows] = numbers(fields, "erasure")?;
        let hash = std::str::from_utf8(hash).map_err(|_| corrupt("erasure: hash"))?.to_owned();
        Ok(Self { user: id_of(key, "erasure: user")?, hash, since, rows })
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = [self.since, self.rows].map(u64::to_be_bytes).concat();
        bytes.extend(self.hash.bytes());
        Ok(bytes)
    }
}

/// Its begin, its end, and the number of rows removed. Its key is the hash.
impl Value for ErasedUser {
    const FORM: &'static str = "since, over, and the rows removed, 8 bytes each";

    fn read(key: &[u8], bytes: &[u8]) -> Result<Self> {
        let hash = std::str::from_utf8(key).map_err(|_| corrupt("erased: hash"))?.to_owned();
        let [since, over, rows] = numbers(bytes, "erased")?;
        Ok(Self { hash, since, over, rows })
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        Ok([self.since, self.over, self.rows].map(u64::to_be_bytes).concat())
    }
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
        let of = Erasure { user: UserId::MIN, hash: "0a".to_owned(), since: 5, rows: 6 };
        let (user, row) = (UserId::MIN.get().to_be_bytes(), of.bytes().expect("bytes"));
        assert_eq!(row, [0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 6, b'0', b'a']);
        assert_eq!(Erasure::read(&user, &row).expect("readable"), of);
        assert!(Erasure::read(&user, &row[..15]).is_err());
        let of = ErasedUser { hash: "0a".to_owned(), since: 5, over: 7, rows: 6 };
        let row = of.bytes().expect("bytes");
        assert_eq!(row, [0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 6]);
        assert_eq!(ErasedUser::read(b"0a", &row).expect("readable"), of);
        assert!(ErasedUser::read(b"0a", &row[..16]).is_err());
    }
}
