//! Content, the lists of it, and reactions to it.

use crate::error::Result;
use crate::model::{
    Content, ContentId, Cursor, Edit, Entry, ItemCounts, Job, Millis, Moment, Order, Publish, Reacted, Reaction,
    ReactionKind, ReactionPlace, Reactions, Span, Stamp, TopicId, UserCursor, UserId,
};
use crate::store::{Batch, Fresh, Published, Restored, Tier};

/// Items of content. Each method about one item is atomic with all that is derived from it: its outbox row, its rows in lists, its counts.
pub trait Contents {
    /// Publishes items. For each new one: its content, its outbox row and its fan-out job in one
    /// change (the last two only if it is broadcast). An item whose id exists is `Same` when it
    /// was published with the same fingerprint (and time, if given) and is not deleted, and the id was
    /// not made just now; else `Taken`. With [`Batch::AllOrNone`] nothing is written if any is `Taken`.
    /// All new items of a call are one atomic change. Two publishes of one id never both win.
    /// Ids within one call must differ. Acknowledges.
    ///
    /// The event of a new item's stamp is written in the same change. `fresh` is told of each new item once all
    /// are on disk, before another call can answer `Same` for one of them or change it: who does so may rely
    /// on it that the item and its job are known.
    fn publish(&self, items: &[Publish], batch: Batch, fresh: &mut dyn FnMut(Fresh)) -> Result<Vec<Published>>;

    /// Changes an item and returns its new state; `None` if it is not there or deleted.
    /// Concurrent edits of one item apply one after the other. Acknowledges.
    fn edit(&self, id: ContentId, edit: &Edit, moment: Moment) -> Result<Option<Content>>;

    /// Deletes an item: marks the content, records the deletion, and takes away its outbox row, its rows
    /// in lists and what it counts for, in one change. Inbox rows stay and are ignored, and so does what
    /// points at it. False if it is not there or deleted already. Acknowledges.
    fn delete(&self, id: ContentId, moment: Moment) -> Result<bool>;

    /// Makes a deletion final that was made before `deleted_before`: ends the content and what hangs on it
    /// (counts, the list of its comments; its reactions must be purged already), in one change. The
    /// deletion itself stays known, so the id stays taken and what inboxes have of it hidden. False, and
    /// nothing changed, if there is no such deletion, or there are reactions.
    fn purge(&self, id: ContentId, deleted_before: Millis) -> Result<bool>;

    /// Takes the deletion of an item back that was deleted at `deleted_since` or later and of which nothing
    /// is purged yet: it is published
    /// again as it was, with a new fan-out job, in one change. `queue` gets the job as in
    /// [`Contents::publish`]. Acknowledges.
    fn restore(
        &self,
        id: ContentId,
        deleted_since: Millis,
        stamp: Option<Stamp>,
        queue: &mut dyn FnMut(Job),
    ) -> Result<Restored>;

    /// The live items among `ids`, in their order; `None` for missing and deleted ones.
    fn contents(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<Option<Content>>>;

    /// Which of `ids` are deleted, in their order. Nearly free where none is.
    fn deleted(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<bool>>;

    /// The counts of items, in the order of `ids`, of missing and deleted ones too: comments and reposts
    /// count whether or not the item that they point at is there; only on a purged one nothing counts.
    fn item_counts(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<ItemCounts>>;
}

/// Lists of content: outboxes, and comments, which are the live items of the kind [`COMMENT`](crate::model::COMMENT).
/// The rows come and go in the one change that publishes or deletes the item.
pub trait Lists {
    /// The first `limit` entries in the outboxes of `authors` taken together, in `order`.
    /// Costs one seek an author and then only entries that are among the first so far.
    fn outboxes(
        &self,
        authors: &[UserId],
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        tier: Tier,
    ) -> Result<Vec<Entry>>;

    /// Moves entries of an outbox to where many of them take little room, oldest first, up to and
    /// including `newest`, at most `most` in one call and one change. Returns how many were moved;
    /// none where there is nothing to gain. No answer depends on it.
    fn archive_outbox(&self, author: UserId, newest: Cursor, most: usize) -> Result<usize>;

    /// The first `limit` comments that point at an item within `span`, in `order`; whether or not the
    /// item itself is there. A purged item has none.
    fn comments(
        &self,
        subject: ContentId,
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        tier: Tier,
    ) -> Result<Vec<Entry>>;

    /// The first `limit` comments that a user made within `span`, in `order`.
    fn user_comments(
        &self,
        author: UserId,
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        tier: Tier,
    ) -> Result<Vec<Entry>>;
}

/// Topics and their items. An item is in the list of each topic that it names, broadcast or not, from
/// its publish to its delete, and once however often it names the topic.
pub trait Topics {
    /// The number of a topic. `None`: no item that was published names it.
    fn topic(&self, name: &str, tier: Tier) -> Result<Option<TopicId>>;

    /// The first `limit` of the topic's items within `span`, in `order`; only of those that fewer than
    /// `depth` others are newer than. All of it is of one instant. Costs a walk of `depth` rows at most,
    /// or twice that where it goes on in the archive.
    fn topic_content(
        &self,
        topic: TopicId,
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        depth: usize,
        tier: Tier,
    ) -> Result<Vec<Entry>>;

    /// Moves items of a list to where many of them take little room, oldest first, up to and including
    /// `newest`, at most `most` in one call and one change. Returns how many were moved; none where
    /// there is nothing to gain. No answer depends on it.
    fn archive_topic(&self, topic: TopicId, newest: Cursor, most: usize) -> Result<usize>;
}

/// Likes and favorites. Those on a deleted item are kept, for it may be restored.
pub trait Reacting {
    /// Applies the wishes of any users about one item, in their order and in one change, with one step of
    /// the item's counts; for each what it is right after it. A wish that already is so changes nothing,
    /// and a reaction that is there keeps its `since`. One user may come more than once.
    /// `content_not_found`, and nothing written, if the item is not there or deleted. Acknowledges.
    fn react(&self, id: ContentId, wishes: &[Reaction]) -> Result<Vec<Reacted>>;

    /// The first `limit` users within `span` who reacted to an item, in `order` of `since`; also of a
    /// deleted one.
    fn reactors(
        &self,
        id: ContentId,
        kind: ReactionKind,
        span: Span<UserId>,
        order: Order,
        limit: usize,
        tier: Tier,
    ) -> Result<Vec<UserCursor>>;

    /// The first `limit` live items within `span` that a user reacted to, in `order` of their publishing.
    fn reacted_by(
        &self,
        user: UserId,
        kind: ReactionKind,
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        tier: Tier,
    ) -> Result<Vec<Entry>>;

    /// The reactions of a user to each of `ids`, in their order; also to deleted ones.
    fn reacted(&self, user: UserId, ids: &[ContentId], tier: Tier) -> Result<Vec<Reactions>>;

    /// The reactions of each of some users to an item, in their order; also to a deleted one.
    fn reacted_to(&self, id: ContentId, users: &[UserId], tier: Tier) -> Result<Vec<Reactions>>;

    /// Forgets up to `most` reactions to an item that was deleted before `deleted_before` and takes them out
    /// of its counts, in one change that also makes the deletion final: from then on nothing takes it back,
    /// and it was made before any time. Likes first, then favorites, each newest first; only those that come
    /// after `after`, which is where the piece before ended, so that no piece wades through what the others
    /// left. Returns them in this order. Fewer than `most` says that there are no more, or no such item.
    /// Comes before [`Contents::purge`].
    fn purge_reactions(
        &self,
        id: ContentId,
        deleted_before: Millis,
        most: usize,
        after: Option<ReactionPlace>,
    ) -> Result<Vec<ReactionPlace>>;
}
