//! Comments on an item.

use serde_json::json;

use super::content::{BY_AUTHOR, BY_ID, answer_published, as_shown};
use super::show::Item;
use super::timelines::{list, list_of, pages};
use crate::call::Call;
use crate::endpoint::{Endpoint, get, group, post};
use crate::pools::Wants;
use crate::wire::reply::Answer;
use feed::Feed;
use model::CommentDraft;
use model::error::{Code, Result};

/// The calls of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let new = json!({
        "content_id": "32851", "author_id": "111", "published_at": 1_689_089_600_000_u64, "kind": "comment",
        "text": "See you there", "media": [], "topics": [], "ref_id": "32850", "broadcast": false,
        "counts": {"comments": 0, "reposts": 0, "reactions": {}}
    });
    let calls = [
        post("/v1/content/{content_id}/comments", comment, "comment", "Comment on an item")
            .about(
                "Publishes an item of the kind `comment` whose `ref_id` is this item. A comment can be edited, \
                 deleted, restored, liked and commented on like any other item. It is in no timeline unless \
                 `broadcast` is `true`.",
            )
            .takes::<CommentDraft>(json!({"author_id": "111", "text": "See you there"}))
            .answers::<Item<'_>>(201, "The new comment", new.clone())
            .answers::<Item<'_>>(200, "The same comment was published before", new)
            .header("Location")
            .refuses(&[Code::TimeAhead, Code::ContentNotFound, Code::ContentExists, Code::TooManyKinds])
            .leads_to("getContent", BY_ID)
            .leads_to("deleteContent", BY_ID)
            .leads_to("listComments", &[("content_id", "$response.body#/ref_id")])
            .leads_to("listUserComments", BY_AUTHOR),
        pages(get("/v1/content/{content_id}/comments", on_item, "listComments", "The comments on an item"))
            .refuses(&[Code::ContentNotFound]),
        pages(get("/v1/users/{uid}/comments", by_user, "listUserComments", "The comments of a user")).for_users(),
    ];
    group("content", calls)
}

/// `POST /v1/content/{content_id}/comments`
pub(crate) async fn comment(mut call: Call) -> Answer {
    let subject = call.content_id()?;
    call.no_query()?;
    let draft: CommentDraft = call.json().await?;
    let commented = move |feed: &Feed| -> Result<_> {
        let (comment, new) = feed.comment(subject, draft)?;
        Ok((as_shown(feed, [comment])?, new))
    };
    let ((shown, ids), new) = call.run(Wants::Change, commented).await?;
    answer_published(&call, &shown, &ids, "../", new)
}

/// `GET /v1/content/{content_id}/comments`
pub(crate) async fn on_item(call: Call) -> Answer {
    let item = call.content_id()?;
    list(&call, None, move |read| read.find_live(&item), |read, item, request| read.comments(item, request)).await
}

/// `GET /v1/users/{uid}/comments`
pub(crate) async fn by_user(call: Call) -> Answer {
    list_of(&call, call.user()?, None, |read, author, request| read.user_comments(author, request)).await
}
