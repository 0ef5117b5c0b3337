//! What happens to content, in one order.

use super::content::Content;
use super::id::{ContentId, UserId};
use super::position::{Cursor, Entry, Millis};

/// What happened to an item.
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
    /// Nothing: only a place in the order, for a stream to go on from.
    Mark,
    /// Items changed here of which there are no events: whoever goes on from before has missed something.
    Gap,
}

/// Something that happened to an item. What the item is now, its reader looks up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Its place in the order of all events. Numbers rise; some are left out.
    pub number: u64,
    /// What happened.
    pub kind: EventKind,
    /// To which item; of a mark and a gap it says nothing.
    pub entry: Entry,
    /// Whether the item is broadcast: streams are told of no other.
    pub broadcast: bool,
    /// Whether this is the publish of an item with a time of the server's.
    pub given: bool,
    /// When the number was given, by the server's clock. Never falls from one number to the next, and is the
    /// time of an item with a time of the server's.
    pub logged: Millis,
    /// The latest of all times logged, and of all times of items published, up to this event. Never falls.
    pub top: Millis,
}

/// Cursors with greater ids than this, numbers of events added, are places of events.
const PLACES: u64 = 1 << 62;

impl Event {
    /// The cursor that leads on from here. It lies below the cursors of all items that get their time later. No item
    /// has it, unless its host names ids above 2^62.
    pub fn place(&self) -> Cursor {
        // Far more than can be counted in any time.
        let id = ContentId::new(PLACES | self.number).unwrap_or(ContentId::MAX);
        // An item of the same millisecond may have a smaller id.
        Cursor { at: self.logged.saturating_sub(1), id }
    }

    /// The number of the event to which a cursor leads, if it is one of an event.
    pub fn number_of(place: Cursor) -> Option<u64> {
        place.id.get().checked_sub(PLACES)
    }

    /// Whether it is the publish of an item with this cursor.
    pub fn publishes(&self, cursor: Cursor) -> bool {
        self.kind == EventKind::Publish && self.entry.cursor == cursor
    }
}

/// The number that a change has taken before it is written, and with it all that its event says of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// See [`Event::number`].
    pub number: u64,
    /// See [`Event::kind`].
    pub kind: EventKind,
    /// See [`Event::given`].
    pub given: bool,
    /// See [`Event::logged`].
    pub logged: Millis,
    /// See [`Event::top`].
    pub top: Millis,
}

impl Stamp {
    /// The event, once it is known what the item is.
    pub fn event(self, content: &Content) -> Event {
        match self.kind {
            EventKind::Mark | EventKind::Gap => self.of_nothing(),
            _ => Event { entry: content.entry(), broadcast: content.broadcast, ..self.of_nothing() },
        }
    }

    /// The event of a mark or a gap.
    pub fn of_nothing(self) -> Event {
        let Self { number, kind, given, logged, top } = self;
        let entry = Entry { cursor: Cursor::OLDEST, author: UserId::MIN };
        Event { number, kind, entry, broadcast: false, given, logged, top }
    }
}

/// When a change is made, and the stamp of the event that tells of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The time.
    pub at: Millis,
    /// Written in the same change as its event; `None` for a change that nobody is told of.
    pub stamp: Option<Stamp>,
}

impl From<Millis> for Moment {
    /// A change that nobody is told of.
    fn from(at: Millis) -> Self {
        Self { at, stamp: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_leads_to_its_event() {
        let stamp = Stamp { number: 7, kind: EventKind::Mark, given: false, logged: 1000, top: 2000 };
        let place = stamp.of_nothing().place();
        assert_eq!((place.at, Event::number_of(place)), (999, Some(7)));
        assert_eq!(Event::number_of(Cursor { at: 1000, id: ContentId::MIN }), None);
    }
}
