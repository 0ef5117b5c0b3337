//! Lists of sources that users keep.

use std::collections::HashSet;

use super::command::{Change, ChangeMembers, DeleteList, PutList};
use crate::streaming::ChangeTime;
use crate::timeline::followees::FolloweesChange;
use crate::{Feed, Held};
use model::error::{Code, Error, Result};
use model::store::Tier;
use model::{HostId, ListId, ListSettings, Millis, Span, UserId, UserList};

/// Most lists of one user: each page of the home timeline that is not cached looks at the exclusive ones.
const LISTS: usize = 100;

impl Feed {
    /// Makes a list, or replaces its settings; returns the list. `list_limit`.
    pub fn put_list(&self, user: HostId, list: String, settings: ListSettings) -> Result<UserList> {
        self.submit(PutList { user, list, settings })
    }

    /// Deletes a list with its members and its marker; `list_not_found`.
    pub fn delete_list(&self, user: HostId, list: String) -> Result<()> {
        self.submit(DeleteList { user, list })
    }

    /// Adds members to a list and removes others, all or none; returns since when each is a member afterwards: those to
    /// add first, then those to remove. A present member keeps its time. Only members that are added give numbers to
    /// names.
    ///
    /// `list_not_found`; `member_limit`; `invalid_body` if a member comes twice.
    pub fn change_members(
        &self,
        user: HostId,
        list: String,
        add: Vec<HostId>,
        remove: Vec<HostId>,
    ) -> Result<Vec<Option<Millis>>> {
        self.submit(ChangeMembers { user, list, add, remove })
    }

    /// Begins a change of the sources of a user's timelines by a change of a list. `apart` has the members that leave the
    /// home timeline, or come back to it.
    fn change_sources(&self, user: UserId, apart: Vec<UserId>) -> FolloweesChange<'_> {
        self.followees.change(&*self.store, [(user, apart)])
    }

    fn all_members(&self, list: ListId) -> Result<Vec<UserId>> {
        let members = self.store.list_members(list, Span::ALL.newest(usize::MAX), Tier::Disk)?;
        Ok(members.into_iter().map(|member| member.id).collect())
    }
}

impl Change for PutList {
    type Outcome = UserList;

    fn apply(self, feed: &Feed, _: ChangeTime) -> Result<Self::Outcome> {
        let Self { user, list, settings } = self;
        let held: Held<UserId> = feed.hold([&user])?;
        let user = held.id();
        let _turn = feed.item_change_locks.of(user.get()).lock();
        let present = feed.store.list(user, &list, Tier::Disk)?;
        let turned = present.filter(|present| present.settings.exclusive != settings.exclusive);
        let apart = turned.map(|list| feed.all_members(list.id)).transpose()?;
        let _change = apart.map(|apart| feed.change_sources(user, apart));
        feed.store.put_list(user, &list, &settings, LISTS)
    }
}

impl Change for DeleteList {
    type Outcome = ();

    fn apply(self, feed: &Feed, _: ChangeTime) -> Result<Self::Outcome> {
        let Self { user, list } = self;
        let user: UserId = feed.read().find(&user)?;
        let _turn = feed.item_change_locks.of(user.get()).lock();
        let present = feed.read().list_named(user, &list)?;
        let apart = if present.settings.exclusive { feed.all_members(present.id)? } else { Vec::new() };
        let _change = feed.change_sources(user, apart);
        feed.store.delete_list(user, &list)?;
        Ok(())
    }
}

impl Change for ChangeMembers {
    type Outcome = Vec<Option<Millis>>;

    fn apply(self, feed: &Feed, at: ChangeTime) -> Result<Self::Outcome> {
        let Self { user, list, add, remove } = self;
        let mut named = HashSet::new();
        if !add.iter().chain(&remove).all(|member| named.insert(member)) {
            return Err(Error::refused(Code::InvalidBody, "a user occurs twice"));
        }
        // Who has a list has a number.
        let user: UserId = feed.read().find(&user)?;
        let _turn = feed.item_change_locks.of(user.get()).lock();
        let is_exclusive = feed.read().list_named(user, &list)?.settings.exclusive;
        let held: Held<UserId> = feed.hold(&add)?;
        let removed: Vec<UserId> = feed.read().find_all(&remove)?;
        let known = removed.iter().filter(|member| **member != UserId::UNKNOWN);
        let since = at.now();
        let changes: Vec<_> =
            held.ids.iter().map(|member| (*member, Some(since))).chain(known.map(|member| (*member, None))).collect();
        let apart = changes.iter().filter(|_| is_exclusive).map(|(member, _)| *member).collect();
        let _change = feed.change_sources(user, apart);
        let after = feed.store.change_members(user, &list, &changes, feed.config.graph.follow_limit)?;
        let mut after = after.ok_or(Code::ListNotFound)?;
        // Whoever has no number is no member.
        after.resize(add.len() + remove.len(), None);
        Ok(after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_detail_of_the_code_names_the_limit() {
        assert!(Code::ListLimit.detail().contains(&format!(" {LISTS} ")), "{}", Code::ListLimit.detail());
    }
}
