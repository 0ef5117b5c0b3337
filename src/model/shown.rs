//! Content as it is shown: with its counts, author and reactions.

use std::sync::Arc;

use super::content::Content;
use super::counts::ItemCounts;
use super::host_id::HostId;
use super::reaction::Reactions;

/// An item with the data that is shown beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The item, shared with the cache.
    pub content: Arc<Content>,
    /// Its counts.
    pub counts: ItemCounts,
    /// Its author's card, in lists.
    pub author: Option<Arc<Card>>,
    /// The viewer's reactions, in the viewer's own timeline.
    pub viewer: Option<Reactions>,
}

/// The part of a profile that lists show. `None` if never set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// The user.
    pub user: HostId,
    /// The name.
    pub nickname: Option<String>,
    /// The picture.
    pub avatar: Option<String>,
}
