//! Content as it is shown: with what changes around it.

use std::sync::Arc;

use super::content::Content;
use super::counts::ItemCounts;
use super::id::UserId;
use super::reaction::Reactions;

/// An item with what is shown beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The item, shared with the cache.
    pub content: Arc<Content>,
    /// What is counted of it.
    pub counts: ItemCounts,
    /// Who published it, in lists.
    pub author: Option<Arc<Card>>,
    /// What the viewer did with it, in the viewer's own timeline.
    pub viewer: Option<Reactions>,
}

/// What is shown of a user beside its content. `None` is what was never set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Whose.
    pub user: UserId,
    /// The name.
    pub nickname: Option<String>,
    /// The picture.
    pub avatar: Option<String>,
}
