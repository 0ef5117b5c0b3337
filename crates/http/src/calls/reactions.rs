//! Reactions: changes and lists.

use super::objects::Counts;
use super::relations::{list_users, user_pages};
use super::timelines;
use crate::prelude::*;
use feed::{React, ReactionRequest, reactions, visibility};
use model::{Reacted, ReactionKind, ReactionKinds};

/// Link from a reaction to the calls about it.
const THIS: &Takes = &[
    ("content_id", "$response.body#/content_id"),
    ("kind", "$response.body#/kind"),
    ("uid", "$response.body#/user_id"),
];

endpoints! { "reactions" = "Likes, favorites and the other kinds of reactions that the settings name":
    let change = |call: Endpoint| {
        call.for_users(Act::React)
            .answers::<ReactionItem<'_>>(200, "The reaction after the change")
            .refuses(&[Code::Blocked, Code::ContentNotFound])
    };
    let path = "/v1/content/{content_id}/reactions/{kind}/{uid}";

    /// The users who reacted to an item
    ///
    /// Without suspended users, and for a viewer without those between whom and the viewer a hide or a block lies.
    get("/v1/content/{content_id}/reactions/{kind}", of_content, "listReactions")
        .for_users(TokenUse::Visible)
        .with(user_pages)
        .query([parameters::optional(
            "viewer",
            "Only what this user may see, with `relation` in each entry: the relation of this user to the user of the entry",
            schemas::id_text(),
        )])
        .refuses(&[Code::ContentNotFound]);

    /// React to an item: like it, for example
    ///
    /// Each user counts once for each kind; a repeat changes nothing. With a user token, items that the user may not
    /// see answer 404, as missing ones do, and those of an author with whom there is a block 403.
    put(path, |call| set(call, true), "react")
        .with(change)
        .may_take::<NewSince>()
        .refuses(&[Code::TimeAhead])
        .leads_to(&["unreact"], THIS)
        .leads_to(&["listReactions"], &THIS[..2])
        .leads_to(&["listUserReactions"], &THIS[1..]);

    /// Remove a reaction
    delete(path, |call| set(call, false), "unreact").with(change).leads_to(&["react"], THIS);

    /// The items to which a user reacted
    ///
    /// Ordered by the times of the items: those that the viewer sees.
    get("/v1/users/{uid}/reactions/{kind}", of_user, "listUserReactions")
        .with(timelines::pages)
        .for_users(TokenUse::Visible);
}

answers! {
    /// The state of a reaction after a change.
    struct ReactionItem<'a> as Reaction (item: ExternalId, user: ExternalId, kind: &'a str, of: &'a Reacted, kinds: &'a ReactionKinds) {
        (content_id: ExternalId) = item;
        (user_id: ExternalId) = user;
        (kind: &'a str as ReactionKind) = kind;
        /// Whether the user has this reaction to the item.
        (active: bool) = of.since.is_some();
        (since?: Millis as Time) = of.since;
        (counts: Counts<'a>) = Counts::new(&of.counts, kinds);
    }
}

// A body with an optional time.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewSince {
    #[serde(default)]
    #[schema(schema_with = schemas::given_time)]
    since: Option<Time>,
}

/// The kind of reaction named in the path.
fn kind(call: &Call) -> Result<ReactionKind> {
    let sent = call.segment("kind");
    let name = query::text(sent).ok_or_else(|| {
        let detail = format_args!("kind: expected a name, percent-encoded as UTF-8, not \"{sent}\"");
        Error::refused(Code::InvalidKind, detail)
    })?;
    reactions::kind(call.api.feed(), &name)
}

/// `PUT` and `DELETE /v1/content/{content_id}/reactions/{kind}/{uid}`
async fn set(mut call: Call, active: bool) -> Answer {
    let (content_id, kind, user_id) = (call.id("content_id")?, kind(&call)?, call.user()?);
    let NewSince { since } = if active { call.json().await? } else { NewSince { since: None } };
    let since = call.since(since)?;
    let kinds = call.api.feed().reaction_kinds();
    let (item, visibility) = (content_id.clone(), call.visibility());
    let request =
        ReactionRequest { user: user_id.clone(), kind: kinds.name(kind).to_owned(), active, since, visibility };
    let reacted = call.submit(React::one(item, request)).await?.pop();
    let reacted = reacted.ok_or_else(|| Error::internal("a reaction has no result"))??;
    reply::ok(&ReactionItem::new(content_id, user_id, kinds.name(kind), &reacted, kinds))
}

/// `GET /v1/content/{content_id}/reactions/{kind}`
async fn of_content(call: Call) -> Answer {
    let (id, kind) = (call.id("content_id")?, kind(&call)?);
    let viewer = call.viewer(call.query()?.value("viewer")?);
    let read_page = move |read: Read<'_>, id, request: &_| reactions::reactors(read, id, kind, request);
    list_users(&call, viewer, move |read| visibility::find_live(read, &id), read_page).await
}

/// `GET /v1/users/{uid}/reactions/{kind}`
async fn of_user(call: Call) -> Answer {
    let (user, kind) = (call.user()?, kind(&call)?);
    let read_page = move |read: Read<'_>, user, request: &_| reactions::reacted_by(read, user, kind, request);
    timelines::list_of(&call, user, None, read_page).await
}
