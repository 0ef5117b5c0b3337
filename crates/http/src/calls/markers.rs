//! `/v1/users/{uid}/marker` and the count of unread items.

use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::call::Call;
use crate::endpoint::{Endpoint, get, group, parameters, put};
use crate::guards::auth::TokenUse;
use crate::kind::OfOwner;
use crate::pools::Wants;
use crate::wire::query;
use crate::wire::reply;
use crate::wire::reply::Answer;
use config::Act;
use feed::{Feed, MoveMarker, timeline};
use model::error::Code;
use model::schemas;
use model::{HostId, Position, Unread};

/// The calls of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let marker = json!({"cursor": "1689089522000-32850"});
    let calls = [
        get(
            "/v1/users/{uid}/timeline/unread",
            unread,
            "getUnread",
            "The number of unread items: those above the marker",
        )
        .for_users(TokenUse::Own)
        .of_owner(OfOwner::Inbox)
        .about(
            "Counts up to 1,000 items; `capped` says that there are more, or that it has not looked at all. Without a marker \
             all items are unread.",
        )
        .query(parameters::kinds())
        .answers::<UnreadBody>(200, "The count", json!({"count": 3, "capped": false})),
        get("/v1/users/{uid}/marker", show, "getMarker", "The marker of a user")
            .for_users(TokenUse::Own)
            .answers::<MarkerBody>(200, "The marker; `null` for a user without a marker", marker.clone()),
        put("/v1/users/{uid}/marker", advance, "moveMarker", "Move the marker")
            .about(
                "The marker moves forward only: a cursor at or below it changes nothing. A cursor after the server's \
                 clock is replaced by the newest item of the timeline at or below it. A cursor more than \
                 `content.max_ahead` after the clock, with no item at it, is refused with 400 `time_ahead`. With a user \
                 token only items that the user sees count, and a cursor with a name at which there is none is replaced, \
                 too.",
            )
            .for_users(Act::Marker)
            .takes::<NewMarker>(marker.clone())
            .answers::<MarkerBody>(200, "The marker after the change", marker)
            .refuses(&[Code::TimeAhead, Code::UnknownCursor])
            .leads_to("getMarker", &[("uid", "$request.path.uid")])
            .leads_to("getUnread", &[("uid", "$request.path.uid")]),
    ];
    group("timelines", calls)
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewMarker {
    #[schema(schema_with = schemas::cursor)]
    pub(crate) cursor: Position<HostId>,
}

/// The place up to which a user has read; `null` for a user without a marker.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Marker)]
pub(crate) struct MarkerBody {
    #[schema(required, value_type = Option<String>, pattern = r"^[0-9]+-[^\x00-\x1f\x7f-\x9f]+$")]
    pub(crate) cursor: Option<Position<HostId>>,
}

/// The number of unread items; `capped` if there are more.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Unread)]
pub(crate) struct UnreadBody {
    count: usize,
    capped: bool,
}

impl From<Unread> for UnreadBody {
    fn from(Unread { count, capped }: Unread) -> Self {
        Self { count, capped }
    }
}

/// `GET /v1/users/{uid}/marker`
pub(crate) async fn show(call: Call) -> Answer {
    let user = call.user()?;
    call.no_query()?;
    let (cursor, ids) = call.read_of(&user, |read, user| read.named(timeline::marker(read, user, None)?)).await?;
    reply::ok(&MarkerBody { cursor: cursor.map(|cursor| ids.place(cursor)) })
}

/// `PUT /v1/users/{uid}/marker`
pub(crate) async fn advance(mut call: Call) -> Answer {
    let user = call.user()?;
    call.no_query()?;
    let NewMarker { cursor } = call.json().await?;
    let sight = call.sight();
    let moved =
        move |feed: &Feed| feed.read().named(feed.submit(MoveMarker { user, place: cursor, sight, list: None })?);
    let (cursor, ids) = call.run(Wants::Change, moved).await?;
    reply::ok(&MarkerBody { cursor: Some(ids.place(cursor)) })
}

/// `GET /v1/users/{uid}/timeline/unread`
pub(crate) async fn unread(call: Call) -> Answer {
    let (user, kinds) = (call.user()?, query::kinds(call.query(["kinds", "except_kinds"])?)?);
    let unread = call.read_of(&user, move |read, user| timeline::unread(read.of_kinds(&kinds)?, user)).await?;
    reply::ok(&UnreadBody::from(unread))
}
