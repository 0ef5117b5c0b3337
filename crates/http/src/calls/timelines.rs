//! Lists of content: the home timeline, a user's own page, and topics.

use serde_json::{Value, json};

use super::show::{self, Item, ItemId};
use crate::call::Call;
use crate::endpoint::parameters;
use crate::endpoint::{Endpoint, get, group};
use crate::kind::OfOwner;
use crate::wire::query::{self, Kept, View};
use crate::wire::reply;
use crate::wire::reply::Answer;
use crate::wire::reply::Text;
use feed::{Count, Feed};
use model::error::Result;
use model::store::Tier;
use model::{ContentId, Entry, HostId, HostIds, ItemView, Page, PageRequest};

/// Pages of content, in the form given by `view`.
pub(crate) fn pages(call: Endpoint) -> Endpoint {
    pages_like(call, show::example())
}

fn pages_like(call: Endpoint, item: Value) -> Endpoint {
    let page = json!({"items": [item], "next": "1689089522000-32850", "prev": "1689089522000-32850"});
    call.answers_pages::<Item<'_>>("ContentPage", page)
        .query([parameters::view()])
        .leads_to("getContent", &[("content_id", "$response.body#/items/0/content_id")])
}

/// The calls of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let mut viewed = show::example();
    viewed["viewer"] = json!({"liked": true, "favorited": false});
    let calls = [
        pages_like(get("/v1/users/{uid}/timeline", timeline, "getTimeline", "The home timeline"), viewed)
            .about(
                "All broadcast items of the followed users, newest first, down to the oldest. It leaves out muted \
                 authors, and authors who hide their content from the user. `viewer` has the reactions of the user to \
                 each item. The call marks the user as active.",
            )
            .for_users()
            .of_owner(OfOwner::Inbox)
            .leads_to("getTimeline", &[("uid", "$request.path.uid"), ("before", "$response.body#/next")]),
        pages(get("/v1/users/{uid}/content", outbox, "listUserContent", "The own page of a user"))
            .about("All broadcast items of the user.")
            .for_users()
            .leads_to("listUserContent", &[("uid", "$request.path.uid"), ("before", "$response.body#/next")]),
        pages(get("/v1/topics/{topic}/content", topic, "listTopicContent", "The newest items with a topic"))
            .about("The newest `topics.limit` items with the topic, broadcast or not."),
    ];
    group("timelines", calls)
}

/// `GET /v1/users/{uid}/timeline`
pub(crate) async fn timeline(call: Call) -> Answer {
    let user = call.user()?;
    let viewer = user.clone();
    let read_page = move |feed: &Feed, request: &Request, tier| feed.timeline(feed.find(&user, tier)?, request, tier);
    list_for(call, Some(viewer), read_page).await
}

/// `GET /v1/users/{uid}/content`
pub(crate) async fn outbox(call: Call) -> Answer {
    let author = call.user()?;
    list(call, move |feed, request, tier| feed.outbox(feed.find(&author, tier)?, request, tier)).await
}

/// `GET /v1/topics/{topic}/content`
pub(crate) async fn topic(call: Call) -> Answer {
    let topic = call.topic()?;
    list(call, move |feed, request, tier| feed.topic(&topic, request, tier)).await
}

/// The request for a page of content.
pub(crate) type Request = PageRequest<ContentId>;

/// Answers with the page of entries that `read_page` returns, for every list of content.
pub(crate) async fn list<R>(call: Call, read_page: R) -> Answer
where
    R: Fn(&Feed, &Request, Tier) -> Result<Page<Entry, ContentId>> + Send + Sync + 'static,
{
    list_for(call, None, read_page).await
}

/// A list of content with the viewer's reactions to each item.
async fn list_for<R>(call: Call, viewer: Option<HostId>, read_page: R) -> Answer
where
    R: Fn(&Feed, &Request, Tier) -> Result<Page<Entry, ContentId>> + Send + Sync + 'static,
{
    let [limit, before, after, view] = call.query(["limit", "before", "after", "view"])?;
    let (request, kept) = query::page([limit, before, after])?;
    let kept = Kept { view: query::value("view", view)?, ..kept };
    let sight = call.sight();
    match kept.view.unwrap_or(View::Full) {
        View::Ids => {
            let look = move |feed: &Feed, tier| {
                feed.named(read_page(feed, &feed.find_span(&request, sight, tier)?, tier)?, tier)
            };
            let (page, ids) = call.read(look).await?;
            let ids = ids.with_unknown(kept.span.after.as_ref());
            let mut text = Text::new(None);
            let write = |entry, text: &mut Text| ItemId::new(entry, &ids).write(text);
            let ends = reply::write_page(ids.page(page, |entry| entry), &mut text, write)?;
            Ok(reply::text_page(text, &ends, &kept))
        }
        View::Full => {
            let look = move |feed: &Feed, tier, count: &mut Count<'_>| {
                let page = read_page(feed, &feed.find_span(&request, sight, tier)?, tier)?;
                let viewer = viewer.as_ref().map(|viewer| feed.find(viewer, tier)).transpose()?;
                feed.named(feed.hydrate(page, viewer, tier, count)?, tier)
            };
            let after = kept.span.after.clone();
            let write = move |(page, ids): (Page<ItemView, ContentId>, HostIds), text: &mut Text| {
                let ids = ids.with_unknown(after.as_ref());
                let page = ids.page(page, |item| item);
                reply::write_page(page, text, |item, text| show::write_item(&item, &ids, text))
            };
            let (ends, text) = call.show(look, write).await?;
            Ok(reply::text_page(text, &ends, &kept))
        }
    }
}
