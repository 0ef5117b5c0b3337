//! `/v1/content`: publish, read, edit, delete.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::LOCATION;
use actix_web::{HttpResponse, HttpResponseBuilder};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::body::{self, Body, UpTo};
use super::call::{Answer, Call};
use super::limits::batch_work;
use super::problem::Problem;
use super::query::{self, Ids, View};
use super::reply::{self, Text};
use super::show::{Item, ItemId, Items};
use crate::error::Error;
use crate::feed::{Count, Feed};
use crate::model::{Content, ContentId, Draft, EditDraft, Shown};
use crate::store::Tier;

/// Most items of a batch.
pub(super) const MAX_BATCH: usize = 1000;

/// What an item is longer by when it is shown than when it was sent, bytes: what the server adds to it.
const SHOWN_MORE: usize = 512;

/// `POST /v1/content`
pub(super) async fn publish(mut call: Call) -> Answer {
    call.no_query()?;
    let body = call.body(call.api.body_limit).await?;
    let draft: Draft = body.json()?;
    let (new, mut published) = call.change(move |feed| publish_counted(feed, vec![draft])).await?;
    let Some(shown) = published.pop() else {
        return Err(Problem::internal("a publish without an answer"));
    };
    answer_published(&shown, "content/", new)
}

/// 201 with a new item, 200 with one that was published before, and its place: below `folder`, which is relative to the
/// address of the request, because a proxy may have taken a prefix from that.
pub(super) fn answer_published(shown: &Shown, folder: &str, new: bool) -> Answer {
    let mut response = HttpResponseBuilder::new(status(new));
    response.insert_header((LOCATION, format!("{folder}{}", shown.content.id)));
    Ok(reply::body(response, reply::encode(&Item::new(shown)?)?))
}

/// `POST /v1/content/batch`
pub(super) async fn publish_batch(mut call: Call) -> Answer {
    call.no_query()?;
    let mut body = call.body(call.api.batch_limit).await?;
    let limit = call.api.body_limit;
    let work = call.api.limits.batch_work.wait_for(batch_work(body.bytes.len(), MAX_BATCH));
    let turns = (body.turn.take(), call.in_time(work).await??);
    let patience = call.api.timeout;
    let published = move |feed: &Feed| {
        let published = publish_all(feed, body, limit, patience);
        drop(turns);
        published
    };
    let (new, text) = call.change(published).await?;
    Ok(text.answer(HttpResponseBuilder::new(status(new))))
}

/// Publishes a batch; whether any is new, and the items as JSON. A batch is big enough that all of
/// this is done where it may take time. The answer takes over the memory of the body.
fn publish_all(feed: &Feed, body: Body, limit: usize, patience: Duration) -> Result<(bool, Text), Problem> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Batch<'a> {
        #[serde(borrow)]
        items: UpTo<&'a RawValue, MAX_BATCH>,
    }
    let Batch { items: UpTo(items) } = body.json()?;
    if items.is_empty() {
        return Err(Problem::invalid_body(format_args!("items: expected 1 to {MAX_BATCH}")));
    }
    let draft = |(index, item): (usize, &&RawValue)| -> Result<Draft, Problem> {
        if item.get().len() > limit {
            return Err(Problem::body_too_large(format_args!("items[{index}]"), limit));
        }
        body::object(item.get()).map_err(|problem| problem.at(format_args!("items[{index}]")))
    };
    let drafts: Vec<Draft> = items.iter().enumerate().map(draft).collect::<Result<_, _>>()?;
    let most = body.bytes.len() + SHOWN_MORE * drafts.len();
    let mut room = body.into_room(patience);
    // Before anything is written. Only an item that had been published, and edited since, can be longer.
    room.reserve(most)?;
    let (new, published) = publish_counted(feed, drafts)?;
    let items: Items<_> = published.iter().map(Item::new).collect::<Result<_, _>>()?;
    let mut text = Text::new(Some(room));
    text.write(&items)?;
    Ok((new, text))
}

/// Publishes; whether any item is new, and all of them with their counts, which may not be 0: comments may
/// come before what they are about.
fn publish_counted(feed: &Feed, drafts: Vec<Draft>) -> crate::error::Result<(bool, Vec<Shown>)> {
    let published = feed.publish(drafts)?;
    let new = published.iter().any(|(_, new)| *new);
    let contents = published.into_iter().map(|(content, _)| Arc::new(content)).collect();
    Ok((new, feed.counted(contents, Tier::Disk)?))
}

fn status(new: bool) -> StatusCode {
    if new { StatusCode::CREATED } else { StatusCode::OK }
}

/// `GET /v1/content?ids=`
pub(super) async fn list(call: Call) -> Answer {
    let [ids, view] = call.query(["ids", "view"])?;
    let Ids(ids) = query::required::<Ids<ContentId>>("ids", ids)?;
    let view = query::value("view", view)?.unwrap_or(View::Full);
    match view {
        View::Full => {
            let look = move |feed: &Feed, tier, count: &mut Count<'_>| {
                let contents = feed.contents_counted(&ids, tier, count)?;
                feed.listed(contents, tier, count)
            };
            let write = |items: Vec<Shown>, text: &mut Text| {
                text.write(&items.iter().map(Item::new).collect::<Result<Items<_>, _>>()?)
            };
            let ((), text) = call.show(look, write).await?;
            Ok(text.answer(HttpResponseBuilder::new(StatusCode::OK)))
        }
        View::Ids => {
            let look = move |feed: &Feed, tier, count: &mut Count<'_>| feed.contents_counted(&ids, tier, count);
            let write = |contents: Vec<Arc<Content>>, text: &mut Text| {
                text.write(&contents.iter().map(|content| ItemId::from(content.entry())).collect::<Items<_>>())
            };
            let ((), text) = call.show(look, write).await?;
            Ok(text.answer(HttpResponseBuilder::new(StatusCode::OK)))
        }
    }
}

/// `GET /v1/content/{content_id}`
pub(super) async fn show(call: Call) -> Answer {
    let id = call.content_id()?;
    call.no_query()?;
    let look = move |feed: &Feed, tier, count: &mut Count<'_>| {
        let contents = feed.contents_counted(&[id], tier, count)?;
        feed.counted(contents, tier)
    };
    let write = move |items: Vec<Shown>, text: &mut Text| {
        text.write(&Item::new(items.first().ok_or_else(|| Error::content_not_found(id))?)?)
    };
    let ((), text) = call.show(look, write).await?;
    Ok(text.answer(HttpResponseBuilder::new(StatusCode::OK)))
}

/// `PATCH /v1/content/{content_id}`
pub(super) async fn edit(mut call: Call) -> Answer {
    let id = call.content_id()?;
    call.no_query()?;
    let body = call.body(call.api.body_limit).await?;
    let edit: EditDraft = body.json()?;
    let edited = move |feed: &Feed| feed.counted(vec![Arc::new(feed.edit(id, edit)?)], Tier::Disk);
    let items = call.change(edited).await?;
    reply::ok(&Item::new(items.first().ok_or_else(|| Error::content_not_found(id))?)?)
}

/// `POST /v1/content/{content_id}/restore`
pub(super) async fn restore(mut call: Call) -> Answer {
    #[derive(Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}

    let id = call.content_id()?;
    call.no_query()?;
    let body = call.body(call.api.body_limit).await?;
    let Nothing {} = if body.bytes.is_empty() { Nothing {} } else { body.json()? };
    let restored = move |feed: &Feed| feed.counted(vec![Arc::new(feed.restore(id)?)], Tier::Disk);
    let items = call.change(restored).await?;
    reply::ok(&Item::new(items.first().ok_or_else(|| Error::content_not_found(id))?)?)
}

/// `DELETE /v1/content/{content_id}`
pub(super) async fn delete(call: Call) -> Answer {
    let id = call.content_id()?;
    call.no_query()?;
    call.change(move |feed| feed.delete(id)).await?;
    Ok(HttpResponse::NoContent().finish())
}
