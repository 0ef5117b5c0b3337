//! Content, lists of content, and reactions.

use crate::error::Result;
use crate::store::{Batch, Published, Push, Restored, Tier};
use crate::{
    Content, ContentId, Cursor, Edit, Entry, Event, ItemCounts, KindId, Millis, Moment, Publish, Reacted, Reaction,
    ReactionKind, ReactionKinds, ReactionPlace, Reactions, Scan, TopicId, UserCursor, UserId,
};

/// An item that is not purged, and the time of its deletion if it is deleted.
pub type Kept = (Content, Option<Millis>);

/// Items of content. A change of an item is atomic with its outbox row, its rows in lists and its counts.
pub trait Contents {
    /// Publishes items, all new ones in one atomic change: the content, and for each path its row in the outbox of this
    /// source and a fan-out job, or instead of the jobs the record that it reaches no inbox, see [`Push`].
    /// If the host has named the id and it exists, the result is `Same` if the item is not deleted and has the same fingerprint
    /// (and time, if given); else `Taken`. With [`Batch::AllOrNone`] nothing is written if any item is `Taken`. Of two publishes
    /// of one id, at most one is new. Ids within one call must differ. Acknowledges.
    ///
    /// The event of a new item is written in the same change.
    fn publish(&self, items: &[Publish], batch: Batch, push: Push) -> Result<Vec<Published>>;

    /// The numbers of kinds for a change, in their order. A kind without a number gets the next one, which stays if the change
    /// is made; see [`Store::end_change`](super::Store::end_change). `too_many_kinds` if none is left, and then none is
    /// given.
    fn give_kinds(&self, kinds: &[&str]) -> Result<Vec<KindId>>;

    /// The numbers of kinds, in their order; `None` for one without a number.
    fn known_kinds(&self, kinds: &[&str]) -> Result<Vec<Option<KindId>>>;

    /// The names of all kinds with a number, each at the place that is its number.
    fn kind_names(&self) -> Result<Vec<String>>;

    /// Changes an item and returns its new state; `None` if it is missing or deleted. Concurrent edits of one item
    /// apply one after the other. Acknowledges.
    fn edit(&self, id: ContentId, edit: &Edit, moment: Moment) -> Result<Option<Content>>;

    /// Deletes an item: marks the content, records the deletion, and removes its outbox row, its rows in lists and its
    /// part in counts, in one change. Entries in inboxes stay and are ignored; items that point at it stay. False if it is
    /// missing or already deleted. Acknowledges.
    fn delete(&self, id: ContentId, moment: Moment) -> Result<bool>;

    /// Deletes an item for good: makes a deletion final, of a live item like [`Contents::delete`], and takes the text, the
    /// media, `extra` and the topics out of the row, in one change with the event, if the item is live. What is left goes with
    /// [`Reacting::purge_reactions`] and [`Contents::purge`]. False, and nothing written, if it is missing or was deleted
    /// before `deleted_since`: such a deletion is final already. Acknowledges.
    fn delete_for_good(&self, id: ContentId, deleted_since: Millis, event: Option<Event>) -> Result<bool>;

    /// Takes an item off one of its paths, at a time: the item loses the path, its outbox row there and its part in the
    /// source's count, in one change with the event. Entries in inboxes stay and are ignored. False, and nothing written, if
    /// the item is missing or deleted, or has no such path. Acknowledges.
    fn take_off(&self, id: ContentId, source: UserId, at: Millis, event: &Event) -> Result<bool>;

    /// Those of some paths that their items were taken off. Costs next to nothing if none was.
    fn taken_off(
        &self,
        paths: &mut dyn Iterator<Item = (ContentId, UserId)>,
        tier: Tier,
    ) -> Result<Vec<(ContentId, UserId)>>;

    /// Purges an item deleted before `deleted_before`: removes the content, its counts and the list of its comments, in
    /// one write. No change may be under way. The deletion stays recorded, so the id stays taken and its entries in inboxes stay hidden; and so do the
    /// author and the sources, until a purge while the author is being erased. False, and nothing changed, if there is nothing
    /// to purge, or the item still has reactions.
    fn purge(&self, id: ContentId, deleted_before: Millis) -> Result<bool>;

    /// Makes an id without an item that of a purged one: records a deletion that is final, and removes its counts and the
    /// list of its comments, in one change. `Some(false)`, and nothing written, for the id of a purged item; `None` if there
    /// is an item, live or deleted. Acknowledges.
    fn take_id(&self, id: ContentId) -> Result<Option<bool>>;

    /// Restores an item that was deleted at `deleted_since` or later and of which nothing is purged: it is live again
    /// as it was, with new fan-out jobs or none, in one change. Acknowledges.
    fn restore(&self, id: ContentId, deleted_since: Millis, event: Option<Event>, push: Push) -> Result<Restored>;

    /// The live items among `ids`, in their order; `None` for missing and deleted ones.
    fn contents(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<Option<Content>>>;

    /// The items among `ids` that are not purged, in their order, each with the time of its deletion if it is deleted.
    fn kept(&self, ids: &[ContentId]) -> Result<Vec<Option<Kept>>>;

    /// Which of `ids` are deleted, in their order. Costs next to nothing if none is.
    fn deleted(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<bool>>;

    /// The counts of items, in the order of `ids`. Comments on and reposts of a missing or deleted item count too;
    /// those of a purged item do not.
    fn item_counts(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<ItemCounts>>;
}

/// Lists of content: outboxes, and comments: the live items of the kind [`COMMENT`](crate::COMMENT). The rows
/// are written in the change that publishes or deletes the item.
pub trait Lists {
    /// Entries of the merged outboxes of `authors`. Costs one seek for each author, and then only entries that are among
    /// the first so far.
    fn outboxes(&self, authors: &[UserId], scan: Scan<ContentId>, tier: Tier) -> Result<Vec<Entry>>;

    /// Moves entries of an outbox to the archive, oldest first, up to and including `newest`, at most `most` in one
    /// write. Returns how many were moved; 0 if there is nothing to gain. No answer depends on it. No change may be under way.
    fn archive_outbox(&self, author: UserId, newest: Cursor, most: usize) -> Result<usize>;

    /// Comments that point at an item. The item may be missing. A purged item has none.
    fn comments(&self, subject: ContentId, scan: Scan<ContentId>, tier: Tier) -> Result<Vec<Entry>>;

    /// Comments of a user.
    fn user_comments(&self, author: UserId, scan: Scan<ContentId>, tier: Tier) -> Result<Vec<Entry>>;

    /// The *unlisted* items of a user: those that neither the outbox nor the comments of the user have, because they are not
    /// broadcast, or are deleted and not purged; deleted items of others with a path through the user; and the places of
    /// such items that are purged, which [`Contents::kept`] does not have. So the three lists have all items of the user;
    /// only comments that are broadcast are in two of them.
    fn unlisted(&self, author: UserId, scan: Scan<ContentId>, tier: Tier) -> Result<Vec<Cursor>>;
}

/// Topics and their items. From its publish to its delete, an item is in the list of each topic that it names, once,
/// broadcast or not.
pub trait Topics {
    /// The id of a topic; `None` if no published item has named it.
    fn topic(&self, name: &str, tier: Tier) -> Result<Option<TopicId>>;

    /// Items among the topic's `depth` newest items. The answer is of one instant. Walks over `depth` rows at most, or twice as many if it needs the archive.
    fn topic_content(&self, topic: TopicId, scan: Scan<ContentId>, depth: usize, tier: Tier) -> Result<Vec<Entry>>;

    /// Moves items of a list to the archive, oldest first, up to and including `newest`, at most `most` in one write.
    /// Returns how many were moved; 0 if there is nothing to gain. No answer depends on it. No change may be under way.
    fn archive_topic(&self, topic: TopicId, newest: Cursor, most: usize) -> Result<usize>;
}

/// Reactions. Those of a deleted item are kept, as it may be restored; so are those of kinds that no longer are among the
/// names, which only [`Reacting::purge_reactions`] sees.
pub trait Reacting {
    /// Gives the kinds of reactions their names from now on, and returns those that are used: on disk a byte stands for a
    /// name that was ever used, so a name may find no room. To be called before any other method, if the names are not
    /// the default ones.
    fn name_reactions(&self, kinds: &ReactionKinds) -> ReactionKinds;

    /// Gives kinds that were never used the next numbers, in this order: notices of one time are in the order of these numbers.
    /// Returns for each whether it was never used; `too_many_kinds` if there is no room for it. Acknowledges.
    fn number_reactions(&self, kinds: &[String]) -> Result<Vec<Result<bool>>>;

    /// Applies the wishes of any users about one item, in their order and in one change, with one step of the item's
    /// counts. Returns for each wish the state right after it. A wish that is already fulfilled changes nothing: a
    /// present reaction keeps its `since`. A user may occur more than once. `content_not_found`, and nothing written,
    /// if the item is missing or deleted. Acknowledges.
    fn react(&self, id: ContentId, wishes: &[Reaction]) -> Result<Vec<Reacted>>;

    /// Users who reacted to an item, deleted or not, by `since`.
    fn reactors(&self, id: ContentId, kind: ReactionKind, scan: Scan<UserId>, tier: Tier) -> Result<Vec<UserCursor>>;

    /// Live items that a user reacted to, by their publishing.
    fn reacted_by(&self, user: UserId, kind: ReactionKind, scan: Scan<ContentId>, tier: Tier) -> Result<Vec<Entry>>;

    /// The reactions of a user to each of `items`, in their order; also to deleted items. A place that is not that of an
    /// item may have any answer.
    fn reacted(&self, user: UserId, items: &[Cursor], tier: Tier) -> Result<Vec<Reactions>>;

    /// The reactions of each of `users` to an item, in their order; also to a deleted item.
    fn reacted_to(&self, id: ContentId, users: &[UserId], tier: Tier) -> Result<Vec<Reactions>>;

    /// Removes up to `most` reactions to an item that was deleted before `deleted_before`, and their part in its
    /// counts. The same change makes the deletion final: it cannot be taken back, and counts as made before any time.
    /// Order: see [`ReactionPlace`]. Continues behind `after`, the last place of the call before, so
    /// that no call wades through the rows removed by earlier ones. Returns the removed reactions in this order. Fewer
    /// than `most` means that no more are left, or that there is no such item. Comes before [`Contents::purge`].
    fn purge_reactions(
        &self,
        id: ContentId,
        deleted_before: Millis,
        most: usize,
        after: Option<ReactionPlace>,
    ) -> Result<Vec<ReactionPlace>>;
}
