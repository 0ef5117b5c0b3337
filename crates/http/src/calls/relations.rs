//! Follows: changes and lists.

use utoipa::openapi::schema::{Array, ArrayBuilder};

use super::objects::{Member, RelationItem};
use crate::prelude::*;
use crate::wire::body::{UpTo, check_batch};
use crate::wire::query::Ids;
use feed::{Relate, Visibility, follows, ids, kinds, visibility};
use model::{
    KindNames, NamedRule, Page, PageRequest, Relation, Rule, Side, UserId, UserPage, kinds_of_rule, or_default,
};

/// Most users of a batch, of both its lists together.
pub(crate) const MAX_BATCH: usize = 1000;

/// Link from a relation to the calls about it.
pub(crate) const BOTH: &Takes = &[("uid", "$response.body#/user_id"), ("target", "$response.body#/target_id")];
/// Link from an answer that names a user to the calls about that user.
pub(crate) const USER: &Takes = &[("uid", "$response.body#/user_id")];

endpoints! { "relations" = "Follows, requests to follow, friends, and what keeps users from seeing each other":
    let follow_of = |call| changes_relation(Act::Follow, call);
    let path = "/v1/users/{uid}/following/{target}";

    /// The users that a user follows
    get("/v1/users/{uid}/following", |call| list(call, Side::Following), "listFollowing").with(seen_list);

    /// Follow and unfollow up to 1,000 users, all or none
    ///
    /// The body may have 256 times as many bytes as the body of a single follow.
    post("/v1/users/{uid}/following/batch", change_batch, "changeFollowing")
        .for_users(Act::Follow)
        .takes_as::<FollowingChange>(BodyKind::Batch)
        .answers_items::<RelationItem>(200, "RelationList", "The relations after the change, in the order of the request")
        .refuses(&[Code::Blocked, Code::SelfFollow, Code::FollowLimit]);

    /// Follow a user
    ///
    /// The timeline has the earlier items of `target` at once. A second follow changes only the rule: `only` or `except`
    /// say which kinds of items this follow shows; without them it shows all. A follow of a batch leaves the rule of a
    /// present one. If `target` approves its followers, the follow is a request, and the answer has `requested`.
    put(path, follow, "follow")
        .with(follow_of)
        .may_take::<NewFollow>()
        .refuses(&[Code::TimeAhead, Code::Blocked, Code::SelfFollow, Code::FollowLimit, Code::TooManyKinds])
        .leads_to(&["unfollow"], BOTH)
        .leads_to(&["getTimeline", "listFollowing", "listFriends"], USER);

    /// Unfollow a user
    delete(path, unfollow, "unfollow").with(follow_of).leads_to(&["follow"], BOTH);

    /// The users that follow a user
    get("/v1/users/{uid}/followers", |call| list(call, Side::Followers), "listFollowers").with(seen_list);

    /// Remove a follower
    ///
    /// `follower` does not follow `uid` any more, and a request of it ends. It may follow again.
    delete("/v1/users/{uid}/followers/{follower}", remove_follower, "removeFollower")
        .for_users(Act::Requests)
        .answers::<RelationItem>(200, "The relation of `uid` to `follower` after the change")
        .leads_to(&["listFollowers"], USER);

    /// The users that a user follows and that follow this user
    ///
    /// `since` is the time of the second follow.
    get("/v1/users/{uid}/friends", |call| list(call, Side::Friends), "listFriends").with(seen_list);

    /// The relations of a user to up to 100 users
    get("/v1/users/{uid}/relations", relations, "listRelations")
        .for_users(TokenUse::Own)
        .query([parameters::ids("targets", "Up to 100 ids of users, separated by commas", "200,211")])
        .answers_items::<RelationItem>(200, "RelationList", "The relations, in the order of the ids");
}

/// A change of the relation of a user to another one, as an act of the user.
pub(crate) fn changes_relation(act: Act, call: Endpoint) -> Endpoint {
    call.for_users(act).answers::<RelationItem>(200, "The relation after the change")
}

/// The time of a follow, its rule, without which it shows all kinds, and whether the target has approved it
#[derive(Deserialize, ToSchema)]
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
pub(crate) fn rule(only: Option<KindNames>, except: Option<KindNames>) -> Result<NamedRule> {
    NamedRule::of(only, except).map_err(|why| invalid_body(format_args!("only and except: {why}")))
}

/// 1 to 1,000 users in total, each of them once
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(min_properties = 1)]
struct FollowingChange {
    #[serde(default, deserialize_with = "or_default")]
    #[schema(schema_with = to_follow)]
    follow: UpTo<ExternalId, MAX_BATCH>,
    #[serde(default, deserialize_with = "or_default")]
    #[schema(schema_with = to_unfollow)]
    unfollow: UpTo<ExternalId, MAX_BATCH>,
}

fn to_follow() -> Array {
    users("The users to follow")
}

fn to_unfollow() -> Array {
    users("The users to unfollow")
}

/// The schema of users in a batch.
pub(crate) fn users(about: &str) -> Array {
    ArrayBuilder::new().items(schemas::id()).max_items(Some(MAX_BATCH)).description(Some(about)).build()
}

/// Changes the relation of the user `{uid}` to the user named in the path as `target`, and answers with it.
pub(crate) async fn relate(
    call: &Call,
    target: &str,
    change: impl FnOnce(&Feed, ExternalId, ExternalId) -> Result<Relation> + Send + 'static,
) -> Answer {
    let (user, target) = (call.user()?, call.other(target)?);
    let change = move |feed: &Feed| -> Result<_> {
        let relation = change(feed, user.clone(), target.clone())?;
        RelationItem::new(feed.read(), user, target, relation)
    };
    reply::ok(&call.run(Wants::Change, change).await?)
}

/// `PUT /v1/users/{uid}/following/{target}`
async fn follow(mut call: Call) -> Answer {
    let NewFollow { since, only, except, approved } = call.json().await?;
    let (since, rule, visibility) = (call.since(since)?, rule(only, except)?, call.visibility());
    if approved && visibility == Visibility::User {
        return Err(Error::refused(Code::NotPermitted, "approved: only a key may say that the target has approved"));
    }
    let follow = move |feed: &Feed, user, target| {
        kinds::may_name(feed, &rule, visibility)?;
        follows::follow(feed, user, target, since, rule, approved)
    };
    relate(&call, "target", follow).await
}

/// `DELETE /v1/users/{uid}/following/{target}`
async fn unfollow(call: Call) -> Answer {
    let unfollow = |feed: &Feed, user, target| {
        let relation = feed.submit(Relate::of(user, Vec::new(), vec![target]))?.pop();
        relation.ok_or_else(|| Error::Corrupt("an unfollow returned no relation".to_owned()))
    };
    relate(&call, "target", unfollow).await
}

/// `DELETE /v1/users/{uid}/followers/{follower}`
async fn remove_follower(call: Call) -> Answer {
    relate(&call, "follower", |feed, user, follower| follows::remove_follower(feed, &user, &follower)).await
}

/// `POST /v1/users/{uid}/following/batch`
async fn change_batch(mut call: Call) -> Answer {
    let (user, visibility) = (call.user()?, call.visibility());
    let FollowingChange { follow: UpTo(follow), unfollow: UpTo(unfollow) } = call.json().await?;
    let targets = check_batch("follow and unfollow", &follow, &unfollow, MAX_BATCH)?;
    let change = move |feed: &Feed| -> Result<Vec<_>> {
        ids::may_name(feed, &user, &targets, visibility)?;
        let follow = follow.into_iter().map(|target| (target, None)).collect();
        let relations = feed.submit(Relate::of(user.clone(), follow, unfollow))?;
        let item = |(target, of)| RelationItem::new(feed.read(), user.clone(), target, of);
        targets.into_iter().zip(relations).map(item).collect()
    };
    reply::items(&call.run(Wants::Change, change).await?)
}

/// `GET /v1/users/{uid}/relations?targets=`
async fn relations(call: Call) -> Answer {
    let user = call.user()?;
    let Ids(targets) = call.query()?.required("targets")?;
    ids::may_name(call.api.feed(), &user, &targets, call.visibility())?;
    let id = user.clone();
    let look = move |read: Read<'_>, user_id| -> Result<Vec<_>> {
        let relations = follows::relations(read, user_id, &read.find_all(&targets)?)?;
        let item =
            |(target, relation): (&ExternalId, _)| RelationItem::new(read, user.clone(), target.clone(), relation);
        targets.iter().zip(relations).map(item).collect()
    };
    reply::items(&call.read_of(&id, look).await?)
}

/// A page of users.
pub(crate) fn user_pages(call: Endpoint) -> Endpoint {
    call.answers_pages::<Member>(parameters::page(), "UserPage")
}

/// One side of the graph around the user of the path, which only this user may see.
pub(crate) fn own_list(call: Endpoint) -> Endpoint {
    call.for_users(TokenUse::Own).with(user_pages)
}

/// One side of the graph around the user of the path, which others may see, too.
fn seen_list(call: Endpoint) -> Endpoint {
    let about = "Adds `relation` to each entry: the relation of this user to the user of the entry";
    call.for_users(TokenUse::Visible)
        .with(user_pages)
        .query([parameters::optional("viewer", about, schemas::id_text())])
        .leads_to(&["getTimeline"], &[("uid", "$response.body#/items/0/user_id")])
}

/// Answers with a page of one side of the graph around the user of the path.
pub(crate) async fn list(call: Call, side: Side) -> Answer {
    let user = call.user()?;
    let read_page = move |read: Read<'_>, user, request: &_| follows::members(read, user, side, request);
    let find = move |read: Read<'_>| read.seen_by(None)?.find::<UserId>(&user);
    list_users(&call, call.viewer(None), find, read_page).await
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
/// is, and comes first: a list that does not exist has no cursors. Both read as `seen_by` sees.
pub(crate) async fn list_users<T, P, F, R>(call: &Call, seen_by: Option<ExternalId>, find: F, read_page: R) -> Answer
where
    F: Fn(Read<'_>) -> Result<T> + Send + 'static,
    P: Into<ListedUsers>,
    R: Fn(Read<'_>, T, &PageRequest<UserId>) -> Result<P> + Send + 'static,
{
    let query = call.query()?;
    let (request, kept) = query.page()?;
    let viewer: Option<ExternalId> = query.value("viewer")?;
    let visibility = if seen_by.is_some() { Visibility::User } else { call.visibility() };
    let look = move |read: Read<'_>| -> Result<Page<Member, ExternalId>> {
        let seen = read.seen_by(seen_by.as_ref())?;
        let ListedUsers { page, rules } =
            read_page(seen, find(seen)?, &visibility::find_span(read, &request, visibility)?)?.into();
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
