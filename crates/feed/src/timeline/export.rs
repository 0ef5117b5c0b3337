//! The export of a user: all that the user has, part by part.

use std::sync::Arc;

use crate::read::Read;
use crate::{follows, lists, notices, sight, users};
use model::error::{Code, Result};
use model::store::FINAL;
use model::{
    COMMENT, Content, ContentId, Cursor, Entry, ItemView, KindId, ListId, Mentions, Millis, Notice, NoticeCursor,
    Order, PageRequest, Position, Profile, ReactionKind, Rule, Scan, Side, Span, UserCursor, UserId, UserList,
    UserSettings,
};

/// Rows of a list that are read at once.
const ROWS: usize = 256;
/// Items that are read at once: each may be as large as the body of a change.
const ITEMS: usize = 16;

/// A thing of a user.
#[derive(Debug)]
pub enum Exported {
    /// The profile.
    Profile(Profile),
    /// The settings.
    Settings(UserSettings),
    /// The user is suspended since a time.
    Suspension(Millis),
    /// The marker of the home timeline.
    Marker(Cursor),
    /// An item with its counts, and the time of its deletion if it is deleted and not purged.
    Item(Box<ItemView>, Option<Millis>),
    /// A reaction to an item.
    Reaction(ReactionKind, Entry),
    /// A user of a list around the user, with the rule of a follow or a request of the user.
    Member(Side, UserCursor, Option<Rule>),
    /// A list.
    List(UserList),
    /// A member of the list of this name, with its rule.
    ListMember(Arc<str>, UserCursor, Option<Rule>),
    /// The marker of the list of this name.
    ListMarker(Arc<str>, Cursor),
    /// The marker of the notices.
    NoticeMarker(NoticeCursor),
    /// A notice.
    Notice(Notice),
}

impl Mentions for Exported {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        match self {
            Self::Profile(_) | Self::Settings(_) | Self::Suspension(_) | Self::List(_) => {}
            Self::Marker(place) | Self::ListMarker(_, place) => place.mentions(see),
            Self::Item(item, _) => item.mentions(see),
            Self::Reaction(_, entry) => entry.mentions(see),
            Self::Member(_, user, _) | Self::ListMember(_, user, _) => user.mentions(see),
            Self::NoticeMarker(place) => place.mentions(see),
            Self::Notice(notice) => notice.mentions(see),
        }
    }
}

/// The lists that have the items of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Outbox,
    Comments,
    Unlisted,
}

/// What comes next.
#[derive(Debug)]
enum Part {
    Records,
    Items(Source, Option<Cursor>),
    /// By the place of the kind among the kinds.
    Reactions(usize, Option<Cursor>),
    /// By the place of the list among [`sides`].
    Members(usize, Option<UserCursor>),
    /// The lists that are left, in the reverse order of their names.
    Lists(Vec<UserList>),
    ListMembers(Vec<UserList>, ListId, Arc<str>, Option<UserCursor>),
    Notices(Option<NoticeCursor>),
    Over,
}

/// All lists of users around a user, but for friends, who follow and are followed.
fn sides() -> impl Iterator<Item = Side> {
    Side::all().filter(|side| *side != Side::Friends)
}

/// An export under way. It is not of one instant: what changes meanwhile may be in it or not.
#[derive(Debug)]
pub struct Export {
    user: UserId,
    next: Part,
}

impl Export {
    /// The export of a user.
    pub fn new(user: UserId) -> Self {
        Self { user, next: Part::Records }
    }

    /// The next things, or none yet; `None` at the end. Takes bounded memory: at most 16 items, or 256 rows. For a viewer
    /// without reactions to items that the viewer does not see. `erasing` if the user is erased meanwhile.
    pub fn read_on(&mut self, read: Read<'_>) -> Result<Option<Vec<Exported>>> {
        let mut found = self.read_part(read)?;
        let is_erasing = |user| read.feed.store.is_erasing(user);
        if is_erasing(self.user) {
            return Err(Code::Erasing.into());
        }
        if let Some(found) = &mut found {
            found.retain(|thing| match thing {
                Exported::Reaction(_, entry) => !is_erasing(entry.author),
                Exported::Member(_, user, _) | Exported::ListMember(_, user, _) => !is_erasing(user.id),
                Exported::Notice(Notice { place, .. }) => !is_erasing(place.id.actor),
                _ => true,
            });
        }
        Ok(found)
    }

    fn read_part(&mut self, read: Read<'_>) -> Result<Option<Vec<Exported>>> {
        let (user, store) = (self.user, &read.feed.store);
        let (found, next) = match std::mem::replace(&mut self.next, Part::Over) {
            Part::Records => {
                let mut found = vec![
                    Exported::Profile(users::user(read, user)?.0),
                    Exported::Settings(users::settings(read, user)?),
                ];
                found.extend(users::suspended_since(read, user)?.map(Exported::Suspension));
                found.extend(store.marker(user, read.tier)?.map(Exported::Marker));
                found.extend(notices::marker(read, user)?.map(Exported::NoticeMarker));
                (found, Part::Items(Source::Outbox, None))
            }
            Part::Items(source, before) => {
                let places = self.places(read, source, older(before, ITEMS))?;
                let last = places.last().map(|(place, _)| *place);
                let own: Vec<_> = places.iter().filter(|(_, is_own)| *is_own).map(|(place, _)| place.id).collect();
                let next = match (last.filter(|_| places.len() == ITEMS), source) {
                    (Some(last), _) => Part::Items(source, Some(last)),
                    (None, Source::Outbox) => Part::Items(Source::Comments, None),
                    (None, Source::Comments) => Part::Items(Source::Unlisted, None),
                    (None, Source::Unlisted) => Part::Reactions(0, None),
                };
                (items(read, user, &own)?, next)
            }
            Part::Reactions(place, before) => match read.reaction_kinds().iter().nth(place) {
                Some((kind, _)) => {
                    let mut entries = store.reacted_by(user, kind, older(before, ROWS), read.tier)?;
                    let last = entries.last().filter(|_| entries.len() == ROWS).map(|last| last.cursor);
                    if let Some(viewer) = read.viewer {
                        let suspended = read.suspended_among(entries.iter().map(|entry| entry.author))?;
                        entries.retain(|entry| !suspended.contains(&entry.author));
                        let mut kept = sight::kept_from(read, viewer, &entries)?.into_iter();
                        entries.retain(|_| kept.next().flatten().is_none());
                    }
                    let next = last.map_or(Part::Reactions(place + 1, None), |last| Part::Reactions(place, Some(last)));
                    (entries.into_iter().map(|entry| Exported::Reaction(kind, entry)).collect(), next)
                }
                None => (Vec::new(), Part::Members(0, None)),
            },
            Part::Members(place, before) => match sides().nth(place) {
                Some(side) => {
                    let members = store.members(user, side, older(before, ROWS), read.tier)?;
                    let last = members.last().copied().filter(|_| members.len() == ROWS);
                    let next = last.map_or(Part::Members(place + 1, None), |last| Part::Members(place, Some(last)));
                    (with_rules(read, user, side, members)?, next)
                }
                None => (Vec::new(), Part::Lists(store.lists(user, read.tier)?.into_iter().rev().collect())),
            },
            Part::Lists(mut lists) => match lists.pop() {
                Some(list) => {
                    let (id, name): (_, Arc<str>) = (list.id, list.name.as_str().into());
                    let marker = store.list_marker(id, read.tier)?;
                    let marker = marker.map(|place| Exported::ListMarker(Arc::clone(&name), place));
                    (
                        [Exported::List(list)].into_iter().chain(marker).collect(),
                        Part::ListMembers(lists, id, name, None),
                    )
                }
                None => (Vec::new(), Part::Notices(None)),
            },
            Part::Notices(before) => {
                let request = PageRequest { span: Span { before, after: None }, limit: ROWS };
                let page = notices::page(read, user, &request, false)?;
                let next = page.next.map_or(Part::Over, |next| Part::Notices(Some(next)));
                (page.items.into_iter().map(|group| Exported::Notice(group.newest)).collect(), next)
            }
            Part::ListMembers(lists, id, name, before) => {
                let members = store.list_members(id, older(before, ROWS), read.tier)?;
                let last = members.last().copied().filter(|_| members.len() == ROWS);
                let users: Vec<_> = members.iter().map(|member| member.id).collect();
                let rules = lists::member_rules(read, id, &users)?.into_iter();
                let member = |(member, rule)| Exported::ListMember(Arc::clone(&name), member, rule);
                let found = members.into_iter().zip(rules).map(member).collect();
                let next = match last {
                    Some(last) => Part::ListMembers(lists, id, name, Some(last)),
                    None => Part::Lists(lists),
                };
                (found, next)
            }
            Part::Over => return Ok(None),
        };
        self.next = next;
        Ok(Some(found))
    }

    /// Places in a list with items of the user, each with whether the item is one of the user that no other list has.
    fn places(&self, read: Read<'_>, source: Source, scan: Scan<ContentId>) -> Result<Vec<(Cursor, bool)>> {
        let store = &read.feed.store;
        Ok(match source {
            Source::Outbox => {
                let entries = store.outboxes(&[self.user], scan, read.tier)?.into_iter();
                let is_own = |entry: &Entry| entry.author == self.user && Some(entry.kind) != KindId::built_in(COMMENT);
                entries.map(|entry| (entry.cursor, is_own(&entry))).collect()
            }
            Source::Comments => {
                let entries = store.user_comments(self.user, scan, read.tier)?;
                entries.into_iter().map(|entry| (entry.cursor, true)).collect()
            }
            Source::Unlisted => {
                store.unlisted(self.user, scan, read.tier)?.into_iter().map(|place| (place, true)).collect()
            }
        })
    }
}

/// The newest rows older than a place.
fn older<I: Copy + Ord>(before: Option<Position<I>>, limit: usize) -> Scan<I> {
    Span { before, after: None }.scan(Order::NewestFirst, limit)
}

/// The items of a user among these, but for those that were deleted for good.
fn items(read: Read<'_>, user: UserId, ids: &[ContentId]) -> Result<Vec<Exported>> {
    let is_kept = |(item, deleted_at): &(Content, _)| item.author == user && *deleted_at != Some(FINAL);
    let kept = read.feed.store.kept(ids)?.into_iter().flatten().filter(is_kept);
    let (contents, deleted): (Vec<Content>, Vec<_>) = kept.unzip();
    let shown = sight::with_counts(read, contents.into_iter().map(|content| Arc::new(content.into())).collect())?;
    Ok(shown.into_iter().zip(deleted).map(|(item, deleted_at)| Exported::Item(Box::new(item), deleted_at)).collect())
}

fn with_rules(read: Read<'_>, user: UserId, side: Side, members: Vec<UserCursor>) -> Result<Vec<Exported>> {
    let rules = match side {
        Side::Following | Side::SentRequests => {
            let users: Vec<_> = members.iter().map(|member| member.id).collect();
            follows::relations(read, user, &users)?.into_iter().map(|relation| relation.rule).collect()
        }
        _ => vec![None; members.len()],
    };
    Ok(members.into_iter().zip(rules).map(|(member, rule)| Exported::Member(side, member, rule)).collect())
}
