//! Digests of tables: equal for equal rows, wherever and in whichever order a store keeps them.

use xxhash_rust::xxh3::{xxh3_64, xxh3_128_with_seed};

/// The rows of a table, or of a table with its archive, in one number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDigest {
    /// The name of the table, as in `docs/schema.md`.
    pub table: &'static str,
    /// The rows in it.
    pub rows: u64,
    /// The sum of their hashes.
    pub digest: u128,
}

/// Makes the digest of a table, row by row.
#[derive(Debug)]
pub struct Digester {
    seed: u64,
    sum: TableDigest,
    row: Vec<u8>,
}

impl Digester {
    /// The digest of no rows.
    pub fn new(table: &'static str) -> Self {
        let sum = TableDigest { table, rows: 0, digest: 0 };
        Self { seed: xxh3_64(table.as_bytes()), sum, row: Vec::new() }
    }

    /// Adds a row. A row that is added twice counts twice.
    pub fn add(&mut self, key: &[u8], value: &[u8]) {
        self.row.clear();
        // Otherwise a byte could move from the key to the value.
        self.row.extend((key.len() as u64).to_be_bytes());
        self.row.extend(key);
        self.row.extend(value);
        self.sum.rows += 1;
        self.sum.digest = self.sum.digest.wrapping_add(xxh3_128_with_seed(&self.row, self.seed));
    }

    /// The digest of the rows so far.
    pub fn finish(self) -> TableDigest {
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(table: &'static str, rows: &[(&str, &str)]) -> TableDigest {
        let mut digester = Digester::new(table);
        rows.iter().for_each(|(key, value)| digester.add(key.as_bytes(), value.as_bytes()));
        digester.finish()
    }

    #[test]
    fn a_digest_depends_on_rows_and_table_and_not_on_their_order() {
        let rows = [("a", "1"), ("b", "2")];
        let one = digest("t", &rows);
        assert_eq!(one, digest("t", &[rows[1], rows[0]]));
        assert_eq!((one.rows, digest("t", &[]).digest), (2, 0));
        for other in [&[("a", "1")][..], &[("a", "2"), ("b", "1")], &[("a1", ""), ("b", "2")], &[rows[0]; 2]] {
            assert_ne!(one.digest, digest("t", other).digest, "{other:?}");
        }
        assert_ne!(one.digest, digest("u", &rows).digest);
        assert_ne!(digest("t", &[rows[0]; 2]).digest, digest("t", &[]).digest, "no pair cancels itself");
    }

    #[test]
    fn nodes_of_two_versions_have_one_digest() {
        assert_eq!(digest("t", &[("a", "1"), ("b", "2")]).digest, GOLDEN);
    }

    const GOLDEN: u128 = 171_378_780_916_980_693_674_100_661_346_608_088_798;
}
