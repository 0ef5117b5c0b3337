//! Rows of deleted items.

use super::{Value, corrupt};
use crate::rows::keys::{Field, Parts};
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

/// The time of a deletion; of a purged item also author, time and sources, if they are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Deletion {
    pub(crate) at: Millis,
    pub(crate) purged: Option<Purged>,
}

impl Value for Deletion {
    const FORM: &'static str = "deleted_at, 8 bytes; of a purged item also [its author and sources](#purged-items)";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        read(bytes).ok_or_else(|| corrupt("deletion"))
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        let numbers = self.purged.iter().flat_map(|Purged { author, published_at, sources }| {
            [author.get(), *published_at].into_iter().chain(sources.iter().map(|source| source.get()))
        });
        Ok([self.at].into_iter().chain(numbers).flat_map(u64::to_be_bytes).collect())
    }
}

fn read(mut bytes: &[u8]) -> Option<Deletion> {
    let at = Millis::next(&mut bytes)?;
    if bytes.is_empty() {
        return Some(Deletion { at, purged: None });
    }
    let (author, published_at) = Parts::take(&mut bytes)?;
    let mut sources = Vec::new();
    while !bytes.is_empty() {
        sources.push(UserId::next(&mut bytes)?);
    }
    Some(Deletion { at, purged: Some(Purged { author, published_at, sources }) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_deletions() {
        let bytes = |purged: Option<&Purged>| Deletion { at: 5, purged: purged.cloned() }.bytes().expect("bytes");
        let read = |row: &[u8]| Deletion::read(&[], row);
        assert_eq!(bytes(None), [0, 0, 0, 0, 0, 0, 0, 5]);
        let user = |raw| UserId::new(raw).expect("an id");
        let purged = Purged { author: user(3), published_at: 300, sources: vec![user(7)] };
        let row = bytes(Some(&purged));
        let eight = |number: u64| number.to_be_bytes();
        assert_eq!(row, [eight(5), eight(3), eight(300), eight(7)].concat());
        assert_eq!(read(&row).expect("reads"), Deletion { at: 5, purged: Some(purged.clone()) });
        assert_eq!(read(&row[..24]).expect("reads").purged, Some(Purged { sources: vec![], ..purged }));
        assert_eq!(read(&row[..8]).expect("reads"), Deletion { at: 5, purged: None });
        for short in [0, 7, 12, 16, 23, 31] {
            assert!(read(&row[..short]).is_err(), "{short}");
        }
    }
}
