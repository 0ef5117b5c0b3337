//! Barriers: they keep an author's content from a reader.

use serde::{Deserialize, Serialize};

use super::side::Side;

/// A barrier of one user against a target. It can be lifted at any time; nothing is lost by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Barrier {
    /// The user does not want to see the target's content.
    Mute,
    /// The user does not want the target to see its content.
    Hide,
    /// Neither sees the content of the other, or follows the other. It ends the follows between the two.
    Block,
}

impl Barrier {
    /// Every barrier.
    pub const ALL: [Self; 3] = [Self::Mute, Self::Hide, Self::Block];

    /// The list of the users against whom a user has the barrier.
    pub fn side(self) -> Side {
        match self {
            Self::Mute => Side::Muted,
            Self::Hide => Side::HiddenFrom,
            Self::Block => Side::Blocked,
        }
    }
}
