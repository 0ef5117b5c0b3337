//! Maintenance that must not change answers.

use std::ops::ControlFlow;

use feed::events;
use feed::store::Store;
use kv::Tier;
use model::{ContentId, Cursor, Entry, MAX_MILLIS, Order, Span, UserId};

use super::case::Case;
use super::ops::Place;

/// The rows of an inbox above its floor, newest first, and the floor.
pub(crate) type Inbox = (Vec<Entry>, Option<Cursor>);

/// Reads an inbox.
pub(crate) fn inbox(store: &Store, reader: UserId) -> Result<Inbox, String> {
    let mut rows = Vec::new();
    let floor = feed::inbox::tables::inbox(store, reader, Span::ALL, Order::NewestFirst, Tier::Disk, &mut |entry| {
        rows.push(entry);
        ControlFlow::Continue(())
    });
    let floor = floor.map_err(|e| format!("an inbox cannot be read: {e}"))?;
    rows.retain(|row| Some(row.cursor) > floor);
    Ok((rows, floor))
}

/// Raises a floor as a trim does: to the entry `beyond` places after the first surplus one.
pub(crate) fn trim(store: &Store, reader: UserId, limit: usize, beyond: usize) -> Result<(), String> {
    match inbox(store, reader)?.0.get(limit + beyond) {
        Some(floor) => feed::inbox::tables::raise_floor(store, reader, floor.cursor)
            .map_err(|e| format!("a floor cannot be raised: {e}")),
        None => Ok(()),
    }
}

/// Moves part of an outbox to the archive.
pub(crate) fn archive(store: &Store, author: UserId, newest: Cursor, most: usize) -> Result<(), String> {
    feed::items::tables::archive_outbox(store, author, newest, most)
        .map(|_| ())
        .map_err(|e| format!("an outbox cannot be archived: {e}"))
}

/// Moves part of the list of a topic to the archive.
pub(crate) fn archive_topic(store: &Store, topic: &str, newest: Cursor, most: usize) -> Result<(), String> {
    let moved = feed::topics::tables::topic(store, topic, Tier::Disk).and_then(|topic| match topic {
        Some(topic) => feed::topics::tables::archive_topic(store, topic, newest, most),
        None => Ok(0),
    });
    moved.map(drop).map_err(|e| format!("a topic cannot be archived: {e}"))
}

/// Drops an inbox, active user or not.
pub(crate) fn evict(store: &Store, reader: UserId, floor: Cursor) -> Result<(), String> {
    feed::inbox::tables::evict(store, reader, MAX_MILLIS, Some(floor))
        .map(|_| ())
        .map_err(|e| format!("an inbox cannot be dropped: {e}"))
}

impl Case {
    /// The cursor of a place. One of an unknown name lies above all numbers of its time.
    fn cursor(&self, wanted: Place) -> Cursor {
        let place = self.place(wanted);
        self.hosts.place(&place).unwrap_or(Cursor { at: place.at, id: ContentId::LAST_NUMBER })
    }

    /// A user whom the store knows.
    fn known(&self, raw: u64) -> Option<UserId> {
        Some(self.hosts.user(raw)).filter(|user| *user != UserId::UNKNOWN)
    }

    pub(crate) fn trim(&self, raw: u64, beyond: usize) -> Result<(), String> {
        let Some(user) = self.known(raw) else { return Ok(()) };
        trim(self.system.store(), user, self.system.config.timeline.inbox_limit, beyond)
    }

    pub(crate) fn raise_floor(&self, raw: u64, place: Place) -> Result<(), String> {
        let (Some(user), floor) = (self.known(raw), self.cursor(place)) else { return Ok(()) };
        feed::inbox::tables::raise_floor(self.system.store(), user, floor)
            .map_err(|e| format!("a floor cannot be raised: {e}"))
    }

    pub(crate) fn archive(&self, raw: u64, place: Place, most: usize) -> Result<(), String> {
        let Some(user) = self.known(raw) else { return Ok(()) };
        archive(self.system.store(), user, self.cursor(place), most)
    }

    pub(crate) fn archive_topic(&self, topic: &str, place: Place, most: usize) -> Result<(), String> {
        archive_topic(self.system.store(), topic, self.cursor(place), most)
    }

    pub(crate) fn evict(&self, raw: u64, place: Place) -> Result<(), String> {
        let Some(user) = self.known(raw) else { return Ok(()) };
        evict(self.system.store(), user, self.cursor(place))
    }

    pub(crate) fn damage(&self, raw: u64, way: usize) -> Result<(), String> {
        let Some(user) = self.known(raw) else { return Ok(()) };
        feed::inbox::tables::damage_inbox(self.system.store(), user, way).map_err(|e| format!("no damage: {e}"))
    }

    /// A compaction also ends old notices.
    pub(crate) fn compact(&self) -> Result<(), String> {
        events::tend(&self.system.feed).map_err(|e| format!("the log of events cannot be tended: {e}"))?;
        self.system.store().compact().map_err(|e| format!("compaction fails: {e}"))
    }
}
