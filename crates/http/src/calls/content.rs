//! `/v1/content`: publish, read, edit, delete.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::LOCATION;
use actix_web::{HttpResponse, HttpResponseBuilder};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Array, ArrayBuilder};

use super::show::{self, Item, ItemId, Items};
use crate::call::Call;
use crate::endpoint::parameters;
use crate::endpoint::{self, Endpoint, Takes, get, group, patch, post};
use crate::guards::auth::TokenUse;
use crate::limits::batch_work;
use crate::pools::Wants;
use crate::wire::body::{self, Nothing, UpTo, WholeBody};
use crate::wire::problem::Problem;
use crate::wire::query::{self, Ids, View};
use crate::wire::reply;
use crate::wire::reply::Answer;
use crate::wire::reply::Text;
use feed::{DeleteItem, EditItem, Feed, PublishItems, PublishedItem, Read, RestoreItem, TakeOff, items, sight};
use model::error::{Code, Error};
use model::priority::Pace;
use model::schemas;
use model::{Content, Draft, EditDraft, HostIds, ItemView, ReactionKinds, SharedContent};

/// Most items of a batch.
const MAX_BATCH: usize = 1000;

/// Bytes that the server adds to an item when it shows it.
const SHOWN_MORE: usize = 512;

/// Link from an item to the calls about it.
pub(crate) const BY_ID: &Takes = &[("content_id", "$response.body#/content_id")];
/// Link from an item to the calls about its author.
pub(crate) const BY_AUTHOR: &Takes = &[("uid", "$response.body#/author_id")];

/// The calls of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let new = json!({
        "author_id": "200", "text": "Low tide at noon", "topics": ["sea"],
        "media": [{"type": "image", "url": "https://example.org/tide.jpg"}]
    });
    let mut alone = show::example();
    alone.as_object_mut().and_then(|fields| fields.remove("author"));
    let calls = [
        post("/v1/content", publish, "publishContent", "Publish an item")
            .about(
                "A repeat with the same `content_id` and the same fields answers 200 and changes nothing; with other \
                 fields it answers 409. An item takes its place in timelines by `published_at`.",
            )
            .takes::<Draft>(new.clone())
            .answers::<Item<'_>>(201, "The new item", alone.clone())
            .answers::<Item<'_>>(200, "The same item was published before", alone.clone())
            .header("Location")
            .refuses(&[Code::InvalidId, Code::TimeAhead, Code::ContentExists, Code::TooManyKinds])
            .leads_to("getContent", BY_ID)
            .leads_to("editContent", BY_ID)
            .leads_to("deleteContent", BY_ID)
            .leads_to("react", BY_ID)
            .leads_to("listReactions", BY_ID)
            .leads_to("comment", BY_ID)
            .leads_to("listUserContent", BY_AUTHOR)
            .leads_to("listFollowers", BY_AUTHOR),
        get("/v1/content", list, "listContent", "Up to 100 items by their ids")
            .about("In the order of the ids, without items that do not exist, or not for the viewer.")
            .query([
                parameters::ids("ids", "Up to 100 ids of items, separated by commas", "32850,50015"),
                parameters::view(),
                parameters::viewer(),
            ])
            .for_users(TokenUse::Visible)
            .answers_items::<Item<'_>>(200, "ContentList", "The items", show::example())
            .refuses(&[Code::InvalidId]),
        post("/v1/content/batch", publish_batch, "publishContentBatch", "Publish up to 1,000 items, all or none")
            .about(
                "One change publishes all items. The body may have 256 times as many bytes as the body of a single \
                 publish.",
            )
            .takes::<NewContentList<'_>>(json!({"items": [new]}))
            .answers_items::<Item<'_>>(201, "ContentList", "The items; at least one is new", alone.clone())
            .answers_items::<Item<'_>>(200, "ContentList", "The same items were all published before", alone.clone())
            .refuses(&[Code::InvalidId, Code::TimeAhead, Code::ContentExists, Code::TooManyKinds])
            .leads_to("getContent", &[("content_id", "$response.body#/items/0/content_id")]),
        get("/v1/content/{content_id}", show, "getContent", "One item")
            .about("A key without `viewer` also sees an item whose author is suspended. It has `suspended`.")
            .for_users(TokenUse::Visible)
            .query([parameters::viewer()])
            .answers::<Item<'_>>(200, "The item", alone.clone())
            .refuses(&[Code::ContentNotFound]),
        patch("/v1/content/{content_id}", edit, "editContent", "Edit an item")
            .about("A missing field stays unchanged; `null` clears the field. The item gets `edited_at`.")
            .takes::<EditDraft>(json!({"text": "Low tide at one"}))
            .answers::<Item<'_>>(200, "The item after the edit", alone.clone())
            .refuses(&[Code::ContentNotFound])
            .leads_to("deleteContent", BY_ID),
        endpoint::delete("/v1/content/{content_id}", delete, "deleteContent", "Delete an item")
            .about(
                "The item leaves every list at once. It can be restored for `content.deleted_retention`. A second \
                 delete answers 404. With `purge=true` there is no way back: the text, the media, the topics and `extra` are \
                 gone at once, also of an item that is deleted already, and a compaction removes them from the disk. This can \
                 be repeated.",
            )
            .query([parameters::shown("purge", "Whether the item is deleted for good", parameters::flag(), true)])
            .answers_nothing("The item is deleted")
            .refuses(&[Code::ContentNotFound])
            .leads_to("restoreContent", &[("content_id", "$request.path.content_id")]),
        endpoint::delete(
            "/v1/users/{source}/content/{content_id}",
            take_off,
            "takeOffContent",
            "Take an item off one of its paths",
        )
        .about(
            "For the moderators of a group: the item leaves the own page of `source` and the timelines into which it came \
             through `source`, at once. Its other paths stay, and so do its topics, comments and reactions. There is no way \
             back; a restore of the item after a delete does not bring the path back. 404 if the item has no such path.",
        )
        .answers_nothing("The item is off the path")
        .refuses(&[Code::ContentNotFound])
        .leads_to("getContent", &[("content_id", "$request.path.content_id")]),
        post("/v1/content/{content_id}/restore", restore, "restoreContent", "Restore a deleted item")
            .about(
                "The item is in every list again, at its old place, with its reactions and comments. For an item that \
                 is not deleted the answer is the same. For an item deleted longer ago than \
                 `content.deleted_retention` it is 404.",
            )
            .takes_nothing()
            .answers::<Item<'_>>(200, "The item", alone)
            .refuses(&[Code::ContentNotFound])
            .leads_to("getContent", BY_ID)
            .leads_to("deleteContent", BY_ID),
    ];
    group("content", calls)
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewContentList<'a> {
    #[serde(borrow)]
    #[schema(schema_with = new_items)]
    items: UpTo<&'a RawValue, MAX_BATCH>,
}

fn new_items() -> Array {
    ArrayBuilder::new().items(schemas::of::<Draft>()).min_items(Some(1)).max_items(Some(MAX_BATCH)).build()
}

/// `POST /v1/content`
pub(crate) async fn publish(mut call: Call) -> Answer {
    call.no_query()?;
    let draft: Draft = call.json().await?;
    let published = if call.api.feed().is_node() {
        call.run(Wants::Change, move |feed| items::publish_one(feed, draft)).await?
    } else {
        let place = call.api.limits.place_for_change(call.caller.holder)?;
        let published = call.ask(place, PublishItems::one(draft), items::ask).await?;
        call.read_in_any_case(move |read| items::published(read, &published)).await?
    };
    let PublishedItem { shown, ids, is_new } = published;
    answer_published(&call, &shown, &ids, "content/", is_new)
}

/// 201 with a new item, or 200 with an item published before. `Location` is below `folder`, relative to the address of
/// the request, because a proxy may have removed a prefix from that.
pub(crate) fn answer_published(call: &Call, shown: &ItemView, ids: &HostIds, folder: &str, new: bool) -> Answer {
    let mut response = HttpResponseBuilder::new(status(new));
    response.insert_header((LOCATION, format!("{folder}{}", query::escaped(&ids.of(shown.content.id)))));
    Ok(reply::body(response, show::item(shown, ids, call.api.feed().reaction_kinds())?))
}

/// `POST /v1/content/batch`
pub(crate) async fn publish_batch(mut call: Call) -> Answer {
    call.no_query()?;
    let mut body = call.body(call.api.limits.batch_limit).await?;
    let limit = call.api.limits.body_limit;
    let work = call.api.limits.batch_work.wait_for(call.caller.holder, batch_work(body.len(), MAX_BATCH));
    let turns = (body.turn.take(), call.in_time(work).await?);
    let patience = call.api.limits.timeout;
    let published = move |feed: &Feed| {
        let published = publish_all(feed, body.whole(), limit, patience);
        drop(turns);
        published
    };
    let (new, text) = call.run(Wants::Change, published).await?;
    Ok(text.answer(HttpResponseBuilder::new(status(new))))
}

/// Publishes a batch. Returns whether any item is new, and the items as JSON. All of this runs on a thread that may
/// block, because a batch is large. The answer takes over the memory of the body.
fn publish_all(feed: &Feed, body: WholeBody, limit: usize, patience: Duration) -> Result<(bool, Text), Problem> {
    let NewContentList { items: UpTo(items) } = body.json()?;
    if items.is_empty() {
        return Err(Problem::invalid_body(format_args!("items: expected 1 to {MAX_BATCH} items")));
    }
    let mut pace = Pace::default();
    let draft = |(index, item): (usize, &&RawValue)| -> Result<Draft, Problem> {
        pace.step();
        if item.get().len() > limit {
            return Err(Problem::body_too_large(format_args!("items[{index}]"), limit));
        }
        body::object(item.get()).map_err(|problem| problem.at(format_args!("items[{index}]")))
    };
    let drafts: Vec<Draft> = items.iter().enumerate().map(draft).collect::<Result<_, _>>()?;
    let most = body.len() + SHOWN_MORE * drafts.len();
    let mut room = body.into_room(patience);
    // Reserved before any write. Only an item that was published before and edited since can be longer.
    room.reserve(most)?;
    let published = feed.submit(PublishItems::all(drafts))?;
    let new = published.iter().any(|(_, new)| *new);
    // Counts can be above 0, because comments may come before their subject.
    let (published, ids) = as_shown(feed, published.into_iter().map(|(content, _)| content))?;
    let mut text = Text::new(Some(room));
    let published = published.into_iter().inspect(|_| pace.step());
    show::write_items(published, &ids, feed.reaction_kinds(), &mut text)?;
    Ok((new, text))
}

/// Items as they are after a change, with the ids that they mention.
pub(crate) fn as_shown(
    feed: &Feed,
    contents: impl IntoIterator<Item = Content>,
) -> Result<(Vec<ItemView>, HostIds), Error> {
    let contents = contents.into_iter().map(|content| Arc::new(content.into())).collect();
    feed.read().named(sight::with_counts(feed.read(), contents)?)
}

fn status(new: bool) -> StatusCode {
    if new { StatusCode::CREATED } else { StatusCode::OK }
}

/// `GET /v1/content?ids=`
pub(crate) async fn list(call: Call) -> Answer {
    let [ids, view, viewer] = call.query(["ids", "view", "viewer"])?;
    let Ids(ids) = query::required("ids", ids)?;
    let view = query::value("view", view)?.unwrap_or(View::Full);
    let viewer = call.viewer(query::value("viewer", viewer)?);
    let find = move |read: Read<'_>| sight::contents(read, &read.find_all(&ids)?);
    let ((), text) = match view {
        View::Full => {
            let look = move |read: Read<'_>| {
                let read = read.seen_by(viewer.as_ref())?;
                sight::with_viewer(read, sight::listed(read, find(read)?)?)
            };
            call.show(look, |items, ids, kinds, text| show::write_items(items, &ids, kinds, text)).await?
        }
        View::Ids => {
            let look = move |read: Read<'_>| find(read.seen_by(viewer.as_ref())?);
            let write = |contents: Vec<Arc<SharedContent>>, ids: HostIds, _: &ReactionKinds, text: &mut Text| {
                text.write(&Items {
                    items: contents.iter().map(|content| ItemId::new(content.entry(), &ids)).collect(),
                })
            };
            call.show(look, write).await?
        }
    };
    Ok(text.answer(HttpResponseBuilder::new(StatusCode::OK)))
}

/// `GET /v1/content/{content_id}`
pub(crate) async fn show(call: Call) -> Answer {
    let id = call.content_id()?;
    let [viewer] = call.query(["viewer"])?;
    let viewer = call.viewer(query::value("viewer", viewer)?);
    let look = move |read: Read<'_>| {
        let read = read.seen_by(viewer.as_ref())?;
        let item = sight::by_id(read, read.find(&id)?)?;
        sight::with_viewer(read, sight::with_counts(read, item.into_iter().collect())?)
    };
    let write = |items: Vec<_>, ids: HostIds, kinds: &ReactionKinds, text: &mut Text| {
        show::write_item(items.first().ok_or_else(Error::content_not_found)?, &ids, kinds, text)
    };
    let ((), text) = call.show(look, write).await?;
    Ok(text.answer(HttpResponseBuilder::new(StatusCode::OK)))
}

/// `PATCH /v1/content/{content_id}`
pub(crate) async fn edit(mut call: Call) -> Answer {
    let id = call.content_id()?;
    call.no_query()?;
    let edit: EditDraft = call.json().await?;
    change(&call, move |feed| feed.submit(EditItem { item: id, edit })).await
}

/// `POST /v1/content/{content_id}/restore`
pub(crate) async fn restore(mut call: Call) -> Answer {
    let id = call.content_id()?;
    call.no_query()?;
    let Nothing {} = call.json_or_default().await?;
    change(&call, move |feed| feed.submit(RestoreItem { item: id })).await
}

/// Answers with an item after a change.
async fn change<C>(call: &Call, change: C) -> Answer
where
    C: FnOnce(&Feed) -> Result<Content, Error> + Send + 'static,
{
    let (items, ids) = call.run(Wants::Change, move |feed| as_shown(feed, [change(feed)?])).await?;
    let item = items.first().ok_or_else(Error::content_not_found)?;
    Ok(reply::body(HttpResponseBuilder::new(StatusCode::OK), show::item(item, &ids, call.api.feed().reaction_kinds())?))
}

/// `DELETE /v1/users/{source}/content/{content_id}`
pub(crate) async fn take_off(call: Call) -> Answer {
    let (source, id) = (call.source()?, call.content_id()?);
    call.no_query()?;
    call.run(Wants::Change, move |feed| feed.submit(TakeOff { item: id, source })).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// `DELETE /v1/content/{content_id}`
pub(crate) async fn delete(call: Call) -> Answer {
    let id = call.content_id()?;
    let [purge] = call.query(["purge"])?;
    let purge = query::value("purge", purge)?.unwrap_or(false);
    let delete = move |feed: &Feed| {
        if purge {
            feed.submit(DeleteItem { item: id, purge: true })
        } else {
            feed.submit(DeleteItem { item: id, purge: false })
        }
    };
    call.run(Wants::Change, delete).await?;
    Ok(HttpResponse::NoContent().finish())
}
