//! How far a user has read, and how much is new since.

use super::Feed;
use crate::error::Result;
use crate::model::{ContentId, Cursor, Order, Span, Unread, UserId};
use crate::store::Tier;

/// Unread items are counted up to here.
pub const MOST_UNREAD: usize = 1000;

impl Feed {
    /// The place up to which a user has read; `None` until one was set.
    pub fn marker(&self, user: UserId, tier: Tier) -> Result<Option<Cursor>> {
        self.store.marker(user, tier)
    }

    /// Moves a user's marker up to `place`, never back, and returns where it then is.
    pub fn move_marker(&self, user: UserId, place: Cursor) -> Result<Cursor> {
        self.store.move_marker(user, place)
    }

    /// Counts the items of the home timeline that are newer than the user's marker, all of them
    /// without one, up to [`MOST_UNREAD`]. Counts as the user being active. Costs no more than a page
    /// of so many items.
    pub fn unread(&self, user: UserId, tier: Tier) -> Result<Unread> {
        // The marker first: one that is moved later than this call begins may count or not.
        let span: Span<ContentId> = Span { before: None, after: self.store.marker(user, tier)? };
        let newer = self.exact(
            user,
            tier,
            || self.see(user, tier),
            |stretch| self.live_entries(span, Order::NewestFirst, MOST_UNREAD + 1, stretch, tier),
        )?;
        Ok(Unread { count: newer.len().min(MOST_UNREAD), capped: newer.len() > MOST_UNREAD })
    }
}
