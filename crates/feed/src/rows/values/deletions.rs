//! Rows of deleted items.

use super::corrupt;
use crate::rows::keys::number;
use model::error::Result;
use model::{Millis, UserId};

/// Whose a purged item was, for what still names its author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Purged {
    pub(crate) author: UserId,
    pub(crate) published_at: Millis,
    /// The other sources of its paths, and of those that it was taken off.
    pub(crate) sources: Vec<UserId>,
}

/// A row of `deleted`: the time of the deletion; of a purged item also author, time and sources, if they are known.
pub(crate) fn deletion(deleted_at: Millis, purged: Option<&Purged>) -> Vec<u8> {
    let numbers = purged.into_iter().flat_map(|Purged { author, published_at, sources }| {
        [author.get(), *published_at].into_iter().chain(sources.iter().map(|source| source.get()))
    });
    [deleted_at].into_iter().chain(numbers).flat_map(u64::to_be_bytes).collect()
}

/// Reads [`deletion`].
pub(crate) fn read_deletion(bytes: &[u8]) -> Result<(Millis, Option<Purged>)> {
    let mut numbers = bytes.chunks(8).map(|bytes| number(bytes).filter(|_| bytes.len() == 8));
    let mut next = || numbers.next().map(|number| number.ok_or_else(|| corrupt("deletion"))).transpose();
    let user = |raw| UserId::new(raw).map_err(|_| corrupt("deletion: user"));
    let deleted_at = next()?.ok_or_else(|| corrupt("deletion"))?;
    let Some(author) = next()? else { return Ok((deleted_at, None)) };
    let published_at = next()?.ok_or_else(|| corrupt("deletion"))?;
    let mut sources = Vec::new();
    while let Some(source) = next()? {
        sources.push(user(source)?);
    }
    Ok((deleted_at, Some(Purged { author: user(author)?, published_at, sources })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_deletions() {
        assert_eq!(deletion(5, None), [0, 0, 0, 0, 0, 0, 0, 5]);
        let user = |raw| UserId::new(raw).expect("an id");
        let purged = Purged { author: user(3), published_at: 300, sources: vec![user(7)] };
        let row = deletion(5, Some(&purged));
        let eight = |number: u64| number.to_be_bytes();
        assert_eq!(row, [eight(5), eight(3), eight(300), eight(7)].concat());
        assert_eq!(read_deletion(&row).expect("reads"), (5, Some(purged.clone())));
        assert_eq!(read_deletion(&row[..24]).expect("reads"), (5, Some(Purged { sources: vec![], ..purged })));
        assert_eq!(read_deletion(&row[..8]).expect("reads"), (5, None));
        for short in [0, 7, 12, 16, 23, 31] {
            assert!(read_deletion(&row[..short]).is_err(), "{short}");
        }
    }
}
