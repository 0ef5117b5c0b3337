//! Who follows whom.

use super::id::UserId;
use super::position::Millis;

/// How a user stands to a target.
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

/// The relation of one user to another, both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relation {
    /// Whose relation.
    pub user: UserId,
    /// To whom.
    pub target: UserId,
    /// Since when the user follows the target, if so.
    pub following_since: Option<Millis>,
    /// Since when the target follows the user, if so.
    pub followed_since: Option<Millis>,
}

impl Relation {
    /// The relation as one word.
    pub fn kind(&self) -> RelationKind {
        match (self.following_since, self.followed_since) {
            (None, None) => RelationKind::None,
            (Some(_), None) => RelationKind::Following,
            (None, Some(_)) => RelationKind::FollowedBy,
            (Some(_), Some(_)) => RelationKind::Mutual,
        }
    }
}

/// A side of the follow graph that can be listed by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Those whom the user follows; since: of that follow.
    Following,
    /// Those who follow the user; since: of that follow.
    Followers,
    /// Those who do both; since: of the later follow.
    Friends,
}
