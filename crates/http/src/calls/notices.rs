//! `/v1/users/{uid}/notices`: what happened to a user.

use serde::Serializer;

use crate::prelude::*;
use feed::notices::{self, NoticeGroup, NoticePage};
use feed::{MoveNoticeMarker, visibility};
use model::{
    AuthorSummary, ContentId, ExternalIds, ExternalNoticeId, NoticeCursor, NoticeKind, Page, Position, ReactionKinds,
    Unread, UserId,
};

endpoints! { "notices" = "What happened to users, with markers and counts of unread ones":
    /// The number of unread notices
    ///
    /// Those above the marker of the notices; counts up to 1,000, and `capped` says that there may be more.
    get("/v1/users/{uid}/notices/unread", unread, "getUnreadNotices")
        .for_users(TokenUse::Own)
        .answers::<Unread>(200, "The count");

    /// The marker of the notices of a user
    get("/v1/users/{uid}/notices/marker", marked, "getNoticeMarker")
        .for_users(TokenUse::Own)
        .answers::<NoticeMarker>(200, "The marker; `null` for a user without a marker");

    /// Move the marker of the notices
    ///
    /// The marker moves forward only: a cursor at or below it changes nothing. A cursor after the server's clock is
    /// replaced by the present time, unless a notice stands there.
    put("/v1/users/{uid}/notices/marker", advance, "moveNoticeMarker")
        .for_users(Act::Marker)
        .takes::<NewNoticeMarker>()
        .answers::<NoticeMarker>(200, "The marker after the change")
        .refuses(&[Code::TimeAhead, Code::UnknownCursor])
        .leads_to(&["getNoticeMarker", "getUnreadNotices"], &[("uid", "$request.path.uid")]);

    /// What happened to a user, newest first
    ///
    /// Follows, requests to follow, approved requests, reactions, comments and reposts of others, and their items
    /// that mention the user. What is taken back leaves the list. With `group=true` neighbours of one kind about one
    /// item are one element with `count`, `actors`, `newest` and `oldest` in place of `at` and `actor`.
    get("/v1/users/{uid}/notices", list, "listNotices")
        .for_users(TokenUse::Own)
        .query([parameters::flag(
            "group",
            "Whether neighbours of one kind about one item are one element. Default: `false`",
        )])
        .answers_pages::<NoticeItem>(parameters::notice_page(), "NoticePage")
        .refuses(&[Code::UnknownCursor]);
}

answers! {
    /// A notice, or with `group=true` neighbours of one kind about one item.
    pub(crate) struct NoticeItem as Notice (group: NoticeGroup, actors: Vec<Actor>, grouped: bool, ids: &ExternalIds, read: Read<'_>) {
        let NoticeGroup { newest, oldest, count, .. } = group;
        let id = newest.place.id;
        let alone = |at: Millis| (!grouped).then_some(at);
        let of_group = |at: Millis| grouped.then_some(at);
        let tells_item = !grouped || id.kind == NoticeKind::Mention;
        /// Its place; of a group, that of its newest notice.
        #[schema(schema_with = schemas::notice_cursor)]
        (cursor: Position<ExternalNoticeId>) = ids.notice(newest.place);
        /// `follow`, `follow_request`, `request_approved`, `reaction`, `comment`, `repost` or `mention`.
        (kind: &'static str) = id.kind.name();
        (at?: Millis as Time) = alone(newest.place.at);
        (actor?: Actor as AuthorSummary) = if grouped { None } else { actors.first().cloned() };
        /// The kind of the reaction.
        (reaction?: String) = newest.reaction.map(|kind| read.reaction_kinds().name(kind).to_owned());
        /// The item of the actor: the comment, the repost, or the item that mentions the user. In a group only the last.
        (content_id?: ExternalId) = newest.published().filter(|_| tells_item).map(|id| ids.of(id));
        /// The item of the user: that of the reaction, the comment or the repost.
        (on?: ExternalId) = newest.subject().map(|id| ids.of(id));
        /// Only in a group: how many notices it has.
        (count?: usize) = grouped.then_some(count);
        /// Only in a group: the actors of its newest notices, at most 8.
        (actors?: Vec<Actor> as Vec<AuthorSummary>) = grouped.then_some(actors);
        /// Only in a group: the time of its newest notice.
        (newest?: Millis as Time) = of_group(newest.place.at);
        /// Only in a group: the time of its oldest notice.
        (oldest?: Millis as Time) = of_group(oldest.at);
    }
}

/// Who did it.
#[derive(Debug, Clone)]
pub(crate) struct Actor(Arc<AuthorSummary>);

impl Serialize for Actor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_ref().serialize(serializer)
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewNoticeMarker {
    #[schema(schema_with = schemas::notice_cursor)]
    cursor: Position<ExternalNoticeId>,
}

answers! {
    /// The place up to which a user has read the notices; `null` for a user without a marker.
    struct NoticeMarker {
        #[schema(required, value_type = Option<String>, pattern = r"^[0-9]+-[^\x00-\x1f\x7f-\x9f]+$")]
        cursor: Option<Position<ExternalNoticeId>>,
    }
}

/// `GET /v1/users/{uid}/notices`
async fn list(call: Call) -> Answer {
    let (user, query, visibility) = (call.user()?, call.query()?, call.visibility());
    let grouped = query.flag("group")?;
    let (request, kept) = query.page::<ExternalNoticeId>()?;
    let look = move |read: Read<'_>| {
        let page = notices::page(read, read.find(&user)?, &notices::find_span(read, &request, visibility)?, grouped)?;
        show(read, page, request.span.after.as_ref(), grouped)
    };
    let write = |page: Page<_, _>, _: &ReactionKinds, text: &mut Text| {
        reply::write_page(page, text, |item: NoticeItem, text| text.write(&item))
    };
    // The summaries of many actors are large.
    let (ends, text) = call.show(look, write).await?;
    Ok(reply::text_page(text, &ends, &kept))
}

/// The notice at a place, if the user sees one there.
pub(crate) fn told(read: Read<'_>, user: UserId, place: NoticeCursor) -> Result<Option<NoticeItem>> {
    let items: Vec<_> = notices::at(read, user, place)?.into_iter().collect();
    Ok(show(read, Page { items, next: None, prev: None }, None, false)?.items.pop())
}

/// A page with the summaries of the actors. `after` is the place after which it was asked for, which may have unknown names.
fn show(
    read: Read<'_>,
    page: NoticePage,
    after: Option<&Position<ExternalNoticeId>>,
    grouped: bool,
) -> Result<Page<NoticeItem, ExternalNoticeId>> {
    let actors: Vec<UserId> = page.items.iter().flat_map(|group| group.actors.iter().copied()).collect();
    let mut summaries = visibility::summaries(read, &actors)?.into_iter();
    let places: Vec<_> = [page.next, page.prev].into_iter().flatten().collect();
    let notices: Vec<_> = page.items.iter().map(|group| group.newest).collect();
    let ids = read.host_ids(&(notices, places))?;
    let item = |group: NoticeGroup| {
        let actors = summaries.by_ref().take(group.actors.len()).map(Actor).collect();
        NoticeItem::new(group, actors, grouped, &ids, read)
    };
    let is_unknown =
        |place: NoticeCursor| place.id.actor == UserId::UNKNOWN || place.id.item == Some(ContentId::UNKNOWN);
    let place = |place: Option<NoticeCursor>| {
        place.map(|place| match after.filter(|_| is_unknown(place)) {
            Some(after) => after.clone(),
            None => ids.notice(place),
        })
    };
    let (next, prev) = (place(page.next), place(page.prev));
    Ok(Page { items: page.items.into_iter().map(item).collect(), next, prev })
}

/// `GET /v1/users/{uid}/notices/unread`
async fn unread(call: Call) -> Answer {
    reply::ok(&call.read_of(&call.user()?, notices::unread).await?)
}

/// `GET /v1/users/{uid}/notices/marker`
async fn marked(call: Call) -> Answer {
    let look = |read: Read<'_>, user| read.named(notices::marker(read, user)?);
    let (cursor, ids) = call.read_of(&call.user()?, look).await?;
    reply::ok(&NoticeMarker { cursor: cursor.map(|cursor| ids.notice(cursor)) })
}

/// `PUT /v1/users/{uid}/notices/marker`
async fn advance(mut call: Call) -> Answer {
    let (user, visibility) = (call.user()?, call.visibility());
    let NewNoticeMarker { cursor: place } = call.json().await?;
    let cursor = call.submit(MoveNoticeMarker { user, place, visibility }).await?;
    let (cursor, ids) = call.read_in_any_case(move |read| read.named(cursor)).await?;
    reply::ok(&NoticeMarker { cursor: Some(ids.notice(cursor)) })
}
