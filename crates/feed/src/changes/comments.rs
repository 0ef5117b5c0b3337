//! Comments: made on an item, listed by item and by user.

use super::command::PublishItems;
use super::publishes::only;
use crate::{Feed, Visibility};
use model::error::Result;
use model::{CommentDraft, Content, HostId};

impl Feed {
    /// Publishes a comment on an item; returns the comment, and whether it is new. `content_not_found` if the item does
    /// not exist, with [`Visibility::User`] this or `blocked` if it is not for the author of the comment by the rules of
    /// [`Read::find_item`](crate::Read::find_item); other errors as in [`Feed::publish`]. An item deleted at the same moment may still get the comment,
    /// as any item may refer to a deleted one.
    pub fn comment(&self, subject: HostId, draft: CommentDraft, sight: Visibility) -> Result<(Content, bool)> {
        let published = self.submit(PublishItems { drafts: vec![draft.on(subject)], on_live_items: Some(sight) })?;
        only(published)
    }
}
