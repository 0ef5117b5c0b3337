//! Changes as values: all that is needed to make them, and nothing that depends on where and when they are made.

use std::any::Any;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::erasure;
use crate::read::{Read, Visibility};
use crate::streaming::ChangeTime;
use crate::writer::named::{Named, See, refuse_erasing};
use crate::writer::txn::Txn;
use model::error::{Code, Error, Result};
use model::{
    ContentEdit, ErasedPart, ExternalId, ExternalNoticeId, ListSettings, Millis, NamedRule, NewContent, Position,
    Profile, Restriction, UserSettings,
};

/// A change of what readers see. It is what a caller asked for: ids, times and refusals are decided when it applies.
///
/// Fan-out, settles, trims, activity, presence and purges are no changes: each server has its own.
pub trait Change: Into<Command> {
    /// The result, if the change is not refused as a whole.
    type Outcome: Outcome;

    /// Makes the change with at most one `Store::acknowledge`. In a command log the result depends only on the state at the
    /// start of the log, the settings, and the changes and times since.
    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome>;

    /// Reads rows that the change will read, to have them in memory. Fails with `NotCached` as any read.
    fn warm(&self, _: Read<'_>) -> Result<()> {
        Ok(())
    }

    /// Makes the change as an import does, and returns whether it changed something. What stands already keeps its time;
    /// another has the time `since`, if that is given. Ends with `Txn::imported`.
    fn import(self, _: &mut Txn<'_>, _: Option<Millis>) -> Result<bool> {
        Err(Error::refused(Code::InvalidBody, "an import has no line for this change"))
    }

    /// The bytes of the texts that it has.
    fn bytes(&self) -> usize {
        0
    }

    /// The most jobs that it can make.
    fn jobs(&self) -> usize {
        self.settles()
    }

    /// The most settle jobs that it can make. There is no other way to settle a pair, so it needs room for them.
    fn settles(&self) -> usize {
        0
    }

    /// Whether it waits for room for its jobs.
    fn waits(&self) -> bool {
        false
    }

    /// Whether its group has no other change. Either it also changes rows outside of the group, or it reads rows that must
    /// be the same on all nodes of a command log, however they group.
    fn is_alone(&self, _: ChangeTime) -> bool {
        false
    }
}

/// The outcome of some change. Whoever knows the change knows its type.
pub trait Outcome: Any + fmt::Debug + Send {}

impl<T: Any + fmt::Debug + Send> Outcome for T {}

/// The result of some change.
pub type Made = Result<Box<dyn Outcome>>;

/// Called once with a result, on the thread that makes changes. Must not block.
pub type OnDone<R> = Box<dyn FnOnce(Result<R>) + Send>;

/// Declares the changes, each with its fields, and [`Command`], which has a variant for each. A mark behind a field says that it
/// names nobody whose erasure stands against the change: the id of an item, or the user to erase.
macro_rules! changes {
    ($($(#[doc = $doc:literal])* $change:ident {
        $($(#[serde($($serde:tt)*)])? $field:ident: $type:ty $([$mark:ident])?),+ $(,)?
    })+) => {
        $(
            $(#[doc = $doc])*
            #[derive(Debug, Clone, Serialize, Deserialize)]
            #[serde(deny_unknown_fields)]
            #[allow(missing_docs, reason = "the fields are what the change is told")]
            pub struct $change { $($(#[serde($($serde)*)])? pub $field: $type),+ }

            impl From<$change> for Command {
                fn from(change: $change) -> Self {
                    Self::$change(change)
                }
            }
        )+

        /// Any [`Change`], as it stands in a log that several servers apply.
        ///
        /// There it is JSON, which later versions read. So names and meanings never change, and a new field has a default,
        /// with which it is not written. It is tagged externally: other forms lose the exact text of `media` and `extra`.
        #[derive(Debug, Clone, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[allow(missing_docs, reason = "each variant is a change")]
        pub enum Command { $($change($change)),+ }

        impl Command {
            /// How many kinds there are.
            pub const KINDS: usize = [$(stringify!($change)),+].len();

            pub(crate) fn apply(self, txn: &mut Txn<'_>) -> Result<Box<dyn Outcome>> {
                Ok(match self {
                    $(Self::$change(change) => Box::new(change.apply(txn)?)),+
                })
            }

            pub(crate) fn import(self, txn: &mut Txn<'_>, since: Option<Millis>) -> Result<bool> {
                match self { $(Self::$change(change) => change.import(txn, since)),+ }
            }

            /// Visits the users and the items that it names.
            pub(crate) fn each_id<'c>(&'c self, see: See<'_, 'c>) {
                match self {
                    $(Self::$change($change { $($field),+ }) => { $(each!($field, see $(, $mark)?);)+ })+
                }
            }

            pub(crate) fn bytes(&self) -> usize {
                match self { $(Self::$change(change) => change.bytes()),+ }
            }

            /// See [`Change::jobs`].
            pub fn jobs(&self) -> usize {
                match self { $(Self::$change(change) => change.jobs()),+ }
            }

            /// See [`Change::settles`].
            pub fn settles(&self) -> usize {
                match self { $(Self::$change(change) => change.settles()),+ }
            }

            /// See [`Change::waits`].
            pub fn waits(&self) -> bool {
                match self { $(Self::$change(change) => change.waits()),+ }
            }

            pub(crate) fn is_alone(&self, at: ChangeTime) -> bool {
                match self { $(Self::$change(change) => change.is_alone(at)),+ }
            }
        }
    };
}

macro_rules! each {
    ($field:ident, $see:ident) => {
        $field.each($see)
    };
    ($field:ident, $see:ident, $mark:ident) => {
        $field.each(&mut |id, _| $see(id, false))
    };
}

changes! {
    /// Publishes all new items or none. Returns the content of each, and whether it is new.
    ///
    /// `content_exists` if an id belongs to another item, `time_ahead` if a time lies too far ahead, `overloaded` if
    /// the queue of jobs is full, or ids come below earlier ones more often than once a millisecond.
    ///
    /// With `on_live_items`, the item in `ref_id` of each new item must exist for this caller: see
    /// [`items::comment`](crate::items::comment).
    PublishItems {
        new_items: Vec<NewContent>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on_live_items: Option<Visibility>,
    }
    /// Edits an item; `content_not_found` if it does not exist. An empty edit changes nothing, not even the time of
    /// edit.
    EditItem { item: ExternalId [item], edit: ContentEdit }
    /// Deletes an item; `content_not_found` if it does not exist. It can be restored for `content.deleted_retention`; if
    /// that is 0, it is purged at once.
    ///
    /// With `purge` for good, also one that is deleted already: nothing of it can be read any more, and a compaction
    /// removes it from the disk. `content_not_found` if there was no such item.
    DeleteItem {
        item: ExternalId [item],
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        purge: bool,
    }
    /// Takes a deletion back: the item is in every list again, at its old place. A live item gets the same answer.
    /// `content_not_found` if it does not exist or was deleted too long ago, `overloaded` if the queue of jobs is full.
    RestoreItem { item: ExternalId [item] }
    /// Applies all changes of one user's follows or none, and returns the relations afterwards: those to follow first,
    /// then those to unfollow. A follow without a time gets the server's clock. A present follow keeps its rule, a new one
    /// shows all kinds. A follow of a user who approves followers becomes a request; an unfollow takes a request back. Only
    /// follows give numbers to names.
    ///
    /// `self_follow`, `follow_limit`, `blocked`; `invalid_body` if a target comes twice; `time_ahead`; `overloaded`.
    ///
    /// `rule` and `approved` are for all follows: see [`follows::follow`](crate::follows::follow).
    Relate {
        user: ExternalId,
        follow: Vec<(ExternalId, Option<Millis>)>,
        unfollow: Vec<ExternalId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<NamedRule>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        approved: bool,
    }
    /// Raises or lifts a user's restriction against a target; returns the relation afterwards. A restriction in the wanted
    /// state stays as it is. Takes effect at the next read. A block ends the follows between the two; when it is lifted,
    /// none comes back. Only a restriction that is raised gives numbers to names.
    ///
    /// The restriction's own refusals, such as `self_mute` and `mute_limit`; `overloaded` for a block.
    SetRestriction { user: ExternalId, target: ExternalId, restriction: Restriction, raised: bool }
    /// See [`reactions::react`](crate::reactions::react). Imported reactions may be to items of suspended authors.
    React {
        item: ExternalId [item],
        requests: Vec<ReactionRequest>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        imported: bool,
    }
    /// Moves a user's marker forward to `place`, never back, and returns its new place. A place ahead of the clock is
    /// replaced by the newest item up to it in the user's timeline, or by now if there is none. So the next publish is
    /// unread, unless that item lies ahead itself. With [`Visibility::User`], a place with a name at which the user sees no
    /// item is replaced, too: the marker keeps no name that a user makes up, and does not tell which names exist.
    /// `time_ahead` if the place lies too far ahead of the clock and the caller sees no item at it, `unknown_cursor` as in
    /// [`visibility::find_place`](crate::visibility::find_place).
    ///
    /// With `list`, moves the marker of that list by the same rules, in the timeline of the list. Then also
    /// `list_not_found`.
    MoveMarker {
        user: ExternalId,
        place: Position<ExternalId>,
        visibility: Visibility,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        list: Option<String>,
    }
    /// Moves the marker of a user's notices forward to `place`, never back, and returns its new place. A place ahead of the
    /// clock without a notice is replaced by the begin of the present millisecond. With [`Visibility::User`], a place with a
    /// name and without a notice is replaced by the begin of its millisecond. So the next notice is unread, and the marker
    /// keeps no name that a user makes up. `time_ahead` if it lies too far ahead without a notice, `unknown_cursor` as in
    /// [`visibility::find_place`](crate::visibility::find_place).
    MoveNoticeMarker { user: ExternalId, place: Position<ExternalNoticeId>, visibility: Visibility }
    /// Puts profiles in order, all in one change. Returns for each whether it is new or differs from the one before, or
    /// `invalid_id`.
    PutProfiles { profiles: Vec<(ExternalId, Profile)> }
    /// See [`follows::answer_request`](crate::follows::answer_request).
    AnswerRequest { user: ExternalId, from: ExternalId, approved: bool }
    /// Replaces a user's settings. Requests to follow that wait stay, whatever the new settings are.
    PutSettings { user: ExternalId, settings: UserSettings }
    /// Gives numbers to names of users and items, in their order, which is their order in lists at equal times. Returns for
    /// each whether it is new to the server, or `invalid_id`. An id that is a number is never new.
    GiveNumbers { ids: Vec<ExternalId> }
    /// Gives numbers to kinds of reactions, in their order. Returns for each whether it is new, or `too_many_kinds`.
    NumberReactions { kinds: Vec<String> }
    /// Publishes each valid new item, in order, without an event: streams get a reset. Returns for each whether it is new.
    /// `edited` has the times of the last edits, in the order of the new items, or is empty. An item that is there keeps its
    /// own time.
    ///
    /// Errors of a new item: `content_exists` if the id belongs to another item, or to a deleted one; `time_ahead`;
    /// `too_many_kinds`.
    ImportItems {
        new_items: Vec<NewContent>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        edited: Vec<Option<Millis>>,
    }
    /// Makes each valid follow, in order. `rules` has their rules, in the order of the follows, or is empty. Returns for
    /// each whether it is new; a follow that is there keeps its time and its rule. None is a request: an import moves
    /// follows that were approved elsewhere. With `awaited`, all new ones are requests, whatever the settings of their
    /// targets are.
    ImportFollows {
        user: ExternalId,
        follows: Vec<(ExternalId, Option<Millis>)>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rules: Vec<NamedRule>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        awaited: bool,
    }
    /// Suspends a user, or takes that back; returns since when the user is suspended then. From the answer on no list has
    /// an item of a suspended user, or the user among those who reacted; only [`visibility::by_id`](crate::visibility::by_id) shows
    /// the item, without a viewer. Follows and counts stay, and so do items that the user publishes meanwhile: all is
    /// shown again when the suspension is taken back. Every stream gets a reset. Only a suspension gives a number to a
    /// name.
    SetSuspension { user: ExternalId, suspended: bool }
    /// Makes a list, or replaces its settings; returns the list. `list_limit`.
    PutList { user: ExternalId, list: String, settings: ListSettings }
    /// Deletes a list with its members and its marker; `list_not_found`.
    DeleteList { user: ExternalId, list: String }
    /// Takes an item off one of its paths: the own page of that source loses it, and no reader gets it through that source.
    /// Its other paths stay. There is no way back. `content_not_found` if it does not exist, or has no such path.
    TakeOff { item: ExternalId [item], source: ExternalId }
    /// Adds members to a list and removes others, all or none; returns the state of each afterwards: those to add first,
    /// then those to remove. A present member keeps its time and its rule, a new one shows all kinds. Only members that are
    /// added give numbers to names.
    ///
    /// `list_not_found`; `member_limit`; `invalid_body` if a member comes twice.
    ///
    /// `rule` is for all members that are added: see [`lists::put_member`](crate::lists::put_member).
    ChangeMembers {
        user: ExternalId,
        list: String,
        add: Vec<ExternalId>,
        remove: Vec<ExternalId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<NamedRule>,
    }
    /// Makes a change as an import does, by the `import` of its [`Change`]. A [`DeleteItem`] that purges only takes the id of
    /// an item that was purged elsewhere. Returns whether it changed something. A state that is there keeps its time; a new
    /// one has the time `since`, if that is given.
    ImportLine {
        change: Box<Command>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<Millis>,
    }
    /// See [`erasure::erase`](crate::erasure::erase).
    EraseUser { user: ExternalId [erased] }
    /// Removes rows that name a user who is erased, by the ids in the store, which are the same on all nodes.
    EraseRows { user: u64, part: ErasedPart }
    /// Ends the erasure of a user.
    EndErasure { user: u64 }
    /// See [`events::keep_receiver`](crate::events::keep_receiver).
    KeepReceiver {
        receiver: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        node: String,
        position: String,
    }
}

/// A requested change of a user's reaction to an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReactionRequest {
    /// The user.
    pub user: ExternalId,
    /// The name of the kind.
    pub kind: String,
    /// Whether the user is to have the reaction.
    pub active: bool,
    /// Time of a new reaction; the server's clock if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Millis>,
    /// The items that exist for the caller.
    pub visibility: Visibility,
}

impl Command {
    /// Makes the change.
    pub(crate) fn make(self, txn: &mut Txn<'_>) -> Result<Box<dyn Outcome>> {
        if erasure::tables::has_erasures(&txn.feed.store) {
            refuse_erasing(txn.feed, self.users())?;
        }
        self.apply(txn)
    }

    /// The users whom it names, none of whom may be erased while it is made.
    fn users(&self) -> Vec<&ExternalId> {
        let mut users = Vec::new();
        self.each_id(&mut |id, is_user| users.extend(is_user.then_some(id)));
        users
    }

    /// The users and the items that it names.
    pub fn ids(&self) -> Vec<&ExternalId> {
        let mut ids = Vec::new();
        self.each_id(&mut |id, _| ids.push(id));
        ids
    }
}

/// Each is refused alone: the requests of others come in the same change.
impl Named for ReactionRequest {
    fn each<'c>(&'c self, see: See<'_, 'c>) {
        see(&self.user, false);
    }
}

impl Named for Box<Command> {
    fn each<'c>(&'c self, see: See<'_, 'c>) {
        self.each_id(see);
    }
}

pub(crate) fn of_its_type<C: Change>(outcome: Box<dyn Outcome>) -> Result<C::Outcome> {
    let outcome: Box<dyn Any> = outcome;
    outcome.downcast().map(|outcome| *outcome).map_err(|_| no_outcome())
}

pub(crate) fn no_outcome() -> Error {
    Error::Corrupt("a change has no outcome of its type".to_owned())
}

#[cfg(test)]
mod tests;
