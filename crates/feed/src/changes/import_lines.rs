//! Changes of an import that are made one by one: all but follows, items, reactions, profiles and names, of which neighbours
//! are one change.

use crate::core::Core;
use crate::ids::missing;
use crate::writer::command::{Change, ChangeMembers, Command, DeleteItem, ImportLine};
use crate::writer::txn::Txn;
use crate::{follows, ids, lists, notices, timeline, users, writer};
use model::HostId;
use model::error::{Code, Error, Result};
use model::store::Tier;

fn has_member(feed: &Core, ChangeMembers { user, list, add, .. }: &ChangeMembers) -> Result<bool> {
    let list = lists::named(feed.read(), feed.read().find(user)?, list)?.id;
    let added = feed.read().find_all(add)?;
    Ok(feed.store.memberships(list, &added, Tier::Disk)?.iter().all(Option::is_some))
}

/// Takes the id of an item that was purged elsewhere; `content_exists` if there is an item.
fn take_id(feed: &Core, item: &HostId) -> Result<bool> {
    let id = ids::for_change(feed, [item])?.pop().ok_or_else(missing)?;
    let is_there = "content_id: the item is here, live or deleted, so it is not purged";
    feed.store.take_id(id)?.ok_or_else(|| Error::refused(Code::ContentExists, is_there))
}

impl Change for ImportLine {
    type Outcome = bool;

    fn apply(self, txn: &mut Txn<'_>) -> Result<bool> {
        let (feed, at) = (txn.feed, txn.at);
        let Self { change, since: given } = self;
        let since = given.unwrap_or_else(|| at.now());
        let name = if matches!(*change, Command::DeleteItem(_)) { "deleted_at" } else { "since" };
        let ahead = given.map_or(Ok(()), |since| writer::not_ahead(feed, name, since, at));
        match *change {
            Command::SetBarrier(change) => {
                let is_there = || -> Result<_> {
                    let relation = follows::relation(feed, &change.user, &change.target)?;
                    Ok(relation.barred_since(change.barrier).is_some())
                };
                if change.user != change.target && is_there()? {
                    return Ok(false);
                }
                ahead?;
                change.set(txn, given, |txn, settles| Ok(txn.room_of_import(settles)))?;
            }
            Command::PutList(change) => {
                let present = feed.store.list(feed.read().find(&change.user)?, &change.list, Tier::Disk)?;
                if present.is_some_and(|present| present.settings == change.settings) {
                    return Ok(false);
                }
                change.apply(txn)?;
            }
            Command::ChangeMembers(change) => {
                if has_member(feed, &change)? {
                    return Ok(false);
                }
                ahead?;
                change.change(txn, given)?;
            }
            Command::MoveMarker(change) => {
                let stored = || -> Result<_> {
                    let user = feed.read().find(&change.user)?;
                    let list = change.list.as_ref().map(|list| lists::named(feed.read(), user, list)).transpose()?;
                    timeline::marker(feed.read(), user, list.map(|list| list.id))
                };
                let before = stored()?;
                return Ok(before != Some(change.apply(txn)?));
            }
            Command::MoveNoticeMarker(change) => {
                let before = notices::marker(feed.read(), feed.read().find(&change.user)?)?;
                return Ok(before != Some(change.apply(txn)?));
            }
            Command::PutSettings(change) => return change.apply(txn),
            Command::DeleteItem(DeleteItem { item, purge: true }) => return take_id(feed, &item),
            Command::DeleteItem(change) => {
                if feed.store.deleted(&[feed.read().find_content(&change.item)?], Tier::Disk)? == [true] {
                    return Ok(false);
                }
                ahead?;
                change.set(txn, since)?;
            }
            Command::SetSuspension(change) => {
                if users::suspended_since(feed.read(), feed.read().find(&change.user)?)?.is_some() {
                    return Ok(false);
                }
                ahead?;
                change.set(txn, since)?;
            }
            _ => return Err(Error::refused(Code::InvalidBody, "an import has no line for this change")),
        }
        Ok(true)
    }
}
