//! Kinds of content, and who may see an item.

use serde::{Deserialize, Serialize};

use super::counts::{COMMENT, REPOST};
use crate::words::words;

/// The number of a kind of content. Kinds that are not [built in](BUILT_IN_KINDS) get the next numbers in the order in which a
/// store first sees them, at most [`MOST_KINDS`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindId(pub u8);

impl KindId {
    /// [`POST`].
    pub const POST: Self = Self(0);

    /// The number of a kind that is [built in](BUILT_IN_KINDS).
    pub fn built_in(name: &str) -> Option<Self> {
        BUILT_IN_KINDS.iter().position(|kind| *kind == name).map(|place| Self(place as u8))
    }
}

/// The usual kind.
pub const POST: &str = "post";

/// The kinds that every store knows, each at the place of its number. So other kinds never take the numbers of those that
/// have a meaning.
pub const BUILT_IN_KINDS: [&str; 3] = [POST, COMMENT, REPOST];

/// How many kinds a store knows at most.
pub const MOST_KINDS: usize = 250;

words! {
    /// Who may see an item.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(into = "&'static str", try_from = "String")]
    pub enum Audience {
        /// Everybody.
        #[default]
        Public => "public",
        /// Its author, and the followers of one of its paths.
        Followers => "followers",
    }
}

impl Audience {
    /// Whether it is [`Audience::Public`].
    pub fn is_public(&self) -> bool {
        *self == Self::Public
    }
}

impl TryFrom<String> for Audience {
    type Error = String;
    fn try_from(word: String) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|audience| audience.name() == word);
        known.ok_or_else(|| format!("audience: expected \"public\" or \"followers\", not {word:?}"))
    }
}
