//! The changes and the reads that user tokens may make.

use serde::{Deserialize, Serialize};

/// A kind of changes that a user token may make as its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Act {
    /// Follow and unfollow.
    Follow,
    /// React, and take a reaction back.
    React,
    /// Comment.
    Comment,
    /// Mute, and hide the own content.
    Mute,
    /// Block.
    Block,
    /// Keep lists.
    Lists,
    /// Decide about followers.
    Requests,
    /// Move markers.
    Marker,
    /// Be present.
    Presence,
}

impl Act {
    /// All.
    pub const ALL: [Self; 9] = [
        Self::Follow,
        Self::React,
        Self::Comment,
        Self::Mute,
        Self::Block,
        Self::Lists,
        Self::Requests,
        Self::Marker,
        Self::Presence,
    ];

    /// Those that tokens may do by default: all but comment.
    pub const USUAL: [Self; 8] =
        [Self::Follow, Self::React, Self::Mute, Self::Block, Self::Lists, Self::Requests, Self::Marker, Self::Presence];

    /// Its word in the settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Follow => "follow",
            Self::React => "react",
            Self::Comment => "comment",
            Self::Mute => "mute",
            Self::Block => "block",
            Self::Lists => "lists",
            Self::Requests => "requests",
            Self::Marker => "marker",
            Self::Presence => "presence",
        }
    }
}

/// The reads that user tokens may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UsersRead {
    /// Those of the user's own pages, lists and relations.
    Own,
    /// Those of all that the user may see, too.
    Visible,
}
