//! Changes of lists and of their members.

use std::collections::HashSet;

use super::tables;
use crate::core::Core;
use crate::feed::Feed;
use crate::rows::tables::LIST_MEMBERS_BY_TIME;
use crate::writer::command::{Change, ChangeMembers, DeleteList, PutList};
use crate::writer::txn::{EntryList, Txn};
use crate::{follows, ids, kinds, lists};
use kv::Tier;
use model::error::{Code, Error, Result};
use model::{ExternalId, ListId, Membership, Millis, NamedRule, Span, UserId, UserList};

/// Most lists of one user: each page of the home timeline that is not cached looks at the exclusive ones.
const LISTS: usize = 100;

/// Adds a member to a list with a rule, which replaces that of a present member; returns the state afterwards. The errors
/// are those of [`ChangeMembers`](crate::ChangeMembers), and `too_many_kinds`.
pub fn put_member(
    feed: &Feed,
    user: ExternalId,
    list: String,
    member: ExternalId,
    rule: NamedRule,
) -> Result<Option<Membership>> {
    let change = ChangeMembers { user, list, add: vec![member], remove: vec![], rule: Some(rule) };
    Ok(feed.submit(change)?.pop().flatten())
}

fn all_members(feed: &Core, list: ListId) -> Result<Vec<UserId>> {
    let members = tables::list_members(&feed.store, list, Span::ALL.newest(usize::MAX), Tier::Disk)?;
    Ok(members.into_iter().map(|member| member.id).collect())
}

impl Change for PutList {
    type Outcome = UserList;

    fn import(self, txn: &mut Txn<'_>, since: Option<Millis>) -> Result<bool> {
        self.apply(txn)?;
        txn.imported("since", since)
    }

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let feed = txn.feed;
        let Self { user, list, settings } = self;
        let user = ids::user_for_change(feed, &user)?;
        let present = tables::list(&feed.store, user, &list, Tier::Disk)?;
        let turned = present.filter(|present| present.settings.exclusive != settings.exclusive);
        if let Some(turned) = turned {
            // The members leave the home timeline, or come back to it.
            txn.change_sources([(user, all_members(feed, turned.id)?)]);
        }
        tables::put_list(&feed.store, user, &list, &settings, LISTS)
    }
}

impl Change for DeleteList {
    type Outcome = ();

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let feed = txn.feed;
        let Self { user, list } = self;
        let user: UserId = feed.read().find(&user)?;
        let present = lists::named(feed.read(), user, &list)?;
        let apart = if present.settings.exclusive { all_members(feed, present.id)? } else { Vec::new() };
        txn.change_sources([(user, apart)]);
        tables::delete_list(&feed.store, user, &list).map(drop)
    }
}

impl Change for ChangeMembers {
    type Outcome = Vec<Option<Membership>>;

    /// The rule of one who is there stays.
    fn import(self, txn: &mut Txn<'_>, since: Option<Millis>) -> Result<bool> {
        let feed = txn.feed;
        let list = lists::named(feed.read(), feed.read().find(&self.user)?, &self.list)?.id;
        let present = tables::memberships(&feed.store, list, &feed.read().find_all(&self.add)?, Tier::Disk)?;
        if present.iter().all(Option::is_some) {
            return Ok(false);
        }
        self.change(txn, since)?;
        txn.imported("since", since)
    }

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        self.change(txn, None)
    }
}

impl ChangeMembers {
    /// Makes the change; whoever is added is a member since that time, or since now.
    pub(crate) fn change(self, txn: &mut Txn<'_>, since: Option<Millis>) -> Result<Vec<Option<Membership>>> {
        let feed = txn.feed;
        let Self { user, list, add, remove, rule } = self;
        let mut named = HashSet::new();
        if !add.iter().chain(&remove).all(|member| named.insert(member)) {
            return Err(Error::refused(Code::InvalidBody, "a user occurs twice"));
        }
        // A user with a list has a number.
        let user: UserId = feed.read().find(&user)?;
        let present = lists::named(feed.read(), user, &list)?;
        let is_exclusive = present.settings.exclusive;
        let added: Vec<UserId> = ids::for_change(feed, &add)?;
        let removed: Vec<UserId> = feed.read().find_all(&remove)?;
        let known = removed.iter().filter(|member| **member != UserId::UNKNOWN);
        let rule = rule.map(|rule| kinds::numbered(feed, &rule)).transpose()?;
        let since = since.map_or_else(|| txn.entry_time([EntryList::of(LIST_MEMBERS_BY_TIME, present.id)]), Ok)?;
        let added = added
            .iter()
            .map(|member| follows::tables::Change { rule, ..follows::tables::Change::new(*member, Some(since)) });
        let removed = known.map(|member| follows::tables::Change::new(*member, None));
        let changes: Vec<_> = added.chain(removed).collect();
        let apart = changes.iter().filter(|_| is_exclusive).map(|change| change.target).collect();
        txn.change_sources([(user, apart)]);
        let after = tables::change_members(&feed.store, user, &list, &changes, feed.config.graph.follow_limit)?;
        let mut after = after.ok_or(Code::ListNotFound)?;
        // A source without a number is in no list.
        after.resize(add.len() + remove.len(), None);
        Ok(after)
    }
}
