//! `/v1/changes`: what each change did, in one order.

use std::str::FromStr;

use actix_web::HttpResponseBuilder;
use actix_web::http::StatusCode;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::call::Call;
use crate::endpoint::{Endpoint, get, group, parameters};
use crate::wire::query;
use crate::wire::reply::{Answer, Text};
use feed::{ChangesAfter, ChangesPage, Read};
use model::error::Code;
use model::schemas;
use model::{Changed, EffectKind, HostId, HostIds, Millis, ReactionKinds, ShownId, Time};

/// Most changes of one page, and the default.
const MOST: usize = 1000;

/// The calls of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let change = json!({
        "position": "9f3c6a1e5b7d2048-88213", "type": "reaction.created", "at": 1_689_089_522_000_u64, "user_id": "111",
        "target_id": "200", "content_id": "32850", "kind": "like"
    });
    let calls = [get("/v1/changes", list, "listChanges", "What changed, in order")
        .about(
            "Every change that was answered, once, in the order in which the changes took effect; each is there before its \
             answer, and none appears later before the end of a page. Continue with `position` of the answer: it is behind \
             all changes of the page, also of a page without changes. A change has ids and no texts: read the rest with \
             the other calls, which answer with the present state. Changes are kept for `changes.keep`.",
        )
        .query([
            parameters::shown(
                "after",
                "The position from which to continue; `newest` for the end of the feed, none for its oldest change",
                schemas::text("^(newest|[0-9a-f]{16}-[0-9]{1,20})$"),
                "newest",
            ),
            parameters::optional("limit", "The largest number of changes", parameters::number(1, MOST, MOST)),
            parameters::shown(
                "types",
                "Only changes of these types, with commas between them",
                schemas::text(r"^[a-z_]+\.[a-z_]+(,[a-z_]+\.[a-z_]+)*$"),
                "follow.created,follow.removed",
            ),
        ])
        .answers::<Changes>(200, "The changes", json!({"items": [change], "position": "9f3c6a1e5b7d2048-88213"}))
        .refuses(&[Code::ChangesGone])];
    group("changes", calls)
}

/// Changes, and the position from which to continue.
#[derive(Debug, Serialize, ToSchema)]
struct Changes<'a> {
    items: Vec<Change<'a>>,
    position: String,
}

/// What a change did. The ids depend on its type.
#[derive(Debug, Serialize, ToSchema)]
struct Change<'a> {
    position: String,
    /// What was done, such as `content.published` or `follow.created`.
    #[serde(rename = "type")]
    what: &'static str,
    #[schema(value_type = Time)]
    at: Millis,
    /// The author, the follower, or the owner.
    #[schema(value_type = HostId)]
    user_id: ShownId<'a>,
    /// The other user: the followee, the path, the member, the author of the item of a reaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = HostId)]
    target_id: Option<ShownId<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = HostId)]
    content_id: Option<ShownId<'a>>,
    /// The kind of the item or of the reaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    /// The name of the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<&'a str>,
}

impl<'a> Change<'a> {
    fn new(page: &ChangesPage, changed: &'a Changed, ids: &'a HostIds) -> Self {
        let Changed { at, effect, .. } = changed;
        let (kind, list) = match effect.item {
            Some(_) => (effect.name.as_deref(), None),
            None => (None, effect.name.as_deref()),
        };
        Self {
            position: page.position(changed).to_string(),
            what: effect.kind.name(),
            at: *at,
            user_id: ids.show(effect.user),
            target_id: effect.target.map(|target| ids.show(target)),
            content_id: effect.item.map(|item| ids.show(item)),
            kind,
            list,
        }
    }
}

/// Types with commas between them.
struct Types(Vec<EffectKind>);

impl FromStr for Types {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = |name: &str| {
            let known = EffectKind::ALL.into_iter().find(|kind| kind.name() == name);
            known.ok_or_else(|| {
                format!("expected types of changes with commas between them; \"{name}\" is none of them")
            })
        };
        text.split(',').map(read).collect::<Result<_, _>>().map(Self)
    }
}

/// `GET /v1/changes`
pub(crate) async fn list(call: Call) -> Answer {
    let [after, limit, types] = call.query(["after", "limit", "types"])?;
    let after = query::value("after", after)?.unwrap_or(ChangesAfter::Oldest);
    let limit = query::number("limit", limit, MOST)?.unwrap_or(MOST);
    let Types(types) = query::value("types", types)?.unwrap_or(Types(Vec::new()));
    let look = move |read: Read<'_>| read.changes(after, limit, &types);
    let write = |page: ChangesPage, ids: HostIds, _: &ReactionKinds, text: &mut Text| {
        let items = page.changes.iter().map(|changed| Change::new(&page, changed, &ids)).collect();
        text.write(&Changes { items, position: page.end.to_string() })
    };
    let ((), text) = call.show(look, write).await?;
    Ok(text.answer(HttpResponseBuilder::new(StatusCode::OK)))
}
