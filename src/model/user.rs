//! What is kept of users and authors for fan-out.

use super::position::{Cursor, Millis};

/// Whether a user's inbox receives the pushes that only active followers get.
///
/// Kept as a state and not computed from a time, so that the fan-out that skips a user and the
/// read that must know of it agree whatever the clocks do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Activity {
    /// Not seen within `active_for`, or never: skipped by partial pushes.
    #[default]
    Dormant,
    /// Seen again and pushed to; what was skipped before is not yet back-filled.
    Returning {
        /// When the user was last seen.
        seen: Millis,
    },
    /// Pushed to, with nothing missing but what unsettled pairs cover.
    Active {
        /// When the user was last seen.
        seen: Millis,
    },
}

impl Activity {
    /// When the user was last seen; `None` for the dormant.
    pub fn seen(self) -> Option<Millis> {
        match self {
            Self::Dormant => None,
            Self::Returning { seen } | Self::Active { seen } => Some(seen),
        }
    }
}

/// The newest of an author's items that did not reach all followers' inboxes.
///
/// A reader whose floor lies below one of these must pull the author. Only ever rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unpushed {
    /// Newest item that was pushed to nobody.
    pub to_nobody: Option<Cursor>,
    /// Newest item that was pushed to active followers only.
    pub to_active: Option<Cursor>,
}

impl Unpushed {
    /// Whether an inbox with this floor may lack something of the author above it. The inbox of an
    /// active reader has what was pushed to active followers.
    pub fn leaves_gaps(&self, floor: Option<Cursor>, active: bool) -> bool {
        self.to_nobody > floor || (!active && self.to_active > floor)
    }
}
