//! Content: one published item.

use crate::{Audience, ContentId, Cursor, Entry, KindId, Millis, POST, UserId};

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
    /// `post`, or a kind of the application: 1–32 of `a-z0-9_`.
    pub kind: String,
    /// The number of `kind`.
    pub kind_id: KindId,
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
    /// Whether its author is one of its paths.
    pub broadcast: bool,
    /// Its further paths, each once, none of them the author.
    pub to: Vec<UserId>,
    /// Who may see it.
    pub audience: Audience,
    /// Users who get a notice of it, each once; at most 50.
    pub mentions: Vec<UserId>,
    /// A hash of the body, by which a repeated publish is recognised after an edit.
    pub fingerprint: u64,
}

impl Content {
    /// A post of an author for all, without anything in it.
    pub fn plain(id: ContentId, author: UserId, published_at: Millis) -> Self {
        Self {
            id,
            author,
            published_at,
            edited_at: None,
            kind: POST.to_owned(),
            kind_id: KindId::POST,
            text: None,
            media: "[]".to_owned(),
            topics: Vec::new(),
            ref_id: None,
            extra: None,
            broadcast: true,
            to: Vec::new(),
            audience: Audience::Public,
            mentions: Vec::new(),
            fingerprint: 0,
        }
    }

    /// Its place in lists.
    pub fn cursor(&self) -> Cursor {
        Cursor { at: self.published_at, id: self.id }
    }

    /// The bytes of its text, its media and `extra`.
    pub fn bytes(&self) -> usize {
        [&self.text, &self.extra].into_iter().flatten().map(String::len).sum::<usize>() + self.media.len()
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

    /// The item without all that its author has written: what is left of it once it is deleted for good.
    #[must_use]
    pub fn blank(self) -> Self {
        Self { text: None, media: "[]".to_owned(), topics: Vec::new(), extra: None, ..self }
    }

    /// Its entry in the outbox of each of its paths.
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        self.paths().map(|source| self.entry().on(source))
    }
}
