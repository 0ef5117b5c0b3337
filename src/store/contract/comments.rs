//! Comments: live items of the kind [`COMMENT`](crate::model::COMMENT).

use crate::error::Result;
use crate::model::{ContentId, Entry, Order, Span, UserId};
use crate::store::{Store, Tier};

/// Comments. Their rows come and go in the one change that publishes or deletes the comment.
impl Store {
    /// The first `limit` comments that point at an item within `span`, in `order`; whether or not the
    /// item itself is there. A purged item has none.
    pub fn comments(
        &self,
        subject: ContentId,
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        tier: Tier,
    ) -> Result<Vec<Entry>> {
        dispatch!(self, s => s.comments(subject, span, order, limit, tier))
    }

    /// The first `limit` comments that a user made within `span`, in `order`.
    pub fn user_comments(
        &self,
        author: UserId,
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        tier: Tier,
    ) -> Result<Vec<Entry>> {
        dispatch!(self, s => s.user_comments(author, span, order, limit, tier))
    }
}
