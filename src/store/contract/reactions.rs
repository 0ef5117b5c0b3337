//! Likes and favorites.

use crate::error::Result;
use crate::model::{
    ContentId, Entry, Millis, Order, Reacted, Reaction, ReactionKind, ReactionPlace, Reactions, Span, UserCursor,
    UserId,
};
use crate::store::{Store, Tier};

/// Likes and favorites. Those on a deleted item are kept, for it may be restored.
impl Store {
    /// Applies the wishes of any users about one item, in their order and in one change, with one step of
    /// the item's counts; for each what it is right after it. A wish that already is so changes nothing,
    /// and a reaction that is there keeps its `since`. One user may come more than once.
    /// `content_not_found`, and nothing written, if the item is not there or deleted. Acknowledges.
    pub fn react(&self, id: ContentId, wishes: &[Reaction]) -> Result<Vec<Reacted>> {
        dispatch!(self, s => s.react(id, wishes))
    }

    /// The first `limit` users within `span` who reacted to an item, in `order` of `since`; also of a
    /// deleted one.
    pub fn reactors(
        &self,
        id: ContentId,
        kind: ReactionKind,
        span: Span<UserId>,
        order: Order,
        limit: usize,
        tier: Tier,
    ) -> Result<Vec<UserCursor>> {
        dispatch!(self, s => s.reactors(id, kind, span, order, limit, tier))
    }

    /// The first `limit` live items within `span` that a user reacted to, in `order` of their publishing.
    pub fn reacted_by(
        &self,
        user: UserId,
        kind: ReactionKind,
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        tier: Tier,
    ) -> Result<Vec<Entry>> {
        dispatch!(self, s => s.reacted_by(user, kind, span, order, limit, tier))
    }

    /// The reactions of a user to each of `ids`, in their order; also to deleted ones.
    pub fn reacted(&self, user: UserId, ids: &[ContentId], tier: Tier) -> Result<Vec<Reactions>> {
        dispatch!(self, s => s.reacted(user, ids, tier))
    }

    /// The reactions of each of some users to an item, in their order; also to a deleted one.
    pub fn reacted_to(&self, id: ContentId, users: &[UserId], tier: Tier) -> Result<Vec<Reactions>> {
        dispatch!(self, s => s.reacted_to(id, users, tier))
    }

    /// Forgets up to `most` reactions to an item that was deleted before `deleted_before` and takes them out
    /// of its counts, in one change that also makes the deletion final: from then on nothing takes it back,
    /// and it was made before any time. Likes first, then favorites, each newest first; only those that come
    /// after `after`, which is where the piece before ended, so that no piece wades through what the others
    /// left. Returns them in this order. Fewer than `most` says that there are no more, or no such item.
    /// Comes before [`Store::purge`].
    pub fn purge_reactions(
        &self,
        id: ContentId,
        deleted_before: Millis,
        most: usize,
        after: Option<ReactionPlace>,
    ) -> Result<Vec<ReactionPlace>> {
        dispatch!(self, s => s.purge_reactions(id, deleted_before, most, after))
    }
}
