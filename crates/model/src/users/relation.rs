//! Relations between users.

use super::barrier::Barrier;
use super::rule::Rule;
use crate::ids::id::UserId;
use crate::ids::position::Millis;

/// The follows between a user and a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelationKind {
    /// Neither follows the other.
    None,
    /// The user follows the target.
    Following,
    /// The target follows the user.
    FollowedBy,
    /// Each follows the other.
    Mutual,
}

impl RelationKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::None, Self::Following, Self::FollowedBy, Self::Mutual];

    /// The name in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Following => "following",
            Self::FollowedBy => "followed_by",
            Self::Mutual => "mutual",
        }
    }
}

/// The relation of one user to another: follows in both directions, and the user's own barriers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relation {
    /// The user.
    pub user: UserId,
    /// The target.
    pub target: UserId,
    /// Since when the user follows the target, if so.
    pub following_since: Option<Millis>,
    /// Since when the target follows the user, if so.
    pub followed_since: Option<Millis>,
    /// Since when the user has muted the target, if so.
    pub muted_since: Option<Millis>,
    /// Since when the user hides its content from the target, if so.
    pub hidden_since: Option<Millis>,
    /// Since when the user has blocked the target, if so. A block in the other direction is not told.
    pub blocked_since: Option<Millis>,
    /// The rule of the user's follow or request; `None` if it shows all kinds.
    pub rule: Option<Rule>,
    /// Since when the user has a request to follow the target, if one waits.
    pub requested_since: Option<Millis>,
}

impl Relation {
    /// The relation of two users without follows and barriers.
    #[inline]
    pub fn none(user: UserId, target: UserId) -> Self {
        Self {
            user,
            target,
            following_since: None,
            followed_since: None,
            muted_since: None,
            hidden_since: None,
            blocked_since: None,
            rule: None,
            requested_since: None,
        }
    }

    /// The relation as one word.
    pub fn kind(&self) -> RelationKind {
        match (self.following_since, self.followed_since) {
            (None, None) => RelationKind::None,
            (Some(_), None) => RelationKind::Following,
            (None, Some(_)) => RelationKind::FollowedBy,
            (Some(_), Some(_)) => RelationKind::Mutual,
        }
    }

    /// Since when the user's barrier against the target stands, if it does.
    #[inline]
    pub fn barred_since(&self, barrier: Barrier) -> Option<Millis> {
        match barrier {
            Barrier::Mute => self.muted_since,
            Barrier::Hide => self.hidden_since,
            Barrier::Block => self.blocked_since,
        }
    }

    /// The relation with a barrier raised since then, or lifted.
    #[must_use]
    #[inline]
    pub fn with_barrier(self, barrier: Barrier, since: Option<Millis>) -> Self {
        match barrier {
            Barrier::Mute => Self { muted_since: since, ..self },
            Barrier::Hide => Self { hidden_since: since, ..self },
            Barrier::Block => Self { blocked_since: since, ..self },
        }
    }
}
