//! Counts of items and of users.

/// A counter of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemCounter {
    /// Likes.
    Likes,
    /// Favorites.
    Favorites,
    /// Live items of the kind [`COMMENT`] that point at it.
    Comments,
    /// Live items of the kind [`REPOST`] that point at it.
    Reposts,
}

/// The kind of content that is listed and counted as a comment on the item it points at.
pub const COMMENT: &str = "comment";
/// The kind of content that is counted as a repost of the item it points at.
pub const REPOST: &str = "repost";

impl ItemCounter {
    /// The counter of the item that an item of this kind points at.
    #[inline]
    pub fn of_kind(kind: &str) -> Option<Self> {
        match kind {
            COMMENT => Some(Self::Comments),
            REPOST => Some(Self::Reposts),
            _ => None,
        }
    }
}

/// The counts of one item, exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ItemCounts {
    /// See [`ItemCounter::Likes`].
    pub likes: u64,
    /// See [`ItemCounter::Favorites`].
    pub favorites: u64,
    /// See [`ItemCounter::Comments`].
    pub comments: u64,
    /// See [`ItemCounter::Reposts`].
    pub reposts: u64,
}

/// The counts of one user, exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UserCounts {
    /// Followees.
    pub following: u64,
    /// Followers.
    pub followers: u64,
    /// Friends.
    pub friends: u64,
    /// Live items on the user's own page.
    pub content: u64,
}
