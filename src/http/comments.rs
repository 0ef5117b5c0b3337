//! Comments on an item.

use std::sync::Arc;

use super::call::{Answer, Call};
use super::content::answer_published;
use super::problem::Problem;
use super::timelines::list;
use crate::error::Result;
use crate::feed::Feed;
use crate::model::CommentDraft;
use crate::store::Tier;

/// `POST /v1/content/{content_id}/comments`
pub(super) async fn comment(mut call: Call) -> Answer {
    let subject = call.content_id()?;
    call.no_query()?;
    let body = call.body(call.api.body_limit).await?;
    let draft: CommentDraft = body.json()?;
    let commented = move |feed: &Feed| -> Result<_> {
        let (comment, new) = feed.comment(subject, draft)?;
        Ok((feed.counted(vec![Arc::new(comment)], Tier::Disk)?, new))
    };
    let (shown, new) = call.change(commented).await?;
    let shown = shown.first().ok_or_else(|| Problem::internal("a publish without an answer"))?;
    answer_published(shown, "../", new)
}

/// `GET /v1/content/{content_id}/comments`
pub(super) async fn on_item(call: Call) -> Answer {
    let subject = call.content_id()?;
    list(call, move |feed, request, tier| feed.comments(subject, request, tier)).await
}

/// `GET /v1/users/{uid}/comments`
pub(super) async fn by_user(call: Call) -> Answer {
    let author = call.user()?;
    list(call, move |feed, request, tier| feed.user_comments(author, request, tier)).await
}
