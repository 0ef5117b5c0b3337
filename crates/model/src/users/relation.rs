//! Relations between users.

use super::restriction::Restriction;
use super::rule::Rule;
use crate::effect::{Effect, EffectKind};
use crate::ids::cursor::Millis;
use crate::ids::id::UserId;
use crate::words::words;

words! {
    /// The follows between a user and a target.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RelationKind {
        /// Neither follows the other.
        None => "none",
        /// The user follows the target.
        Following => "following",
        /// The target follows the user.
        FollowedBy => "followed_by",
        /// Each follows the other.
        Mutual => "mutual",
    }
}

/// The relation of one user to another: follows in both directions, and the user's own restrictions.
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
    /// Since when each restriction of the user against the target stands, if it does, in the order of [`Restriction::ALL`].
    /// Restrictions in the other direction are not told.
    pub restrictions: [Option<Millis>; Restriction::ALL.len()],
    /// The rule of the user's follow or request; `None` if it shows all kinds.
    pub rule: Option<Rule>,
    /// Since when the user has a request to follow the target, if one waits.
    pub requested_since: Option<Millis>,
}

impl Relation {
    /// The relation of two users without follows and restrictions.
    pub fn none(user: UserId, target: UserId) -> Self {
        Self {
            user,
            target,
            following_since: None,
            followed_since: None,
            restrictions: Restriction::ALL.map(|_| None),
            rule: None,
            requested_since: None,
        }
    }

    /// The event of a change of the user's follow or request in the feed of changes; `None` if both are as before.
    pub fn effect_since(&self, before: &Self) -> Option<Effect> {
        let of = |relation: &Self| (relation.following_since.is_some(), relation.requested_since.is_some());
        let kind = match (of(before), of(self)) {
            ((false, _), (true, _)) => EffectKind::FollowCreated,
            ((true, _), (false, _)) => EffectKind::FollowRemoved,
            ((_, false), (_, true)) => EffectKind::FollowRequested,
            ((_, true), (_, false)) => EffectKind::RequestRemoved,
            _ if before.rule != self.rule => EffectKind::FollowChanged,
            _ => return None,
        };
        Some(Effect::on(kind, self.user).target(self.target))
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

    /// Since when the user's restriction against the target stands, if it does.
    pub fn restricted_since(&self, restriction: Restriction) -> Option<Millis> {
        self.restrictions[restriction as usize]
    }

    /// The relation with a restriction raised since then, or lifted.
    #[must_use]
    pub fn with_restriction(mut self, restriction: Restriction, since: Option<Millis>) -> Self {
        self.restrictions[restriction as usize] = since;
        self
    }
}
