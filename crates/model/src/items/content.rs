//! Content: one published item.

use crate::{Content, Cursor, Entry, UserId};

impl Content {
    /// Its place in lists.
    pub fn cursor(&self) -> Cursor {
        Cursor { at: self.published_at, id: self.id }
    }

    /// Its entry in lists that are no outboxes.
    pub fn entry(&self) -> Entry {
        let (author, kind, audience) = (self.author, self.kind_id, self.audience);
        Entry { cursor: self.cursor(), source: author, author, kind, audience }
    }

    /// Its entry in pages, which tell nothing of kinds and paths.
    pub fn shown_as(&self) -> Entry {
        Entry::plain(self.cursor(), self.author)
    }

    /// Its paths: the sources whose followers get it.
    pub fn paths(&self) -> impl Iterator<Item = UserId> + Clone {
        self.broadcast.then_some(self.author).into_iter().chain(self.to.iter().copied())
    }

    /// The item when it is taken off a path; the rest stays as it is.
    #[must_use]
    pub fn without_path(mut self, source: UserId) -> Self {
        self.broadcast &= source != self.author;
        self.to.retain(|other| *other != source);
        self
    }

    /// The item without a user who is not its author: it has no path through the user, and does not mention the user.
    #[must_use]
    pub fn without_user(self, user: UserId) -> Self {
        let mut left = self.without_path(user);
        left.mentions.retain(|other| *other != user);
        left
    }

    /// Its entry in the outbox of each of its paths.
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        self.paths().map(|source| self.entry().on(source))
    }
}
