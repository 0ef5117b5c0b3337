//! Restrictions: they keep an author's content from a reader.

use serde::{Deserialize, Serialize};

use crate::effect::EffectKind;
use crate::error::Code;
use crate::ids::id::UserId;

/// A restriction of one user against a target. It can be lifted at any time; nothing is lost by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Restriction {
    /// The user does not want to see the target's content.
    Mute,
    /// The user does not want the target to see its content.
    Hide,
    /// Neither sees the content of the other, or follows the other. It ends the follows between the two.
    Block,
}

impl Restriction {
    /// Every restriction, in the order of their declaration.
    pub const ALL: [Self; 3] = [Self::Mute, Self::Hide, Self::Block];

    /// The codes of its refusals: of a restriction against oneself, and of one more than a user may have.
    pub fn refusals(self) -> [Code; 2] {
        match self {
            Self::Mute => [Code::SelfMute, Code::MuteLimit],
            Self::Hide => [Code::SelfHide, Code::HideLimit],
            Self::Block => [Code::SelfBlock, Code::BlockLimit],
        }
    }

    /// Its events in the feed of changes: raised, and lifted.
    pub fn effects(self) -> [EffectKind; 2] {
        match self {
            Self::Mute => [EffectKind::MuteCreated, EffectKind::MuteRemoved],
            Self::Hide => [EffectKind::HideCreated, EffectKind::HideRemoved],
            Self::Block => [EffectKind::BlockCreated, EffectKind::BlockRemoved],
        }
    }

    /// The readers whose timelines it changes, each with the author whose items go, or come back once it is lifted.
    pub fn readers(self, user: UserId, target: UserId) -> Vec<(UserId, UserId)> {
        match self {
            Self::Mute => vec![(user, target)],
            Self::Hide => vec![(target, user)],
            Self::Block => vec![(user, target), (target, user)],
        }
    }
}
