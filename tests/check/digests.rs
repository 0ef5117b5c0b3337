//! Digests of tables. That each row of a replicated table shows in the digest of its table is in `rows`.

use feed::store::{Options, Store};

use super::damage::{Row, count, key, row, set};
use super::everything::fill;
use super::support;

#[test]
fn rows_that_stay_until_a_compaction_count_for_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let digests = || support::digest(&Store::open(&Options::new(dir.path())).expect("opens"), 0);
    fill(&Store::open(&Options::new(dir.path())).expect("opens"));
    let before = digests();
    let zero = 0_u64.to_le_bytes().to_vec();
    for (row, value) in [
        // At or below the floors.
        (Row("outbox", row(2, 1, 2001)), vec![]),
        (Row("topic_content", row(1, 4, 3004)), key(&[3])),
        (Row("counts", count(99, 1)), zero.clone()),
        (Row("item_counts", key(&[99])), zero.repeat(4)),
        (Row("notes", b"note".to_vec()), vec![7]),
    ] {
        set(dir.path(), &row, Some(&value));
        assert_eq!(digests(), before, "{row:?}");
    }
}
