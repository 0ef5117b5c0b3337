//! Changes as values: all that is needed to make them, and nothing that depends on where and when they are made.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::streaming::ChangeTime;
use crate::{Feed, Visibility};
use model::error::{Error, Result};
use model::{
    Barrier, CommentDraft, Content, Cursor, Draft, EditDraft, HostId, Millis, Position, Profile, Reacted, ReactionKind,
    Relation, UserCounts, UserId,
};

/// A change of what readers see. It is what a caller asked for: ids, times and refusals are decided when it applies.
///
/// Fan-out, settles, trims, activity, presence and purges are no commands: each server has its own.
///
/// In a log of commands it is JSON, which later versions read. So names and meanings never change, and a new field has a
/// default, with which it is not written. The tag stands outside: other forms lose the exact text of `media` and `extra`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the parameters of the functions that are named")]
pub enum Command {
    /// See [`Feed::publish`].
    Publish { drafts: Vec<Draft> },
    /// See [`Feed::comment`].
    Comment { subject: HostId, draft: Box<CommentDraft> },
    /// See [`Feed::edit`].
    Edit { item: HostId, edit: EditDraft },
    /// See [`Feed::delete`].
    Delete { item: HostId },
    /// See [`Feed::restore`].
    Restore { item: HostId },
    /// See [`Feed::relate`].
    Relate { user: HostId, follow: Vec<(HostId, Option<Millis>)>, unfollow: Vec<HostId> },
    /// See [`Feed::set_barrier`].
    SetBarrier { user: HostId, target: HostId, barrier: Barrier, raised: bool },
    /// See [`Feed::react`].
    React { item: HostId, wishes: Vec<Wish> },
    /// See [`Feed::move_marker`].
    MoveMarker { user: HostId, place: Position<HostId>, sight: Visibility },
    /// See [`Feed::marker`].
    CorrectMarker {
        #[serde(with = "number")]
        user: UserId,
    },
    /// See [`Feed::put_profile`].
    PutProfile { user: HostId, profile: Profile },
    /// See [`Feed::give_all`].
    Name { ids: Vec<HostId> },
    /// See [`Feed::import`].
    ImportContent { drafts: Vec<Draft> },
    /// See [`Feed::import_follows`].
    ImportFollows { follows: Vec<Follow> },
    /// See [`Feed::import_reactions`].
    ImportReactions { reactions: Vec<Reacting> },
    /// See [`Feed::import_profiles`].
    ImportProfiles { profiles: Vec<(HostId, Profile)> },
}

/// The number of a user in the store. No trait of [`UserId`], because answers must not have it.
mod number {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use model::UserId;

    pub(crate) fn serialize<S: Serializer>(user: &UserId, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(user.get())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<UserId, D::Error> {
        UserId::new(u64::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// One line of an import: follower, followee, and the time if given.
pub type Follow = (HostId, HostId, Option<Millis>);

/// One line of an import: a reaction of a user to an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reacting {
    /// The item.
    pub content: HostId,
    /// The user.
    pub user: HostId,
    /// Like or favorite.
    pub kind: ReactionKind,
    /// Time of the reaction; the server's clock if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Millis>,
}

/// A requested change of a user's reaction to an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    /// The user.
    pub user: HostId,
    /// Like or favorite.
    pub kind: ReactionKind,
    /// Whether the user is to have the reaction.
    pub active: bool,
    /// Time of a new reaction; the server's clock if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Millis>,
    /// The items that exist for the caller.
    pub sight: Visibility,
}

/// The result of a [`Command`] that was not refused as a whole.
#[derive(Debug)]
pub enum Outcome {
    /// The items, each with whether it is new.
    Published(Vec<(Content, bool)>),
    /// The item after the change.
    Content(Content),
    /// Nothing to tell.
    Done,
    /// The relations after the change, in the order of the targets.
    Relations(Vec<Relation>),
    /// The result of each wish.
    Reacted(Vec<Result<Reacted>>),
    /// The marker after the change.
    Marker(Option<Cursor>),
    /// The profile and the counts of its user.
    Profile(Profile, UserCounts),
    /// The ids in the store.
    Ids(Vec<u64>),
    /// The result of each line of an import: whether it is new.
    Lines(Vec<Result<bool>>),
}

/// The value of the outcome that belongs to a command, or its error.
macro_rules! outcome {
    ($submitted:expr, $pattern:pat => $value:expr) => {
        $submitted.and_then(|outcome| match outcome {
            $pattern => Ok($value),
            other => Err(other.unexpected()),
        })
    };
}
pub(crate) use outcome;

impl Outcome {
    pub(crate) fn unexpected(&self) -> Error {
        Error::Corrupt(format!("a command has the outcome of another: {self:?}"))
    }
}

/// The way of a command through a log that several servers apply.
pub trait Propose: fmt::Debug + Send + Sync {
    /// Appends a command to the log, and returns its outcome once this server has applied it and the log keeps it.
    fn propose(&self, command: Command) -> Result<Outcome>;
}

impl Command {
    /// The level of a command log from which on it may be in the log: nodes of versions before that level cannot read it.
    /// A new kind of command has the next level.
    pub fn level(&self) -> u32 {
        1
    }

    /// Whether the store makes all of it in one write, or none. Other commands can be made again after a part of them.
    pub fn is_one_write(&self) -> bool {
        !matches!(
            self,
            Self::ImportContent { .. }
                | Self::ImportFollows { .. }
                | Self::ImportReactions { .. }
                // It may correct the marker first.
                | Self::MoveMarker { .. }
        )
    }

    /// At most how many jobs it makes.
    pub fn jobs(&self) -> usize {
        let fan_outs = match self {
            Self::Publish { drafts } | Self::ImportContent { drafts } => drafts.len(),
            Self::Restore { .. } | Self::Comment { .. } => 1,
            _ => 0,
        };
        fan_outs + self.settles()
    }

    /// At most how many settle jobs it makes. There is no other way to settle a pair, so it needs room for them.
    pub fn settles(&self) -> usize {
        match self {
            Self::Relate { follow, unfollow, .. } => follow.len() + unfollow.len(),
            Self::ImportFollows { follows } => follows.len(),
            _ => 0,
        }
    }

    /// Whether it waits for room for its jobs.
    pub fn waits(&self) -> bool {
        matches!(self, Self::ImportContent { .. } | Self::ImportFollows { .. })
    }
}

impl Feed {
    /// Makes a change, and returns when it is durable and visible to every read.
    pub fn submit(&self, command: Command) -> Result<Outcome> {
        let Some(proposer) = self.proposer.get() else { return self.apply(command, ChangeTime::Clock) };
        // In the log there is no way back, so a server without room refuses, or waits, before.
        drop(match command.waits() {
            true => self.backlog.reserve_waiting(command.jobs()),
            false => self.backlog.reserve(command.jobs())?,
        });
        proposer.propose(command)
    }

    /// Applies a change. With [`ChangeTime::Log`] and one thread, the result depends only on the state at the start, the settings,
    /// and the commands, times and levels since. Another version of this code must come to the same result at the same
    /// level: what changes the meaning of a command asks [`ChangeTime::level`], and keeps the old meaning below a new level.
    pub fn apply(&self, command: Command, at: ChangeTime) -> Result<Outcome> {
        if command.level() > at.level() {
            return Err(Error::Corrupt(format!("a change of level {} at level {}", command.level(), at.level())));
        }
        match command {
            Command::Publish { drafts } => self.apply_publish(drafts, at).map(Outcome::Published),
            Command::Comment { subject, draft } => self.apply_comment(subject, *draft, at).map(Outcome::Published),
            Command::Edit { item, edit } => self.apply_edit(&item, edit, at).map(Outcome::Content),
            Command::Delete { item } => self.apply_delete(&item, at).map(|()| Outcome::Done),
            Command::Restore { item } => self.apply_restore(&item, at).map(Outcome::Content),
            Command::Relate { user, follow, unfollow } => {
                self.apply_relate(&user, &follow, &unfollow, at).map(Outcome::Relations)
            }
            Command::SetBarrier { user, target, barrier, raised } => self
                .apply_barrier([&user, &target], barrier, raised, at)
                .map(|relation| Outcome::Relations(vec![relation])),
            Command::React { item, wishes } => self.apply_reactions(&item, &wishes, at).map(Outcome::Reacted),
            Command::MoveMarker { user, place, sight } => {
                self.apply_marker(&user, &place, sight, at).map(|place| Outcome::Marker(Some(place)))
            }
            Command::CorrectMarker { user } => self.apply_correction(user, at).map(Outcome::Marker),
            Command::PutProfile { user, profile } => {
                self.apply_profile(&user, profile).map(|(profile, counts)| Outcome::Profile(profile, counts))
            }
            Command::Name { ids } => self.apply_names(&ids).map(Outcome::Ids),
            Command::ImportContent { drafts } => self.apply_content(drafts, at).map(Outcome::Lines),
            Command::ImportFollows { follows } => self.apply_follows(&follows, at).map(Outcome::Lines),
            Command::ImportReactions { reactions } => self.apply_reaction_lines(&reactions, at).map(Outcome::Lines),
            Command::ImportProfiles { profiles } => self.apply_profiles(profiles).map(Outcome::Lines),
        }
    }
}

#[cfg(test)]
mod tests;
