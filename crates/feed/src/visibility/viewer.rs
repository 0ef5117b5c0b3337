//! The visibility of a viewer: the items that a user sees, also outside of the own timeline.

use std::collections::HashSet;

use crate::read::{Read, Visibility};
use crate::{follows, restrictions, users, visibility};
use model::error::{Code, Error, Result};
use model::{ContentId, Entry, ExternalId, Id, PageRequest, Position, Span, UserId};

/// Items read at once for their paths.
const ITEMS_AT_ONCE: usize = 32;

/// A place in a list; `unknown_cursor` if its id is a name of an item that no change has mentioned. Any other name is
/// accepted: pages have such places whatever a server accepts. An unknown name counts as the newest of all. With
/// [`Visibility::User`] that is so because a user must not learn which names exist. Names of users may be those of users
/// who were erased since a list showed them.
pub fn find_place<I: Id>(read: Read<'_>, place: &Position<ExternalId>, visibility: Visibility) -> Result<Position<I>> {
    // A page with an unknown name is kept as any other: otherwise the time of its answer would tell which names exist. When a
    // change gives the name a number, that is above all of the page.
    let id = read.known(&place.id)?;
    if id == I::UNKNOWN && !I::IS_USER && visibility == Visibility::Application {
        let detail = format_args!("the cursor \"{place}\" has an id that this server has never seen");
        return Err(Error::refused(Code::UnknownCursor, detail));
    }
    Ok(Position { at: place.at, id })
}

/// The request for a page; `unknown_cursor` as in [`visibility::find_place`](crate::visibility::find_place). With
/// [`Visibility::Application`] an unknown user leads to the time alone: both directions show all of this millisecond.
pub fn find_span<I: Id>(
    read: Read<'_>,
    request: &PageRequest<ExternalId>,
    visibility: Visibility,
) -> Result<PageRequest<I>> {
    let find = |place: &Option<Position<ExternalId>>| {
        place.as_ref().map(|place| find_place(read, place, visibility)).transpose()
    };
    let Span { before, after } = &request.span;
    let mut span: Span<I> = Span { before: find(before)?, after: find(after)? };
    if visibility == Visibility::Application {
        let unknown = |place: &Position<I>| place.id == I::UNKNOWN;
        let begin = |at| Position { at, id: I::MIN };
        span.before = span.before.map(|place| if unknown(&place) { begin(place.at + 1) } else { place });
        span.after = span.after.map(|place| if unknown(&place) { begin(place.at).just_below() } else { place });
    }
    Ok(PageRequest { span, limit: request.limit })
}

/// The refusal that keeps each of these entries of live items, whose authors are not suspended, from a viewer:
/// `content_not_found`, or `blocked` if it is only a block; `None` if the viewer sees the item. This is the visibility of a viewer: no
/// hide and no block lies between, and the item is public, or the viewer is its author or one of its paths, or follows one.
pub(crate) fn kept_from(read: Read<'_>, viewer: UserId, entries: &[Entry]) -> Result<Vec<Option<Code>>> {
    let authors = each_once(entries.iter().map(|entry| entry.author).filter(|author| *author != viewer));
    let hiders = restrictions::tables::hiders_among(&read.feed.store, viewer, &authors, read.tier)?;
    let blocked = follows::tables::blocked_among(&read.feed.store, viewer, &authors, read.tier)?;
    let hidden = followers_only(read, viewer, entries)?;
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
pub(crate) fn followers_only(read: Read<'_>, viewer: UserId, entries: &[Entry]) -> Result<HashSet<ContentId>> {
    let is_asked = |entry: &&Entry| !entry.audience.is_public() && entry.author != viewer;
    let asked: Vec<_> = entries.iter().filter(is_asked).map(|entry| entry.cursor.id).collect();
    let mut unseen: HashSet<_> = asked.iter().copied().collect();
    // In parts, because only the paths of the items are kept in memory.
    for part in asked.chunks(ITEMS_AT_ONCE) {
        let contents = visibility::live_contents(read.counted(&|_| Ok(())), part)?;
        let paths: Vec<(ContentId, Vec<UserId>)> =
            contents.iter().map(|content| (content.id, content.paths().collect())).collect();
        drop(contents);
        let sources = each_once(paths.iter().flat_map(|(_, paths)| paths.iter().copied()));
        let followed = followed_among(read, viewer, &sources)?;
        for (id, _) in paths.iter().filter(|(_, paths)| paths.iter().any(|path| followed.contains(path))) {
            unseen.remove(id);
        }
    }
    Ok(unseen)
}

/// The sources that a viewer follows, and the viewer itself, without those that are suspended or hide from the viewer.
fn followed_among(read: Read<'_>, viewer: UserId, sources: &[UserId]) -> Result<Vec<UserId>> {
    let relations = follows::tables::relations(&read.feed.store, viewer, sources, read.tier)?;
    let mut followed: Vec<_> =
        relations.iter().filter(|of| of.following_since.is_some() || of.target == viewer).map(|of| of.target).collect();
    let hiders = restrictions::tables::hiders_among(&read.feed.store, viewer, &followed, read.tier)?;
    let suspended = read.suspended_among(followed.iter().copied())?;
    followed.retain(|source| !hiders.contains(source) && !suspended.contains(source));
    Ok(followed)
}

/// Whether the viewer sees anything of a user: the user is not suspended, and no hide and no block lies between.
pub fn sees_user(read: Read<'_>, user: UserId) -> Result<bool> {
    Ok(unseen_users(read, [user].into_iter())?.is_empty())
}

/// Those of `users` who are suspended, hide from the viewer or have a block with the viewer.
pub(crate) fn unseen_users(read: Read<'_>, users: impl Iterator<Item = UserId> + Clone) -> Result<Vec<UserId>> {
    let mut unseen = read.suspended_among(users.clone())?;
    if let Some(viewer) = read.viewer {
        let others: Vec<_> = users.filter(|user| *user != viewer).collect();
        unseen.extend(restrictions::tables::hiders_among(&read.feed.store, viewer, &others, read.tier)?);
        unseen.extend(follows::tables::blocked_among(&read.feed.store, viewer, &others, read.tier)?);
    }
    Ok(unseen)
}

/// Whether the viewer sees the lists of followers, followees and friends of a user. Of a user who approves followers only
/// these and the user do.
pub(crate) fn sees_members(read: Read<'_>, user: UserId) -> Result<bool> {
    let Some(viewer) = read.viewer.filter(|viewer| *viewer != user) else { return Ok(true) };
    Ok(sees_user(read, user)?
        && (!users::tables::settings(&read.feed.store, user, read.tier)?.approve_followers
            || !followed_among(read, viewer, &[user])?.is_empty()))
}

/// Users in ascending order, each once.
fn each_once(users: impl Iterator<Item = UserId>) -> Vec<UserId> {
    let mut users: Vec<_> = users.collect();
    users.sort_unstable();
    users.dedup();
    users
}
