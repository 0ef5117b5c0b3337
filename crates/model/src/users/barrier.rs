//! Barriers: they keep an author's content out of a follower's timeline.

use serde::{Deserialize, Serialize};

/// A barrier of one user against a target. It can be lifted at any time; nothing is lost by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Barrier {
    /// The user does not want to see the target's content.
    Mute,
    /// The user does not want the target to see its content.
    Hide,
}
