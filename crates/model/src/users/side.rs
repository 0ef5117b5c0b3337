//! Lists of users around a user.

/// A list of users around one user, by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Followees; since the follow.
    Following,
    /// Followers; since the follow.
    Followers,
    /// Friends; since the later follow.
    Friends,
    /// Users that the user has muted.
    Muted,
    /// Users from whom the user hides its content.
    HiddenFrom,
    /// Users that the user has blocked.
    Blocked,
    /// Users who have asked to follow the user; since the request.
    FollowRequests,
    /// Users whom the user has asked to follow; since the request.
    SentRequests,
}

impl Side {
    /// Every list.
    pub const ALL: [Self; 8] = [
        Self::Following,
        Self::Followers,
        Self::Friends,
        Self::Muted,
        Self::HiddenFrom,
        Self::Blocked,
        Self::FollowRequests,
        Self::SentRequests,
    ];
}
