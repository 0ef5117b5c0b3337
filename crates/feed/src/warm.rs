//! Rows that a change will read, read before it, so that the thread that makes all changes rarely waits for the disk. What they
//! say does not matter here: the change reads them again.

use crate::read::Read;
use crate::{follows, items, reactions, users};
use model::error::Result;
use model::{ContentId, ExternalId, NewContent, UserId};

/// Most users or items of one change whose rows are read before.
const MOST: usize = 1000;

/// An item with its counts, and the reactions of users to it.
pub(crate) fn item<'i>(
    read: Read<'_>,
    item: &ExternalId,
    users: impl IntoIterator<Item = &'i ExternalId>,
) -> Result<()> {
    let id: ContentId = read.known(item)?;
    if id == ContentId::UNKNOWN {
        return Ok(());
    }
    // The rows of an item that was read of late are in memory.
    if read.feed.store.memory.shown.contents.cached(id).is_none() {
        items::tables::contents(&read.feed.store, &[id], read.tier)?;
        items::tables::item_counts(&read.feed.store, &[id], read.tier)?;
    }
    let users = users.into_iter().take(MOST).map(|user| read.known(user)).collect::<Result<Vec<UserId>>>()?;
    let users: Vec<_> = users.into_iter().filter(|user| *user != UserId::UNKNOWN).collect();
    if !users.is_empty() {
        reactions::tables::reacted_to(&read.feed.store, id, &users, read.tier)?;
    }
    Ok(())
}

/// The relations of a user to others, and both ways back.
pub(crate) fn relations<'i>(
    read: Read<'_>,
    user: &ExternalId,
    others: impl IntoIterator<Item = &'i ExternalId>,
) -> Result<()> {
    let user: UserId = read.known(user)?;
    let others = others.into_iter().take(MOST).map(|other| read.known(other)).collect::<Result<Vec<UserId>>>()?;
    if user == UserId::UNKNOWN {
        return Ok(());
    }
    follows::tables::relations(&read.feed.store, user, &others, read.tier)?;
    follows::tables::user_counts(&read.feed.store, user, read.tier).map(drop)
}

/// The items at which new items point, and the settings of their authors.
pub(crate) fn new_items(read: Read<'_>, new_items: &[NewContent]) -> Result<()> {
    for new_item in new_items.iter().take(MOST) {
        let author: UserId = read.known(&new_item.author_id)?;
        if new_item.audience.is_none() && author != UserId::UNKNOWN {
            users::tables::settings(&read.feed.store, author, read.tier)?;
        }
        new_item.ref_id.iter().try_for_each(|subject| item(read, subject, []))?;
    }
    Ok(())
}
