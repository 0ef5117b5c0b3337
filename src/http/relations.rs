//! Following: changing it, and the lists that come of it.

use serde::Deserialize;

use super::body::UpTo;
use super::call::{Answer, Call};
use super::problem::Problem;
use super::query::{self, Ids, Kept};
use super::reply;
use super::show::{Items, Member, RelationItem};
use crate::error::Result;
use crate::feed::Feed;
use crate::model::{Page, Relation, Side, Time, UserId, or_default};
use crate::store::Tier;

/// Most follows and unfollows of a batch, together.
pub(super) const MAX_BATCH: usize = 1000;

/// `PUT /v1/users/{uid}/following/{target}`
pub(super) async fn follow(mut call: Call) -> Answer {
    #[derive(Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Follow {
        #[serde(default)]
        since: Option<Time>,
    }

    let (user, target) = (call.user()?, call.target()?);
    call.no_query()?;
    let body = call.body(call.api.body_limit).await?;
    let follow = if body.bytes.is_empty() { Follow::default() } else { body.json()? };
    let since = follow.since.map(|Time(since)| since);
    let relations = call.change(move |feed| feed.relate(user, &[(target, since)], &[])).await?;
    only(relations)
}

/// `DELETE /v1/users/{uid}/following/{target}`
pub(super) async fn unfollow(call: Call) -> Answer {
    let (user, target) = (call.user()?, call.target()?);
    call.no_query()?;
    let relations = call.change(move |feed| feed.relate(user, &[], &[target])).await?;
    only(relations)
}

fn only(relations: Vec<Relation>) -> Answer {
    let relation = relations.into_iter().next().ok_or_else(|| Problem::internal("a change without an answer"))?;
    reply::ok(&RelationItem::from(relation))
}

/// `POST /v1/users/{uid}/following/batch`
pub(super) async fn change_batch(mut call: Call) -> Answer {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Batch {
        #[serde(default, deserialize_with = "or_default")]
        follow: UpTo<UserId, MAX_BATCH>,
        #[serde(default, deserialize_with = "or_default")]
        unfollow: UpTo<UserId, MAX_BATCH>,
    }

    let user = call.user()?;
    call.no_query()?;
    let body = call.body(call.api.body_limit).await?;
    let Batch { follow: UpTo(follow), unfollow: UpTo(unfollow) } = body.json()?;
    if !(1..=MAX_BATCH).contains(&(follow.len() + unfollow.len())) {
        let detail = format_args!("follow and unfollow: expected 1 to {MAX_BATCH} ids in all");
        return Err(Problem::invalid_body(detail));
    }
    let follow: Vec<_> = follow.into_iter().map(|target| (target, None)).collect();
    let relations = call.change(move |feed| feed.relate(user, &follow, &unfollow)).await?;
    reply::ok(&relations.into_iter().map(RelationItem::from).collect::<Items<_>>())
}

/// `GET /v1/users/{uid}/relations?targets=`
pub(super) async fn relations(call: Call) -> Answer {
    let user = call.user()?;
    let [targets] = call.query(["targets"])?;
    let Ids(targets) = query::required::<Ids<UserId>>("targets", targets)?;
    let relations = call.read(move |feed, tier| feed.relations(user, &targets, tier)).await?;
    reply::ok(&relations.into_iter().map(RelationItem::from).collect::<Items<_>>())
}

/// `GET /v1/users/{uid}/following`
pub(super) async fn following(call: Call) -> Answer {
    list(call, Side::Following).await
}

/// `GET /v1/users/{uid}/followers`
pub(super) async fn followers(call: Call) -> Answer {
    list(call, Side::Followers).await
}

/// `GET /v1/users/{uid}/friends`
pub(super) async fn friends(call: Call) -> Answer {
    list(call, Side::Friends).await
}

async fn list(call: Call, side: Side) -> Answer {
    let user = call.user()?;
    let [limit, before, after, viewer] = call.query(["limit", "before", "after", "viewer"])?;
    let (request, kept) = query::page([limit, before, after])?;
    let viewer: Option<UserId> = query::value("viewer", viewer)?;
    let read = move |feed: &Feed, tier: Tier| -> Result<Page<Member, UserId>> {
        let page = feed.members(user, side, &request, tier)?;
        let Some(viewer) = viewer else {
            return Ok(page.map(|member| Member::new(member, None)));
        };
        let targets: Vec<UserId> = page.items.iter().map(|member| member.id).collect();
        let mut relations = feed.relations(viewer, &targets, tier)?.into_iter();
        Ok(page.map(|member| Member::new(member, relations.next().map(|relation| relation.kind()))))
    };
    let page = call.read(read).await?;
    reply::page(&page, Kept { viewer, ..kept })
}
