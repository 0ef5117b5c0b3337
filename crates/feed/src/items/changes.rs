//! Edits, deletes and restores of items, and their removal from one path.

use super::tables;
use crate::core::Core;
use crate::ids::missing;
use crate::items::tables::Restored;
use crate::read::Read;
use crate::streaming::{ChangeTime, Kind};
use crate::writer::command::{Change, DeleteItem, EditItem, RestoreItem, TakeOff};
use crate::writer::txn::Txn;
use crate::{erasure, ids, visibility, warm};
use kv::Tier;
use model::error::{Code, Error, Result};
use model::{Content, ContentId, ExternalId, MAX_TO, Millis, Moment, UserId};

/// Most rows that a delete purges itself, such as reactions.
const ROWS_AT_ONCE: usize = 1000;

impl Change for EditItem {
    type Outcome = Content;

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let (feed, at) = (txn.feed, txn.at);
        let Self { item, edit } = self;
        let id: ContentId = feed.read().find_content(&item)?;
        if edit.is_empty() {
            let present = visibility::live_contents(feed.read(), &[id])?.pop().ok_or_else(Error::content_not_found)?;
            return Ok(Content::clone(&present));
        }
        let event = feed.streaming.sequencer().take(Kind::Edit);
        let moment = Moment { at: at.now(), event: Some(event.clone()) };
        let content = tables::edit(&feed.store, id, edit, moment)?.ok_or_else(Error::content_not_found)?;
        txn.log(event.of(&content));
        Ok(content)
    }

    fn warm(&self, read: Read<'_>) -> Result<()> {
        warm::item(read, &self.item, [])
    }
}

impl Change for DeleteItem {
    type Outcome = ();

    fn warm(&self, read: Read<'_>) -> Result<()> {
        warm::item(read, &self.item, [])
    }

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let since = txn.at.now();
        self.set(txn, since)
    }

    fn import(self, txn: &mut Txn<'_>, since: Option<Millis>) -> Result<bool> {
        let feed = txn.feed;
        if self.purge {
            return take_id(feed, &self.item);
        }
        if tables::deleted(&feed.store, &[feed.read().find_content(&self.item)?], Tier::Disk)? == [true] {
            return Ok(false);
        }
        let now = txn.at.now();
        self.set(txn, since.unwrap_or(now))?;
        txn.imported("deleted_at", since)
    }
}

/// Takes the id of an item that was purged elsewhere; `content_exists` if there is an item.
fn take_id(feed: &Core, item: &ExternalId) -> Result<bool> {
    let id = ids::for_change(feed, [item])?.pop().ok_or_else(missing)?;
    let is_there = "content_id: the item is here, live or deleted, so it is not purged";
    tables::take_id(&feed.store, id)?.ok_or_else(|| Error::refused(Code::ContentExists, is_there))
}

impl DeleteItem {
    /// Makes the change. `since` is the time of the deletion, unless it is a purge.
    pub(crate) fn set(self, txn: &mut Txn<'_>, since: Millis) -> Result<()> {
        let (feed, at) = (txn.feed, txn.at);
        let id: ContentId = feed.read().find_content(&self.item)?;
        // The event of a delete has only fields that never change, so they may be read before.
        let content = visibility::live_contents(feed.read(), &[id])?.pop();
        if content.is_none() && (!self.purge || tables::deleted(&feed.store, &[id], Tier::Disk)? != [true]) {
            return Err(Error::content_not_found());
        }
        let event = content.as_ref().map(|content| feed.streaming.sequencer().take(Kind::Delete).of(content));
        let deleted = match self.purge {
            // A deletion that is final already is so on every node, purged or not.
            true => tables::delete_for_good(&feed.store, id, deleted_since(feed, at), event.clone())?,
            false => tables::delete(&feed.store, id, Moment { at: since, event: event.clone() })?,
        };
        if !deleted && content.is_some() {
            return Err(Error::content_not_found());
        }
        event.into_iter().for_each(|event| txn.log(event));
        if self.purge || feed.config.content.deleted_retention.as_millis() == 0 {
            txn.once_written(move || {
                if let Err(error) = purge(feed, id) {
                    tracing::debug!(%error, content_id = %id,
                        "deleted content could not be purged at once; a compaction purges it");
                }
            });
        }
        Ok(())
    }
}

impl Change for RestoreItem {
    type Outcome = Content;

    fn jobs(&self) -> usize {
        1 + MAX_TO
    }

    fn warm(&self, read: Read<'_>) -> Result<()> {
        warm::item(read, &self.item, [])
    }

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let (feed, at) = (txn.feed, txn.at);
        let id: ContentId = feed.read().find_content(&self.item)?;
        let (mut room, push) = txn.room_to_push(self.jobs())?;
        let deleted_since = deleted_since(feed, at);
        let event = feed.streaming.sequencer().take(Kind::Restore);
        match tables::restore(&feed.store, id, deleted_since, Some(event.clone()), push)? {
            Restored::Now(content, jobs) => {
                txn.once_written(move || jobs.into_iter().for_each(|job| feed.backlog.add(&mut room, job)));
                txn.log(event.of(&content));
                Ok(content)
            }
            Restored::Live(content) => Ok(content),
            Restored::Gone => Err(Error::content_not_found()),
        }
    }
}

/// An item deleted at this instant or later can still be restored.
fn deleted_since(feed: &Core, at: ChangeTime) -> Millis {
    feed.streaming.final_before(at.now(), feed.config.content.deleted_retention.as_millis())
}

/// Purges an item that cannot be restored. An item with many reactions is left for a compaction.
fn purge(feed: &Core, id: ContentId) -> Result<()> {
    if erasure::tables::purge_rows(&feed.store, id, Millis::MAX, ROWS_AT_ONCE, None)?.is_none() {
        tables::purge(&feed.store, id, Millis::MAX)?;
    }
    Ok(())
}

impl Change for TakeOff {
    type Outcome = ();

    fn warm(&self, read: Read<'_>) -> Result<()> {
        warm::item(read, &self.item, [])
    }

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let (feed, at) = (txn.feed, txn.at);
        let id: ContentId = feed.read().find_content(&self.item)?;
        let source: UserId = feed.read().find(&self.source)?;
        let content = visibility::live_contents(feed.read(), &[id])?.pop().ok_or_else(Error::content_not_found)?;
        let event = feed.streaming.sequencer().take(Kind::TakenOff).of_path(&content, source);
        if !tables::take_off(&feed.store, id, source, at.now(), &event)? {
            return Err(Error::content_not_found());
        }
        txn.log(event);
        Ok(())
    }
}
