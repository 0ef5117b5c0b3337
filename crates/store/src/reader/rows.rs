//! The rows of each table, in the order of their keys, as the domain sees them. An error of the visitor ends the walk.

use std::collections::BTreeMap;

use super::{Reader, text, unreadable};
use crate::rows::tables::{
    CONTENT, DELETED, FOLLOWING, LIST_MARKERS, LIST_MEMBERS, LISTS, MARKERS, NAMES_BY_NUMBER, NOTICE_MARKERS, PROFILES,
    REACTIONS, REQUESTS, SETTINGS, SUSPENDED, Table, of_barrier,
};
use crate::rows::{keys, values};
use crate::storage;
use model::error::Result;
use model::store::FINAL;
use model::{
    Barrier, Content, ContentId, Cursor, HostId, HostNoticeId, MAX_ID, Millis, NoticeCursor, NoticeId, NoticeKind,
    Position, Profile, ReactionKinds, RuleDraft, UserId, UserList, UserSettings,
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
    pub rule: RuleDraft,
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
    pub item: HostId,
}

/// Most turns of items.
const MOST_TURNS: usize = 4;
/// Most items above one at which its turn looks: chains of comments are short, and some go in a circle.
const MOST_ABOVE: usize = 64;

/// A visitor of rows.
pub(super) type Take<'t, T> = &'t mut dyn FnMut(T) -> Result<()>;

impl Reader {
    /// All names, in the order in which the server first saw them.
    pub fn each_name(&self, take: Take<'_, HostId>) -> Result<()> {
        self.each(NAMES_BY_NUMBER, |key, name| match user(NAMES_BY_NUMBER, key)? {
            user if self.hides(user) || name.is_empty() => Ok(()),
            _ => take(HostId::Name(text(name, NAMES_BY_NUMBER)?.into())),
        })
    }

    /// The settings of users who have other ones than the default.
    pub fn each_settings(&self, take: Take<'_, (UserId, UserSettings)>) -> Result<()> {
        self.each_of_user(SETTINGS, values::read_settings, &mut |(user, settings)| {
            if settings == UserSettings::default() { Ok(()) } else { take((user, settings)) }
        })
    }

    /// Barriers of a kind: the user, the target, since when.
    pub fn each_barrier(&self, barrier: Barrier, take: Take<'_, (UserId, UserId, Millis)>) -> Result<()> {
        let (table, ..) = of_barrier(barrier);
        self.each(table, |key, value| match pair(table, key)? {
            (user, target) if self.hides(user) || self.hides(target) => Ok(()),
            (user, target) => take((user, target, values::read_millis(value)?)),
        })
    }

    /// All follows.
    pub fn each_follow(&self, take: Take<'_, Ruled>) -> Result<()> {
        self.each_ruled(FOLLOWING, take)
    }

    /// All requests to follow that wait.
    pub fn each_request(&self, take: Take<'_, Ruled>) -> Result<()> {
        self.each_ruled(REQUESTS, take)
    }

    fn each_ruled(&self, table: Table, take: Take<'_, Ruled>) -> Result<()> {
        self.each(table, |key, value| {
            let (user, target) = pair(table, key)?;
            if self.hides(user) || self.hides(target) {
                return Ok(());
            }
            let membership = values::read_membership(value)?;
            take(Ruled { user, target, since: membership.since, rule: self.rule(membership.rule)? })
        })
    }

    /// All lists of users.
    pub fn each_list(&self, take: Take<'_, (UserId, UserList)>) -> Result<()> {
        self.each(LISTS, |key, value| {
            if key == keys::HIGHEST_LIST || self.hides(user(LISTS, key)?) {
                return Ok(());
            }
            let (id, settings) = values::read_list(value)?;
            let name = text(key.get(keys::ID..).unwrap_or_default(), LISTS)?.to_owned();
            take((user(LISTS, key)?, UserList { id, name, settings }))
        })
    }

    /// The members of all lists, list by list, with the name of the list.
    pub fn each_member(&self, take: &mut dyn FnMut(&str, Ruled) -> Result<()>) -> Result<()> {
        let Some(mut rows) = self.walk(LIST_MEMBERS) else { return Ok(()) };
        self.each_list(&mut |(user, list)| {
            let first = keys::id(list.id.get());
            rows.seek(first);
            while let Some((key, value)) = rows.item().filter(|(key, _)| key.starts_with(&first)) {
                let target = keys::second(key).ok_or_else(|| unreadable(LIST_MEMBERS))?;
                if !self.hides(target) {
                    let membership = values::read_membership(value)?;
                    let rule = self.rule(membership.rule)?;
                    take(&list.name, Ruled { user, target, since: membership.since, rule })?;
                }
                rows.next();
            }
            rows.status().map_err(storage)
        })
    }

    /// All items that are live, or deleted and not purged, and whether each is deleted.
    pub fn each_item(&self, take: Take<'_, (Content, bool)>) -> Result<()> {
        self.each(CONTENT, |key, value| {
            let stored = values::read_content(item(CONTENT, key)?, value)?;
            let is_deleted = stored.deleted_at.is_some();
            if stored.deleted_at == Some(FINAL) || self.hides(stored.content.author) {
                return Ok(());
            }
            let mut content = stored.content;
            let named: Vec<_> = content.to.iter().chain(&content.mentions).copied().collect();
            for user in named.into_iter().filter(|user| self.hides(*user)) {
                content = content.without_user(user);
            }
            take((content, is_deleted))
        })
    }

    /// In which turn, from 0 on, an item is written, so that it follows the item on which it is a comment or a repost: a
    /// server tells only of one that is published later. Items of one turn are in the order of [`Reader::each_item`].
    pub fn turn(&self, item: &Content) -> Result<usize> {
        let Some((_, mut subject)) = NoticeKind::of_item(item) else { return Ok(0) };
        let (mut turn, mut below) = (1, item.id);
        for _ in 0..MOST_ABOVE {
            let Some(row) = self.get(CONTENT, &keys::id(subject.get()))? else { break };
            let Some((_, next)) = NoticeKind::of_item(&values::read_content(subject, &row)?.content) else { break };
            turn += usize::from(subject > below);
            (below, subject) = (subject, next);
        }
        Ok(turn.min(MOST_TURNS))
    }

    /// The deleted items with their times; `None` for the id of one that is purged, or of which something is.
    pub fn each_deletion(&self, take: Take<'_, (ContentId, Option<Millis>)>) -> Result<()> {
        self.each(DELETED, |key, value| {
            let id = item(DELETED, key)?;
            let (at, _) = values::deletions::read_deletion(value)?;
            if at != FINAL && self.get(CONTENT, key)?.is_some() && !self.hides_item(id)? {
                take((id, Some(at)))
            } else if self.found(id.get())?.is_some() {
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
        &self,
        kinds: &ReactionKinds,
        to_deleted: bool,
        take: &mut dyn FnMut(ContentId, UserId, &str, Millis) -> Result<()>,
    ) -> Result<BTreeMap<String, u64>> {
        let mut left_out = BTreeMap::new();
        // The item of the last row, and whether its reactions are passed over.
        let mut last = None;
        self.each(REACTIONS, |key, value| {
            let (_, byte, user) = keys::split_reaction(key).ok_or_else(|| unreadable(REACTIONS))?;
            let (item, user) = (item(REACTIONS, key)?, UserId::new(user).map_err(|_| unreadable(REACTIONS))?);
            let name = self.reactions.get(usize::from(byte)).ok_or_else(|| unreadable(REACTIONS))?;
            let is_passed_over = match last {
                Some((same, known)) if same == item => known,
                _ => {
                    let deleted_at = self.deleted_at(item.get())?;
                    deleted_at.is_some_and(|at| !to_deleted || at == FINAL) || self.hides_item(item)?
                }
            };
            last = Some((item, is_passed_over));
            if is_passed_over || self.hides(user) {
                return Ok(());
            }
            match kinds.named(name) {
                Some(_) => take(item, user, name, values::read_millis(value)?),
                None => {
                    *left_out.entry(name.clone()).or_default() += 1;
                    Ok(())
                }
            }
        })?;
        Ok(left_out)
    }

    /// All profiles.
    pub fn each_profile(&self, take: Take<'_, (UserId, Profile)>) -> Result<()> {
        self.each_of_user(PROFILES, values::read_profile, take)
    }

    /// The markers of home timelines, then those of lists.
    pub fn each_marker(&self, take: &mut dyn FnMut(Marker<'_>) -> Result<()>) -> Result<()> {
        self.each_of_user(MARKERS, values::read_marker, &mut |(user, place)| {
            take(Marker { user, list: None, at: place.at, item: self.place(place)? })
        })?;
        self.each_list(&mut |(user, list)| {
            let Some(row) = self.get(LIST_MARKERS, &keys::id(list.id.get()))? else { return Ok(()) };
            let place = values::read_marker(&row)?;
            take(Marker { user, list: Some(&list.name), at: place.at, item: self.place(place)? })
        })
    }

    /// The places up to which users have read their notices.
    pub fn each_notice_marker(&self, take: Take<'_, (UserId, Position<HostNoticeId>)>) -> Result<()> {
        self.each_of_user(NOTICE_MARKERS, values::read_notice_marker, &mut |(user, place)| {
            let NoticeId { actor, item, .. } = place.id;
            let is_hidden = self.hides(actor) || item.map_or(Ok(false), |item| self.hides_item(item))?;
            let NoticeCursor { at, id } = if is_hidden { place.without_actor() } else { place };
            let NoticeId { kind, reaction, actor, item } = id;
            let item = item.map(|item| self.named_or_last(item)).transpose()?;
            take((user, Position { at, id: NoticeId { kind, reaction, actor: self.named_or_last(actor)?, item } }))
        })
    }

    /// The item of a place, at which none need be.
    fn place(&self, place: Cursor) -> Result<HostId> {
        self.named_or_last(place.id)
    }

    /// An id of a place. One without a name becomes the greatest number.
    fn named_or_last(&self, id: impl Into<u64>) -> Result<HostId> {
        Ok(self.found(id.into())?.unwrap_or(HostId::Number(MAX_ID)))
    }

    /// All suspended users, with the times since when.
    pub fn each_suspension(&self, take: Take<'_, (UserId, Millis)>) -> Result<()> {
        self.each_of_user(SUSPENDED, values::read_millis, take)
    }

    /// The rows of a table of one row a user.
    fn each_of_user<V>(
        &self,
        table: Table,
        read: impl Fn(&[u8]) -> Result<V>,
        take: Take<'_, (UserId, V)>,
    ) -> Result<()> {
        self.each(table, |key, value| match user(table, key)? {
            user if self.hides(user) => Ok(()),
            user => take((user, read(value)?)),
        })
    }

    /// Whether an item is one of a user of whom nothing is visited.
    fn hides_item(&self, id: ContentId) -> Result<bool> {
        if self.erasing.is_empty() {
            return Ok(false);
        }
        let Some(row) = self.get(CONTENT, &keys::id(id.get()))? else { return Ok(false) };
        Ok(self.hides(values::read_content(id, &row)?.content.author))
    }
}

pub(super) fn user(table: Table, key: &[u8]) -> Result<UserId> {
    keys::number(key).and_then(|raw| UserId::new(raw).ok()).ok_or_else(|| unreadable(table))
}

fn item(table: Table, key: &[u8]) -> Result<ContentId> {
    keys::number(key).and_then(|raw| ContentId::new(raw).ok()).ok_or_else(|| unreadable(table))
}

fn pair(table: Table, key: &[u8]) -> Result<(UserId, UserId)> {
    Ok((user(table, key)?, keys::second(key).ok_or_else(|| unreadable(table))?))
}
