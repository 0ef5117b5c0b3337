//! Comments on an item.

use super::call::{Answer, Call};
use super::content::answer_published;
use super::timelines::list;
use crate::model::CommentDraft;

/// `POST /v1/content/{content_id}/comments`
pub(super) async fn comment(mut call: Call) -> Answer {
    let subject = call.content_id()?;
    call.no_query()?;
    let body = call.body(call.api.body_limit).await?;
    let draft: CommentDraft = body.json()?;
    let (comment, new) = call.block(move |feed| feed.comment(subject, draft)).await?;
    answer_published(&comment, new)
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
