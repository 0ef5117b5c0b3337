//! The facts of an endpoint that its calls know.

/// The part of an endpoint that its calls know.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// The path of the endpoint, with names of parameters in braces.
    pub(super) pattern: &'static str,
    /// Whether it reads data that all nodes of a cluster share, and so takes the parameter for its
    /// [consistency](crate::nodes::consistency).
    pub(super) shares: bool,
    /// The part of the data of the user `{uid}` that some nodes alone keep.
    pub(super) kept: Option<OfOwner>,
    /// Whether any other node may answer in place of this one: not a stream, nor presence.
    pub(super) passes: bool,
}

/// Data of a user that not every node of a cluster keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OfOwner {
    /// The inbox, at the owners of the user. Other nodes answer without it, at a higher price.
    Inbox,
    /// The presence, at the first owner.
    Presence,
}

/// The start of the paths of the API.
pub(super) const API: &str = "/v1/";
/// The start of the paths of calls of operators.
pub(super) const OPERATORS: &str = "/v1/admin/";
