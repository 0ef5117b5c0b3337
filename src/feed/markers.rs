//! Markers, and unread items.

use super::Feed;
use crate::clock::now;
use crate::error::{Error, Result};
use crate::model::{ContentId, Cursor, Order, PageRequest, Span, Unread, UserId};
use crate::store::Tier;

/// Unread items are counted up to here.
pub const MOST_UNREAD: usize = 1000;

impl Feed {
    /// The place up to which a user has read; `None` until one was set.
    ///
    /// A marker too far ahead of the clock, set before that was refused, moves to the newest item up to it in the
    /// user's timeline. Without such an item it is removed.
    pub fn marker(&self, user: UserId, tier: Tier) -> Result<Option<Cursor>> {
        match self.store.marker(user, tier)? {
            Some(place) if place.at > self.latest() => {
                if tier == Tier::Memory {
                    return Err(Error::NotCached);
                }
                let counts = self.counts_at(user, place)?;
                match self.confirm_marker(user, place, counts) {
                    // Reads work also when the store takes no writes.
                    Err(error) if error.is_unavailable() => Ok(counts),
                    confirmed => confirmed,
                }
            }
            place => Ok(place),
        }
    }

    /// Moves a user's marker forward to `place`, never back, and returns its new place. A place ahead of the clock is
    /// replaced by the newest item up to it in the user's timeline, or by now if there is none. So the next publish is
    /// unread, unless that item lies ahead itself. `time_ahead` if the place lies too far ahead of the clock and no
    /// item has it.
    pub fn move_marker(&self, user: UserId, place: Cursor) -> Result<Cursor> {
        if let Err(refused) = self.not_ahead("cursor", place.at)
            && !self.contents(&[place.id], Tier::Disk)?.iter().any(|item| item.cursor() == place)
        {
            return Err(refused);
        }
        if let Some(present) = self.store.marker(user, Tier::Disk)?.filter(|present| present.at > self.latest()) {
            let counts = self.counts_at(user, present)?;
            self.confirm_marker(user, present, counts)?;
        }
        let now = now();
        let place = match place.at > now {
            true => self.counts_at(user, place)?.unwrap_or(Cursor { at: now, ..place }),
            false => place,
        };
        self.store.move_marker(user, place)
    }

    /// The place that replaces a marker ahead of the clock: the newest item up to it in the user's timeline.
    fn counts_at(&self, user: UserId, place: Cursor) -> Result<Option<Cursor>> {
        let span = Span { before: place.next_newer(), after: None };
        let newest = self.peeked_timeline(user, &PageRequest { span, limit: 1 }, Tier::Disk)?;
        Ok(newest.items.first().map(|newest| newest.cursor))
    }

    fn confirm_marker(&self, user: UserId, present: Cursor, counts: Option<Cursor>) -> Result<Option<Cursor>> {
        if counts == Some(present) { Ok(counts) } else { self.store.confirm_marker(user, present, counts) }
    }

    /// Counts the items of the home timeline that are newer than the user's marker, all of them
    /// without one, up to [`MOST_UNREAD`]. Counts as the user being active. Costs no more than a page of this many
    /// items.
    pub fn unread(&self, user: UserId, tier: Tier) -> Result<Unread> {
        // The marker first: a move during this call may count or not.
        let span: Span<ContentId> = Span { before: None, after: self.marker(user, tier)? };
        let newer = self.exact(
            user,
            tier,
            || self.see(user, tier),
            |stretch| self.live_entries(span, Order::NewestFirst, MOST_UNREAD + 1, stretch, tier),
        )?;
        Ok(Unread { count: newer.len().min(MOST_UNREAD), capped: newer.len() > MOST_UNREAD })
    }
}
