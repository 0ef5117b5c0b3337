//! Markers.

use crate::core::Core;
use crate::read::{Read, Visibility};
use crate::streaming::{ChangeTime, Personal};
use crate::writer::command::{Change, MoveMarker};
use crate::writer::txn::Txn;
use crate::{ids, lists, timeline, users, visibility, writer};
use model::error::{Code, Result};
use model::{ContentId, Cursor, ListId, Millis, PageRequest, Span, UserId};

/// The place up to which a user has read the home timeline, or that of a list; `None` until one was set.
///
/// A marker too far ahead of the clock, set before that was refused, counts as one at the newest item up to it in the
/// timeline, or as none if there is no such item. The next move writes this down.
pub fn marker(read: Read<'_>, user: UserId, list: Option<ListId>) -> Result<Option<Cursor>> {
    let feed = read.feed;
    let place = stored_marker(read, user, list)?;
    match far_ahead(feed, place, feed.now_of_changes()) {
        Some(place) => {
            read.needs_disk()?;
            counts_at(feed, user, list, place)
        }
        None => Ok(place),
    }
}

fn stored_marker(read: Read<'_>, user: UserId, list: Option<ListId>) -> Result<Option<Cursor>> {
    match list {
        Some(list) => lists::tables::list_marker(&read.feed.store, list, read.tier),
        None => users::tables::marker(&read.feed.store, user, read.tier),
    }
}

/// A marker that lies too far ahead.
fn far_ahead(feed: &Core, place: Option<Cursor>, at: ChangeTime) -> Option<Cursor> {
    place.filter(|place| place.at > writer::latest(feed, at))
}

fn sees_item_at(feed: &Core, user: UserId, place: Cursor, visibility: Visibility) -> Result<bool> {
    let read = feed.read().viewed_by((visibility == Visibility::User).then_some(user));
    Ok(visibility::contents(read, &[place.id])?.iter().any(|item| item.cursor() == place))
}

/// The newest item of a timeline up to `place`, at which a marker ahead of the clock counts; `None` without one.
fn counts_at(feed: &Core, user: UserId, list: Option<ListId>, place: Cursor) -> Result<Option<Cursor>> {
    let mut span = Span::up_to(place);
    loop {
        let request = PageRequest { span, limit: 1 };
        let newest = match list {
            Some(list) => timeline::list_page(feed.read(), user, list, &request)?,
            None => timeline::page(feed.read().peeking(true), user, &request)?,
        };
        match (newest.items.first(), newest.next) {
            (None, Some(next)) => span.before = Some(next),
            (newest, _) => return Ok(newest.map(|newest| newest.cursor)),
        }
    }
}

impl Change for MoveMarker {
    type Outcome = Cursor;

    fn is_alone(&self, at: ChangeTime) -> bool {
        at != ChangeTime::Clock
    }

    fn import(self, txn: &mut Txn<'_>, since: Option<Millis>) -> Result<bool> {
        self.apply(txn)?;
        txn.imported("since", since)
    }

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let (feed, at) = (txn.feed, txn.at);
        let Self { user, place, visibility, list: name } = self;
        let mut place: Cursor = visibility::find_place(feed.read(), &place, visibility)?;
        let list = match &name {
            Some(name) => Some(lists::named(feed.read(), feed.read().find(&user)?, name)?.id),
            None => None,
        };
        let user = ids::user_for_change(feed, &user)?;
        let ahead = writer::not_ahead(feed, "cursor", place.at, at);
        let may_be_made_up = visibility == Visibility::User && place.id.is_name();
        if (ahead.is_err() || may_be_made_up) && !sees_item_at(feed, user, place, visibility)? {
            ahead?;
            place.id = ContentId::UNKNOWN;
        }
        let now = at.now();
        if place.at > now || place.id == ContentId::UNKNOWN {
            let id = if place.id == ContentId::UNKNOWN { ContentId::MIN } else { place.id };
            place = counts_at(feed, user, list, place)?.unwrap_or(Cursor { at: place.at.min(now), id });
        }
        let before = stored_marker(feed.read(), user, list)?;
        let far = far_ahead(feed, before, at);
        let counts = match far {
            Some(far) => counts_at(feed, user, list, far)?,
            None => None,
        };
        let place = counts.map_or(place, |counts| counts.max(place));
        let moved = match &name {
            Some(name) => {
                lists::tables::move_list_marker(&feed.store, user, name, place, far)?.ok_or(Code::ListNotFound)?
            }
            None => users::tables::move_marker(&feed.store, user, place, far)?,
        };
        if before != Some(moved) {
            txn.once_written(move || feed.streaming.tell(user, Personal::Marker(moved, name.map(Into::into))));
        }
        Ok(moved)
    }
}
