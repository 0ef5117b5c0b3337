//! The tables of each kind of reactions.

use super::tables::{FAVORITES, FAVORITES_BY_TIME, FAVORITES_BY_USER, LIKES, LIKES_BY_TIME, LIKES_BY_USER, Table};
use model::ReactionKind;

/// The tables of one kind of reaction.
pub(crate) struct ReactionTables {
    /// By item and user.
    pub(crate) rows: Table,
    /// The lists of items.
    pub(crate) by_time: Table,
    /// The lists of users.
    pub(crate) by_user: Table,
}

/// The tables of a kind.
pub(crate) const fn of_kind(kind: ReactionKind) -> ReactionTables {
    match kind {
        ReactionKind::Like => ReactionTables { rows: LIKES, by_time: LIKES_BY_TIME, by_user: LIKES_BY_USER },
        ReactionKind::Favorite => {
            ReactionTables { rows: FAVORITES, by_time: FAVORITES_BY_TIME, by_user: FAVORITES_BY_USER }
        }
    }
}
