//! Comments, found among all content.

use super::{Memory, walk};
use crate::error::Result;
use crate::model::{COMMENT, Content, ContentId, Entry, Order, Span, UserId};
use crate::store::types::Tier;

impl Memory {
    /// See [`Store::comments`](crate::store::Store::comments).
    pub fn comments(
        &self,
        subject: ContentId,
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        _: Tier,
    ) -> Result<Vec<Entry>> {
        if self.state().is_purged(subject) {
            return Ok(Vec::new());
        }
        Ok(self.live_comments(|comment| comment.ref_id == Some(subject), span, order, limit))
    }

    /// See [`Store::user_comments`](crate::store::Store::user_comments).
    pub fn user_comments(
        &self,
        author: UserId,
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        _: Tier,
    ) -> Result<Vec<Entry>> {
        Ok(self.live_comments(|comment| comment.author == author, span, order, limit))
    }

    fn live_comments(
        &self,
        wanted: impl Fn(&Content) -> bool,
        span: Span<ContentId>,
        order: Order,
        limit: usize,
    ) -> Vec<Entry> {
        let state = self.state();
        let live = state.content.values().filter(|content| !state.deleted.contains_key(&content.id));
        let comments = live.filter(|content| content.kind == COMMENT && wanted(content)).map(Content::entry);
        walk(comments, |entry| entry.cursor, span, order, limit)
    }
}
