//! Reactions: changes and lists.

use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::relations::list_users;
use super::show::{Counts, Member};
use super::timelines;
use crate::call::Call;
use crate::endpoint::{self, Endpoint, Takes, get, group, parameters};
use crate::guards::auth::TokenUse;
use crate::pools::Wants;
use crate::wire::body::Since;
use crate::wire::problem::Problem;
use crate::wire::query;
use crate::wire::reply;
use crate::wire::reply::Answer;
use config::Act;
use feed::{React, Read, Wish, reactions, sight};
use model::error::Code;
use model::{HostId, Millis, ReactionKind, Time, schemas};

/// Link from a reaction to the calls about it.
const THIS: &Takes = &[
    ("content_id", "$response.body#/content_id"),
    ("kind", "$response.body#/kind"),
    ("uid", "$response.body#/user_id"),
];

/// The calls of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let there = json!({
        "content_id": "32850", "user_id": "111", "kind": "like", "active": true, "since": 1_689_089_522_000_u64,
        "counts": {"comments": 0, "reposts": 0, "reactions": {"like": 1}}
    });
    let change = |call: Endpoint| {
        call.for_users(Act::React)
            .answers::<ReactionItem<'_>>(200, "The reaction after the change", there.clone())
            .refuses(&[Code::Blocked, Code::ContentNotFound])
    };
    let path = "/v1/content/{content_id}/reactions/{kind}/{uid}";
    let calls = [
        get(
            "/v1/content/{content_id}/reactions/{kind}",
            of_content,
            "listReactions",
            "The users who reacted to an item",
        )
        .about("Without suspended users, and for a viewer without those between whom and the viewer a hide or a block lies.")
        .for_users(TokenUse::Visible)
        .answers_pages::<Member>("UserPage", Member::example_page())
        .query([parameters::optional(
            "viewer",
            "Only what this user may see, with `relation` in each entry: the relation of this user to the user of the entry",
            schemas::id_text(),
        )])
        .refuses(&[Code::ContentNotFound]),
        change(endpoint::put(path, put, "react", "React to an item: like it, for example"))
            .about(
                "Each user counts once for each kind; a repeat changes nothing. With a user token, items that the user \
                 may not see answer 404, as missing ones do, and those of an author with whom there is a block 403.",
            )
            .may_take::<Since>(json!({"since": 1_689_089_522_000_u64}))
            .refuses(&[Code::TimeAhead])
            .leads_to("unreact", THIS)
            .leads_to("listReactions", &THIS[..2])
            .leads_to("listUserReactions", &THIS[1..]),
        change(endpoint::delete(path, delete, "unreact", "Remove a reaction")).leads_to("react", THIS),
        timelines::pages(get(
            "/v1/users/{uid}/reactions/{kind}",
            of_user,
            "listUserReactions",
            "The items to which a user reacted",
        ))
        .for_users(TokenUse::Visible)
        .about(
            "Ordered by the times of the items: those that the viewer sees.",
        ),
    ];
    group("reactions", calls)
}

/// The state of a reaction after a change.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Reaction)]
pub(crate) struct ReactionItem<'a> {
    content_id: HostId,
    user_id: HostId,
    #[schema(value_type = ReactionKind)]
    kind: &'a str,
    /// Whether the user has this reaction to the item.
    active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Time)]
    since: Option<Millis>,
    counts: Counts<'a>,
}

/// `PUT /v1/content/{content_id}/reactions/{kind}/{uid}`
pub(crate) async fn put(mut call: Call) -> Answer {
    let (id, kind, user) = path(&call)?;
    call.no_query()?;
    let since = call.json_or_default().await?;
    let since = call.since(since)?;
    change(&call, id, user, kind, true, since).await
}

/// `DELETE /v1/content/{content_id}/reactions/{kind}/{uid}`
pub(crate) async fn delete(call: Call) -> Answer {
    let (id, kind, user) = path(&call)?;
    call.no_query()?;
    change(&call, id, user, kind, false, None).await
}

fn path(call: &Call) -> Result<(HostId, ReactionKind, HostId), Problem> {
    Ok((call.content_id()?, call.reaction()?, call.user()?))
}

/// Changes a reaction.
async fn change(
    call: &Call,
    id: HostId,
    user: HostId,
    kind: ReactionKind,
    active: bool,
    since: Option<Millis>,
) -> Answer {
    let kinds = call.api.feed().reaction_kinds();
    let wish = Wish { user: user.clone(), kind: kinds.name(kind).to_owned(), active, since, sight: call.sight() };
    let item = id.clone();
    let reacted = if call.api.feed().is_node() {
        call.run(Wants::Change, move |feed| reactions::react(feed, item, wish)).await?
    } else {
        let place = call.api.limits.place_for_change(call.caller.holder)?;
        call.ask(place, React::one(item, wish), reactions::ask).await?
    };
    reply::ok(&ReactionItem {
        content_id: id,
        user_id: user,
        kind: kinds.name(kind),
        active: reacted.since.is_some(),
        since: reacted.since,
        counts: Counts::new(&reacted.counts, kinds),
    })
}

/// `GET /v1/content/{content_id}/reactions/{kind}`
pub(crate) async fn of_content(call: Call) -> Answer {
    let (id, kind) = (call.content_id()?, call.reaction()?);
    let query = call.query(["limit", "before", "after", "viewer"])?;
    let viewer = call.viewer(query::value("viewer", query[3].clone())?);
    let read_page = move |read: Read<'_>, id, request: &_| reactions::reactors(read, id, kind, request);
    list_users(&call, query, viewer, move |read| sight::find_live(read, &id), read_page).await
}

/// `GET /v1/users/{uid}/reactions/{kind}`
pub(crate) async fn of_user(call: Call) -> Answer {
    let (user, kind) = (call.user()?, call.reaction()?);
    let read_page = move |read: Read<'_>, user, request: &_| reactions::reacted_by(read, user, kind, request);
    timelines::list_of(&call, user, None, read_page).await
}
