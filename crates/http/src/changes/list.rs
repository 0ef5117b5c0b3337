//! `GET /v1/changes`, as a page or as a stream.

use std::str::FromStr;

use actix_web::http::header::{Accept, Header};

use super::change::{Change, Changes};
use super::stream;
use crate::prelude::*;
use crate::streams::{events, response};
use crate::wire::query::Number;
use feed::events::{ChangesAfter, ChangesPage};
use model::{EffectKind, ExternalIds, ReactionKinds};

/// The changes of one page.
const LIMIT: Number =
    Number { name: "limit", about: "The largest number of changes on a page", most: |_| 1000, usual: 1000 };
/// How a position looks.
const POSITION: &str = "^[0-9a-f]{16}-[0-9]{1,20}$";

endpoints! { "changes" = "What changed, in one order":
    /// What changed, in order
    ///
    /// Every change that was answered, once, in the order in which the changes took effect; each is there before its
    /// answer, and none appears later before the end of a page. Continue with `position` of the answer: it is behind
    /// all changes of the page, also of a page without changes. A change has ids and no texts: read the rest with the
    /// other calls, which answer with the present state. Changes are kept for `changes.keep`.
    ///
    /// With `Accept: text/event-stream` the answer is a stream without an end: each event `change` has a change as
    /// JSON in `data`, as the schema describes it, and its position as `id`. An `id` without an event is a newer
    /// place to resume from. After some silence the server sends a comment line. The stream ends when the server
    /// stops, when the client does not read, or when the next change is not kept any more.
    get("/v1/changes", list, "listChanges")
        .query([
            parameters::shown(
                "after",
                "The position from which to continue; `newest` for the end of the feed; `oldest`, or none, for the oldest change",
                schemas::text(&format!("^(newest|oldest)$|{POSITION}")),
                "newest",
            ),
            parameters::number(&LIMIT),
            parameters::shown(
                "types",
                "Only changes of these types, with commas between them",
                schemas::text(r"^[a-z_]+\.[a-z_]+(,[a-z_]+\.[a-z_]+)*$"),
                "follow.created,follow.removed",
            ),
            parameters::header(
                "Last-Event-ID",
                "For a stream: the position from which to continue, in place of `after`. An empty value counts as none",
                schemas::text(&format!("^$|{POSITION}")),
                "9f3c6a1e5b7d2048-88213",
            ),
        ])
        .answers::<Changes>(200, "The changes")
        .answers_in(events::MEDIA_TYPE, 200, "Changes, without an end", shape::of::<Change>(), json!({}))
        .refuses(&[Code::ChangesGone, Code::InvalidHeader, Code::Stopping]);
}

/// Types with commas between them.
struct Types(Vec<EffectKind>);

impl FromStr for Types {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = |name: &str| {
            let known = EffectKind::ALL.into_iter().find(|kind| kind.name() == name);
            known.ok_or("expected types of changes with commas between them, as docs/use/api.md has them")
        };
        text.split(',').map(read).collect::<Result<_, _>>().map(Self)
    }
}

/// `GET /v1/changes`
pub(crate) async fn list(call: Call) -> Answer {
    let query = call.query()?;
    let after = query.value("after")?.unwrap_or(ChangesAfter::Oldest);
    let limit = query.number(&LIMIT)?;
    let Types(types) = query.value("types")?.unwrap_or(Types(Vec::new()));
    let resumed = response::last_event_id(&call)?.map(ChangesAfter::Position);
    if accepts_stream(&call) {
        return stream::follow(call, resumed.unwrap_or(after), types).await;
    }
    let look = move |read: Read<'_>| read.named(feed::events::changes(read, after, limit, &types)?);
    let write = |(page, ids): (ChangesPage, ExternalIds), _: &ReactionKinds, text: &mut Text| {
        text.write(&Changes::new(&page, &ids))
    };
    let ((), text) = call.show(look, write).await?;
    Ok(text.answer(HttpResponseBuilder::new(StatusCode::OK)))
}

/// Whether the client prefers a stream to a page.
fn accepts_stream(call: &Call) -> bool {
    Accept::parse(&call.request).is_ok_and(|accept| accept.preference().essence_str() == events::MEDIA_TYPE)
}
