//! Markers.

use super::command::{Change, MoveMarker, MoveNoticeMarker};
use super::txn::Txn;
use crate::streaming::{ChangeTime, Personal};
use crate::{Feed, Read, Visibility};
use model::error::{Code, Result};
use model::{ContentId, Cursor, HostId, HostNoticeId, ListId, NoticeCursor, PageRequest, Position, Span, UserId};

impl Read<'_> {
    /// The place up to which a user has read the home timeline, or that of a list; `None` until one was set.
    ///
    /// A marker too far ahead of the clock, set before that was refused, counts as one at the newest item up to it in the
    /// timeline, or as none if there is no such item. The next move writes this down.
    pub fn marker(&self, user: UserId, list: Option<ListId>) -> Result<Option<Cursor>> {
        let feed = self.feed;
        let place = self.stored_marker(user, list)?;
        match feed.far_ahead(place, feed.now_of_changes()) {
            Some(place) => {
                self.needs_disk()?;
                feed.counts_at(user, list, place)
            }
            None => Ok(place),
        }
    }

    fn stored_marker(&self, user: UserId, list: Option<ListId>) -> Result<Option<Cursor>> {
        match list {
            Some(list) => self.feed.store.list_marker(list, self.tier),
            None => self.feed.store.marker(user, self.tier),
        }
    }
}

impl Feed {
    /// A marker that lies too far ahead.
    fn far_ahead(&self, place: Option<Cursor>, at: ChangeTime) -> Option<Cursor> {
        place.filter(|place| place.at > self.latest(at))
    }

    /// Moves a user's marker forward to `place`, never back, and returns its new place. A place ahead of the clock is
    /// replaced by the newest item up to it in the user's timeline, or by now if there is none. So the next publish is
    /// unread, unless that item lies ahead itself. So is, with [`Visibility::User`], a place with a name at which the user sees
    /// no item: the marker keeps no name that a user makes up, and does not tell which names exist. `time_ahead` if the
    /// place lies too far ahead of the clock and the caller sees no item at it, `unknown_cursor` as in
    /// [`Read::find_place`].
    pub fn move_marker(&self, user: HostId, place: Position<HostId>, sight: Visibility) -> Result<Cursor> {
        self.submit(MoveMarker { user, place, sight, list: None })
    }

    /// Moves the marker of a list by the rules of [`Feed::move_marker`], with the timeline of the list in place of the home
    /// timeline. Also `list_not_found`.
    pub fn move_list_marker(
        &self,
        user: HostId,
        list: String,
        place: Position<HostId>,
        sight: Visibility,
    ) -> Result<Cursor> {
        self.submit(MoveMarker { user, place, sight, list: Some(list) })
    }

    /// Moves the marker of a user's notices forward to `place`, never back, and returns its new place. A place ahead of the
    /// clock, and with [`Visibility::User`] one with a name, is replaced by the begin of its millisecond, or of the present
    /// one, unless the user sees a notice there: so the next notice is unread, and the marker keeps no name that a user makes up.
    /// `time_ahead` if it lies too far ahead and no notice stands there, `unknown_cursor` as in [`Read::find_place`].
    pub fn move_notice_marker(
        &self,
        user: HostId,
        place: Position<HostNoticeId>,
        sight: Visibility,
    ) -> Result<NoticeCursor> {
        self.submit(MoveNoticeMarker { user, place, sight })
    }

    fn sees_item_at(&self, user: UserId, place: Cursor, sight: Visibility) -> Result<bool> {
        let read = self.read().viewed_by((sight == Visibility::User).then_some(user));
        Ok(read.contents(&[place.id])?.iter().any(|item| item.cursor() == place))
    }

    /// The place that replaces a marker ahead of the clock: the newest item up to it in the timeline.
    fn counts_at(&self, user: UserId, list: Option<ListId>, place: Cursor) -> Result<Option<Cursor>> {
        let mut span = Span::up_to(place);
        loop {
            let request = PageRequest { span, limit: 1 };
            let newest = match list {
                Some(list) => self.read().list_timeline(user, list, &request)?,
                None => self.read().peeking(true).timeline(user, &request)?,
            };
            match (newest.items.first(), newest.next) {
                (None, Some(next)) => span.before = Some(next),
                (newest, _) => return Ok(newest.map(|newest| newest.cursor)),
            }
        }
    }
}

impl Change for MoveMarker {
    type Outcome = Cursor;

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let (feed, at) = (txn.feed, txn.at);
        let Self { user, place, sight, list: name } = self;
        let mut place: Cursor = feed.read().find_place(&place, sight)?;
        let list = match &name {
            Some(name) => Some(feed.read().list_named(feed.read().find(&user)?, name)?.id),
            None => None,
        };
        let user = feed.user_for_change(&user)?;
        let ahead = feed.not_ahead("cursor", place.at, at);
        let may_be_made_up = sight == Visibility::User && place.id.is_name();
        if (ahead.is_err() || may_be_made_up) && !feed.sees_item_at(user, place, sight)? {
            ahead?;
            place.id = ContentId::UNKNOWN;
        }
        let now = at.now();
        if place.at > now || place.id == ContentId::UNKNOWN {
            let id = if place.id == ContentId::UNKNOWN { ContentId::MIN } else { place.id };
            place = feed.counts_at(user, list, place)?.unwrap_or(Cursor { at: place.at.min(now), id });
        }
        let before = feed.read().stored_marker(user, list)?;
        let far = feed.far_ahead(before, at);
        let counts = match far {
            Some(far) => feed.counts_at(user, list, far)?,
            None => None,
        };
        let place = counts.map_or(place, |counts| counts.max(place));
        let moved = match &name {
            Some(name) => feed.store.move_list_marker(user, name, place, far)?.ok_or(Code::ListNotFound)?,
            None => feed.store.move_marker(user, place, far)?,
        };
        if before != Some(moved) {
            txn.once_written(move || feed.streaming.tell(user, Personal::Marker(moved, name.map(Into::into))));
        }
        Ok(moved)
    }
}

impl Change for MoveNoticeMarker {
    type Outcome = NoticeCursor;

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let (feed, at) = (txn.feed, txn.at);
        let Self { user, place, sight } = self;
        let mut place = feed.read().find_notice(&place, sight)?;
        let user = feed.user_for_change(&user)?;
        let ahead = feed.not_ahead("cursor", place.at, at);
        let is_ahead = ahead.is_err() || place.at > at.now();
        let may_be_made_up = sight == Visibility::User && place.id.has_name();
        if (is_ahead || may_be_made_up) && feed.read().notice_at(user, place)?.is_none() {
            ahead?;
            place = NoticeCursor::begin_of(place.at.min(at.now())).below();
        }
        let before = feed.read().notice_marker(user)?;
        let moved = feed.store.move_notice_marker(user, place)?;
        if before != Some(moved) {
            txn.once_written(move || feed.streaming.tell(user, Personal::NoticeMarker(moved)));
        }
        Ok(moved)
    }
}
