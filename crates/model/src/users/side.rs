//! Lists of users around a user.

use super::restriction::Restriction;

/// A list of users around one user, by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Followees; since the follow.
    Following,
    /// Followers; since the follow.
    Followers,
    /// Friends; since the later follow.
    Friends,
    /// Users against whom the user has this restriction.
    Restricted(Restriction),
    /// Users who have asked to follow the user; since the request.
    FollowRequests,
    /// Users whom the user has asked to follow; since the request.
    SentRequests,
}

impl Side {
    /// Every list.
    pub fn all() -> impl Iterator<Item = Self> {
        let follows = [Self::Following, Self::Followers, Self::Friends].into_iter();
        follows.chain(Restriction::ALL.map(Self::Restricted)).chain([Self::FollowRequests, Self::SentRequests])
    }
}
