//! The lines of an import that are changes of their own.

use serde::{Deserialize, Serialize};

use model::{Barrier, HostId, HostNoticeId, ListSettings, Millis, Position, RuleDraft, UserSettings};

/// A line of an import. A missing time is the one of the change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Line {
    /// A barrier of a user against a target.
    Barrier {
        /// The user.
        user: HostId,
        /// The user against whom it is.
        target: HostId,
        /// What it is.
        barrier: Barrier,
        /// Since when.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<Millis>,
    },
    /// A request of a user to follow a target, which waits whatever the settings of the target are.
    Request {
        /// The user who asks.
        user: HostId,
        /// The user to follow.
        target: HostId,
        /// Since when.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<Millis>,
        /// The kinds that the follow will show; all if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<RuleDraft>,
    },
    /// A list of a user.
    List {
        /// The user.
        user: HostId,
        /// Its name.
        list: String,
        /// What the user has chosen for it.
        settings: ListSettings,
    },
    /// A member of a list that is there.
    Member {
        /// The user with the list.
        user: HostId,
        /// The name of the list.
        list: String,
        /// The member.
        source: HostId,
        /// Since when.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<Millis>,
        /// The kinds that the list shows of it; all if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<RuleDraft>,
    },
    /// The marker of a user, or of one of the user's lists.
    Marker {
        /// The user.
        user: HostId,
        /// The place up to which the user has read.
        place: Position<HostId>,
        /// The name of the list.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        list: Option<String>,
    },
    /// The marker of the notices of a user.
    NoticeMarker {
        /// The user.
        user: HostId,
        /// The place up to which the user has read.
        place: Position<HostNoticeId>,
    },
    /// All settings of a user.
    Settings {
        /// The user.
        user: HostId,
        /// What the user has chosen.
        settings: UserSettings,
    },
    /// The deletion of an item, or the id of an item that was purged elsewhere.
    Deletion {
        /// The item.
        item: HostId,
        /// Since when it is deleted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<Millis>,
        /// Whether there is no such item, and its id is taken for good.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        purged: bool,
    },
    /// The suspension of a user.
    Suspension {
        /// The user.
        user: HostId,
        /// Since when.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<Millis>,
    },
}

impl Line {
    /// At most how many settle jobs it makes.
    pub(crate) fn settles(&self) -> usize {
        match self {
            Self::Barrier { barrier: Barrier::Block, .. } => 2,
            _ => 0,
        }
    }

    /// Its time, if it has one.
    pub fn since(&self) -> Option<Millis> {
        match self {
            Self::Barrier { since, .. }
            | Self::Request { since, .. }
            | Self::Member { since, .. }
            | Self::Deletion { since, .. }
            | Self::Suspension { since, .. } => *since,
            Self::List { .. } | Self::Marker { .. } | Self::NoticeMarker { .. } | Self::Settings { .. } => None,
        }
    }

    /// The users in it.
    pub(crate) fn users(&self) -> impl Iterator<Item = &HostId> {
        let users = match self {
            Self::Deletion { .. } => 0,
            Self::Marker { .. } => 1,
            _ => 2,
        };
        self.ids().take(users)
    }

    /// The ids in it: first that of the user.
    pub fn ids(&self) -> impl Iterator<Item = &HostId> {
        let (user, other, third) = match self {
            Self::Barrier { user, target, .. } | Self::Request { user, target, .. } => (user, Some(target), None),
            Self::Member { user, source, .. } => (user, Some(source), None),
            Self::Marker { user, place, .. } => (user, Some(&place.id), None),
            Self::NoticeMarker { user, place } => (user, Some(&place.id.actor), place.id.item.as_ref()),
            Self::Deletion { item, .. } => (item, None, None),
            Self::List { user, .. } | Self::Settings { user, .. } | Self::Suspension { user, .. } => (user, None, None),
        };
        [user].into_iter().chain(other).chain(third)
    }
}
