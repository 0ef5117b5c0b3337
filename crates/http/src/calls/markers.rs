//! `/v1/users/{uid}/marker` and the count of unread items; the same of the timelines of lists.

use crate::prelude::*;
use feed::{MoveMarker, lists, timeline};
use model::{ListId, Position, Unread, UserId};

endpoints! { "timelines":
    /// The number of unread items: those above the marker
    ///
    /// Counts up to 1,000 items; `capped` says that there are more, or that it has not looked at all. Without a
    /// marker all items are unread.
    get("/v1/users/{uid}/timeline/unread", unread, "getUnread")
        .for_users(TokenUse::Own)
        .of_owner(OfOwner::Inbox)
        .query(parameters::kinds())
        .answers::<Unread>(200, "The count");

    /// The marker of a user
    get("/v1/users/{uid}/marker", show, "getMarker")
        .for_users(TokenUse::Own)
        .answers::<MarkerBody>(200, "The marker; `null` for a user without a marker");

    /// Move the marker
    ///
    /// The marker moves forward only: a cursor at or below it changes nothing. A cursor after the server's clock is
    /// replaced by the newest item of the timeline at or below it. A cursor more than `content.max_ahead` after the
    /// clock, with no item at it, is refused with 400 `time_ahead`. With a user token only items that the user sees
    /// count, and a cursor with a name at which there is none is replaced, too.
    put("/v1/users/{uid}/marker", advance, "moveMarker")
        .for_users(Act::Marker)
        .takes::<NewMarker>()
        .answers::<MarkerBody>(200, "The marker after the change")
        .refuses(&[Code::TimeAhead, Code::UnknownCursor])
        .leads_to(&["getMarker", "getUnread"], &[("uid", "$request.path.uid")]);
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewMarker {
    #[schema(schema_with = schemas::cursor)]
    cursor: Position<ExternalId>,
}

answers! {
    /// The place up to which a user has read; `null` for a user without a marker.
    pub(crate) struct MarkerBody as Marker {
        #[schema(required, value_type = Option<String>, pattern = r"^[0-9]+-[^\x00-\x1f\x7f-\x9f]+$")]
        cursor: Option<Position<ExternalId>>,
    }
}

/// The name of the list in the path; `None` in the path of the home timeline.
fn list_name(call: &Call) -> Result<Option<String>> {
    call.info.segment("list").map(|_| call.label("list", Code::InvalidList)).transpose()
}

/// Reads what belongs to the timeline of a list, or to the home timeline.
async fn of_timeline<T: Send + 'static>(
    call: &Call,
    look: impl Fn(Read<'_>, UserId, Option<ListId>) -> Result<T> + Send + 'static,
) -> Result<T> {
    let (user, name) = (call.user()?, list_name(call)?);
    let look = move |read: Read<'_>, user| {
        let list = name.as_ref().map(|name| lists::named(read, user, name)).transpose()?;
        look(read, user, list.map(|list| list.id))
    };
    call.read_of(&user, look).await
}

/// `GET /v1/users/{uid}/marker`
pub(crate) async fn show(call: Call) -> Answer {
    let (cursor, ids) = of_timeline(&call, |read, user, list| read.named(timeline::marker(read, user, list)?)).await?;
    reply::ok(&MarkerBody { cursor: cursor.map(|cursor| ids.place(cursor)) })
}

/// `PUT /v1/users/{uid}/marker`
pub(crate) async fn advance(mut call: Call) -> Answer {
    let (user, list, visibility) = (call.user()?, list_name(&call)?, call.visibility());
    let NewMarker { cursor: place } = call.json().await?;
    let cursor = call.submit(MoveMarker { user, place, visibility, list }).await?;
    let (cursor, ids) = call.read_in_any_case(move |read| read.named(cursor)).await?;
    reply::ok(&MarkerBody { cursor: Some(ids.place(cursor)) })
}

/// `GET /v1/users/{uid}/timeline/unread`
pub(crate) async fn unread(call: Call) -> Answer {
    let kinds = call.query()?.kinds()?;
    let count = move |read: Read<'_>, user, list| match list {
        None => timeline::unread(read.of_kinds(&kinds)?, user),
        Some(list) => timeline::list_unread(read.of_kinds(&kinds)?, user, list),
    };
    reply::ok(&of_timeline(&call, count).await?)
}
