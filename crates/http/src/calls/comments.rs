//! Comments on an item.

use super::content::{BY_AUTHOR, BY_ID, answer_published};
use super::objects::Item;
use super::timelines::{list, list_of, pages};
use crate::guards::auth::Who;
use crate::prelude::*;
use feed::{PublishItems, ids, items, visibility};
use model::NewComment;

endpoints! { "content":
    /// Comment on an item
    ///
    /// Publishes an item of the kind `comment` whose `ref_id` is this item. A comment can be edited, deleted,
    /// restored, liked and commented on like any other item. It is in no timeline unless `broadcast` is `true`. A
    /// user token comments as its user on what the user may see, now, without a `content_id` of its own, and on no
    /// path.
    post("/v1/content/{content_id}/comments", comment, "comment")
        .takes::<NewComment>()
        .answers::<Item<'_>>(201, "The new comment")
        .answers::<Item<'_>>(200, "The same comment was published before")
        .shows("Content/comment")
        .header("Location")
        .for_users(Act::Comment)
        .refuses(&[Code::TimeAhead, Code::Blocked, Code::ContentNotFound, Code::ContentExists, Code::TooManyKinds])
        .leads_to(&["getContent", "deleteContent"], BY_ID)
        .leads_to(&["listComments"], &[("content_id", "$response.body#/ref_id")])
        .leads_to(&["listUserComments"], BY_AUTHOR);

    /// The comments on an item
    get("/v1/content/{content_id}/comments", on_item, "listComments")
        .with(pages)
        .for_users(TokenUse::Visible)
        .refuses(&[Code::ContentNotFound]);

    /// The comments of a user
    get("/v1/users/{uid}/comments", by_user, "listUserComments").with(pages).for_users(TokenUse::Visible);
}

/// `POST /v1/content/{content_id}/comments`
async fn comment(mut call: Call) -> Answer {
    let (subject, visibility) = (call.id("content_id")?, call.visibility());
    let new_item: NewComment = call.json().await?;
    may_comment(&call.caller.who, &new_item)?;
    ids::may_name(call.api.feed(), &new_item.author_id, new_item.mentions.iter(), visibility)?;
    let comment = PublishItems { new_items: vec![new_item.on(subject)], on_live_items: Some(visibility) };
    answer_published(&call, comment, "../").await
}

/// Refuses what a token must not do: speak for another user, at another time, to the followers of anybody, and with an id
/// that another item may have.
fn may_comment(who: &Who, new_item: &NewComment) -> Result<()> {
    let Who::User { id, .. } = who else { return Ok(()) };
    let NewComment { author_id, content_id, published_at, broadcast, to, .. } = new_item;
    let refused = [
        (author_id != id, "author_id: a token comments as its user"),
        (content_id.is_some(), "content_id: only a key may give an id"),
        (published_at.is_some(), "published_at: only a key may give a time"),
        (*broadcast || !to.is_empty(), "broadcast, to: only a key may publish to followers"),
    ];
    match refused.into_iter().find(|(is_refused, _)| *is_refused) {
        Some((_, detail)) => Err(Error::refused(Code::NotPermitted, detail)),
        None => Ok(()),
    }
}

/// `GET /v1/content/{content_id}/comments`
async fn on_item(call: Call) -> Answer {
    let item = call.id("content_id")?;
    list(&call, None, move |read| visibility::find_live(read, &item), items::comments).await
}

/// `GET /v1/users/{uid}/comments`
async fn by_user(call: Call) -> Answer {
    list_of(&call, call.user()?, None, items::user_comments).await
}
