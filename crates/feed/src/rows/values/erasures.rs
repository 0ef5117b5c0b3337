//! Rows of erasures.

use super::{Value, corrupt, decode, encode};
use crate::rows::keys;
use model::error::Result;
use model::{ErasedUser, Erasure};

const ERASURE: u8 = 1;
const ERASED: u8 = 1;

impl Value for Erasure {
    const FORM: &'static str =
        "version 1, then bincode: since, the rows removed so far, the hash of the id, as in `erased`";

    fn read(key: &[u8], bytes: &[u8]) -> Result<Self> {
        let (since, rows, hash) = decode("erasure", ERASURE, bytes)?;
        Ok(Self { user: keys::read(key).ok_or_else(|| corrupt("erasure: user"))?, hash, since, rows })
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        encode(ERASURE, &(self.since, self.rows, &self.hash))
    }
}

/// Its key is the hash.
impl Value for ErasedUser {
    const FORM: &'static str = "version 1, then bincode: since, over, the rows removed";

    fn read(key: &[u8], bytes: &[u8]) -> Result<Self> {
        let hash = std::str::from_utf8(key).map_err(|_| corrupt("erased: hash"))?.to_owned();
        let (since, over, rows) = decode("erased", ERASED, bytes)?;
        Ok(Self { hash, since, over, rows })
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        encode(ERASED, &(self.since, self.over, self.rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::UserId;

    #[test]
    fn golden_erasures() {
        let of = Erasure { user: UserId::MIN, hash: "0a".to_owned(), since: 5, rows: 6 };
        let (user, row) = (UserId::MIN.get().to_be_bytes(), of.bytes().expect("bytes"));
        assert_eq!(row, [1, 5, 6, 2, b'0', b'a']);
        assert_eq!(Erasure::read(&user, &row).expect("readable"), of);
        assert!(Erasure::read(&user, &row[..5]).is_err());
        let of = ErasedUser { hash: "0a".to_owned(), since: 5, over: 7, rows: 6 };
        let row = of.bytes().expect("bytes");
        assert_eq!(row, [1, 5, 7, 6]);
        assert_eq!(ErasedUser::read(b"0a", &row).expect("readable"), of);
        assert!(ErasedUser::read(b"0a", &row[..3]).is_err());
    }
}
