//! Checks of a timeline: is it exact, and why does it show an item or not?

use crate::calls::objects::ItemId;
use crate::endpoint::parameters::{number, required};
use crate::prelude::*;
use crate::wire::query::Number;
use feed::timeline::{self, Explanation, PathExplanation, Verification};
use model::schemas::id_text;
use model::{ExternalIds, Position};

/// The items that `verify` compares.
const DEPTH: Number = Number { name: "depth", about: "The number of items to compare", most: |_| 100_000, usual: 1000 };

endpoints! { "operations":
    /// Compare a timeline with its sources
    ///
    /// Compares the timeline with a merge of the outboxes of all followed users. In a cluster, ask each node: those
    /// that do not keep the user's inbox have only the merge.
    get("/v1/admin/users/{uid}/timeline/verify", verify, "verifyTimeline")
        .query([number(&DEPTH)])
        .answers::<VerificationBody<'_>>(200, "The differences");

    /// Why a timeline shows an item, or does not
    get("/v1/admin/users/{uid}/timeline/explain", explain, "explainTimeline")
        .query([required("content_id", "The id of the item", id_text(), "32850")])
        .of_owner(OfOwner::Inbox)
        .answers::<ExplanationBody>(200, "The reason, and the facts behind it");
}

answers! {
    /// The result of a comparison of a timeline with its sources.
    struct VerificationBody<'a> as Verification (user: ExternalId, found: Verification, ids: &'a ExternalIds) {
        (user_id: ExternalId) = user;
        /// Whether there are no differences.
        (exact: bool) = found.missing.is_empty() && found.extra.is_empty();
        /// The number of items compared.
        (compared: usize) = found.compared;
        /// Whether the whole timeline was compared.
        (complete: bool) = found.complete;
        /// Items that the timeline lacks.
        (missing: Vec<ItemId<'a>>) = found.missing.into_iter().map(|entry| ItemId::new(entry, ids)).collect();
        /// Items that the timeline should not have.
        (extra: Vec<ItemId<'a>>) = found.extra.into_iter().map(|entry| ItemId::new(entry, ids)).collect();
    }

    /// The reason why a timeline shows an item or does not, with the facts behind it.
    struct ExplanationBody as Explanation (user: ExternalId, item: ExternalId, found: Explanation, ids: &ExternalIds) {
        (user_id: ExternalId) = user;
        (content_id: ExternalId) = item;
        /// Whether the timeline shows the item.
        (listed: bool) = found.listed;
        /// The deciding reason: `listed`, `no_content`, `deleted`, `not_broadcast`, `blocked`, `requested`, `not_following`,
        /// `muted`, `hidden`, `suspended`, `in_exclusive_list`, `ruled_out`, or `changed_meanwhile` if something changed during the
        /// request.
        (reason: &'static str) = found.reason;
        (author_id?: ExternalId) = found.entry.map(|found| ids.of(found.author));
        (published_at?: Millis as Time) = found.entry.map(|found| found.cursor.at);
        /// The user has muted the author.
        (muted: bool) = found.muted;
        /// The author hides its content from the user.
        (hidden: bool) = found.hidden;
        /// The user has blocked the author, or the author the user.
        (blocked: bool) = found.blocked;
        /// The author is suspended.
        (suspended: bool) = found.suspended;
        /// The paths of the item: the author if it is broadcast, then further sources.
        (paths: Vec<PathExplanation>) = found.paths;
        /// The inbox is complete only above this cursor; `null` for an inbox that is complete to its end.
        #[schema(required, value_type = Option<String>, pattern = r"^[0-9]+-[^\x00-\x1f\x7f-\x9f]+$")]
        (floor: Option<Position<ExternalId>>) = found.floor.map(|place| ids.place(place));
    }
}

/// `GET /v1/admin/users/{uid}/timeline/verify`
pub(crate) async fn verify(call: Call) -> Answer {
    let user = call.user()?;
    let depth = call.query()?.number(&DEPTH)?;
    let id = user.clone();
    let verified = move |feed: &Feed| -> Result<_> {
        let read = feed.read();
        let found = timeline::verify(read, read.find(&id)?, depth)?;
        let ids = read.host_ids(&[&found.missing[..], &found.extra[..]].concat())?;
        Ok((found, ids))
    };
    let (found, ids) = call.run(Wants::Audit, verified).await?;
    reply::ok(&VerificationBody::new(user, found, &ids))
}

/// `GET /v1/admin/users/{uid}/timeline/explain?content_id=`
pub(crate) async fn explain(call: Call) -> Answer {
    let user = call.user()?;
    let id: ExternalId = call.query()?.required("content_id")?;
    let (user_id, content_id) = (user.clone(), id.clone());
    let explained = move |feed: &Feed| -> Result<_> {
        let read = feed.read();
        let found = timeline::explain(read, read.find(&user_id)?, read.find(&content_id)?)?;
        let ids = read.host_ids(&(found.floor, found.entry))?;
        Ok((found, ids))
    };
    let (found, ids) = call.run(Wants::Read, explained).await?;
    reply::ok(&ExplanationBody::new(user, id, found, &ids))
}
