//! Rows that a change will read, read before it, so that the thread that makes all changes rarely waits for the disk. What they
//! say does not matter here: the change reads them again.

use super::read::Read;
use model::error::Result;
use model::{ContentId, Draft, HostId, UserId};

/// Most users or items of one change whose rows are read before.
const MOST: usize = 1000;

impl Read<'_> {
    /// An item with its counts, and the reactions of users to it.
    pub(crate) fn warm_item<'i>(&self, item: &HostId, users: impl IntoIterator<Item = &'i HostId>) -> Result<()> {
        let id: ContentId = self.known(item)?;
        if id == ContentId::UNKNOWN {
            return Ok(());
        }
        // The rows of an item that was read of late are in memory.
        if self.feed.contents.cached(id).is_none() {
            self.feed.store.contents(&[id], self.tier)?;
            self.feed.store.item_counts(&[id], self.tier)?;
        }
        let users = users.into_iter().take(MOST).map(|user| self.known(user)).collect::<Result<Vec<UserId>>>()?;
        let users: Vec<_> = users.into_iter().filter(|user| *user != UserId::UNKNOWN).collect();
        if !users.is_empty() {
            self.feed.store.reacted_to(id, &users, self.tier)?;
        }
        Ok(())
    }

    /// The relations of a user to others, and both ways back.
    pub(crate) fn warm_relations<'i>(&self, user: &HostId, others: impl IntoIterator<Item = &'i HostId>) -> Result<()> {
        let user: UserId = self.known(user)?;
        let others = others.into_iter().take(MOST).map(|other| self.known(other)).collect::<Result<Vec<UserId>>>()?;
        if user == UserId::UNKNOWN {
            return Ok(());
        }
        self.feed.store.relations(user, &others, self.tier)?;
        self.feed.store.user_counts(user, self.tier).map(drop)
    }

    /// The items at which drafts point, and the settings of their authors.
    pub(crate) fn warm_drafts(&self, drafts: &[Draft]) -> Result<()> {
        for draft in drafts.iter().take(MOST) {
            let author: UserId = self.known(&draft.author_id)?;
            if draft.audience.is_none() && author != UserId::UNKNOWN {
                self.feed.store.settings(author, self.tier)?;
            }
            draft.ref_id.iter().try_for_each(|subject| self.warm_item(subject, []))?;
        }
        Ok(())
    }
}
