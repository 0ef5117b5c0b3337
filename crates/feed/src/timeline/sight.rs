//! The sight of a viewer: the items that a user sees, also outside of the own timeline.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::read::Read;
use super::segment::Segment;
use crate::Feed;
use model::error::{Code, Error, Result};
use model::{ContentId, Entry, HostId, Id, PageRequest, Position, Scan, Span, UserId};

/// Most entries of a segment that are compared with what the viewer sees, in a read from memory.
const MOST_AT_ONCE: usize = 128;
/// Items read at once for their paths.
const ITEMS_AT_ONCE: usize = 32;

/// The items that exist for the caller of a change, and the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Visibility {
    /// All live items: the application calls, which shows its users more than timelines.
    #[serde(rename = "all")]
    Application,
    /// The items that the user sees: the user calls.
    #[serde(rename = "own")]
    User,
}

impl Read<'_> {
    /// A place in a list; `unknown_cursor` if its id is a name of an item that no change has mentioned. Any other name is
    /// accepted: pages have such places whatever a server accepts. An unknown name counts as the newest of all. With
    /// [`Visibility::User`] that is so because a user must not learn which names exist. Names of users may be those of users
    /// who were erased since a list showed them.
    pub fn find_place<I: Id>(&self, place: &Position<HostId>, sight: Visibility) -> Result<Position<I>> {
        // A page with an unknown name is kept as any other: otherwise the time of its answer would tell which names exist. When a
        // change gives the name a number, that is above all of the page.
        let id = self.known(&place.id)?;
        if id == I::UNKNOWN && !I::IS_USER && sight == Visibility::Application {
            let detail = format_args!("the cursor \"{place}\" has an id that this server has never seen");
            return Err(Error::refused(Code::UnknownCursor, detail));
        }
        Ok(Position { at: place.at, id })
    }

    /// The request for a page; `unknown_cursor` as in [`Read::find_place`]. With [`Visibility::Application`] an unknown user
    /// leads to the time alone: both directions show all of this millisecond.
    pub fn find_span<I: Id>(&self, request: &PageRequest<HostId>, sight: Visibility) -> Result<PageRequest<I>> {
        let find =
            |place: &Option<Position<HostId>>| place.as_ref().map(|place| self.find_place(place, sight)).transpose();
        let Span { before, after } = &request.span;
        let mut span: Span<I> = Span { before: find(before)?, after: find(after)? };
        if sight == Visibility::Application {
            let unknown = |place: &Position<I>| place.id == I::UNKNOWN;
            let begin = |at| Position { at, id: I::MIN };
            span.before = span.before.map(|place| if unknown(&place) { begin(place.at + 1) } else { place });
            span.after = span.after.map(|place| if unknown(&place) { begin(place.at).just_below() } else { place });
        }
        Ok(PageRequest { span, limit: request.limit })
    }

    /// The ids in the store of an item to which a user reacts or on which the user comments, and of the user. With
    /// [`Visibility::User`], `content_not_found` for every item that the user does not see, but `blocked` if nothing else than
    /// a block with its author keeps it from the user. With [`Visibility::Application`] only for a name that no change has
    /// mentioned; `invalid_id` as in [`Read::find`].
    pub fn find_item(&self, item: &HostId, user: &HostId, sight: Visibility) -> Result<(ContentId, UserId)> {
        if sight == Visibility::Application {
            return Ok((self.find_content(item)?, self.find(user)?));
        }
        // No refusal of a name comes before: it would tell which names the server knows.
        let (item, user) = (self.known(item)?, self.known(user)?);
        let content = self.unsuspended_contents(&[item])?.pop().ok_or_else(Error::content_not_found)?;
        match self.kept_from(user, &[content.entry()])?.pop().flatten() {
            None => Ok((item, user)),
            Some(kept) => Err(kept.into()),
        }
    }

    /// What keeps each of these entries of live items, whose authors are not suspended, from a viewer: `content_not_found`, or
    /// `blocked` if it is only a block; `None` if the viewer sees the item. This is the sight of a viewer: no hide and no block
    /// lies between, and the item is public, or the viewer is its author or one of its paths, or follows one.
    pub(crate) fn kept_from(&self, viewer: UserId, entries: &[Entry]) -> Result<Vec<Option<Code>>> {
        let authors = each_once(entries.iter().map(|entry| entry.author).filter(|author| *author != viewer));
        let hiders = self.feed.store.hiders_among(viewer, &authors, self.tier)?;
        let blocked = self.feed.store.blocked_among(viewer, &authors, self.tier)?;
        let hidden = self.followers_only(viewer, entries)?;
        // Both are in the order of `authors`, which is ascending.
        let has = |users: &[UserId], author| users.binary_search(&author).is_ok();
        let kept = |entry: &Entry| match entry.author {
            author if author == viewer => None,
            author if hidden.contains(&entry.cursor.id) || has(&hiders, author) => Some(Code::ContentNotFound),
            author if has(&blocked, author) => Some(Code::Blocked),
            _ => None,
        };
        Ok(entries.iter().map(kept).collect())
    }

    /// Those of the items that are for followers only and not for the viewer, who follows none of their paths and is none. A
    /// path through a source that is suspended or hides from the viewer does not count.
    pub(crate) fn followers_only(&self, viewer: UserId, entries: &[Entry]) -> Result<HashSet<ContentId>> {
        let is_asked = |entry: &&Entry| !entry.audience.is_public() && entry.author != viewer;
        let asked: Vec<_> = entries.iter().filter(is_asked).map(|entry| entry.cursor.id).collect();
        let mut unseen: HashSet<_> = asked.iter().copied().collect();
        // In parts, because only the paths of the items are kept in memory.
        for part in asked.chunks(ITEMS_AT_ONCE) {
            let contents = self.counted(&|_| Ok(())).live_contents(part)?;
            let paths: Vec<(ContentId, Vec<UserId>)> =
                contents.iter().map(|content| (content.id, content.paths().collect())).collect();
            drop(contents);
            let sources = each_once(paths.iter().flat_map(|(_, paths)| paths.iter().copied()));
            let followed = self.followed_among(viewer, &sources)?;
            for (id, _) in paths.iter().filter(|(_, paths)| paths.iter().any(|path| followed.contains(path))) {
                unseen.remove(id);
            }
        }
        Ok(unseen)
    }

    /// The sources that a viewer follows, and the viewer itself, without those that are suspended or hide from the viewer.
    fn followed_among(&self, viewer: UserId, sources: &[UserId]) -> Result<Vec<UserId>> {
        let relations = self.feed.store.relations(viewer, sources, self.tier)?;
        let mut followed: Vec<_> = relations
            .iter()
            .filter(|of| of.following_since.is_some() || of.target == viewer)
            .map(|of| of.target)
            .collect();
        let hiders = self.feed.store.hiders_among(viewer, &followed, self.tier)?;
        let suspended = self.suspended_among(followed.iter().copied())?;
        followed.retain(|source| !hiders.contains(source) && !suspended.contains(source));
        Ok(followed)
    }

    /// A segment of a list without the items that the viewer does not see; `all` returns the entries of the whole list, as
    /// many as asked for, or all.
    pub(crate) fn seen_segment(
        &self,
        part: Scan<ContentId>,
        all: &impl Fn(Scan<ContentId>) -> Result<Vec<Entry>>,
    ) -> Result<Segment> {
        let segment = Segment::of(all(part)?, part.limit).only(|entry| self.takes(entry.kind));
        let segment = segment.without_suspended(self)?;
        let Some(viewer) = self.viewer else { return Ok(segment) };
        segment.without(|entries| {
            // Behind many unseen items: on a thread that may block.
            if entries.len() >= MOST_AT_ONCE {
                self.needs_disk()?;
            }
            Ok(self.kept_from(viewer, entries)?.iter().map(Option::is_some).collect())
        })
    }

    /// Whether the viewer sees anything of a user: the user is not suspended, and no hide and no block lies between.
    pub fn sees_user(&self, user: UserId) -> Result<bool> {
        Ok(self.unseen_users([user].into_iter())?.is_empty())
    }

    /// Those of `users` who are suspended, hide from the viewer or have a block with the viewer.
    pub(crate) fn unseen_users(&self, users: impl Iterator<Item = UserId> + Clone) -> Result<Vec<UserId>> {
        let mut unseen = self.suspended_among(users.clone())?;
        if let Some(viewer) = self.viewer {
            let others: Vec<_> = users.filter(|user| *user != viewer).collect();
            unseen.extend(self.feed.store.hiders_among(viewer, &others, self.tier)?);
            unseen.extend(self.feed.store.blocked_among(viewer, &others, self.tier)?);
        }
        Ok(unseen)
    }

    /// Whether the viewer sees the lists of followers, followees and friends of a user. Of a user who approves followers only
    /// these and the user do.
    pub(crate) fn sees_members(&self, user: UserId) -> Result<bool> {
        let Some(viewer) = self.viewer.filter(|viewer| *viewer != user) else { return Ok(true) };
        Ok(self.sees_user(user)?
            && (!self.settings(user)?.approve_followers || !self.followed_among(viewer, &[user])?.is_empty()))
    }
}

/// Users in ascending order, each once.
fn each_once(users: impl Iterator<Item = UserId>) -> Vec<UserId> {
    let mut users: Vec<_> = users.collect();
    users.sort_unstable();
    users.dedup();
    users
}

impl Feed {
    /// `invalid_id` for the name of another user in a call of a user, while the server accepts only numbers. Names that
    /// the server knows are refused like others: otherwise the answer would tell which it knows.
    pub fn may_name<'i>(
        &self,
        user: &HostId,
        others: impl IntoIterator<Item = &'i HostId>,
        sight: Visibility,
    ) -> Result<()> {
        let mut names = others.into_iter().filter(|other| sight == Visibility::User && other.name().is_some());
        names.find(|name| *name != user).map_or(Ok(()), |name| self.accepts(name))
    }
}
