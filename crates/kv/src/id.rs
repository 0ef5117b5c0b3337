//! The ids with which keys begin.

/// Bytes of an id.
pub const ID: usize = 8;

/// The id with which a key begins.
pub(crate) fn first(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(key.get(..ID)?.try_into().ok()?))
}
