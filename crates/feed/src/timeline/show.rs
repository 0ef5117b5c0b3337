//! Content with all that is shown of it. A page reads each table for all its items together.
//!
//! Contents and cards come from caches that are never older than the last acknowledged change; the rest is read from
//! the store. Counts and reactions are read each time.

use std::sync::Arc;

use super::caches;
use super::read::Read;
use crate::streaming::Viewer;
use model::error::Result;
use model::versions::Thing;
use model::{Card, Content, ContentId, ContentPage, Entry, ItemView, KeptText, Page, Profile, SharedContent, UserId};

impl Read<'_> {
    /// The items among `ids` that the viewer sees, in their order. For each id that comes again, its item comes again.
    pub fn contents(&self, ids: &[ContentId]) -> Result<Vec<Arc<SharedContent>>> {
        let contents = self.unsuspended_contents(ids)?;
        let Some(viewer) = self.viewer else { return Ok(contents) };
        let entries: Vec<_> = contents.iter().map(|content| content.entry()).collect();
        let unseen = self.kept_from(viewer, &entries)?;
        let seen = contents.into_iter().zip(unseen).filter(|(_, unseen)| unseen.is_none());
        Ok(seen.map(|(content, _)| content).collect())
    }

    /// An item that is read by its id: one that the viewer sees; without a viewer any live one, also of a suspended author.
    pub fn by_id(&self, id: ContentId) -> Result<Option<Arc<SharedContent>>> {
        let found = if self.viewer.is_some() { self.contents(&[id])? } else { self.live_contents(&[id])? };
        Ok(found.into_iter().find(|content| !self.feed.store.is_erasing(content.author)))
    }

    /// The items among `ids` that lists show, in their order: the live ones, but for those of suspended authors.
    pub(crate) fn unsuspended_contents(&self, ids: &[ContentId]) -> Result<Vec<Arc<SharedContent>>> {
        let mut contents = self.live_contents(ids)?;
        let suspended = self.suspended_among(contents.iter().map(|content| content.author))?;
        if !suspended.is_empty() {
            contents.retain(|content| !suspended.contains(&content.author));
        }
        Ok(contents)
    }

    /// The live items among `ids`, also of suspended authors, as changes see them.
    pub(crate) fn live_contents(&self, ids: &[ContentId]) -> Result<Vec<Arc<SharedContent>>> {
        let rows = |part: &[ContentId]| {
            let contents = self.feed.store.contents(part, self.tier)?.into_iter();
            Ok(contents.map(|content| content.map(|content| Arc::new(content.into()))).collect())
        };
        self.cached(&self.feed.contents, ids, |content| caches::content_bytes(content), rows)
    }

    /// Items with their counts, as they are shown alone.
    pub fn with_counts(&self, contents: Vec<Arc<SharedContent>>) -> Result<Vec<ItemView>> {
        let ids: Vec<_> = contents.iter().map(|content| content.id).collect();
        let counts = self.feed.store.item_counts(&ids, self.tier)?;
        let suspended = self.suspended_among(contents.iter().map(|content| content.author))?;
        let shown = |(content, counts): (Arc<SharedContent>, _)| {
            let suspended = suspended.contains(&content.author);
            ItemView { content: self.without_erasing(content), counts, author: None, viewer: None, suspended }
        };
        Ok(contents.into_iter().zip(counts).map(shown).collect())
    }

    /// An item without the users who are being erased, among its paths and those whom it mentions.
    fn without_erasing(&self, content: Arc<SharedContent>) -> Arc<SharedContent> {
        let store = &self.feed.store;
        if !store.has_erasures() {
            return content;
        }
        let named = content.to.iter().chain(&content.mentions).filter(|user| store.is_erasing(**user));
        let without = |left: Option<Content>, user: &UserId| {
            Some(left.unwrap_or_else(|| Content::clone(&content)).without_user(*user))
        };
        match named.fold(None, without) {
            Some(left) => Arc::new(left.into()),
            None => content,
        }
    }

    /// Items with their counts and authors, as lists show them.
    pub fn listed(&self, contents: Vec<Arc<SharedContent>>) -> Result<Vec<ItemView>> {
        let authors: Vec<_> = contents.iter().map(|content| content.author).collect();
        let cards = self.cards(&authors)?;
        let mut shown = self.with_counts(contents)?;
        for (item, card) in shown.iter_mut().zip(cards) {
            item.author = Some(card);
        }
        Ok(shown)
    }

    /// A page with the items in full, for a viewer also with the viewer's reactions. An item deleted since the page was
    /// read is left out. The page has only items that the viewer sees.
    pub fn hydrate(&self, page: ContentPage, viewer: Option<UserId>) -> Result<Page<ItemView, ContentId>> {
        let ids: Vec<_> = page.items.iter().map(|entry| entry.cursor.id).collect();
        self.depends(page.items.iter().flat_map(|entry| [Thing::Item(entry.cursor.id), Thing::User(entry.author)]));
        let mut items = self.listed(self.unsuspended_contents(&ids)?)?;
        if let Some(viewer) = viewer {
            self.add_reactions(viewer, &mut items)?;
        }
        Ok(Page { items, next: page.next, prev: page.prev })
    }

    /// Items with the reactions of the viewer, if there is one.
    pub fn with_viewer(&self, mut items: Vec<ItemView>) -> Result<Vec<ItemView>> {
        if let Some(viewer) = self.viewer {
            self.add_reactions(viewer, &mut items)?;
        }
        Ok(items)
    }

    /// Adds the reactions of a viewer to items. An item that nobody has reacted to needs no look-up. Its counts were read
    /// before, so they have each reaction that was acknowledged before the read.
    pub(crate) fn add_reactions(&self, viewer: UserId, items: &mut [ItemView]) -> Result<()> {
        let has_any = |item: &ItemView| !item.counts.reactions.is_empty();
        let asked: Vec<_> = items.iter().filter(|item| has_any(item)).map(|item| item.content.cursor()).collect();
        let mut reacted = self.feed.store.reacted(viewer, &asked, self.tier)?.into_iter();
        for item in items {
            let reactions = if has_any(item) { reacted.next() } else { None };
            item.viewer = Some(reactions.unwrap_or_default());
        }
        Ok(())
    }

    /// What an event of an item needs to know of readers, in their order. Whether they silence the author only if it
    /// `has_further_paths`: readers whose sources it is do not.
    pub fn viewed(&self, entry: &Entry, has_further_paths: bool, readers: &[UserId]) -> Result<Vec<Viewer>> {
        let reactions = self.feed.store.reacted_to(entry.cursor.id, readers, self.tier)?;
        let silences = match has_further_paths {
            true => {
                let pairs: Vec<_> = readers.iter().map(|reader| (*reader, entry.author)).collect();
                self.feed.store.silences(&pairs, self.tier)?
            }
            false => vec![false; readers.len()],
        };
        Ok(reactions.into_iter().zip(silences).map(|(reactions, silences)| Viewer { reactions, silences }).collect())
    }

    /// The cards of users, in their order; a user may come more than once.
    pub fn cards(&self, users: &[UserId]) -> Result<Vec<Arc<Card>>> {
        let rows = |part: &[UserId]| {
            let ids = self.host_ids(part)?;
            let card = |(user, profile): (&UserId, Option<Profile>)| {
                let Profile { nickname, avatar, .. } = profile.unwrap_or_default();
                Some(Arc::new(Card { user: ids.of(*user), nickname, avatar, json: KeptText::default() }))
            };
            Ok(part.iter().zip(self.feed.store.profiles(part, self.tier)?).map(card).collect())
        };
        self.cached(&self.feed.cards, users, caches::card_bytes, rows)
    }
}
