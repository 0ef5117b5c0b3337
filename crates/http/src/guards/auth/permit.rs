//! The senders who may make a call. Each endpoint states it (`endpoint.rs`).

use config::Act;

/// The use of a call by the tokens of users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenUse {
    /// It reads what is the own of the user `{uid}`.
    Own,
    /// It reads what the user may see: with `auth.users_read = "visible"` whatever is in the path, otherwise like
    /// [`TokenUse::Own`].
    Visible,
    /// It changes something as the user, if `auth.users_act` has this. A call without `{uid}` checks its user itself.
    Act(Act),
}

impl TokenUse {
    /// Its word: in `auth.users_act`, or a value of `auth.users_read`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Visible => "visible",
            Self::Act(act) => act.as_str(),
        }
    }
}

impl From<Act> for TokenUse {
    fn from(act: Act) -> Self {
        Self::Act(act)
    }
}

/// The credentials that allow a call, besides a full key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Permit {
    /// None are needed.
    pub(crate) open: bool,
    /// A read key.
    pub(crate) read: bool,
    /// A metrics key.
    pub(crate) metrics: bool,
    /// A token, for this.
    pub(crate) users: Option<TokenUse>,
    /// The segment of the path with the user, if there is one.
    pub(crate) uid: Option<usize>,
    /// The token may be in the query.
    pub(crate) in_query: bool,
}

impl Permit {
    /// For full keys and, if the call changes nothing, read keys. So it is for a path without an endpoint, too.
    pub(crate) fn for_keys(changes_nothing: bool) -> Self {
        Self { read: changes_nothing, ..Self::default() }
    }
}
