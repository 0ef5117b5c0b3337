//! Markers, and unread items.

use super::command::{Command, Outcome, outcome};
use crate::streaming::ChangeTime;
use crate::{Feed, Held, Visibility};
use model::error::{Error, Result};
use model::store::Tier;
use model::{ContentId, Cursor, HostId, Order, PageRequest, Position, Span, Unread, UserId};

/// Unread items are counted up to here.
pub const MOST_UNREAD: usize = 1000;

impl Feed {
    /// The place up to which a user has read; `None` until one was set.
    ///
    /// A marker too far ahead of the clock, set before that was refused, moves to the newest item up to it in the
    /// user's timeline. Without such an item it is removed. A read on a node of a cluster does not write this down.
    pub fn marker(&self, user: UserId, tier: Tier) -> Result<Option<Cursor>> {
        match self.store.marker(user, tier)? {
            Some(place) if place.at > self.latest(self.now_of_changes()) => {
                if tier == Tier::Memory {
                    return Err(Error::NotCached);
                }
                if self.proposer.get().is_some() {
                    return self.counts_at(user, place);
                }
                match outcome!(self.submit(Command::CorrectMarker { user }), Outcome::Marker(place) => place) {
                    // Reads work also when the store takes no writes.
                    Err(error) if error.is_unavailable() => self.counts_at(user, place),
                    corrected => corrected,
                }
            }
            place => Ok(place),
        }
    }

    pub(crate) fn apply_correction(&self, user: UserId, at: ChangeTime) -> Result<Option<Cursor>> {
        match self.store.marker(user, Tier::Disk)? {
            Some(place) if place.at > self.latest(at) => {
                let counts = self.counts_at(user, place)?;
                if counts == Some(place) { Ok(counts) } else { self.store.confirm_marker(user, place, counts) }
            }
            place => Ok(place),
        }
    }

    /// Moves a user's marker forward to `place`, never back, and returns its new place. A place ahead of the clock is
    /// replaced by the newest item up to it in the user's timeline, or by now if there is none. So the next publish is
    /// unread, unless that item lies ahead itself. So is, with [`Visibility::User`], a place with a name at which the user sees
    /// no item: the marker keeps no name that a user makes up, and does not tell which names exist. `time_ahead` if the
    /// place lies too far ahead of the clock and the caller sees no item at it, `unknown_cursor` as in
    /// [`Feed::find_place`].
    pub fn move_marker(&self, user: HostId, place: Position<HostId>, sight: Visibility) -> Result<Cursor> {
        let command = Command::MoveMarker { user, place, sight };
        outcome!(self.submit(command), Outcome::Marker(Some(place)) => place)
    }

    pub(crate) fn apply_marker(
        &self,
        user: &HostId,
        place: &Position<HostId>,
        sight: Visibility,
        at: ChangeTime,
    ) -> Result<Cursor> {
        let mut place: Cursor = self.find_place(place, sight, Tier::Disk)?;
        let held: Held<UserId> = self.hold([user])?;
        let user = held.id();
        let ahead = self.not_ahead("cursor", place.at, at);
        let may_be_made_up = sight == Visibility::User && place.id.is_name();
        if (ahead.is_err() || may_be_made_up) && !self.sees_item_at(user, place, sight)? {
            ahead?;
            place.id = ContentId::UNKNOWN;
        }
        self.apply_correction(user, at)?;
        let now = at.now();
        if place.at > now || place.id == ContentId::UNKNOWN {
            let id = if place.id == ContentId::UNKNOWN { ContentId::MIN } else { place.id };
            place = self.counts_at(user, place)?.unwrap_or(Cursor { at: place.at.min(now), id });
        }
        self.store.move_marker(user, place)
    }

    fn sees_item_at(&self, user: UserId, place: Cursor, sight: Visibility) -> Result<bool> {
        let is_there = self.contents(&[place.id], Tier::Disk)?.iter().any(|item| item.cursor() == place);
        Ok(is_there && (sight == Visibility::Application || self.may_see(user, place.id, Tier::Disk)?))
    }

    /// The place that replaces a marker ahead of the clock: the newest item up to it in the user's timeline.
    fn counts_at(&self, user: UserId, place: Cursor) -> Result<Option<Cursor>> {
        let span = Span { before: place.next_newer(), after: None };
        let newest = self.peeked_timeline(user, &PageRequest { span, limit: 1 }, Tier::Disk)?;
        Ok(newest.items.first().map(|newest| newest.cursor))
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
            |_, segment| self.live_entries(span, Order::NewestFirst, MOST_UNREAD + 1, segment, tier),
        )?;
        Ok(Unread { count: newer.len().min(MOST_UNREAD), capped: newer.len() > MOST_UNREAD })
    }
}
