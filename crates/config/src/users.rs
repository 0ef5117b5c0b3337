//! The changes and the reads that user tokens may make.

use super::text::words;

words! {
    /// A kind of changes that a user token may make as its user.
    Act {
        /// Follow and unfollow.
        Follow = "follow",
        /// React, and take a reaction back.
        React = "react",
        /// Comment.
        Comment = "comment",
        /// Mute, and hide the own content.
        Mute = "mute",
        /// Block.
        Block = "block",
        /// Keep lists.
        Lists = "lists",
        /// Decide about followers.
        Requests = "requests",
        /// Move markers.
        Marker = "marker",
        /// Be present.
        Presence = "presence",
    }
}

impl Act {
    /// Those that tokens may do by default.
    pub fn usual() -> Vec<Self> {
        Self::ALL.iter().copied().filter(|act| *act != Self::Comment).collect()
    }
}

words! {
    /// The reads that user tokens may make.
    UsersRead {
        /// Those of the user's own pages, lists and relations.
        Own = "own",
        /// Those of all that the user may see, too.
        Visible = "visible",
    }
}
