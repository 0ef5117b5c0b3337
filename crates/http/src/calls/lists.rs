//! `/v1/users/{uid}/lists`: the lists of a user, their members, and their timelines.

use std::collections::HashSet;

use actix_web::HttpResponse;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Array, ArrayBuilder, Object, ObjectBuilder, Type};

use super::markers::{MarkerBody, NewMarker, UnreadBody};
use super::relations::{ListedUsers, list_users, rule};
use super::show::{Items, Member};
use super::timelines;
use crate::call::Call;
use crate::endpoint::{Endpoint, Takes, delete, get, group, parameters, post, put};
use crate::guards::auth::TokenUse;
use crate::pools::Wants;
use crate::wire::body::UpTo;
use crate::wire::problem::Problem;
use crate::wire::query;
use crate::wire::reply;
use crate::wire::reply::Answer;
use config::Act;
use feed::{ChangeMembers, DeleteList, Feed, MoveMarker, PutList, Read, ids, kinds, lists, timeline};
use model::error::{Code, Error, Result};
use model::schemas;
use model::{
    HostId, KindNames, ListId, ListSettings, MAX_TITLE, Membership, Millis, PageRequest, Time, UserId, UserList,
    kinds_of_rule, or_default,
};

/// Most members that a batch adds and removes, together.
const MAX_BATCH: usize = 1000;

/// Link from a request about a list to the other calls about it.
const LIST: &Takes = &[("uid", "$request.path.uid"), ("list", "$request.path.list")];

/// The calls of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let list = || json!({"list": "close", "title": "Close friends", "exclusive": true});
    let member = |is_member: bool| match is_member {
        true => json!({"user_id": "200", "member": true, "since": 1_689_089_522_000_u64}),
        false => json!({"user_id": "200", "member": false}),
    };
    let marker = || json!({"cursor": "1689089522000-32850"});
    let of_list = |call: Endpoint| {
        let used = if call.method == "GET" { TokenUse::Own } else { Act::Lists.into() };
        call.for_users(used).refuses(&[Code::ListNotFound])
    };
    let path = "/v1/users/{uid}/lists/{list}";
    let one = "/v1/users/{uid}/lists/{list}/members/{source}";
    let marked = "/v1/users/{uid}/lists/{list}/marker";
    let calls = [
        get("/v1/users/{uid}/lists", all, "listLists", "The lists of a user")
            .for_users(TokenUse::Own)
            .answers_items::<List>(200, "ListList", "All lists, by their names", list()),
        put(path, put_list, "putList", "Make a list, or change its settings")
            .for_users(Act::Lists)
            .about(
                "A list has a timeline of its own: that of its members, which the user need not follow. The body replaces \
                 the settings: a missing field gets its default. The home timeline shows nothing of the members of an \
                 `exclusive` list. A user can have at most 100 lists.",
            )
            .may_take::<NewList>(json!({"title": "Close friends", "exclusive": true}))
            .answers::<List>(200, "The list after the change", list())
            .refuses(&[Code::ListLimit])
            .leads_to("getList", LIST)
            .leads_to("getListTimeline", LIST)
            .leads_to("changeListMembers", LIST)
            .leads_to("deleteList", LIST),
        of_list(get(path, show, "getList", "One list")).answers::<List>(200, "The list", list()),
        of_list(delete(path, delete_list, "deleteList", "Delete a list"))
            .about("Deletes its members and its marker, too. A second delete answers 404.")
            .answers_nothing("The list is deleted"),
        of_list(get("/v1/users/{uid}/lists/{list}/members", members, "listMembers", "The members of a list"))
            .answers_pages::<Member>("UserPage", Member::example_page()),
        of_list(post(
            "/v1/users/{uid}/lists/{list}/members/batch",
            change_members,
            "changeListMembers",
            "Add and remove up to 1,000 members, all or none",
        ))
        .about("The body may have 256 times as many bytes as the body of a single change.")
        .takes::<MembersChange>(json!({"add": ["200", "211"], "remove": ["222"]}))
        .answers_items::<ListMember>(
            200,
            "ListMemberList",
            "The state of each after the change, in the order of the request",
            member(true),
        )
        .refuses(&[Code::MemberLimit]),
        of_list(put(one, add_member, "addListMember", "Add a member to a list"))
            .about(
                "The timeline of the list has the earlier items of the member at once. A repeat changes only the rule: `only` \
                 or `except` say which kinds of items of the member the list shows; without them it shows all. A member of a \
                 batch that is present keeps its rule.",
            )
            .may_take::<NewMember>(json!({"except": ["repost"]}))
            .answers::<ListMember>(200, "The state after the change", member(true))
            .refuses(&[Code::MemberLimit, Code::TooManyKinds])
            .leads_to("removeListMember", &[LIST[0], LIST[1], ("source", "$request.path.source")]),
        of_list(delete(one, remove_member, "removeListMember", "Remove a member from a list"))
            .answers::<ListMember>(200, "The state after the change", member(false)),
        of_list(timelines::viewed_pages(get(
            "/v1/users/{uid}/lists/{list}/timeline",
            timeline,
            "getListTimeline",
            "The timeline of a list",
        )))
        .about(
            "All broadcast items of the members, newest first, down to the oldest, without muted authors and authors who \
             hide their content from the user. `viewer` has the reactions of the user to each item.",
        ),
        of_list(get(
            "/v1/users/{uid}/lists/{list}/unread",
            unread,
            "getListUnread",
            "The number of unread items of a list: those above its marker",
        ))
        .query(parameters::kinds())
        .answers::<UnreadBody>(200, "The count", json!({"count": 3, "capped": false})),
        of_list(get(marked, marker_of, "getListMarker", "The marker of a list"))
            .answers::<MarkerBody>(200, "The marker; `null` for a list without a marker", marker()),
        of_list(put(marked, advance, "moveListMarker", "Move the marker of a list"))
            .about("By the rules of the marker of the home timeline.")
            .for_users(Act::Marker)
            .takes::<NewMarker>(marker())
            .answers::<MarkerBody>(200, "The marker after the change", marker())
            .refuses(&[Code::TimeAhead, Code::UnknownCursor])
            .leads_to("getListMarker", LIST)
            .leads_to("getListUnread", LIST),
    ];
    group("lists", calls)
}

/// The settings of a list: a missing field gets its default
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewList {
    #[serde(default)]
    #[schema(schema_with = title)]
    title: Option<String>,
    /// Whether the home timeline leaves out the members.
    #[serde(default, deserialize_with = "or_default")]
    #[schema(required = false)]
    exclusive: bool,
}

fn title() -> Object {
    ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(MAX_TITLE)).build()
}

/// A list of a user.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UserList)]
struct List {
    /// Its name.
    list: String,
    /// Its name for people; `null` if it has none.
    #[schema(required)]
    title: Option<String>,
    /// Whether the home timeline leaves out the members.
    exclusive: bool,
}

impl From<UserList> for List {
    fn from(UserList { name, settings: ListSettings { title, exclusive }, .. }: UserList) -> Self {
        Self { list: name, title, exclusive }
    }
}

/// The rule of a member: without one, the list shows all kinds
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewMember {
    #[serde(default, deserialize_with = "kinds_of_rule")]
    #[schema(schema_with = schemas::only)]
    only: Option<KindNames>,
    #[serde(default, deserialize_with = "kinds_of_rule")]
    #[schema(schema_with = schemas::except)]
    except: Option<KindNames>,
}

/// 1 to 1,000 users in total, each of them once
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(min_properties = 1)]
struct MembersChange {
    #[serde(default, deserialize_with = "or_default")]
    #[schema(schema_with = to_add)]
    add: UpTo<HostId, MAX_BATCH>,
    #[serde(default, deserialize_with = "or_default")]
    #[schema(schema_with = to_remove)]
    remove: UpTo<HostId, MAX_BATCH>,
}

fn to_add() -> Array {
    users("The members to add")
}

fn to_remove() -> Array {
    users("The members to remove")
}

fn users(about: &str) -> Array {
    ArrayBuilder::new().items(schemas::id()).max_items(Some(MAX_BATCH)).description(Some(about)).build()
}

/// Whether a user is a member of a list, and since when.
#[derive(Debug, Serialize, ToSchema)]
struct ListMember {
    user_id: HostId,
    member: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Time)]
    since: Option<Millis>,
    /// The only kinds of its items that the list shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<String>)]
    only: Option<KindNames>,
    /// The kinds of its items that the list does not show.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<String>)]
    except: Option<KindNames>,
}

impl ListMember {
    fn new(read: Read<'_>, user_id: HostId, membership: Option<Membership>) -> Result<Self> {
        let (only, except) = kinds::rule_names(read, membership.and_then(|membership| membership.rule))?.fields();
        let since = membership.map(|membership| membership.since);
        Ok(Self { user_id, member: since.is_some(), since, only, except })
    }
}

/// `GET /v1/users/{uid}/lists`
pub(crate) async fn all(call: Call) -> Answer {
    let user = call.user()?;
    call.no_query()?;
    let lists = call.read_of(&user, lists::of_user).await?;
    reply::ok(&Items { items: lists.into_iter().map(List::from).collect() })
}

/// `PUT /v1/users/{uid}/lists/{list}`
pub(crate) async fn put_list(mut call: Call) -> Answer {
    let (user, list) = (call.user()?, call.list()?);
    call.no_query()?;
    let NewList { title, exclusive } = call.json_or_default().await?;
    let settings = ListSettings::checked(title, exclusive).map_err(Problem::invalid_body)?;
    let list = call.run(Wants::Change, move |feed: &Feed| feed.submit(PutList { user, list, settings })).await?;
    reply::ok(&List::from(list))
}

/// `GET /v1/users/{uid}/lists/{list}`
pub(crate) async fn show(call: Call) -> Answer {
    let (user, name) = (call.user()?, call.list()?);
    call.no_query()?;
    let list = call.read_of(&user, move |read, user| lists::named(read, user, &name)).await?;
    reply::ok(&List::from(list))
}

/// `DELETE /v1/users/{uid}/lists/{list}`
pub(crate) async fn delete_list(call: Call) -> Answer {
    let (user, list) = (call.user()?, call.list()?);
    call.no_query()?;
    call.run(Wants::Change, move |feed: &Feed| feed.submit(DeleteList { user, list })).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// `GET /v1/users/{uid}/lists/{list}/members`
pub(crate) async fn members(call: Call) -> Answer {
    let (user, name) = (call.user()?, call.list()?);
    let [limit, before, after] = call.query(["limit", "before", "after"])?;
    let find = move |read: Read<'_>| Ok(lists::named(read, read.find(&user)?, &name)?.id);
    list_users(&call, [limit, before, after, None], None, find, listed).await
}

fn listed(read: Read<'_>, list: ListId, request: &PageRequest<UserId>) -> Result<ListedUsers> {
    let page = lists::members(read, list, request)?;
    let members: Vec<_> = page.items.iter().map(|member| member.id).collect();
    Ok(ListedUsers { page, rules: lists::member_rules(read, list, &members)? })
}

/// `POST /v1/users/{uid}/lists/{list}/members/batch`
pub(crate) async fn change_members(mut call: Call) -> Answer {
    let (user, list) = (call.user()?, call.list()?);
    call.no_query()?;
    let MembersChange { add: UpTo(add), remove: UpTo(remove) } = call.json_of_batch().await?;
    if !(1..=MAX_BATCH).contains(&(add.len() + remove.len())) {
        let detail = format_args!("add and remove: expected 1 to {MAX_BATCH} ids in total");
        return Err(Problem::invalid_body(detail));
    }
    let mut members = HashSet::new();
    if let Some(twice) = add.iter().chain(&remove).find(|member| !members.insert(*member)) {
        return Err(Problem::invalid_body(format_args!("user {twice} occurs twice")));
    }
    reply::ok(&Items { items: change(&call, user, list, add, remove).await? })
}

/// `PUT /v1/users/{uid}/lists/{list}/members/{source}`
pub(crate) async fn add_member(mut call: Call) -> Answer {
    let (user, list, source) = (call.user()?, call.list()?, call.source()?);
    call.no_query()?;
    let NewMember { only, except } = call.json_or_default().await?;
    let (rule, sight) = (rule(only, except)?, call.sight());
    let add = move |feed: &Feed| -> Result<ListMember> {
        ids::may_name(feed, &user, [&source], sight)?;
        kinds::may_name(feed, &rule, sight)?;
        let membership = lists::put_member(feed, user, list, source.clone(), rule)?;
        ListMember::new(feed.read(), source, membership)
    };
    reply::ok(&call.run(Wants::Change, add).await?)
}

/// `DELETE /v1/users/{uid}/lists/{list}/members/{source}`
pub(crate) async fn remove_member(call: Call) -> Answer {
    let (user, list, source) = (call.user()?, call.list()?, call.source()?);
    call.no_query()?;
    let removed = change(&call, user, list, Vec::new(), vec![source]).await?.pop();
    reply::ok(&removed.ok_or_else(|| Problem::internal("a change of a list returned no member"))?)
}

async fn change(
    call: &Call,
    user: HostId,
    list: String,
    add: Vec<HostId>,
    remove: Vec<HostId>,
) -> Result<Vec<ListMember>, Problem> {
    let sight = call.sight();
    let change = move |feed: &Feed| -> Result<Vec<ListMember>> {
        let members: Vec<_> = add.iter().chain(&remove).cloned().collect();
        ids::may_name(feed, &user, &members, sight)?;
        let after = feed.submit(ChangeMembers { user, list, add, remove, rule: None })?;
        members.into_iter().zip(after).map(|(member, after)| ListMember::new(feed.read(), member, after)).collect()
    };
    call.run(Wants::Change, change).await
}

/// `GET /v1/users/{uid}/lists/{list}/timeline`
pub(crate) async fn timeline(call: Call) -> Answer {
    let (user, name) = (call.user()?, call.list()?);
    let viewer = user.clone();
    let find = move |read: Read<'_>| {
        let user = read.find(&user)?;
        Ok((user, lists::named(read, user, &name)?.id))
    };
    let read_page = |read: Read<'_>, (user, list), request: &_| timeline::list_page(read, user, list, request);
    timelines::list(&call, Some(viewer), find, read_page).await
}

/// `GET /v1/users/{uid}/lists/{list}/unread`
pub(crate) async fn unread(call: Call) -> Answer {
    let kinds = query::kinds(call.query(["kinds", "except_kinds"])?)?;
    let unread = look(&call, move |read, user, list| timeline::list_unread(read.of_kinds(&kinds)?, user, list)).await?;
    reply::ok(&UnreadBody::from(unread))
}

/// `GET /v1/users/{uid}/lists/{list}/marker`
pub(crate) async fn marker_of(call: Call) -> Answer {
    call.no_query()?;
    let (cursor, ids) = look(&call, |read, user, list| read.named(timeline::marker(read, user, Some(list))?)).await?;
    reply::ok(&MarkerBody { cursor: cursor.map(|cursor| ids.place(cursor)) })
}

/// Reads what a list has.
async fn look<T: Send + 'static>(
    call: &Call,
    look: impl Fn(Read<'_>, UserId, ListId) -> Result<T, Error> + Send + 'static,
) -> Result<T, Problem> {
    let (user, name) = (call.user()?, call.list()?);
    call.read_of(&user, move |read, user| look(read, user, lists::named(read, user, &name)?.id)).await
}

/// `PUT /v1/users/{uid}/lists/{list}/marker`
pub(crate) async fn advance(mut call: Call) -> Answer {
    let (user, list) = (call.user()?, call.list()?);
    call.no_query()?;
    let NewMarker { cursor } = call.json().await?;
    let sight = call.sight();
    let moved = move |feed: &Feed| {
        feed.read().named(feed.submit(MoveMarker { user, place: cursor, sight, list: Some(list) })?)
    };
    let (cursor, ids) = call.run(Wants::Change, moved).await?;
    reply::ok(&MarkerBody { cursor: Some(ids.place(cursor)) })
}
