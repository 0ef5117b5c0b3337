//! The marker of notices.

use super::tables;
use crate::read::Visibility;
use crate::streaming::{ChangeTime, Personal};
use crate::writer::command::{Change, MoveNoticeMarker};
use crate::writer::txn::Txn;
use crate::{ids, notices, writer};
use model::error::Result;
use model::{Millis, NoticeCursor};

impl Change for MoveNoticeMarker {
    type Outcome = NoticeCursor;

    fn is_alone(&self, at: ChangeTime) -> bool {
        at != ChangeTime::Clock
    }

    fn import(self, txn: &mut Txn<'_>, since: Option<Millis>) -> Result<bool> {
        self.apply(txn)?;
        txn.imported("since", since)
    }

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let (feed, at) = (txn.feed, txn.at);
        let Self { user, place, visibility } = self;
        let mut place = notices::find(feed.read(), &place, visibility)?;
        let user = ids::user_for_change(feed, &user)?;
        let ahead = writer::not_ahead(feed, "cursor", place.at, at);
        let is_ahead = ahead.is_err() || place.at > at.now();
        let may_be_made_up = visibility == Visibility::User && place.id.has_name();
        if (is_ahead || may_be_made_up) && notices::at(feed.read(), user, place)?.is_none() {
            ahead?;
            place = NoticeCursor::begin_of(place.at.min(at.now())).below();
        }
        let before = notices::marker(feed.read(), user)?;
        let moved = tables::move_notice_marker(&feed.store, user, place)?;
        if before != Some(moved) {
            txn.once_written(move || feed.streaming.tell(user, Personal::NoticeMarker(moved)));
        }
        Ok(moved)
    }
}
