//! Lists of sources, and their members.

use super::tables;
use crate::pages;
use crate::read::Read;
use model::error::{Code, Result};
use model::{ListId, PageRequest, Rule, UserId, UserList, UserPage};

/// A list of a user by its name; `list_not_found`.
pub fn named(read: Read<'_>, user: UserId, name: &str) -> Result<UserList> {
    tables::list(&read.feed.store, user, name, read.tier)?.ok_or_else(|| Code::ListNotFound.into())
}

/// All lists of a user, by their names.
pub fn of_user(read: Read<'_>, user: UserId) -> Result<Vec<UserList>> {
    tables::lists(&read.feed.store, user, read.tier)
}

/// A page of the members of a list.
pub fn members(read: Read<'_>, list: ListId, request: &PageRequest<UserId>) -> Result<UserPage> {
    let all = |scan| tables::list_members(&read.feed.store, list, scan, read.tier);
    pages::by_time(read, request, |scan| pages::left_users(read, scan, all))
}

/// The rules of members of a list, in their order; `None` for one that shows all kinds.
pub fn member_rules(read: Read<'_>, list: ListId, members: &[UserId]) -> Result<Vec<Option<Rule>>> {
    let memberships = tables::memberships(&read.feed.store, list, members, read.tier)?.into_iter();
    Ok(memberships.map(|membership| membership.and_then(|membership| membership.rule)).collect())
}
