//! Comments: made on an item, listed by item and by user.

use super::command::PublishItems;
use crate::Feed;
use model::error::{Error, Result};
use model::store::Tier;
use model::{CommentDraft, Content, ContentId, Entry, HostId, Page, PageRequest, UserId};

impl Feed {
    /// Publishes a comment on an item; returns the comment, and whether it is new. `content_not_found` if the item does
    /// not exist; other errors as in [`Feed::publish`]. An item deleted at the same moment may still get the comment,
    /// as any item may refer to a deleted one.
    pub fn comment(&self, subject: HostId, draft: CommentDraft) -> Result<(Content, bool)> {
        let published = self.submit(PublishItems { drafts: vec![draft.on(subject)], on_live_items: true })?;
        published.into_iter().next().ok_or_else(|| Error::Corrupt("a publish returned no item".to_owned()))
    }

    /// A page of the comments on an item; `content_not_found` if the item does not exist.
    pub fn comments(
        &self,
        subject: ContentId,
        request: &PageRequest<ContentId>,
        tier: Tier,
    ) -> Result<Page<Entry, ContentId>> {
        self.must_be_there(subject, tier)?;
        self.list_page(request, |span, order, limit| self.store.comments(subject, span, order, limit, tier))
    }

    /// A page of the comments that a user made.
    pub fn user_comments(
        &self,
        author: UserId,
        request: &PageRequest<ContentId>,
        tier: Tier,
    ) -> Result<Page<Entry, ContentId>> {
        self.list_page(request, |span, order, limit| self.store.user_comments(author, span, order, limit, tier))
    }

    /// `content_not_found` unless an item is live.
    pub(crate) fn must_be_there(&self, id: ContentId, tier: Tier) -> Result<()> {
        if self.contents(&[id], tier)?.is_empty() { Err(Error::content_not_found()) } else { Ok(()) }
    }
}
