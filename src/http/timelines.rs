//! Lists of content around a user: the home timeline and the user's own page.

use super::call::{Answer, Call};
use super::query::{self, Kept, View};
use super::reply;
use super::show::{Item, ItemId};
use crate::error::Result;
use crate::feed::Feed;
use crate::model::{ContentId, Entry, Page, PageRequest, UserId};
use crate::store::Tier;

/// `GET /v1/users/{uid}/timeline`
pub(super) async fn timeline(call: Call) -> Answer {
    list(call, Feed::timeline).await
}

/// `GET /v1/users/{uid}/content`
pub(super) async fn outbox(call: Call) -> Answer {
    list(call, Feed::outbox).await
}

/// A list of content around the user of the path, by a way to read a page of it.
pub(super) async fn list(
    call: Call,
    read_page: impl Fn(&Feed, UserId, &PageRequest<ContentId>, Tier) -> Result<Page<Entry, ContentId>> + Send + 'static,
) -> Answer {
    let user = call.user()?;
    let [limit, before, after, view] = call.query(["limit", "before", "after", "view"])?;
    let (request, kept) = query::page([limit, before, after])?;
    let kept = Kept { view: query::value("view", view)?, ..kept };
    match kept.view.unwrap_or(View::Full) {
        View::Ids => {
            let page = call.read(move |feed, tier| read_page(feed, user, &request, tier)).await?;
            reply::page(&call, &page.map(ItemId::from), kept)
        }
        View::Full => {
            let read = move |feed: &Feed, tier| feed.hydrate(read_page(feed, user, &request, tier)?, tier);
            let page = call.read(read).await?;
            let items = page.items.iter().map(Item::listed).collect::<Result<_>>()?;
            reply::page(&call, &Page { items, next: page.next, prev: page.prev }, kept)
        }
    }
}
