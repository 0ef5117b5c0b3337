//! Content with all that is shown of it. A page reads each table for all its items together.
//!
//! Contents and summaries come from caches that are never older than the last acknowledged change; the rest is read from
//! the store. Counts and reactions are read each time.

use std::sync::Arc;

use super::live::live_contents;
use crate::read::{Read, Visibility};
use crate::streaming::Viewer;
use crate::{caches, erasure, items, reactions, restrictions, users, visibility};
use model::error::{Error, Result};
use model::versions::Thing;
use model::{
    AuthorSummary, Content, ContentId, ContentPage, Entry, ExternalId, ItemView, KeptText, Page, Profile,
    SharedContent, UserId,
};

/// The id in the store of an item as of [`visibility::by_id`](crate::visibility::by_id); `content_not_found` for any other. The
/// item is no part of the answer, so nobody counts it.
pub fn find_live(read: Read<'_>, id: &ExternalId) -> Result<ContentId> {
    let id = read.find_content(id)?;
    by_id(read.counted(&|_| Ok(())), id)?.map(|_| id).ok_or_else(Error::content_not_found)
}

/// The ids in the store of an item to which a user is to be related, as by a reaction or a comment, and of the user. With
/// [`Visibility::User`], `content_not_found` for every item that the user does not see, but `blocked` if nothing else than
/// a block with its author keeps it from the user. [`Visibility::Application`] permits any item, also one that does not
/// exist: `content_not_found` only for a name that no change has mentioned; `invalid_id` as in [`Read::find`].
pub fn ids_if_permitted(
    read: Read<'_>,
    item: &ExternalId,
    user: &ExternalId,
    visibility: Visibility,
) -> Result<(ContentId, UserId)> {
    if visibility == Visibility::Application {
        return Ok((read.find_content(item)?, read.find(user)?));
    }
    // No refusal of a name comes before: it would tell which names the server knows.
    let (item, user) = (read.known(item)?, read.known(user)?);
    let content = unsuspended_contents(read, &[item])?.pop().ok_or_else(Error::content_not_found)?;
    match visibility::kept_from(read, user, &[content.entry()])?.pop().flatten() {
        None => Ok((item, user)),
        Some(kept) => Err(kept.into()),
    }
}

/// The items among `ids` that the viewer sees, in their order. For each id that comes again, its item comes again.
pub fn contents(read: Read<'_>, ids: &[ContentId]) -> Result<Vec<Arc<SharedContent>>> {
    let contents = unsuspended_contents(read, ids)?;
    let Some(viewer) = read.viewer else { return Ok(contents) };
    let entries: Vec<_> = contents.iter().map(|content| content.entry()).collect();
    let unseen = visibility::kept_from(read, viewer, &entries)?;
    let seen = contents.into_iter().zip(unseen).filter(|(_, unseen)| unseen.is_none());
    Ok(seen.map(|(content, _)| content).collect())
}

/// An item that is read by its id: one that the viewer sees; without a viewer any live one, also of a suspended author.
pub fn by_id(read: Read<'_>, id: ContentId) -> Result<Option<Arc<SharedContent>>> {
    let found = if read.viewer.is_some() { contents(read, &[id])? } else { live_contents(read, &[id])? };
    Ok(found.into_iter().find(|content| !erasure::tables::is_erasing(&read.feed.store, content.author)))
}

/// The items among `ids` that lists show, in their order: the live ones, but for those of suspended authors.
pub(crate) fn unsuspended_contents(read: Read<'_>, ids: &[ContentId]) -> Result<Vec<Arc<SharedContent>>> {
    let mut contents = live_contents(read, ids)?;
    let suspended = read.suspended_among(contents.iter().map(|content| content.author))?;
    if !suspended.is_empty() {
        contents.retain(|content| !suspended.contains(&content.author));
    }
    Ok(contents)
}

/// Items with their counts, as they are shown alone.
pub fn with_counts(read: Read<'_>, contents: Vec<Arc<SharedContent>>) -> Result<Vec<ItemView>> {
    let ids: Vec<_> = contents.iter().map(|content| content.id).collect();
    let counts = items::tables::item_counts(&read.feed.store, &ids, read.tier)?;
    let suspended = read.suspended_among(contents.iter().map(|content| content.author))?;
    let shown = |(content, counts): (Arc<SharedContent>, _)| {
        let suspended = suspended.contains(&content.author);
        ItemView { content: without_erasing(read, content), counts, author: None, viewer: None, suspended }
    };
    Ok(contents.into_iter().zip(counts).map(shown).collect())
}

/// Items with their counts and authors, as lists show them.
pub fn listed(read: Read<'_>, contents: Vec<Arc<SharedContent>>) -> Result<Vec<ItemView>> {
    let authors: Vec<_> = contents.iter().map(|content| content.author).collect();
    let summaries = summaries(read, &authors)?;
    let mut shown = with_counts(read, contents)?;
    for (item, summary) in shown.iter_mut().zip(summaries) {
        item.author = Some(summary);
    }
    Ok(shown)
}

/// A page with the items in full, for a viewer also with the viewer's reactions. An item deleted since the page was
/// read is left out. The page has only items that the viewer sees.
pub fn hydrate(read: Read<'_>, page: ContentPage, viewer: Option<UserId>) -> Result<Page<ItemView, ContentId>> {
    let ids: Vec<_> = page.items.iter().map(|entry| entry.cursor.id).collect();
    read.depends(page.items.iter().flat_map(|entry| [Thing::Item(entry.cursor.id), Thing::User(entry.author)]));
    let mut items = listed(read, unsuspended_contents(read, &ids)?)?;
    if let Some(viewer) = viewer {
        add_reactions(read, viewer, &mut items)?;
    }
    Ok(Page { items, next: page.next, prev: page.prev })
}

/// Items with the reactions of the viewer, if there is one.
pub fn with_viewer(read: Read<'_>, mut items: Vec<ItemView>) -> Result<Vec<ItemView>> {
    if let Some(viewer) = read.viewer {
        add_reactions(read, viewer, &mut items)?;
    }
    Ok(items)
}

/// Adds the reactions of a viewer to items. An item that nobody has reacted to needs no look-up. Its counts were read
/// before, so they have each reaction that was acknowledged before the read.
pub(crate) fn add_reactions(read: Read<'_>, viewer: UserId, items: &mut [ItemView]) -> Result<()> {
    let has_any = |item: &ItemView| !item.counts.reactions.is_empty();
    let asked: Vec<_> = items.iter().filter(|item| has_any(item)).map(|item| item.content.cursor()).collect();
    let mut reacted = reactions::tables::reacted(&read.feed.store, viewer, &asked, read.tier)?.into_iter();
    for item in items {
        let reactions = if has_any(item) { reacted.next() } else { None };
        item.viewer = Some(reactions.unwrap_or_default());
    }
    Ok(())
}

/// The facts of readers that an event of an item needs, in the order of the readers. Whether they silence the author only if it
/// `has_further_paths`: readers whose sources it is do not.
pub fn viewed(read: Read<'_>, entry: &Entry, has_further_paths: bool, readers: &[UserId]) -> Result<Vec<Viewer>> {
    let reactions = reactions::tables::reacted_to(&read.feed.store, entry.cursor.id, readers, read.tier)?;
    let silences = match has_further_paths {
        true => {
            let pairs: Vec<_> = readers.iter().map(|reader| (*reader, entry.author)).collect();
            restrictions::tables::silences(&read.feed.store, &pairs, read.tier)?
        }
        false => vec![false; readers.len()],
    };
    Ok(reactions.into_iter().zip(silences).map(|(reactions, silences)| Viewer { reactions, silences }).collect())
}

/// The summaries of users, in their order; a user may come more than once.
pub fn summaries(read: Read<'_>, users: &[UserId]) -> Result<Vec<Arc<AuthorSummary>>> {
    let rows = |part: &[UserId]| {
        let ids = read.host_ids(part)?;
        let summary = |(user, profile): (&UserId, Option<Profile>)| {
            let Profile { nickname, avatar, .. } = profile.unwrap_or_default();
            Some(Arc::new(AuthorSummary { user: ids.of(*user), nickname, avatar, json: KeptText::default() }))
        };
        Ok(part.iter().zip(users::tables::profiles(&read.feed.store, part, read.tier)?).map(summary).collect())
    };
    read.cached(&read.feed.store.memory.shown.summaries, users, caches::card_bytes, rows)
}

/// An item without the users who are being erased, among its paths and those whom it mentions.
fn without_erasing(read: Read<'_>, content: Arc<SharedContent>) -> Arc<SharedContent> {
    let store = &read.feed.store;
    if !erasure::tables::has_erasures(store) {
        return content;
    }
    let named = content.to.iter().chain(&content.mentions).filter(|user| erasure::tables::is_erasing(store, **user));
    let without = |left: Option<Content>, user: &UserId| {
        Some(left.unwrap_or_else(|| Content::clone(&content)).without_user(*user))
    };
    match named.fold(None, without) {
        Some(left) => Arc::new(left.into()),
        None => content,
    }
}
