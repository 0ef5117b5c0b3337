//! The facts of a call by which requests are let in, passed on and answered.

use crate::guards::auth::Permit;

/// The start of the paths of the API.
pub(super) const API: &str = "/v1/";
/// The start of the paths of calls of operators.
pub(super) const OPERATORS: &str = "/v1/admin/";

/// The facts of one method of one path.
#[derive(Debug, Default)]
pub(super) struct RouteInfo {
    /// The path, with names of parameters in braces.
    pub(super) path: &'static str,
    /// Such as `GET`, which includes HEAD.
    pub(super) method: &'static str,
    /// The credentials that allow the call.
    pub(super) permit: Permit,
    /// The names of the parameters of the query.
    pub(super) query: Vec<String>,
    pub(super) body: BodyKind,
    /// Whether it also answers on connections beyond the limit.
    pub(super) answers_always: bool,
    /// Whether it answers requests for any host, and from any page.
    pub(super) any_host: bool,
    /// Whether another server makes it all the time, so that the audit leaves it out.
    pub(super) routine: bool,
    /// Whether it is about this server alone, and not about the data that all nodes of a cluster share.
    pub(super) alone: bool,
    /// Whether it never waits in a queue, and so is never refused by a full one.
    pub(super) never_waits: bool,
    /// Whether some answer is another than JSON, such as a stream.
    pub(super) streams: bool,
    /// The part of the data of the user `{uid}` that some nodes alone keep.
    pub(super) kept: Option<OfOwner>,
}

/// The body that a call reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum BodyKind {
    /// None.
    #[default]
    Unread,
    /// An object that may be left out.
    Optional,
    /// A single change.
    Change,
    /// A batch of changes or a list of files, which may be longer.
    Batch,
}

/// Data of a user that not every node of a cluster keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OfOwner {
    /// The inbox, at the owners of the user. Other nodes answer without it, at a higher price.
    Inbox,
    /// The presence, at the first owner.
    Presence,
}

impl RouteInfo {
    /// A call for keys, without parameters and without a body.
    pub(super) fn new(method: &'static str, path: &'static str) -> Self {
        Self { path, method, permit: Permit::for_keys(method == "GET"), ..Self::default() }
    }

    /// Whether it makes changes.
    pub(super) fn writes(&self) -> bool {
        self.method != "GET"
    }

    /// Whether the call is one of the API, and not a page or a probe.
    pub(super) fn is_of_api(&self) -> bool {
        self.path.starts_with(API)
    }

    /// Whether the call is one of operators, which a server answers also after a standby has taken over.
    pub(super) fn is_of_operators(&self) -> bool {
        self.path.starts_with(OPERATORS)
    }

    /// Whether the audit has a line for each of its requests.
    pub(super) fn is_audited(&self) -> bool {
        self.is_of_operators() && !self.permit.read && !self.routine
    }

    /// Whether it reads data that all nodes of a cluster share, and so takes the parameter for its
    /// [consistency](crate::nodes::consistency).
    pub(super) fn reads_shared(&self) -> bool {
        self.is_of_api() && !self.alone && !self.writes()
    }

    /// Whether any other node may answer in place of this one: not a stream, nor presence.
    pub(super) fn passes(&self) -> bool {
        self.reads_shared() && !self.streams && self.kept != Some(OfOwner::Presence)
    }

    /// The names of the parameters of the path, in order.
    pub(super) fn in_path(&self) -> impl Iterator<Item = &'static str> {
        self.path.split(['{', '}']).skip(1).step_by(2)
    }

    /// The number of the segment of the path that is this parameter.
    pub(super) fn segment(&self, name: &str) -> Option<usize> {
        let is_it = |part: &str| part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) == Some(name);
        self.path.split('/').position(is_it)
    }
}
