//! The rows of each table, in the order of their keys, as the domain sees them. An error of the visitor ends the walk.

use std::collections::BTreeMap;

use super::{Reader, Take, text, unreadable};
use crate::items::tables::FINAL;
use crate::rows::keys;
use crate::rows::table::Table;
use crate::rows::tables::{
    CONTENT, DELETED, FOLLOWING, LIST_MARKERS, LIST_MEMBERS, LISTS, MARKERS, NAMES_BY_NUMBER, NOTICE_MARKERS, PROFILES,
    REACTIONS, REQUESTS, SETTINGS, SUSPENDED, of_restriction,
};
use crate::rows::values::deletions::Deletion;
use crate::rows::values::{NumberedList, Stored, Value};
use kv::{Scope, Tier};
use model::error::Result;
use model::{
    Content, ContentId, ExternalId, ExternalNoticeId, ListId, MAX_ID, Membership, Millis, NamedRule, NoticeCursor,
    NoticeId, NoticeKind, Position, Profile, ReactionKinds, Restriction, UserId, UserList, UserSettings,
};

/// A relation that may have a rule: a follow, a request, a member of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruled {
    /// The user who follows or asks, or has the list.
    pub user: UserId,
    /// The source.
    pub target: UserId,
    /// Since when.
    pub since: Millis,
    /// The kinds that it shows.
    pub rule: NamedRule,
}

/// The place up to which a user has read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker<'a> {
    /// The user.
    pub user: UserId,
    /// The name of the list of which it is; `None` for the home timeline.
    pub list: Option<&'a str>,
    /// The time of the place.
    pub at: Millis,
    /// The item of the place, which need not exist.
    pub item: ExternalId,
}

/// Most turns of items.
const MOST_TURNS: usize = 4;
/// Most items above one at which its turn looks: chains of comments are short, and some go in a circle.
const MOST_ABOVE: usize = 64;

/// All names, in the order in which the server first saw them.
pub fn each_name(reader: &Reader, take: Take<'_, ExternalId>) -> Result<()> {
    reader.each_row(&NAMES_BY_NUMBER, |key, name| match NAMES_BY_NUMBER.key(key)? {
        user if reader.hides(user) || name.is_empty() => Ok(()),
        _ => take(ExternalId::Name(text(name, &NAMES_BY_NUMBER)?.into())),
    })
}

/// The settings of users who have other ones than the default.
pub fn each_settings(reader: &Reader, take: Take<'_, (UserId, UserSettings)>) -> Result<()> {
    reader.each(SETTINGS, false, &mut |(user, settings)| {
        if settings == UserSettings::default() { Ok(()) } else { take((user, settings)) }
    })
}

/// Restrictions of a kind: the user, the target, since when.
pub fn each_restriction(
    reader: &Reader,
    restriction: Restriction,
    take: Take<'_, ((UserId, UserId), Millis)>,
) -> Result<()> {
    reader.each(of_restriction(restriction).0, false, take)
}

/// All follows.
pub fn each_follow(reader: &Reader, take: Take<'_, Ruled>) -> Result<()> {
    each_ruled(reader, FOLLOWING, take)
}

/// All requests to follow that wait.
pub fn each_request(reader: &Reader, take: Take<'_, Ruled>) -> Result<()> {
    each_ruled(reader, REQUESTS, take)
}

fn each_ruled(reader: &Reader, table: Table<(UserId, UserId), Membership>, take: Take<'_, Ruled>) -> Result<()> {
    reader.each(table, false, &mut |((user, target), membership)| {
        take(Ruled { user, target, since: membership.since, rule: reader.rule(membership.rule)? })
    })
}

/// All lists of users.
pub fn each_list(reader: &Reader, take: Take<'_, (UserId, UserList)>) -> Result<()> {
    reader.each_row(&LISTS, |key, value| {
        if key == keys::HIGHEST_LIST {
            return Ok(());
        }
        let (user, name) = key.split_at_checked(keys::ID).unwrap_or_default();
        let user = LISTS.key(user)?;
        if reader.hides(user) {
            return Ok(());
        }
        let (id, settings) = NumberedList::read(key, value)?;
        let name = text(name, &LISTS)?.to_owned();
        take((user, UserList { id, name, settings }))
    })
}

/// The members of all lists, list by list, with the name of the list.
pub fn each_member(reader: &Reader, take: &mut dyn FnMut(&str, Ruled) -> Result<()>) -> Result<()> {
    let mut rows = reader.store.now(Tier::Disk).rows(&LIST_MEMBERS, Scope::Once)?;
    each_list(reader, &mut |(user, list)| {
        let first = keys::id(list.id.get());
        rows.seek(first);
        while let Some((key, value)) = rows.item().filter(|(key, _)| key.starts_with(&first)) {
            let (_, target): (ListId, _) = LIST_MEMBERS.key(key)?;
            if !reader.hides(target) {
                let membership = Membership::read(key, value)?;
                let rule = reader.rule(membership.rule)?;
                take(&list.name, Ruled { user, target, since: membership.since, rule })?;
            }
            rows.next();
        }
        rows.status()
    })
}

/// All items that are live, or deleted and not purged, and whether each is deleted.
pub fn each_item(reader: &Reader, take: Take<'_, (Content, bool)>) -> Result<()> {
    reader.each_row(&CONTENT, |key, value| {
        let stored = Stored::read(key, value)?;
        let is_deleted = stored.deleted_at.is_some();
        if stored.deleted_at == Some(FINAL) || reader.hides(stored.content.author) {
            return Ok(());
        }
        let mut content = stored.content;
        let named: Vec<_> = content.to.iter().chain(&content.mentions).copied().collect();
        for user in named.into_iter().filter(|user| reader.hides(*user)) {
            content = content.without_user(user);
        }
        take((content, is_deleted))
    })
}

/// In which turn, from 0 on, an item is written, so that it follows the item on which it is a comment or a repost: a
/// server tells only of one that is published later. Items of one turn are in the order of [`each_item`].
pub fn turn(reader: &Reader, item: &Content) -> Result<usize> {
    let Some((_, mut subject)) = NoticeKind::of_item(item) else { return Ok(0) };
    let (mut turn, mut below) = (1, item.id);
    for _ in 0..MOST_ABOVE {
        let Some(stored) = CONTENT.get(reader.store.now(Tier::Disk), subject)? else { break };
        let Some((_, next)) = NoticeKind::of_item(&stored.content) else { break };
        turn += usize::from(subject > below);
        (below, subject) = (subject, next);
    }
    Ok(turn.min(MOST_TURNS))
}

/// The deleted items with their times; `None` for the id of one that is purged, or of which something is.
pub fn each_deletion(reader: &Reader, take: Take<'_, (ContentId, Option<Millis>)>) -> Result<()> {
    reader.each_row(&DELETED, |key, value| {
        let id = DELETED.key(key)?;
        let Deletion { at, .. } = Deletion::read(key, value)?;
        if at != FINAL && CONTENT.has(reader.store.now(Tier::Disk), id)? && !reader.hides_item(id)? {
            take((id, Some(at)))
        } else if reader.found(id.get())?.is_some() {
            take((id, None))
        } else {
            // Without its name nobody can use the id again.
            Ok(())
        }
    })
}

/// The reactions of these kinds to items that are live, or also to deleted ones that are not purged: the item, the user,
/// the name of the kind, since when. In the order of the items, then of the numbers of the kinds. Returns how many of
/// other kinds there are, by their names.
pub fn each_reaction(
    reader: &Reader,
    kinds: &ReactionKinds,
    to_deleted: bool,
    take: &mut dyn FnMut(ContentId, UserId, &str, Millis) -> Result<()>,
) -> Result<BTreeMap<String, u64>> {
    let (reactions, mut left_out) = (reader.kinds_of_reactions(), BTreeMap::new());
    reader.each(REACTIONS, to_deleted, &mut |((item, byte, user), since)| {
        let name = reactions.get(usize::from(byte)).ok_or_else(|| unreadable(&REACTIONS))?;
        match kinds.named(name) {
            Some(_) => take(item, user, name, since),
            None => {
                *left_out.entry(name.clone()).or_default() += 1;
                Ok(())
            }
        }
    })?;
    Ok(left_out)
}

/// All profiles.
pub fn each_profile(reader: &Reader, take: Take<'_, (UserId, Profile)>) -> Result<()> {
    reader.each(PROFILES, false, take)
}

/// The markers of home timelines, then those of lists.
pub fn each_marker(reader: &Reader, take: &mut dyn FnMut(Marker<'_>) -> Result<()>) -> Result<()> {
    reader.each(MARKERS, false, &mut |(user, place)| {
        take(Marker { user, list: None, at: place.at, item: named_or_last(reader, place.id)? })
    })?;
    each_list(reader, &mut |(user, list)| {
        let Some(place) = LIST_MARKERS.get(reader.store.now(Tier::Disk), list.id)? else { return Ok(()) };
        take(Marker { user, list: Some(&list.name), at: place.at, item: named_or_last(reader, place.id)? })
    })
}

/// The places up to which users have read their notices.
pub fn each_notice_marker(reader: &Reader, take: Take<'_, (UserId, Position<ExternalNoticeId>)>) -> Result<()> {
    reader.each(NOTICE_MARKERS, false, &mut |(user, place)| {
        let NoticeId { actor, item, .. } = place.id;
        let is_hidden = reader.hides(actor) || item.map_or(Ok(false), |item| reader.hides_item(item))?;
        let NoticeCursor { at, id } = if is_hidden { place.without_actor() } else { place };
        let NoticeId { kind, reaction, actor, item } = id;
        let item = item.map(|item| named_or_last(reader, item)).transpose()?;
        take((user, Position { at, id: NoticeId { kind, reaction, actor: named_or_last(reader, actor)?, item } }))
    })
}

/// An id of a place. One without a name becomes the greatest number.
fn named_or_last(reader: &Reader, id: impl Into<u64>) -> Result<ExternalId> {
    Ok(reader.found(id.into())?.unwrap_or(ExternalId::Number(MAX_ID)))
}

/// All suspended users, with the times since when.
pub fn each_suspension(reader: &Reader, take: Take<'_, (UserId, Millis)>) -> Result<()> {
    reader.each(SUSPENDED, false, take)
}
