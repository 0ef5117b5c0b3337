//! Notices of users.

use crate::error::Result;
use crate::store::Tier;
use crate::{Millis, Notice, NoticeCursor, NoticeId, ReactionKind, Scan, UserId};

/// Lists of notices, with their markers. A notice is written in the change that causes it: that of a follow, of a request, of
/// an approval, of a reaction, or of the publish of an item that mentions the user or is a comment on or a repost of an item
/// of the user. The change that takes its cause back removes it, and so does a purge. Nobody gets a notice of what the user
/// did; an item that is a comment on or a repost of an item of the user, and mentions the user, is a mention alone. An item
/// points at an item of the user only if that was published before it; it may be deleted.
pub trait Notices {
    /// Notices before a time are neither written nor listed from now on, and compactions remove them. [`Millis::MAX`] is for no
    /// notices at all. Times must rise, and on a node of a cluster be made of the time of its log.
    fn keep_notices(&self, since: Millis);

    /// Notices of a user, whatever became of their actors and items. One of a reaction that is neither taken nor shown has no
    /// kind of reaction.
    fn notices(&self, user: UserId, scan: Scan<NoticeId>, tier: Tier) -> Result<Vec<Notice>>;

    /// What stands for a kind of reactions in places; `None` before its first reaction.
    fn reaction_byte(&self, kind: ReactionKind) -> Option<u8>;

    /// The place up to which a user has read the notices; `None` until one was set.
    fn notice_marker(&self, user: UserId, tier: Tier) -> Result<Option<NoticeCursor>>;

    /// Moves the marker of a user's notices up to `place`, and returns its place afterwards. If it is there or beyond,
    /// nothing is written. Moves of one user apply one after the other. Acknowledges.
    fn move_notice_marker(&self, user: UserId, place: NoticeCursor) -> Result<NoticeCursor>;
}
