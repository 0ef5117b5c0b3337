//! Users as an operator looks for them: by the beginning of an id or of a word of a nickname, and those of late.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::ControlFlow;

use super::tables;
use crate::read::Read;
use crate::{erasure, events, ids, items, users};
use model::error::Result;
use model::nickname::folded;
use model::{ExternalId, Id as _, Profile, UserCounts, UserId};

/// Most names, nicknames and changes that one look goes through.
const MOST: usize = 1000;

/// An order of users of late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Late {
    /// By their newest change.
    Recent,
    /// By the number of their followers.
    Followers,
    /// By when the server first saw their names. Ids that are numbers tell no time: they come last, the greatest first.
    New,
}

/// A user with profile and counts.
pub type FoundUser = (ExternalId, Profile, UserCounts);

/// The first `limit` users found by a text: the user with this id, those whose ids begin with it, then those with a nickname
/// in which a word begins with it, whatever capitals and accents. A user is an id with a profile or a count.
pub fn search(read: Read<'_>, text: &str, limit: usize) -> Result<Vec<FoundUser>> {
    let store = &read.feed.store;
    let exact = text.parse::<ExternalId>().ok().map(|id| read.known::<UserId>(&id)).transpose()?;
    let by_id =
        ids::tables::names_beginning(store, text, MOST)?.into_iter().filter_map(|(_, number)| UserId::of(number).ok());
    let folded = folded(text);
    let named = if folded.is_empty() { Vec::new() } else { tables::users_named(store, &folded, MOST)? };
    first_users(read, exact.into_iter().chain(by_id).chain(named), limit)
}

/// The first `limit` of those users who made the newest changes, in this order. Without such changes, some users.
pub fn of_late(read: Read<'_>, order: Late, limit: usize) -> Result<Vec<FoundUser>> {
    let store = &read.feed.store;
    let (mut users, mut rows, kinds) = (Vec::new(), 0, items::tables::kind_names(store)?);
    events::tables::newest_logged(store, &mut |row| {
        users.extend(row.told(&kinds).map(|changed| changed.effect.user));
        rows += 1;
        if rows < MOST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    if order == Late::New {
        // A name gets a number above all earlier ones.
        users.sort_unstable_by_key(|user| Reverse(*user));
    }
    if users.is_empty() {
        users = tables::users_after(store, None, MOST)?;
    }
    if order != Late::Followers {
        return first_users(read, users.into_iter(), limit);
    }
    let mut found = first_users(read, users.into_iter(), MOST)?;
    found.sort_by_key(|(_, _, counts)| Reverse(counts.followers));
    found.truncate(limit);
    Ok(found)
}

fn first_users(read: Read<'_>, users: impl Iterator<Item = UserId>, limit: usize) -> Result<Vec<FoundUser>> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for user in users.filter(|user| *user != UserId::UNKNOWN && !erasure::tables::is_erasing(&read.feed.store, *user)) {
        if found.len() == limit {
            break;
        }
        let is_first = seen.insert(user);
        let (profile, counts) = if is_first { users::user(read, user)? } else { continue };
        if (&profile, &counts) != (&Profile::default(), &UserCounts::default()) {
            found.push((user, profile, counts));
        }
    }
    let ids: Vec<_> = found.iter().map(|(user, ..)| *user).collect();
    let ids = read.host_ids(&ids[..])?;
    Ok(found.into_iter().map(|(user, profile, counts)| (ids.of(user), profile, counts)).collect())
}
