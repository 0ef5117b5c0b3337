//! Entries of lists of content.

use crate::{Audience, ContentId, Cursor, KindId, Page, UserId};

/// An item in a list of content: one entry of an inbox, of an outbox, or of a page. Entries are ordered by their cursors,
/// those of one item by their sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    /// Publishing time and content id.
    pub cursor: Cursor,
    /// The source through which it came: one of its paths. In a page, and in lists that are no outboxes, the author.
    pub source: UserId,
    /// The author.
    pub author: UserId,
    /// The kind of the item.
    pub kind: KindId,
    /// Who may see the item.
    pub audience: Audience,
}

impl Entry {
    /// The entry of a public post on the author's own path.
    pub fn plain(cursor: Cursor, author: UserId) -> Self {
        Self { cursor, source: author, author, kind: KindId::POST, audience: Audience::Public }
    }

    /// This entry on another path.
    #[must_use]
    pub fn on(self, source: UserId) -> Self {
        Self { source, ..self }
    }

    /// This entry with another author.
    #[must_use]
    pub fn by(self, author: UserId) -> Self {
        Self { author, ..self }
    }

    /// Whether it is [`Entry::plain`].
    pub fn is_plain(&self) -> bool {
        *self == Self::plain(self.cursor, self.author)
    }
}

/// A page of content.
pub type ContentPage = Page<Entry, ContentId>;
