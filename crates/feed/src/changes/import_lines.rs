//! Lines of an import that are changes of their own: all but follows, items, reactions and profiles, of which neighbours
//! share a write.

use serde::{Deserialize, Serialize};

use super::command::{Change, ChangeMembers, ImportLine, MoveMarker, PutList, PutSettings, SetBarrier, SetSuspension};
use crate::streaming::ChangeTime;
use crate::{Feed, Held, Visibility};
use model::error::{Code, Result};
use model::store;
use model::store::{Approval, Tier};
use model::{Barrier, HostId, ListSettings, Millis, Position, Relation, UserId, UserSettings};

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
    /// All settings of a user.
    Settings {
        /// The user.
        user: HostId,
        /// What the user has chosen.
        settings: UserSettings,
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
    pub(super) fn settles(&self) -> usize {
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
            | Self::Suspension { since, .. } => *since,
            Self::List { .. } | Self::Marker { .. } | Self::Settings { .. } => None,
        }
    }

    /// The ids in it.
    pub fn ids(&self) -> impl Iterator<Item = &HostId> {
        let (user, other) = match self {
            Self::Barrier { user, target, .. } | Self::Request { user, target, .. } => (user, Some(target)),
            Self::Member { user, source, .. } => (user, Some(source)),
            Self::Marker { user, place, .. } => (user, Some(&place.id)),
            Self::List { user, .. } | Self::Settings { user, .. } | Self::Suspension { user, .. } => (user, None),
        };
        [user].into_iter().chain(other)
    }
}

impl Feed {
    /// Takes lines in their order. Returns for each whether it changed something, or the refusal of the change that it is.
    /// What stands already keeps its time. Waits while the queue of jobs is full.
    pub fn import_lines(&self, lines: Vec<Line>) -> Result<Vec<Result<bool>>> {
        self.submit_each(lines.into_iter().map(|line| ImportLine { line }))
    }

    fn is_member(&self, user: &HostId, list: &str, source: &HostId) -> Result<bool> {
        let list = self.read().list_named(self.read().find(user)?, list)?.id;
        Ok(self.store.memberships(list, &[self.read().find(source)?], Tier::Disk)?.iter().any(Option::is_some))
    }

    /// Makes a request of one user to follow another, unless the user has asked or follows already.
    fn import_request(&self, user: &HostId, target: &HostId, since: Option<Millis>, at: ChangeTime) -> Result<bool> {
        if user == target {
            return Err(Code::SelfFollow.into());
        }
        let Relation { requested_since, following_since, .. } = self.relation(user, target)?;
        if requested_since.or(following_since).is_some() {
            return Ok(false);
        }
        let held: Held<UserId> = self.hold([user, target])?;
        let since = since.unwrap_or_else(|| at.now());
        let change = store::Change { approval: Approval::Awaited, ..store::Change::new(held.ids[1], Some(since)) };
        self.write_follows(held.id(), &[change], self.backlog.reserve_none(), at)?;
        Ok(true)
    }
}

impl Change for ImportLine {
    type Outcome = bool;

    fn apply(self, feed: &Feed, at: ChangeTime) -> Result<bool> {
        let (settles, given) = (self.line.settles(), self.line.since());
        let since = given.unwrap_or_else(|| at.now());
        let ahead = given.map_or(Ok(()), |since| feed.not_ahead("since", since, at));
        match self.line {
            Line::Barrier { user, target, barrier, .. } => {
                if user != target && feed.relation(&user, &target)?.barred_since(barrier).is_some() {
                    return Ok(false);
                }
                ahead?;
                let room = match settles {
                    0 => feed.backlog.reserve_none(),
                    _ => feed.backlog.reserve_waiting(settles),
                };
                SetBarrier { user, target, barrier, raised: true }.set(feed, since, room)?;
            }
            Line::Request { user, target, .. } => {
                ahead?;
                return feed.import_request(&user, &target, given, at);
            }
            Line::List { user, list, settings } => {
                let present = feed.store.list(feed.read().find(&user)?, &list, Tier::Disk)?;
                if present.is_some_and(|present| present.settings == settings) {
                    return Ok(false);
                }
                PutList { user, list, settings }.apply(feed, at)?;
            }
            Line::Member { user, list, source, .. } => {
                if feed.is_member(&user, &list, &source)? {
                    return Ok(false);
                }
                ahead?;
                ChangeMembers { user, list, add: vec![source], remove: Vec::new(), rule: None }.change(feed, since)?;
            }
            Line::Marker { user, place, list } => {
                let stored = || -> Result<_> {
                    let user = feed.read().find(&user)?;
                    let list = list.as_ref().map(|list| feed.read().list_named(user, list)).transpose()?;
                    feed.read().marker(user, list.map(|list| list.id))
                };
                let before = stored()?;
                let sight = Visibility::Application;
                let after = MoveMarker { user: user.clone(), place, sight, list: list.clone() }.apply(feed, at)?;
                return Ok(before != Some(after));
            }
            Line::Settings { user, settings } => return PutSettings { user, settings }.apply(feed, at),
            Line::Suspension { user, .. } => {
                if feed.read().suspended_since(feed.read().find(&user)?)?.is_some() {
                    return Ok(false);
                }
                ahead?;
                SetSuspension { user, suspended: true }.set(feed, at, since)?;
            }
        }
        Ok(true)
    }
}
