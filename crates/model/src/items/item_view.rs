//! Content as it is shown: with its counts, author and reactions.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use utoipa::ToSchema;

use crate::{Content, ExternalId, ItemCounts, Reactions};

/// Longest text that is kept, bytes. A longer one is written anew for each answer.
pub const MOST_KEPT: usize = 8 << 10;

/// The text in which answers show a value that never changes, kept by the first answer that writes it.
#[derive(Debug, Default)]
pub struct KeptText(OnceLock<Box<str>>);

impl KeptText {
    /// The text; `write` writes it if none is kept.
    pub fn get<E>(&self, write: impl FnOnce() -> Result<String, E>) -> Result<Cow<'_, str>, E> {
        if let Some(kept) = self.0.get() {
            return Ok(Cow::Borrowed(kept));
        }
        let text = write()?;
        if text.len() > MOST_KEPT {
            return Ok(Cow::Owned(text));
        }
        Ok(Cow::Borrowed(self.0.get_or_init(|| text.into())))
    }

    /// Whether a text is kept.
    pub fn is_kept(&self) -> bool {
        self.0.get().is_some()
    }
}

/// An item as it stands at one time, shared by a cache and by answers.
#[derive(Debug)]
pub struct SharedContent {
    content: Content,
    /// The item in answers, without counts, author and reactions.
    pub json: KeptText,
}

impl Deref for SharedContent {
    type Target = Content;
    fn deref(&self) -> &Content {
        &self.content
    }
}

impl From<Content> for SharedContent {
    fn from(content: Content) -> Self {
        Self { content, json: KeptText::default() }
    }
}

impl PartialEq for SharedContent {
    fn eq(&self, other: &Self) -> bool {
        self.content == other.content
    }
}

impl Eq for SharedContent {}

/// An item with the data that is shown beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemView {
    /// The item, shared with the cache.
    pub content: Arc<SharedContent>,
    /// Its counts.
    pub counts: ItemCounts,
    /// Its author's summary, in lists.
    pub author: Option<Arc<AuthorSummary>>,
    /// The viewer's reactions, in the viewer's own timeline.
    pub viewer: Option<Reactions>,
    /// Whether its author is suspended, so that no list shows it.
    pub suspended: bool,
}

/// The author of an item in a list. A field without a value is `null`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Author)]
pub struct AuthorSummary {
    /// The id of the user.
    #[serde(rename = "user_id")]
    pub user: ExternalId,
    /// The name for people.
    #[schema(required)]
    pub nickname: Option<String>,
    /// The picture.
    #[schema(required)]
    pub avatar: Option<String>,
    /// The summary in answers.
    #[serde(skip)]
    pub json: KeptText,
}

impl PartialEq for AuthorSummary {
    fn eq(&self, other: &Self) -> bool {
        (&self.user, &self.nickname, &self.avatar) == (&other.user, &other.nickname, &other.avatar)
    }
}

impl Eq for AuthorSummary {}
