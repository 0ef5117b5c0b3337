//! What keeps an author's content out of a timeline although its reader follows the author.

/// A wish of one user about a target, taken back at any time. Nothing is lost by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Barrier {
    /// The user does not want to see the target's content.
    Mute,
    /// The user does not want the target to see its content.
    Hide,
}
