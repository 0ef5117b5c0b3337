//! The follow graph.

use crate::error::Result;
use crate::model::{Order, Relation, Side, Span, UserCounts, UserCursor, UserId};
use crate::store::{Change, Related, Store, Tier};

/// The follow graph.
impl Store {
    /// Applies follows and unfollows of one user. For each pair that changes: the relation in both
    /// directions, the counts, the friends rows and a settle job, all pairs in one change. A pair
    /// that already is as asked keeps its `since` and makes no job. Targets must differ from each
    /// other and from the user. Refused with `follow_limit` and nothing written when the user
    /// would follow more than `follow_limit` afterwards and more than before. Acknowledges.
    pub fn relate(&self, user: UserId, changes: &[Change], follow_limit: usize) -> Result<Vec<Related>> {
        dispatch!(self, s => s.relate(user, changes, follow_limit))
    }

    /// The relations of a user to `targets`, in their order.
    pub fn relations(&self, user: UserId, targets: &[UserId], tier: Tier) -> Result<Vec<Relation>> {
        dispatch!(self, s => s.relations(user, targets, tier))
    }

    /// All whom a user follows, ascending.
    pub fn followees(&self, user: UserId, tier: Tier) -> Result<Vec<UserId>> {
        dispatch!(self, s => s.followees(user, tier))
    }

    /// The first `limit` users of one side of the graph within `span`, in `order` of `since`.
    pub fn members(
        &self,
        user: UserId,
        side: Side,
        span: Span<UserId>,
        order: Order,
        limit: usize,
        tier: Tier,
    ) -> Result<Vec<UserCursor>> {
        dispatch!(self, s => s.members(user, side, span, order, limit, tier))
    }

    /// Up to `limit` followers with ids above `after`, ascending.
    pub fn followers_after(&self, author: UserId, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        dispatch!(self, s => s.followers_after(author, after, limit))
    }

    /// What is counted of a user.
    pub fn user_counts(&self, user: UserId, tier: Tier) -> Result<UserCounts> {
        dispatch!(self, s => s.user_counts(user, tier))
    }

    /// How many follow the author.
    pub fn follower_count(&self, author: UserId) -> Result<u64> {
        dispatch!(self, s => s.follower_count(author))
    }
}
