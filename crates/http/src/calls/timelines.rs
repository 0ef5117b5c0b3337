//! Lists of content: the home timeline, a user's own page, and topics.

use std::cell::RefCell;

use super::objects::{self, Item, ItemId};
use crate::prelude::*;
use crate::wire::kept_pages::KeptPage;
use feed::{Visibility, items, timeline, topics, visibility};
use model::versions::Dependencies;
use model::{ContentId, ContentPage, ExternalIds, ItemView, Page, PageRequest, ReactionKinds, UserId};

/// The home timeline, the only list whose read marks its user as active.
const HOME: &str = "/v1/users/{uid}/timeline";

/// Pages of content, in the form given by `view`.
pub(crate) fn pages(call: Endpoint) -> Endpoint {
    call.refuses(&[Code::UnknownCursor])
        .answers_pages::<Item<'_>>(parameters::page(), "ContentPage")
        .query([parameters::view(), parameters::viewer()])
        .query(parameters::kinds())
        .leads_to(&["getContent"], &[("content_id", "$response.body#/items/0/content_id")])
}

/// Pages of content with the reactions of the reader.
pub(crate) fn viewed_pages(call: Endpoint) -> Endpoint {
    pages(call).shows("ContentPage/viewed")
}

endpoints! { "timelines" = "Home timelines with their markers, own pages of users, lists of topics":
    /// The home timeline
    ///
    /// All broadcast items of the followed users, newest first, down to the oldest. It leaves out muted authors, and
    /// authors who hide their content from the user. `viewer` has the reactions of the user to each item. The call
    /// marks the user as active, but for a key with `peek=true`.
    get(HOME, timeline, "getTimeline")
        .with(viewed_pages)
        .query([parameters::flag(
            "peek",
            "Whether the user stays as active or dormant as before. For keys. Default: `false`",
        )])
        .answers_unchanged("Nothing has changed since the answer whose `ETag` the request has in `If-None-Match`")
        .header("ETag")
        .header("Link")
        .for_users(TokenUse::Own)
        .of_owner(OfOwner::Inbox)
        .leads_to(&["getTimeline"], &[("uid", "$request.path.uid"), ("before", "$response.body#/next")]);

    /// The own page of a source
    ///
    /// All items that were published on it. Empty for a viewer between whom and the source a hide or a block lies.
    get("/v1/users/{uid}/content", outbox, "listUserContent")
        .with(pages)
        .for_users(TokenUse::Visible)
        .leads_to(&["listUserContent"], &[("uid", "$request.path.uid"), ("before", "$response.body#/next")]);

    /// The newest items with a topic
    ///
    /// The newest `topics.limit` items with the topic, broadcast or not.
    get("/v1/topics/{topic}/content", topic, "listTopicContent").with(pages).for_users(TokenUse::Visible);
}

/// `GET /v1/users/{uid}/timeline`
async fn timeline(call: Call) -> Answer {
    call.wanted()?;
    let may_peek = call.visibility() == Visibility::Application;
    if let Some(page) = call.api.kept_pages.get(call.api.feed(), &call.request, may_peek) {
        return Ok(page.answer(&call.request));
    }
    // Boxed: what answers with a kept page is small, and is moved several times.
    Box::pin(unkept(call)).await
}

async fn unkept(call: Call) -> Answer {
    let user = call.user()?;
    list_of(&call, user.clone(), Some(user), timeline::page).await
}

/// `GET /v1/users/{uid}/content`
async fn outbox(call: Call) -> Answer {
    list_of(&call, call.user()?, None, items::own_page).await
}

/// `GET /v1/topics/{topic}/content`
async fn topic(call: Call) -> Answer {
    let topic = call.label("topic", Code::InvalidTopic)?;
    list(&call, None, |_| Ok(()), move |read, (), request| topics::page(read, &topic, request)).await
}

/// Answers with a page of the content that a user has. `reader` is the user whose timeline it is, if it is one.
pub(crate) async fn list_of<R>(call: &Call, user: ExternalId, reader: Option<ExternalId>, read_page: R) -> Answer
where
    R: Fn(Read<'_>, UserId, &PageRequest<ContentId>) -> Result<ContentPage> + Send + Sync + 'static,
{
    list(call, reader, move |read| read.seen_by(None)?.find::<UserId>(&user), read_page).await
}

/// Answers with the page of entries that `read_page` returns, for every list of content. `find` finds whose list it is,
/// and comes first: a list that does not exist has no cursors. Both read as the viewer sees. A timeline is always as its
/// `reader` sees it, and says so itself.
pub(crate) async fn list<T, F, R>(call: &Call, reader: Option<ExternalId>, find: F, read_page: R) -> Answer
where
    F: Fn(Read<'_>) -> Result<T> + Send + Sync + 'static,
    R: Fn(Read<'_>, T, &PageRequest<ContentId>) -> Result<ContentPage> + Send + Sync + 'static,
{
    let query = call.query()?;
    // Users read their own timeline, and the server would take them for dormant.
    let peek = query.flag("peek")?;
    if peek && call.visibility() == Visibility::User {
        return Err(Error::refused(Code::NotPermitted, "peek: only a key may look without its user being seen"));
    }
    let is_home = call.info.path == HOME;
    let (request, kept) = query.page()?;
    let asked: Option<ExternalId> = query.value("viewer")?;
    if let (Some(reader), Some(asked)) = (&reader, &asked)
        && reader != asked
    {
        return Err(invalid_parameter(format_args!("viewer: only its user {reader} sees this timeline")));
    }
    let kinds = query.kinds()?;
    let ids_only = query.ids_only()?;
    // A key that names a viewer learns no more than a token: no answer tells which names exist.
    let visibility = if asked.is_some() { Visibility::User } else { call.visibility() };
    let seen_by = if reader.is_some() { None } else { call.viewer(asked) };
    let viewer = reader.or_else(|| seen_by.clone());
    let after = request.span.after.clone();
    let read_page = move |read: Read<'_>| {
        let read = read.peeking(peek).seen_by(seen_by.as_ref())?.of_kinds(&kinds)?;
        let found = find(read)?;
        read_page(read, found, &visibility::find_span(read, &request, visibility)?)
    };
    let look = move |read: Read<'_>| {
        let noted = RefCell::default();
        let read = read.noting(is_home.then_some(&noted));
        let reader = viewer.as_ref().map(|viewer| read.find(viewer)).transpose()?;
        let page = read_page(read)?;
        let (page, ids) = match ids_only {
            true => read.named(page).map(|(page, ids)| (Seen::Ids(page), ids))?,
            false => {
                read.named(visibility::hydrate(read, page, reader)?).map(|(page, ids)| (Seen::Items(page), ids))?
            }
        };
        Ok((page, ids.with_unknown(after.as_ref()), reader, noted.take()))
    };
    type Looked = (Seen, ExternalIds, Option<UserId>, Dependencies);
    let write = move |(seen, ids, reader, dependencies): Looked, kinds: &ReactionKinds, text: &mut Text| {
        let ends = match seen {
            Seen::Items(page) => {
                let write = |item, text: &mut Text| objects::write_item(&item, &ids, kinds, text);
                reply::write_page(ids.page(page, |item| item), text, write)?
            }
            Seen::Ids(page) => {
                let write = |entry, text: &mut Text| text.write(&ItemId::new(entry, &ids));
                reply::write_page(ids.page(page, |entry| entry), text, write)?
            }
        };
        Ok((ends, reader, dependencies))
    };
    let ((ends, reader, dependencies), text) = call.show(look, write).await?;
    let Some(reader) = reader.filter(|_| is_home && text.is_short()) else {
        return Ok(reply::text_page(text, &ends, &kept));
    };
    let page = KeptPage::new((reader, peek), text.into_bytes(), reply::links(&ends, &kept), dependencies);
    Ok(call.api.kept_pages.keep(&call.request, page).answer(&call.request))
}

/// A page as it is shown.
enum Seen {
    Items(Page<ItemView, ContentId>),
    Ids(ContentPage),
}
