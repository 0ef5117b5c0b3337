//! Who may make a call. Each endpoint states it (`endpoint.rs`).

/// The credentials that allow a call, besides a full key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Permit {
    /// None are needed.
    pub(crate) open: bool,
    /// A read key.
    pub(crate) read: bool,
    /// A metrics key.
    pub(crate) metrics: bool,
    /// The token of the user in this segment of the path.
    pub(crate) own: Option<usize>,
    /// Only if tokens may act (`auth.users_act`).
    pub(crate) acts: bool,
    /// The token may be in the query.
    pub(crate) in_query: bool,
}

impl Permit {
    /// For full keys and, if the call changes nothing, read keys. So it is for a path without an endpoint, too.
    pub(crate) fn for_keys(changes_nothing: bool) -> Self {
        Self { read: changes_nothing, ..Self::default() }
    }
}
