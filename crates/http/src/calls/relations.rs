//! Follows: changes and lists.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Array, ArrayBuilder};

use super::show::{Items, Member, RelationItem};
use crate::call::Call;
use crate::endpoint::parameters;
use crate::endpoint::{Endpoint, Takes, delete, get, group, post, put};
use crate::guards::auth::TokenUse;
use crate::pools::Wants;
use crate::wire::body::{Since, UpTo};
use crate::wire::problem::Problem;
use crate::wire::query::{self, Ids, Kept};
use crate::wire::reply;
use crate::wire::reply::Answer;
use config::Act;
use feed::{Feed, Read, Relate, Visibility, follows, ids, kinds, sight};
use model::error::{Code, Result};
use model::schemas;
use model::{
    HostId, KindNames, Millis, Page, PageRequest, Rule, RuleDraft, Side, Time, UserId, UserPage, kinds_of_rule,
    or_default,
};

/// Most follows and unfollows of a batch, together.
const MAX_BATCH: usize = 1000;

/// Link from a relation to the calls about it.
pub(crate) const BOTH: &Takes = &[("uid", "$response.body#/user_id"), ("target", "$response.body#/target_id")];
/// Link from an answer that names a user to the calls about that user.
pub(crate) const USER: &Takes = &[("uid", "$response.body#/user_id")];

/// The calls of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let list = |call: Endpoint| {
        let viewer = schemas::id_text();
        call.for_users(TokenUse::Visible)
            .answers_pages::<Member>("UserPage", Member::example_page())
            .query([parameters::optional(
                "viewer",
                "Adds `relation` to each entry: the relation of this user to the user of the entry",
                viewer,
            )])
            .leads_to("getTimeline", &[("uid", "$response.body#/items/0/user_id")])
    };
    let example = RelationItem::example;
    let calls = [
        list(get("/v1/users/{uid}/following", following, "listFollowing", "The users that a user follows")),
        post(
            "/v1/users/{uid}/following/batch",
            change_batch,
            "changeFollowing",
            "Follow and unfollow up to 1,000 users, all or none",
        )
        .for_users(Act::Follow)
        .about("The body may have 256 times as many bytes as the body of a single follow.")
        .takes::<FollowingChange>(json!({"follow": ["200", "211"], "unfollow": ["222"]}))
        .answers_items::<RelationItem>(
            200,
            "RelationList",
            "The relations after the change, in the order of the request",
            example(),
        )
        .refuses(&[Code::Blocked, Code::SelfFollow, Code::FollowLimit]),
        put("/v1/users/{uid}/following/{target}", follow, "follow", "Follow a user")
            .for_users(Act::Follow)
            .about(
                "The timeline has the earlier items of `target` at once. A second follow changes only the rule: `only` or \
                 `except` say which kinds of items this follow shows; without them it shows all. A follow of a batch leaves \
                 the rule of a present one. If `target` approves its followers, the follow is a request, and the answer \
                 has `requested`.",
            )
            .may_take::<NewFollow>(json!({"since": 1_689_089_522_000_u64, "except": ["repost"]}))
            .answers::<RelationItem>(200, "The relation after the change", example())
            .refuses(&[Code::TimeAhead, Code::Blocked, Code::SelfFollow, Code::FollowLimit, Code::TooManyKinds])
            .leads_to("unfollow", BOTH)
            .leads_to("getTimeline", USER)
            .leads_to("listFollowing", USER)
            .leads_to("listFriends", USER),
        delete("/v1/users/{uid}/following/{target}", unfollow, "unfollow", "Unfollow a user")
            .for_users(Act::Follow)
            .answers::<RelationItem>(200, "The relation after the change", example())
            .leads_to("follow", BOTH),
        list(get("/v1/users/{uid}/followers", followers, "listFollowers", "The users that follow a user")),
        delete("/v1/users/{uid}/followers/{follower}", remove_follower, "removeFollower", "Remove a follower")
            .for_users(Act::Requests)
            .about("`follower` does not follow `uid` any more, and a request of it ends. It may follow again.")
            .answers::<RelationItem>(200, "The relation of `uid` to `follower` after the change", example())
            .leads_to("listFollowers", USER),
        list(get(
            "/v1/users/{uid}/friends",
            friends,
            "listFriends",
            "The users that a user follows and that follow this user",
        ))
        .about("`since` is the time of the second follow."),
        get("/v1/users/{uid}/relations", relations, "listRelations", "The relations of a user to up to 100 users")
            .for_users(TokenUse::Own)
            .query([parameters::ids("targets", "Up to 100 ids of users, separated by commas", "200,211")])
            .answers_items::<RelationItem>(200, "RelationList", "The relations, in the order of the ids", example()),
    ];
    group("relations", calls)
}

/// The time of a follow, its rule, without which it shows all kinds, and whether the target has approved it
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewFollow {
    #[serde(default)]
    #[schema(schema_with = schemas::given_time)]
    since: Option<Time>,
    #[serde(default, deserialize_with = "kinds_of_rule")]
    #[schema(schema_with = schemas::only)]
    only: Option<KindNames>,
    #[serde(default, deserialize_with = "kinds_of_rule")]
    #[schema(schema_with = schemas::except)]
    except: Option<KindNames>,
    /// Whether the follow is made even if the target approves its followers. For keys. Default: `false`
    #[serde(default, deserialize_with = "or_default")]
    approved: bool,
}

/// The rule of two fields of a body.
pub(crate) fn rule(only: Option<KindNames>, except: Option<KindNames>) -> Result<RuleDraft, Problem> {
    RuleDraft::of(only, except).map_err(|why| Problem::invalid_body(format_args!("only and except: {why}")))
}

/// 1 to 1,000 users in total, each of them once
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(min_properties = 1)]
struct FollowingChange {
    #[serde(default, deserialize_with = "or_default")]
    #[schema(schema_with = to_follow)]
    follow: UpTo<HostId, MAX_BATCH>,
    #[serde(default, deserialize_with = "or_default")]
    #[schema(schema_with = to_unfollow)]
    unfollow: UpTo<HostId, MAX_BATCH>,
}

fn to_follow() -> Array {
    users("The users to follow")
}

fn to_unfollow() -> Array {
    users("The users to unfollow")
}

fn users(about: &str) -> Array {
    ArrayBuilder::new().items(schemas::id()).max_items(Some(MAX_BATCH)).description(Some(about)).build()
}

/// `PUT /v1/users/{uid}/following/{target}`
pub(crate) async fn follow(mut call: Call) -> Answer {
    let (user, target) = (call.user()?, call.target()?);
    call.no_query()?;
    let NewFollow { since, only, except, approved } = call.json_or_default().await?;
    let (since, rule, sight) = (call.since(Since { since })?, rule(only, except)?, call.sight());
    if approved && sight == Visibility::User {
        return Err(Problem::new(Code::NotPermitted, "approved: only a key may say that the target has approved"));
    }
    let follow = move |feed: &Feed| -> Result<_> {
        ids::may_name(feed, &user, [&target], sight)?;
        kinds::may_name(feed, &rule, sight)?;
        let relation = follows::follow(feed, user.clone(), target.clone(), since, rule, approved)?;
        RelationItem::new(feed.read(), user, target, relation)
    };
    reply::ok(&call.run(Wants::Change, follow).await?)
}

/// `DELETE /v1/users/{uid}/following/{target}`
pub(crate) async fn unfollow(call: Call) -> Answer {
    let (user, target) = (call.user()?, call.target()?);
    call.no_query()?;
    let sight = call.sight();
    let unfollow = move |feed: &Feed| relate(feed, &user, Vec::new(), vec![target], sight);
    let relation = call.run(Wants::Change, unfollow).await?.pop();
    reply::ok(&relation.ok_or_else(|| Problem::internal("an unfollow returned no relation"))?)
}

/// `DELETE /v1/users/{uid}/followers/{follower}`
pub(crate) async fn remove_follower(call: Call) -> Answer {
    let (user, follower) = (call.user()?, call.id("follower")?);
    call.no_query()?;
    let sight = call.sight();
    let remove = move |feed: &Feed| -> Result<_> {
        ids::may_name(feed, &user, [&follower], sight)?;
        let relation = follows::remove_follower(feed, &user, &follower)?;
        RelationItem::new(feed.read(), user, follower, relation)
    };
    reply::ok(&call.run(Wants::Change, remove).await?)
}

/// Applies follows and unfollows of a user.
fn relate(
    feed: &Feed,
    user: &HostId,
    follow: Vec<(HostId, Option<Millis>)>,
    unfollow: Vec<HostId>,
    sight: Visibility,
) -> Result<Vec<RelationItem>> {
    let targets: Vec<_> = follow.iter().map(|(target, _)| target).chain(&unfollow).cloned().collect();
    ids::may_name(feed, user, &targets, sight)?;
    let relations = feed.submit(Relate::of(user.clone(), follow, unfollow))?;
    let item = |(target, of)| RelationItem::new(feed.read(), user.clone(), target, of);
    targets.into_iter().zip(relations).map(item).collect()
}

/// `POST /v1/users/{uid}/following/batch`
pub(crate) async fn change_batch(mut call: Call) -> Answer {
    let user = call.user()?;
    call.no_query()?;
    let FollowingChange { follow: UpTo(follow), unfollow: UpTo(unfollow) } = call.json_of_batch().await?;
    if !(1..=MAX_BATCH).contains(&(follow.len() + unfollow.len())) {
        let detail = format_args!("follow and unfollow: expected 1 to {MAX_BATCH} ids in total");
        return Err(Problem::invalid_body(detail));
    }
    let mut targets = HashSet::new();
    if let Some(twice) = follow.iter().chain(&unfollow).find(|target| !targets.insert(*target)) {
        return Err(Problem::invalid_body(format_args!("user {twice} occurs twice")));
    }
    let follow: Vec<_> = follow.into_iter().map(|target| (target, None)).collect();
    let sight = call.sight();
    let relations = call.run(Wants::Change, move |feed| relate(feed, &user, follow, unfollow, sight)).await?;
    reply::ok(&Items { items: relations })
}

/// `GET /v1/users/{uid}/relations?targets=`
pub(crate) async fn relations(call: Call) -> Answer {
    let user = call.user()?;
    let [targets] = call.query(["targets"])?;
    let Ids(targets) = query::required("targets", targets)?;
    ids::may_name(call.api.feed(), &user, &targets, call.sight())?;
    let id = user.clone();
    let look = move |read: Read<'_>, user_id| -> Result<Items<RelationItem>> {
        let relations = follows::relations(read, user_id, &read.find_all(&targets)?)?;
        let item = |(target, relation): (&HostId, _)| RelationItem::new(read, user.clone(), target.clone(), relation);
        Ok(Items { items: targets.iter().zip(relations).map(item).collect::<Result<_>>()? })
    };
    reply::ok(&call.read_of(&id, look).await?)
}

/// `GET /v1/users/{uid}/following`
pub(crate) async fn following(call: Call) -> Answer {
    list(call, Side::Following).await
}

/// `GET /v1/users/{uid}/followers`
pub(crate) async fn followers(call: Call) -> Answer {
    list(call, Side::Followers).await
}

/// `GET /v1/users/{uid}/friends`
pub(crate) async fn friends(call: Call) -> Answer {
    list(call, Side::Friends).await
}

async fn list(call: Call, side: Side) -> Answer {
    let user = call.user()?;
    let query = call.query(["limit", "before", "after", "viewer"])?;
    list_members(&call, user, query, side).await
}

/// A call for one side of the graph around the user of the path, without the relations of a viewer.
pub(crate) fn own_list(path: &'static str, side: Side, id: &'static str, summary: &'static str) -> Endpoint {
    let list = move |call: Call| async move {
        let user = call.user()?;
        let [limit, before, after] = call.query(["limit", "before", "after"])?;
        list_members(&call, user, [limit, before, after, None], side).await
    };
    get(path, list, id, summary).for_users(TokenUse::Own).answers_pages::<Member>("UserPage", Member::example_page())
}

/// Answers with a page of one side of the graph around a user, each with the relation of a viewer.
async fn list_members(call: &Call, user: HostId, query: [Option<Cow<'_, str>>; 4], side: Side) -> Answer {
    let read_page = move |read: Read<'_>, user, request: &_| follows::members(read, user, side, request);
    let viewer = call.viewer(None);
    list_users(call, query, viewer, move |read| read.seen_by(None)?.find::<UserId>(&user), read_page).await
}

/// A page of users, with the rules of the members of a list.
pub(crate) struct ListedUsers {
    pub(crate) page: UserPage,
    /// In the order of the page; none for other lists.
    pub(crate) rules: Vec<Option<Rule>>,
}

impl From<UserPage> for ListedUsers {
    fn from(page: UserPage) -> Self {
        Self { page, rules: Vec::new() }
    }
}

/// Answers with a page of users, each with the relation of the viewer for whom the query asks. `find` finds whose list it
/// is, and comes first: a list that does not exist has no cursors. Both read as seen by a user.
pub(crate) async fn list_users<T, P, F, R>(
    call: &Call,
    [limit, before, after, viewer]: [Option<Cow<'_, str>>; 4],
    seen_by: Option<HostId>,
    find: F,
    read_page: R,
) -> Answer
where
    F: Fn(Read<'_>) -> Result<T> + Send + 'static,
    P: Into<ListedUsers>,
    R: Fn(Read<'_>, T, &PageRequest<UserId>) -> Result<P> + Send + 'static,
{
    let (request, kept) = query::page([limit, before, after])?;
    let viewer: Option<HostId> = query::value("viewer", viewer)?;
    let kept = Kept { viewer: viewer.clone(), ..kept };
    let sight = if seen_by.is_some() { Visibility::User } else { call.sight() };
    let look = move |read: Read<'_>| -> Result<Page<Member, HostId>> {
        let seen = read.seen_by(seen_by.as_ref())?;
        let ListedUsers { page, rules } =
            read_page(seen, find(seen)?, &sight::find_span(read, &request, sight)?)?.into();
        let (page, ids) = read.named(page)?;
        let rules = rules.into_iter().map(|rule| kinds::rule_names(read, rule)).collect::<Result<Vec<_>>>()?;
        let ids = ids.with_unknown(request.span.after.as_ref());
        let users: Vec<UserId> = page.items.iter().map(|member| member.id).collect();
        let relations =
            viewer.as_ref().map(|viewer| follows::relations(read, read.find(viewer)?, &users)).transpose()?;
        let mut kinds = relations.into_iter().flatten().map(|relation| relation.kind());
        let mut rules = rules.into_iter();
        let member = |member| Member::new(member, &ids, kinds.next(), rules.next().unwrap_or_default());
        Ok(ids.page(page, member))
    };
    reply::page(call.read(look).await?, &kept)
}
