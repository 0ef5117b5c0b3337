//! Effects of changes, as the feed of changes tells them.

use crate::ids::cursor::Millis;
use crate::ids::id::{ContentId, UserId};
use crate::words::words;

words! {
    /// What a change did.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum EffectKind {
        /// The user published the item.
        Published = 1 => "content.published",
        /// The item of the user was edited.
        Edited = 2 => "content.edited",
        /// The item of the user was deleted.
        Deleted = 3 => "content.deleted",
        /// The delete of the item of the user was taken back.
        Restored = 4 => "content.restored",
        /// The item of the user was taken off the target, one of its paths.
        TakenOff = 5 => "content.taken_off",
        /// The user asked to follow the target.
        FollowRequested = 6 => "follow.requested",
        /// The request of the user to the target ended without a follow: it was declined or taken back.
        RequestRemoved = 7 => "follow.request_removed",
        /// The user follows the target; a request between the two has ended.
        FollowCreated = 8 => "follow.created",
        /// The rule of the user's follow of the target, or of the request, changed.
        FollowChanged = 9 => "follow.changed",
        /// The user follows the target no more.
        FollowRemoved = 10 => "follow.removed",
        /// The user mutes the target.
        MuteCreated = 11 => "mute.created",
        /// The user mutes the target no more.
        MuteRemoved = 12 => "mute.removed",
        /// The user hides its content from the target.
        HideCreated = 13 => "hide.created",
        /// The user hides its content from the target no more.
        HideRemoved = 14 => "hide.removed",
        /// The user blocks the target.
        BlockCreated = 15 => "block.created",
        /// The user blocks the target no more.
        BlockRemoved = 16 => "block.removed",
        /// The user reacted to the item of the target; with the kind of the reaction.
        ReactionCreated = 17 => "reaction.created",
        /// The user took back a reaction to the item of the target; with its kind.
        ReactionRemoved = 18 => "reaction.removed",
        /// The profile of the user was put.
        ProfileChanged = 19 => "profile.changed",
        /// The settings of the user were put.
        SettingsChanged = 20 => "settings.changed",
        /// The user was suspended.
        UserSuspended = 21 => "user.suspended",
        /// The suspension of the user was taken back.
        UserUnsuspended = 22 => "user.unsuspended",
        /// The list of the user was made, or its settings changed.
        ListChanged = 23 => "list.changed",
        /// The list of the user was deleted, with its members.
        ListDeleted = 24 => "list.deleted",
        /// The target is a member of the list of the user.
        MemberCreated = 25 => "list_member.created",
        /// The rule of the target in the list of the user changed.
        MemberChanged = 26 => "list_member.changed",
        /// The target is no member of the list of the user any more.
        MemberRemoved = 27 => "list_member.removed",
        /// The marker of the user, or of the list of the user, moved.
        MarkerMoved = 28 => "marker.moved",
        /// The marker of the notices of the user moved.
        NoticeMarkerMoved = 29 => "notice_marker.moved",
        /// The deleted item of the user was removed for good.
        Purged = 30 => "content.purged",
        /// The user is erased, with all that the user had; with a hash of the id.
        // The hash stays when the user is `UserId::UNKNOWN`, because every row that names the user is removed.
        UserErased = 31 => "user.erased",
    }
}

/// The effect of a change on one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// What was done.
    pub kind: EffectKind,
    /// Whose thing it is: the author, the follower, the owner.
    pub user: UserId,
    /// The other user, for kinds with one.
    pub target: Option<UserId>,
    /// The item, for kinds with one.
    pub item: Option<ContentId>,
    /// The name of the list, or of the kind of the item or of the reaction, for kinds with one.
    pub name: Option<Box<str>>,
}

impl Effect {
    /// An effect on a user alone.
    pub fn on(kind: EffectKind, user: UserId) -> Self {
        Self { kind, user, target: None, item: None, name: None }
    }

    /// Whether it names a user.
    pub fn names(&self, user: UserId) -> bool {
        self.user == user || self.target == Some(user)
    }

    /// This effect of an erasure, without the user.
    #[must_use]
    pub fn without_user(self) -> Self {
        Self { user: UserId::UNKNOWN, ..self }
    }

    /// The effect with a target.
    #[must_use]
    pub fn target(self, target: UserId) -> Self {
        Self { target: Some(target), ..self }
    }

    /// The effect with an item.
    #[must_use]
    pub fn item(self, item: ContentId) -> Self {
        Self { item: Some(item), ..self }
    }

    /// The effect with a name.
    #[must_use]
    pub fn named(self, name: impl Into<Box<str>>) -> Self {
        Self { name: Some(name.into()), ..self }
    }
}

/// An effect in the order of all changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The number of the change. Numbers rise; some are left out.
    pub number: u64,
    /// The time of the number, by the server's clock. Never falls from one number to the next.
    pub at: Millis,
    /// What was done.
    pub effect: Effect,
}
