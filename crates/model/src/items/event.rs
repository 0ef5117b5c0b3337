//! Events of content, in one order.

use std::sync::Arc;

use crate::{Content, ContentId, Cursor, Entry, Millis, UserId};

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// It was published.
    Publish,
    /// Its deletion was taken back.
    Restore,
    /// It was edited.
    Edit,
    /// It was deleted.
    Delete,
    /// No change: only a place in the order, after which a stream can resume.
    Mark,
    /// Items changed here without events: a client that resumes before it misses changes.
    Gap,
    /// A suspension of the author began or was taken back: to readers who are shown the author, this is a gap.
    Suspension,
    /// It was taken off one path, the only one of the event.
    TakenOff,
}

/// A change of an item. Its reader looks up the item as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its place in the order of all events. Numbers rise; some are left out.
    pub number: u64,
    /// The kind of change.
    pub kind: EventKind,
    /// The item; without meaning for a mark or a gap. A suspension has the author alone.
    pub entry: Entry,
    /// Whether the item's author is one of its paths.
    pub broadcast: bool,
    /// The further paths of the item, if it has any.
    pub to: Option<Arc<[UserId]>>,
    /// Whether this is the publish of an item with a time given by the server. In memory also a gap with such items; its
    /// entry has the smallest of their cursors.
    pub given: bool,
    /// Time of the number, by the server's clock. Never falls from one number to the next. It is the time of an item if
    /// the server gave one.
    pub logged: Millis,
    /// The latest time logged, or time of a published item, up to this event. Never falls.
    pub top: Millis,
}

/// An event's place is a cursor with this and the number of the event as its id.
const PLACES: u64 = 1 << 62;

impl Event {
    /// An event of no item: that of a mark or a gap, or of a change that takes its number before it is written.
    pub fn new(number: u64, kind: EventKind, given: bool, logged: Millis, top: Millis) -> Self {
        let entry = Entry::plain(Cursor::OLDEST, UserId::MIN);
        Self { number, kind, entry, broadcast: false, to: None, given, logged, top }
    }

    /// This event with the item after the change; a mark or a gap has none.
    #[must_use]
    pub fn of(&self, content: &Content) -> Self {
        match self.kind {
            EventKind::Mark | EventKind::Gap | EventKind::Suspension | EventKind::TakenOff => self.clone(),
            _ => {
                let to = (!content.to.is_empty()).then(|| content.to.as_slice().into());
                let entry = Entry { kind: content.kind_id, ..content.shown_as() };
                Self { entry, broadcast: content.broadcast, to, ..self.clone() }
            }
        }
    }

    /// This event of an item on one path: that of an item taken off the path.
    #[must_use]
    pub fn of_path(self, content: &Content, source: UserId) -> Self {
        let entry = Entry { kind: content.kind_id, ..content.shown_as() };
        let broadcast = source == content.author;
        Self { entry, broadcast, to: (!broadcast).then(|| [source].into()), ..self }
    }

    /// This event of a user: that of a suspension.
    #[must_use]
    pub fn of_user(self, user: UserId) -> Self {
        Self { entry: Entry::plain(self.entry.cursor, user), ..self }
    }

    /// Whether it names a user.
    pub fn names(&self, user: UserId) -> bool {
        let has_author = !matches!(self.kind, EventKind::Mark | EventKind::Gap);
        has_author && self.entry.author == user || self.paths().any(|path| path == user)
    }

    /// This event without one of the further paths of the item.
    #[must_use]
    pub fn without_path(self, source: UserId) -> Self {
        let to: Vec<_> = self.to.iter().flat_map(|to| to.iter().copied()).filter(|path| *path != source).collect();
        Self { to: (!to.is_empty()).then(|| to.into()), ..self }
    }

    /// The paths of the item: streams of readers who are shown one of them get the event.
    pub fn paths(&self) -> impl Iterator<Item = UserId> {
        self.broadcast.then_some(self.entry.author).into_iter().chain(self.to.iter().flat_map(|to| to.iter().copied()))
    }

    /// The cursor with which a client resumes after this event. It lies below the cursors of all items that get their
    /// time later. No item with an id below 2^62 has this cursor.
    pub fn place(&self) -> Cursor {
        // Numbers never grow that large.
        let id = ContentId::new(PLACES | self.number).unwrap_or(ContentId::MAX);
        // An item of the same millisecond may have a smaller id.
        Cursor { at: self.logged.saturating_sub(1), id }
    }

    /// The number of the event, if the cursor is the place of an event. `None` if the cursor's id is too small for a
    /// place.
    pub fn number_of(place: Cursor) -> Option<u64> {
        place.id.get().checked_sub(PLACES).filter(|_| !place.id.is_name())
    }

    /// Whether it is the publish of an item with this cursor.
    pub fn publishes(&self, cursor: Cursor) -> bool {
        self.kind == EventKind::Publish && self.entry.cursor == cursor
    }
}

/// The time of a change, and its event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// The time.
    pub at: Millis,
    /// Written in the same change; `None` for a change without an event.
    pub event: Option<Event>,
}

impl From<Millis> for Moment {
    /// A change without an event.
    fn from(at: Millis) -> Self {
        Self { at, event: None }
    }
}
