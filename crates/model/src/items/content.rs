//! Content: one published item.

use crate::ids::id::{ContentId, UserId};
use crate::ids::position::{Cursor, Entry, Millis};

/// JSON text that was checked on its way in and is handed back byte for byte.
pub type RawJson = String;

/// One published item as it stands now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Its id.
    pub id: ContentId,
    /// Its author.
    pub author: UserId,
    /// Time of publishing; with the id its place in every list. Never changes.
    pub published_at: Millis,
    /// Time of the last edit.
    pub edited_at: Option<Millis>,
    /// `post`, or a kind of the host: 1–32 of `a-z0-9_`.
    pub kind: String,
    /// The text.
    pub text: Option<String>,
    /// A JSON array of objects, each with `type` and `url`.
    pub media: RawJson,
    /// At most 10, of 1–64 characters each.
    pub topics: Vec<String>,
    /// The item that this one points at.
    pub ref_id: Option<ContentId>,
    /// Any JSON object.
    pub extra: Option<RawJson>,
    /// Whether it belongs into the author's outbox and so into timelines.
    pub broadcast: bool,
    /// A hash of the body, by which a repeated publish is recognised after an edit.
    pub fingerprint: u64,
}

impl Content {
    /// Its place in lists.
    #[inline]
    pub fn cursor(&self) -> Cursor {
        Cursor { at: self.published_at, id: self.id }
    }

    /// Its row in outbox and inboxes.
    #[inline]
    pub fn entry(&self) -> Entry {
        Entry { cursor: self.cursor(), author: self.author }
    }
}

/// A change of content: `None` leaves a field, `Some(None)` clears it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edit {
    /// The new text.
    pub text: Option<Option<String>>,
    /// The new media, a JSON array; `None` leaves them.
    pub media: Option<RawJson>,
    /// The new extra object.
    pub extra: Option<Option<RawJson>>,
}
