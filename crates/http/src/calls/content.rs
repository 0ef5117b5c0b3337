//! `/v1/content`: publish, read, edit, delete.

use actix_web::http::header::LOCATION;
use serde_json::value::RawValue;
use utoipa::openapi::schema::{Array, ArrayBuilder};

use super::objects::{self, Item, ItemId};
use crate::connections::answer_memory;
use crate::prelude::*;
use crate::wire::body::{self, Body, UpTo};
use crate::wire::problem::body_too_large;
use crate::wire::query::Ids;
use crate::wire::reply::Items;
use feed::items::{self, PublishedItem};
use feed::{Change, DeleteItem, EditItem, PublishItems, RestoreItem, TakeOff, visibility};
use model::priority::Pace;
use model::{Content, ContentEdit, ExternalIds, ItemView, NewContent, ReactionKinds, SharedContent};

/// Most items of a batch.
const MAX_BATCH: usize = 1000;

/// Bytes that the server adds to an item when it shows it.
const SHOWN_MORE: usize = 512;

/// Link from an item to the calls about it.
pub(crate) const BY_ID: &Takes = &[("content_id", "$response.body#/content_id")];
/// Link from an item to the calls about its author.
pub(crate) const BY_AUTHOR: &Takes = &[("uid", "$response.body#/author_id")];

endpoints! { "content" = "Publish, read, edit, delete and restore items; comments on items":
    /// Publish an item
    ///
    /// A repeat with the same `content_id` and the same fields answers 200 and changes nothing; with other fields it
    /// answers 409. An item takes its place in timelines by `published_at`.
    post("/v1/content", publish, "publishContent")
        .takes::<NewContent>()
        .answers::<Item<'_>>(201, "The new item")
        .answers::<Item<'_>>(200, "The same item was published before")
        .header("Location")
        .refuses(&[Code::InvalidId, Code::TimeAhead, Code::ContentExists, Code::TooManyKinds])
        .leads_to(&["getContent", "editContent", "deleteContent", "react", "listReactions", "comment"], BY_ID)
        .leads_to(&["listUserContent", "listFollowers"], BY_AUTHOR);

    /// Up to 100 items by their ids
    ///
    /// In the order of the ids, without items that do not exist, or not for the viewer.
    get("/v1/content", list, "listContent")
        .query([
            parameters::ids("ids", "Up to 100 ids of items, separated by commas", "32850,50015"),
            parameters::view(),
            parameters::viewer(),
        ])
        .for_users(TokenUse::Visible)
        .answers_items::<Item<'_>>(200, "ContentList", "The items")
        .refuses(&[Code::InvalidId]);

    /// Publish up to 1,000 items, all or none
    ///
    /// One change publishes all items. The body may have 256 times as many bytes as the body of a single publish.
    post("/v1/content/batch", publish_batch, "publishContentBatch")
        .takes_as::<NewContentList<'_>>(BodyKind::Batch)
        .answers_items::<Item<'_>>(201, "ContentList", "The items; at least one is new")
        .answers_items::<Item<'_>>(200, "ContentList", "The same items were all published before")
        .shows("ContentList/published")
        .refuses(&[Code::InvalidId, Code::TimeAhead, Code::ContentExists, Code::TooManyKinds])
        .leads_to(&["getContent"], &[("content_id", "$response.body#/items/0/content_id")]);

    /// One item
    ///
    /// A key without `viewer` also sees an item whose author is suspended. It has `suspended`.
    get("/v1/content/{content_id}", show, "getContent")
        .for_users(TokenUse::Visible)
        .query([parameters::viewer()])
        .answers::<Item<'_>>(200, "The item")
        .refuses(&[Code::ContentNotFound]);

    /// Edit an item
    ///
    /// A missing field stays unchanged; `null` clears the field. The item gets `edited_at`.
    patch("/v1/content/{content_id}", edit, "editContent")
        .takes::<ContentEdit>()
        .answers::<Item<'_>>(200, "The item after the edit")
        .refuses(&[Code::ContentNotFound])
        .leads_to(&["deleteContent"], BY_ID);

    /// Delete an item
    ///
    /// The item leaves every list at once. It can be restored for `content.deleted_retention`. A second delete
    /// answers 404. With `purge=true` there is no way back: the text, the media, the topics and `extra` are gone at
    /// once, also of an item that is deleted already, and a compaction removes them from the disk. This can be
    /// repeated.
    delete("/v1/content/{content_id}", delete_item, "deleteContent")
        .query([parameters::flag("purge", "Whether the item is deleted for good")])
        .answers_nothing("The item is deleted")
        .refuses(&[Code::ContentNotFound])
        .leads_to(&["restoreContent"], &[("content_id", "$request.path.content_id")]);

    /// Take an item off one of its paths
    ///
    /// For the moderators of a group: the item leaves the own page of `source` and the timelines into which it came
    /// through `source`, at once. Its other paths stay, and so do its topics, comments and reactions. There is no way
    /// back; a restore of the item after a delete does not bring the path back. 404 if the item has no such path.
    delete("/v1/users/{source}/content/{content_id}", take_off, "takeOffContent")
        .answers_nothing("The item is off the path")
        .refuses(&[Code::ContentNotFound])
        .leads_to(&["getContent"], &[("content_id", "$request.path.content_id")]);

    /// Restore a deleted item
    ///
    /// The item is in every list again, at its old place, with its reactions and comments. For an item that is not
    /// deleted the answer is the same. For an item deleted longer ago than `content.deleted_retention` it is 404.
    post("/v1/content/{content_id}/restore", restore, "restoreContent")
        .takes_nothing()
        .answers::<Item<'_>>(200, "The item")
        .refuses(&[Code::ContentNotFound])
        .leads_to(&["getContent", "deleteContent"], BY_ID);
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewContentList<'a> {
    #[serde(borrow)]
    #[schema(schema_with = new_items)]
    items: UpTo<&'a RawValue, MAX_BATCH>,
}

fn new_items() -> Array {
    ArrayBuilder::new().items(schemas::of::<NewContent>()).min_items(Some(1)).max_items(Some(MAX_BATCH)).build()
}

/// `POST /v1/content`
async fn publish(mut call: Call) -> Answer {
    let new_item: NewContent = call.json().await?;
    answer_published(&call, PublishItems::one(new_item), "content/").await
}

/// Publishes one item. Answers 201 if it is new, or 200 if it was published before. `Location` is below `folder`, relative to
/// the address of the request, because a proxy may have removed a prefix from that.
pub(crate) async fn answer_published(call: &Call, publish: PublishItems, folder: &str) -> Answer {
    let published = call.submit(publish).await?.pop();
    let published = published.ok_or_else(|| Error::internal("a publish returned no item"))?;
    let PublishedItem { shown, ids, is_new } =
        call.read_in_any_case(move |read| items::published(read, &published)).await?;
    let mut response = HttpResponseBuilder::new(status(is_new));
    response.insert_header((LOCATION, format!("{folder}{}", query::escaped(&ids.of(shown.content.id)))));
    Ok(reply::body(response, objects::item(&shown, &ids, call.api.feed().reaction_kinds())?))
}

/// `POST /v1/content/batch`
async fn publish_batch(mut call: Call) -> Answer {
    let mut body = call.body().await?;
    let bodies = &call.api.limits.bodies;
    let (limit, work) = (bodies.one, bodies.work_on(call.caller.holder, body.len(), MAX_BATCH));
    let turns = (body.turn.take(), call.in_time(work).await?);
    let published = move |feed: &Feed| {
        let published = publish_all(feed, body, limit);
        drop(turns);
        published
    };
    let (new, text) = call.run(Wants::Change, published).await?;
    Ok(text.answer(HttpResponseBuilder::new(status(new))))
}

/// Publishes a batch. Returns whether any item is new, and the items as JSON. All of this runs on a thread that may
/// block, because a batch is large. The answer takes over the memory of the body.
fn publish_all(feed: &Feed, mut body: Body, limit: usize) -> Result<(bool, Text)> {
    let bytes = body.len();
    let NewContentList { items: UpTo(items) } = body.json(false)?;
    if items.is_empty() {
        return Err(invalid_body(format_args!("items: expected 1 to {MAX_BATCH} items")));
    }
    let mut pace = Pace::default();
    let new_item = |(index, item): (usize, &&RawValue)| -> Result<NewContent> {
        pace.step();
        if item.get().len() > limit {
            return Err(body_too_large(format_args!("items[{index}]"), limit));
        }
        body::object(item.get()).map_err(|problem| problem.at(format_args!("items[{index}]")))
    };
    let new_items: Vec<NewContent> = items.iter().enumerate().map(new_item).collect::<Result<_, _>>()?;
    let most = bytes + SHOWN_MORE * new_items.len();
    let mut memory = body.into_memory();
    // Reserved before any write. Only an item that was published before and edited since can be longer.
    answer_memory::reserve(&mut memory, most)?;
    let published = feed.submit(PublishItems::all(new_items))?;
    let new = published.iter().any(|(_, new)| *new);
    // Counts can be above 0, because comments may come before their subject.
    let (published, ids) = as_shown(feed.read(), published.into_iter().map(|(content, _)| content))?;
    let mut text = Text::new(most, Some(memory));
    let published = published.into_iter().inspect(|_| pace.step());
    objects::write_items(published, &ids, feed.reaction_kinds(), &mut text)?;
    Ok((new, text))
}

/// Items as they are after a change, with the ids that they mention.
fn as_shown(read: Read<'_>, contents: impl IntoIterator<Item = Content>) -> Result<(Vec<ItemView>, ExternalIds)> {
    let contents = contents.into_iter().map(|content| Arc::new(content.into())).collect();
    read.named(visibility::with_counts(read, contents)?)
}

fn status(new: bool) -> StatusCode {
    if new { StatusCode::CREATED } else { StatusCode::OK }
}

/// `GET /v1/content?ids=`
async fn list(call: Call) -> Answer {
    let query = call.query()?;
    let Ids(ids) = query.required("ids")?;
    let ids_only = query.ids_only()?;
    let viewer = call.viewer(query.value("viewer")?);
    let find = move |read: Read<'_>| visibility::contents(read, &read.find_all(&ids)?);
    let ((), text) = match ids_only {
        false => {
            let look = move |read: Read<'_>| {
                let read = read.seen_by(viewer.as_ref())?;
                read.named(visibility::with_viewer(read, visibility::listed(read, find(read)?)?)?)
            };
            call.show(look, |(items, ids), kinds, text| objects::write_items(items, &ids, kinds, text)).await?
        }
        true => {
            let look = move |read: Read<'_>| read.named(find(read.seen_by(viewer.as_ref())?)?);
            let write =
                |(contents, ids): (Vec<Arc<SharedContent>>, ExternalIds), _: &ReactionKinds, text: &mut Text| {
                    let items: Vec<_> = contents.iter().map(|content| ItemId::new(content.entry(), &ids)).collect();
                    text.write(&Items { items })
                };
            call.show(look, write).await?
        }
    };
    Ok(text.answer(HttpResponseBuilder::new(StatusCode::OK)))
}

/// `GET /v1/content/{content_id}`
async fn show(call: Call) -> Answer {
    let id = call.id("content_id")?;
    let viewer = call.viewer(call.query()?.value("viewer")?);
    let look = move |read: Read<'_>| {
        let read = read.seen_by(viewer.as_ref())?;
        let item = visibility::by_id(read, read.find(&id)?)?;
        read.named(visibility::with_viewer(read, visibility::with_counts(read, item.into_iter().collect())?)?)
    };
    let write = |(items, ids): (Vec<_>, ExternalIds), kinds: &ReactionKinds, text: &mut Text| {
        objects::write_item(items.first().ok_or_else(Error::content_not_found)?, &ids, kinds, text)
    };
    let ((), text) = call.show(look, write).await?;
    Ok(text.answer(HttpResponseBuilder::new(StatusCode::OK)))
}

/// `PATCH /v1/content/{content_id}`
async fn edit(mut call: Call) -> Answer {
    let item = call.id("content_id")?;
    let edit: ContentEdit = call.json().await?;
    change(&call, EditItem { item, edit }).await
}

/// `POST /v1/content/{content_id}/restore`
async fn restore(mut call: Call) -> Answer {
    let item = call.id("content_id")?;
    call.empty_body().await?;
    change(&call, RestoreItem { item }).await
}

/// Answers with an item after a change.
async fn change(call: &Call, change: impl Change<Outcome = Content> + Send + 'static) -> Answer {
    let changed = call.submit(change).await?;
    let (items, ids) = call.read_in_any_case(move |read| as_shown(read, [changed.clone()])).await?;
    let item = items.first().ok_or_else(Error::content_not_found)?;
    Ok(reply::body(HttpResponse::Ok(), objects::item(item, &ids, call.api.feed().reaction_kinds())?))
}

/// `DELETE /v1/users/{source}/content/{content_id}`
async fn take_off(call: Call) -> Answer {
    call.submit(TakeOff { source: call.id("source")?, item: call.id("content_id")? }).await?;
    reply::nothing()
}

/// `DELETE /v1/content/{content_id}`
async fn delete_item(call: Call) -> Answer {
    call.submit(DeleteItem { item: call.id("content_id")?, purge: call.query()?.flag("purge")? }).await?;
    reply::nothing()
}
