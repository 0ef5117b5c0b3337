//! Changes of an import that are made one by one: all but follows, items, reactions, profiles and names, of which neighbours
//! are one change.

use crate::core::Core;
use crate::ids::missing;
use crate::writer::command::{Change, ChangeMembers, Command, DeleteItem, ImportLine};
use crate::writer::txn::Txn;
use crate::{ids, items, lists, writer};
use kv::Tier;
use model::HostId;
use model::error::{Code, Error, Result};

fn has_member(feed: &Core, ChangeMembers { user, list, add, .. }: &ChangeMembers) -> Result<bool> {
    let list = lists::named(feed.read(), feed.read().find(user)?, list)?.id;
    let added = feed.read().find_all(add)?;
    Ok(lists::tables::memberships(&feed.store, list, &added, Tier::Disk)?.iter().all(Option::is_some))
}

/// Takes the id of an item that was purged elsewhere; `content_exists` if there is an item.
fn take_id(feed: &Core, item: &HostId) -> Result<bool> {
    let id = ids::for_change(feed, [item])?.pop().ok_or_else(missing)?;
    let is_there = "content_id: the item is here, live or deleted, so it is not purged";
    items::tables::take_id(&feed.store, id)?.ok_or_else(|| Error::refused(Code::ContentExists, is_there))
}

impl Change for ImportLine {
    type Outcome = bool;

    fn apply(self, txn: &mut Txn<'_>) -> Result<bool> {
        let (feed, at) = (txn.feed, txn.at);
        let Self { change, since: given } = self;
        let since = given.unwrap_or_else(|| at.now());
        let mut name = "since";
        match *change {
            Command::SetRestriction(change) => {
                change.set(txn, given, |txn, settles| Ok(txn.room_of_import(settles)))?;
            }
            Command::PutList(change) => drop(change.apply(txn)?),
            // The rule of one who is there stays.
            Command::ChangeMembers(change) if has_member(feed, &change)? => return Ok(false),
            Command::ChangeMembers(change) => drop(change.change(txn, given)?),
            Command::MoveMarker(change) => drop(change.apply(txn)?),
            Command::MoveNoticeMarker(change) => drop(change.apply(txn)?),
            Command::PutSettings(change) => return change.apply(txn),
            Command::DeleteItem(DeleteItem { item, purge: true }) => return take_id(feed, &item),
            Command::DeleteItem(change) => {
                if items::tables::deleted(&feed.store, &[feed.read().find_content(&change.item)?], Tier::Disk)?
                    == [true]
                {
                    return Ok(false);
                }
                name = "deleted_at";
                change.set(txn, since)?;
            }
            Command::SetSuspension(change) => drop(change.set(txn, since)?),
            _ => return Err(Error::refused(Code::InvalidBody, "an import has no line for this change")),
        }
        let is_changed = feed.store.has_changed();
        match given {
            Some(since) if is_changed => writer::not_ahead(feed, name, since, at).map(|()| true),
            _ => Ok(is_changed),
        }
    }
}
