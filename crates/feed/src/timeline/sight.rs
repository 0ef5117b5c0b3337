//! The items that a user may see, also outside of the own timeline.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::read::Read;
use super::segment::{Segment, fill};
use crate::Feed;
use model::error::{Code, Error, Result};
use model::{ContentId, Entry, HostId, Id, PageRequest, Position, Scan, Scanned, Span, UserId};

/// Most entries of a segment that are compared with the authors who are not to be seen, in a read from memory.
const MOST_AT_ONCE: usize = 128;

/// The items that exist for the caller who reacts, or reads the reactions of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Visibility {
    /// All live items: the application calls, which shows its users more than timelines.
    #[serde(rename = "all")]
    Application,
    /// The items that the user may see: the user calls.
    #[serde(rename = "own")]
    User,
}

impl Read<'_> {
    /// A place in a list; `unknown_cursor` if its id is a name that no change has mentioned. Any other name is accepted:
    /// pages have such places whatever a server accepts. With [`Visibility::User`] an unknown name counts as the newest of
    /// all, because a user must not learn which names exist.
    pub fn find_place<I: Id>(&self, place: &Position<HostId>, sight: Visibility) -> Result<Position<I>> {
        let id = self.known(&place.id)?;
        if id == I::UNKNOWN && sight == Visibility::Application {
            let detail = format_args!("the cursor \"{place}\" has an id that this server has never seen");
            return Err(Error::refused(Code::UnknownCursor, detail));
        }
        Ok(Position { at: place.at, id })
    }

    /// The request for a page; `unknown_cursor` as in [`Read::find_place`].
    pub fn find_span<I: Id>(&self, request: &PageRequest<HostId>, sight: Visibility) -> Result<PageRequest<I>> {
        let find =
            |place: &Option<Position<HostId>>| place.as_ref().map(|place| self.find_place(place, sight)).transpose();
        let Span { before, after } = &request.span;
        Ok(PageRequest { span: Span { before: find(before)?, after: find(after)? }, limit: request.limit })
    }

    /// The ids in the store of an item to which a user reacts, and of the user. With [`Visibility::User`],
    /// `content_not_found` for every item but the user's own live ones, and live items with a path of authors who do not
    /// hide from the user; `blocked` for those of them whose authors have a block with the user. With [`Visibility::Application`] only for a name that no change has mentioned; `invalid_id` as in
    /// [`Read::find`].
    pub fn find_item(&self, item: &HostId, user: &HostId, sight: Visibility) -> Result<(ContentId, UserId)> {
        if sight == Visibility::Application {
            return Ok((self.find_content(item)?, self.find(user)?));
        }
        // No refusal of a name comes before: it would tell which names the server knows.
        let (item, user) = (self.known(item)?, self.known(user)?);
        self.must_see(user, item)?;
        Ok((item, user))
    }

    /// `content_not_found` unless an item exists for a user who calls, `blocked` if nothing but a block is between.
    fn must_see(&self, user: UserId, item: ContentId) -> Result<()> {
        let (store, tier) = (&self.feed.store, self.tier);
        let content = self.contents(&[item])?.pop().ok_or_else(Error::content_not_found)?;
        if content.author == user {
            return Ok(());
        }
        let author = [content.author];
        if content.paths().next().is_none() || !store.hiders_among(user, &author, tier)?.is_empty() {
            return Err(Error::content_not_found());
        }
        if store.blocked_among(user, &author, tier)?.is_empty() { Ok(()) } else { Err(Code::Blocked.into()) }
    }

    /// Whether an item exists for a user who calls.
    pub(crate) fn may_see(&self, user: UserId, item: ContentId) -> Result<bool> {
        match self.must_see(user, item) {
            Err(error) if matches!(error.code(), Some(Code::ContentNotFound | Code::Blocked)) => Ok(false),
            seen => seen.map(|()| true),
        }
    }

    /// The entries of a scan over a list, without those of suspended authors and of other kinds than asked for, and for [`Visibility::User`] without those of
    /// authors whose content the user must not see. `all` returns the entries of the whole list, as many as asked for, or
    /// all.
    pub(crate) fn shown_to(
        &self,
        user: UserId,
        sight: Visibility,
        scan: Scan<ContentId>,
        all: impl Fn(Scan<ContentId>) -> Result<Vec<Entry>>,
    ) -> Result<Scanned<Entry, ContentId>> {
        let are_unseen = |entries: &[Entry]| {
            // Behind many hidden items: on a thread that may block.
            if entries.len() >= MOST_AT_ONCE {
                self.needs_disk()?;
            }
            let authors: HashSet<_> = entries.iter().map(|entry| entry.author).collect();
            let unseen = self.unseen_among(user, &authors.into_iter().collect::<Vec<_>>())?;
            Ok(entries.iter().map(|entry| unseen.contains(&entry.author)).collect())
        };
        fill(scan, self.feed.config.timeline.look_at, &|part| {
            let segment = Segment::of(all(part)?, part.limit).only(|entry| self.takes(entry.kind));
            let segment = segment.without_suspended(self)?;
            if sight == Visibility::User { segment.without(are_unseen) } else { Ok(segment) }
        })
    }

    /// Those of `authors` who hide from a user, or have a block with the user.
    fn unseen_among(&self, user: UserId, authors: &[UserId]) -> Result<HashSet<UserId>> {
        let store = &self.feed.store;
        let hiders = store.hiders_among(user, authors, self.tier)?;
        Ok(hiders.into_iter().chain(store.blocked_among(user, authors, self.tier)?).collect())
    }
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
