//! Content with all that is shown of it: what a page takes does not depend on how many items it has.
//!
//! Contents and cards come from caches that are never older than the last acknowledged change; what
//! is not in them is read in one call a table. Counts and reactions are read each time.

use std::collections::HashSet;
use std::sync::Arc;

use super::Feed;
use crate::error::Result;
use crate::model::{Card, Content, ContentId, Entry, Page, Profile, Shown, UserId};
use crate::store::Tier;

impl Feed {
    /// The live ones among `ids`, in their order, each once.
    pub fn contents(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<Arc<Content>>> {
        let mut seen = HashSet::new();
        let distinct: Vec<_> = ids.iter().copied().filter(|id| seen.insert(*id)).collect();
        let contents = self.contents.get_many(&distinct, |missing| {
            let loaded = self.store.contents(missing, tier)?;
            Ok(loaded.into_iter().map(|content| content.map(Arc::new)).collect())
        })?;
        Ok(contents.into_iter().flatten().collect())
    }

    /// Items with their counts, as they are shown alone.
    pub fn counted(&self, contents: Vec<Arc<Content>>, tier: Tier) -> Result<Vec<Shown>> {
        let ids: Vec<_> = contents.iter().map(|content| content.id).collect();
        let counts = self.store.item_counts(&ids, tier)?;
        let shown = |(content, counts)| Shown { content, counts, author: None, viewer: None };
        Ok(contents.into_iter().zip(counts).map(shown).collect())
    }

    /// Items with their counts and authors, as lists show them.
    pub fn listed(&self, contents: Vec<Arc<Content>>, tier: Tier) -> Result<Vec<Shown>> {
        let authors: Vec<_> = contents.iter().map(|content| content.author).collect();
        let cards = self.cards(&authors, tier)?;
        let mut shown = self.counted(contents, tier)?;
        for (item, card) in shown.iter_mut().zip(cards) {
            item.author = Some(card);
        }
        Ok(shown)
    }

    /// A page with the items in full, for a viewer also with what the viewer did with each. An item deleted
    /// since the page was read is left out.
    pub fn hydrate(
        &self,
        page: Page<Entry, ContentId>,
        viewer: Option<UserId>,
        tier: Tier,
    ) -> Result<Page<Shown, ContentId>> {
        let ids: Vec<_> = page.items.iter().map(|entry| entry.cursor.id).collect();
        let mut items = self.listed(self.contents(&ids, tier)?, tier)?;
        if let Some(viewer) = viewer {
            let ids: Vec<_> = items.iter().map(|item| item.content.id).collect();
            for (item, reactions) in items.iter_mut().zip(self.store.reacted(viewer, &ids, tier)?) {
                item.viewer = Some(reactions);
            }
        }
        Ok(Page { items, next: page.next, prev: page.prev })
    }

    /// What is shown of users, in their order; a user may come more than once.
    fn cards(&self, users: &[UserId], tier: Tier) -> Result<Vec<Arc<Card>>> {
        let cards = self.cards.get_many(users, |missing| {
            let profiles = self.store.profiles(missing, tier)?;
            let card = |(user, profile): (&UserId, Option<Profile>)| {
                let Profile { nickname, avatar, .. } = profile.unwrap_or_default();
                Some(Arc::new(Card { user: *user, nickname, avatar }))
            };
            Ok(missing.iter().zip(profiles).map(card).collect())
        })?;
        Ok(cards.into_iter().flatten().collect())
    }
}
