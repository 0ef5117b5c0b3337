//! The users and the items that changes name, by the types of their fields.

use super::command::{Command, ReactionRequest};
use crate::read::Visibility;
use model::{
    Draft, EditDraft, ErasedPart, HostId, HostNoticeId, ListSettings, Position, Profile, Restriction, RuleDraft,
    UserSettings,
};

/// A field of a change.
pub(crate) trait Named {
    /// Adds the users whom it names, none of whom may be erased while the change is made.
    fn users<'c>(&'c self, _: &mut Vec<&'c HostId>) {}

    /// Adds the users and the items that it names.
    fn ids<'c>(&'c self, found: &mut Vec<&'c HostId>) {
        self.users(found);
    }
}

impl Named for HostId {
    fn users<'c>(&'c self, found: &mut Vec<&'c HostId>) {
        found.push(self);
    }
}

impl Named for Draft {
    fn users<'c>(&'c self, found: &mut Vec<&'c HostId>) {
        found.extend(Draft::users(self));
    }

    fn ids<'c>(&'c self, found: &mut Vec<&'c HostId>) {
        found.extend(Draft::ids(self));
    }
}

/// Each is refused alone: the requests of others come in the same change.
impl Named for ReactionRequest {
    fn ids<'c>(&'c self, found: &mut Vec<&'c HostId>) {
        found.push(&self.user);
    }
}

impl Named for Position<HostId> {
    fn ids<'c>(&'c self, found: &mut Vec<&'c HostId>) {
        found.push(&self.id);
    }
}

impl Named for Position<HostNoticeId> {
    fn ids<'c>(&'c self, found: &mut Vec<&'c HostId>) {
        found.extend([&self.id.actor].into_iter().chain(&self.id.item));
    }
}

impl Named for Box<Command> {
    fn users<'c>(&'c self, found: &mut Vec<&'c HostId>) {
        found.extend(Command::users(self));
    }

    fn ids<'c>(&'c self, found: &mut Vec<&'c HostId>) {
        found.extend(Command::ids(self));
    }
}

impl<T: Named> Named for Vec<T> {
    fn users<'c>(&'c self, found: &mut Vec<&'c HostId>) {
        self.iter().for_each(|one| one.users(found));
    }

    fn ids<'c>(&'c self, found: &mut Vec<&'c HostId>) {
        self.iter().for_each(|one| one.ids(found));
    }
}

impl<T: Named> Named for Option<T> {
    fn users<'c>(&'c self, found: &mut Vec<&'c HostId>) {
        self.iter().for_each(|one| one.users(found));
    }

    fn ids<'c>(&'c self, found: &mut Vec<&'c HostId>) {
        self.iter().for_each(|one| one.ids(found));
    }
}

impl<A: Named, B: Named> Named for (A, B) {
    fn users<'c>(&'c self, found: &mut Vec<&'c HostId>) {
        self.0.users(found);
        self.1.users(found);
    }

    fn ids<'c>(&'c self, found: &mut Vec<&'c HostId>) {
        self.0.ids(found);
        self.1.ids(found);
    }
}

macro_rules! nameless {
    ($($type:ty),+) => {
        $(impl Named for $type {})+
    };
}

nameless!(
    bool,
    u64,
    String,
    EditDraft,
    ErasedPart,
    ListSettings,
    Profile,
    Restriction,
    RuleDraft,
    UserSettings,
    Visibility
);
