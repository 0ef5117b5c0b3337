//! Content with all that is shown of it. A page reads each table for all its items together.
//!
//! Contents and cards come from caches that are never older than the last acknowledged change; the rest is read from
//! the store. Counts and reactions are read each time.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use super::reading::Count;
use super::{cards, content_cache};
use crate::Feed;
use model::error::Result;
use model::store::Tier;
use model::{Card, Content, ContentId, Entry, ItemView, KeptText, Page, Profile, SharedContent, UserId};

impl Feed {
    /// The live items among `ids`, in their order, each once. For few ids.
    pub fn contents(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<Arc<SharedContent>>> {
        self.contents_counted(ids, tier, &mut |_| Ok(()))
    }

    /// The live items among `ids`, in their order, each once, for a caller who counts their memory.
    pub fn contents_counted(
        &self,
        ids: &[ContentId],
        tier: Tier,
        count: &mut Count<'_>,
    ) -> Result<Vec<Arc<SharedContent>>> {
        let distinct = distinct(ids);
        let size = |content: &Content| content_cache::bytes(content) as usize;
        let mut cached = 0;
        let contents = self.contents.get_many(
            &distinct,
            |content| cached += size(content),
            |missing| {
                let bytes = |content: &Option<Content>| content.as_ref().map_or(0, size);
                let read = |part: &[ContentId]| self.store.contents(part, tier);
                let loaded = self.in_parts(missing, tier, count, read, bytes)?;
                Ok(loaded.into_iter().map(|content| content.map(|content| Arc::new(content.into()))).collect())
            },
        )?;
        // The answer keeps them in memory, even if the cache drops them.
        count(cached)?;
        Ok(contents.into_iter().flatten().collect())
    }

    /// Items with their counts, as they are shown alone.
    pub fn counted(&self, contents: Vec<Arc<SharedContent>>, tier: Tier) -> Result<Vec<ItemView>> {
        let ids: Vec<_> = contents.iter().map(|content| content.id).collect();
        let counts = self.store.item_counts(&ids, tier)?;
        let shown = |(content, counts)| ItemView { content, counts, author: None, viewer: None };
        Ok(contents.into_iter().zip(counts).map(shown).collect())
    }

    /// Items with their counts and authors, as lists show them.
    pub fn listed(
        &self,
        contents: Vec<Arc<SharedContent>>,
        tier: Tier,
        count: &mut Count<'_>,
    ) -> Result<Vec<ItemView>> {
        let authors: Vec<_> = contents.iter().map(|content| content.author).collect();
        let cards = self.cards(&authors, tier, count)?;
        let mut shown = self.counted(contents, tier)?;
        for (item, card) in shown.iter_mut().zip(cards) {
            item.author = Some(card);
        }
        Ok(shown)
    }

    /// A page with the items in full, for a viewer also with the viewer's reactions. An item deleted since the page was
    /// read is left out.
    pub fn hydrate(
        &self,
        page: Page<Entry, ContentId>,
        viewer: Option<UserId>,
        tier: Tier,
        count: &mut Count<'_>,
    ) -> Result<Page<ItemView, ContentId>> {
        let ids: Vec<_> = page.items.iter().map(|entry| entry.cursor.id).collect();
        let mut items = self.listed(self.contents_counted(&ids, tier, count)?, tier, count)?;
        if let Some(viewer) = viewer {
            self.add_reactions(viewer, &mut items, tier)?;
        }
        Ok(Page { items, next: page.next, prev: page.prev })
    }

    /// Adds the reactions of a viewer to items. An item that nobody has reacted to needs no look-up. Its counts were read
    /// before, so they have each reaction that was acknowledged before the read.
    pub(crate) fn add_reactions(&self, viewer: UserId, items: &mut [ItemView], tier: Tier) -> Result<()> {
        let has_any = |item: &ItemView| item.counts.likes > 0 || item.counts.favorites > 0;
        let asked: Vec<_> = items.iter().filter(|item| has_any(item)).map(|item| item.content.cursor()).collect();
        let mut reacted = self.store.reacted(viewer, &asked, tier)?.into_iter();
        for item in items {
            let reactions = if has_any(item) { reacted.next() } else { None };
            item.viewer = Some(reactions.unwrap_or_default());
        }
        Ok(())
    }

    /// The cards of users, in their order; a user may come more than once.
    fn cards(&self, users: &[UserId], tier: Tier, count: &mut Count<'_>) -> Result<Vec<Arc<Card>>> {
        let size = |card: &Card| cards::bytes(card) as usize;
        let mut cached = 0;
        let cards = self.cards.get_many(
            users,
            |card| cached += size(card),
            |missing| {
                let read = |part: &[UserId]| {
                    let ids = self.host_ids(&part.to_vec(), tier)?;
                    let card = |(user, profile): (&UserId, Option<Profile>)| {
                        let Profile { nickname, avatar, .. } = profile.unwrap_or_default();
                        Some(Arc::new(Card { user: ids.of(*user), nickname, avatar, json: KeptText::default() }))
                    };
                    Ok(part.iter().zip(self.store.profiles(part, tier)?).map(card).collect())
                };
                self.in_parts(missing, tier, count, read, |card| card.as_deref().map_or(0, size))
            },
        )?;
        count(cached)?;
        Ok(cards.into_iter().flatten().collect())
    }
}

/// Each id once, in their order. Those of a page are all different.
fn distinct(ids: &[ContentId]) -> Cow<'_, [ContentId]> {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    if sorted.is_sorted_by(|a, b| a < b) {
        return Cow::Borrowed(ids);
    }
    let mut seen = HashSet::new();
    ids.iter().copied().filter(|id| seen.insert(*id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_comes_again_is_left_out() {
        let ids = |raw: &[u64]| raw.iter().map(|id| ContentId::new(*id).expect("in range")).collect::<Vec<_>>();
        for (given, each_once) in [(&[][..], &[][..]), (&[3, 1, 2], &[3, 1, 2]), (&[3, 1, 3, 2, 1, 1], &[3, 1, 2])] {
            assert_eq!(*distinct(&ids(given)), ids(each_once), "{given:?}");
        }
    }
}
