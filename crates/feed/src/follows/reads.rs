//! The graph around a user.

use super::tables;
use crate::core::Core;
use crate::read::Read;
use crate::{pages, visibility};
use model::error::{Error, Result};
use model::{ExternalId, PageRequest, Relation, Side, UserId, UserPage};

/// The relation of a user to another, as of now.
pub(crate) fn relation(feed: &Core, user: &ExternalId, target: &ExternalId) -> Result<Relation> {
    let read = feed.read();
    let relation = relations(read, read.find(user)?, &[read.find(target)?])?.pop();
    relation.ok_or_else(|| Error::Corrupt("a read of relations returned none".to_owned()))
}

/// A page of one side of the graph around a user; empty for a viewer who may not see it. A viewer who is another user sees
/// only those there of whom it sees something.
pub fn members(read: Read<'_>, user: UserId, side: Side, request: &PageRequest<UserId>) -> Result<UserPage> {
    let (is_seen, is_of_another) =
        (visibility::sees_members(read, user)?, read.viewer.is_some_and(|viewer| viewer != user));
    let all = |scan| tables::members(&read.feed.store, user, side, scan, read.tier);
    let scan = |scan| match is_seen {
        true if is_of_another => pages::seen_ids(read, scan, all, |users| visibility::unseen_users(read, users)),
        true => pages::left_users(read, scan, all),
        false => Ok(Vec::new().into()),
    };
    pages::by_time(read, request, scan)
}

/// The relations of a user to `targets`, in their order.
pub fn relations(read: Read<'_>, user: UserId, targets: &[UserId]) -> Result<Vec<Relation>> {
    tables::relations(&read.feed.store, user, targets, read.tier)
}
