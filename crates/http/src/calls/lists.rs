//! `/v1/users/{uid}/lists`: the lists of a user, their members, and their timelines.

use utoipa::openapi::schema::{Array, Object, ObjectBuilder, Type};

use super::markers::{self, MarkerBody, NewMarker};
use super::relations::{ListedUsers, MAX_BATCH, list_users, rule, user_pages, users};
use super::timelines;
use crate::prelude::*;
use crate::wire::body::{UpTo, check_batch};
use feed::{ChangeMembers, DeleteList, PutList, ids, kinds, lists, timeline};
use model::{
    KindNames, ListId, ListSettings, MAX_TITLE, Membership, NamedRule, PageRequest, Unread, UserId, UserList,
    kinds_of_rule, or_default,
};

/// Link from a request about a list to the other calls about it.
const LIST: &Takes = &[("uid", "$request.path.uid"), ("list", "$request.path.list")];

endpoints! { "lists" = "Lists of a user with timelines of their own":
    let of_list = |call: Endpoint| {
        let used = if call.info.writes() { Act::Lists.into() } else { TokenUse::Own };
        call.for_users(used).refuses(&[Code::ListNotFound])
    };
    let path = "/v1/users/{uid}/lists/{list}";
    let one = "/v1/users/{uid}/lists/{list}/members/{source}";
    let marked = "/v1/users/{uid}/lists/{list}/marker";

    /// The lists of a user
    get("/v1/users/{uid}/lists", all, "listLists")
        .for_users(TokenUse::Own)
        .answers_items::<List>(200, "ListList", "All lists, by their names");

    /// Make a list, or change its settings
    ///
    /// A list has a timeline of its own: that of its members, which the user need not follow. The body replaces the
    /// settings: a missing field gets its default. The home timeline shows nothing of the members of an `exclusive`
    /// list. A user can have at most 100 lists.
    put(path, put_list, "putList")
        .for_users(Act::Lists)
        .may_take::<NewList>()
        .answers::<List>(200, "The list after the change")
        .refuses(&[Code::ListLimit])
        .leads_to(&["getList", "getListTimeline", "changeListMembers", "deleteList"], LIST);

    /// One list
    get(path, show, "getList").with(of_list).answers::<List>(200, "The list");

    /// Delete a list
    ///
    /// Deletes its members and its marker, too. A second delete answers 404.
    delete(path, delete_list, "deleteList").with(of_list).answers_nothing("The list is deleted");

    /// The members of a list
    get("/v1/users/{uid}/lists/{list}/members", members, "listMembers").with(of_list).with(user_pages);

    /// Add and remove up to 1,000 members, all or none
    ///
    /// The body may have 256 times as many bytes as the body of a single change.
    post("/v1/users/{uid}/lists/{list}/members/batch", change_members, "changeListMembers")
        .with(of_list)
        .takes_as::<MembersChange>(BodyKind::Batch)
        .answers_items::<ListMember>(200, "ListMemberList", "The state of each after the change, in the order of the request")
        .refuses(&[Code::MemberLimit]);

    /// Add a member to a list
    ///
    /// The timeline of the list has the earlier items of the member at once. A repeat changes only the rule: `only`
    /// or `except` say which kinds of items of the member the list shows; without them it shows all. A member of a
    /// batch that is present keeps its rule.
    put(one, add_member, "addListMember")
        .with(of_list)
        .may_take::<NewMember>()
        .answers::<ListMember>(200, "The state after the change")
        .refuses(&[Code::MemberLimit, Code::TooManyKinds])
        .leads_to(&["removeListMember"], &[LIST[0], LIST[1], ("source", "$request.path.source")]);

    /// Remove a member from a list
    delete(one, remove_member, "removeListMember")
        .with(of_list)
        .answers::<ListMember>(200, "The state after the change")
        .shows("ListMember/removed");

    /// The timeline of a list
    ///
    /// All broadcast items of the members, newest first, down to the oldest, without muted authors and authors who
    /// hide their content from the user. `viewer` has the reactions of the user to each item.
    get("/v1/users/{uid}/lists/{list}/timeline", timeline, "getListTimeline")
        .with(timelines::viewed_pages)
        .with(of_list);

    /// The number of unread items of a list: those above its marker
    get("/v1/users/{uid}/lists/{list}/unread", markers::unread, "getListUnread")
        .with(of_list)
        .query(parameters::kinds())
        .answers::<Unread>(200, "The count");

    /// The marker of a list
    get(marked, markers::show, "getListMarker")
        .with(of_list)
        .answers::<MarkerBody>(200, "The marker; `null` for a list without a marker");

    /// Move the marker of a list
    ///
    /// By the rules of the marker of the home timeline.
    put(marked, markers::advance, "moveListMarker")
        .with(of_list)
        .for_users(Act::Marker)
        .takes::<NewMarker>()
        .answers::<MarkerBody>(200, "The marker after the change")
        .refuses(&[Code::TimeAhead, Code::UnknownCursor])
        .leads_to(&["getListMarker", "getListUnread"], LIST);
}

/// The settings of a list: a missing field gets its default
#[derive(Deserialize, ToSchema)]
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

answers! {
    /// A list of a user.
    struct List as UserList (of: UserList) {
        /// Its name.
        (list: String) = of.name;
        /// Its name for people; `null` if it has none.
        #[schema(required)]
        (title: Option<String>) = of.settings.title;
        /// Whether the home timeline leaves out the members.
        (exclusive: bool) = of.settings.exclusive;
    }
}

/// The rule of a member: without one, the list shows all kinds
#[derive(Deserialize, ToSchema)]
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
    add: UpTo<ExternalId, MAX_BATCH>,
    #[serde(default, deserialize_with = "or_default")]
    #[schema(schema_with = to_remove)]
    remove: UpTo<ExternalId, MAX_BATCH>,
}

fn to_add() -> Array {
    users("The members to add")
}

fn to_remove() -> Array {
    users("The members to remove")
}

answers! {
    /// Whether a user is a member of a list, and since when.
    struct ListMember (read: Read<'_>, user: ExternalId, of: Option<Membership>) -> Result {
        let (only, except) = kinds::rule_names(read, of.and_then(|of| of.rule))?.fields();
        (user_id: ExternalId) = user;
        (member: bool) = of.is_some();
        (since?: Millis as Time) = of.map(|of| of.since);
        /// The only kinds of its items that the list shows.
        (only?: KindNames as Vec<String>) = only;
        /// The kinds of its items that the list does not show.
        (except?: KindNames as Vec<String>) = except;
    }
}

/// The user and the name of the list in the path.
fn path(call: &Call) -> Result<(ExternalId, String)> {
    Ok((call.user()?, call.label("list", Code::InvalidList)?))
}

/// `GET /v1/users/{uid}/lists`
async fn all(call: Call) -> Answer {
    let lists = call.read_of(&call.user()?, lists::of_user).await?;
    reply::items(&lists.into_iter().map(List::new).collect::<Vec<_>>())
}

/// `PUT /v1/users/{uid}/lists/{list}`
async fn put_list(mut call: Call) -> Answer {
    let (user, list) = path(&call)?;
    let NewList { title, exclusive } = call.json().await?;
    let settings = ListSettings::checked(title, exclusive).map_err(invalid_body)?;
    reply::ok(&List::new(call.submit(PutList { user, list, settings }).await?))
}

/// `GET /v1/users/{uid}/lists/{list}`
async fn show(call: Call) -> Answer {
    let (user, name) = path(&call)?;
    let list = call.read_of(&user, move |read, user| lists::named(read, user, &name)).await?;
    reply::ok(&List::new(list))
}

/// `DELETE /v1/users/{uid}/lists/{list}`
async fn delete_list(call: Call) -> Answer {
    let (user, list) = path(&call)?;
    call.submit(DeleteList { user, list }).await?;
    reply::nothing()
}

/// `GET /v1/users/{uid}/lists/{list}/members`
async fn members(call: Call) -> Answer {
    let (user, name) = path(&call)?;
    let find = move |read: Read<'_>| Ok(lists::named(read, read.find(&user)?, &name)?.id);
    let read_page = |read: Read<'_>, list: ListId, request: &PageRequest<UserId>| -> Result<_> {
        let page = lists::members(read, list, request)?;
        let members: Vec<_> = page.items.iter().map(|member| member.id).collect();
        Ok(ListedUsers { page, rules: lists::member_rules(read, list, &members)? })
    };
    list_users(&call, None, find, read_page).await
}

/// `POST /v1/users/{uid}/lists/{list}/members/batch`
async fn change_members(mut call: Call) -> Answer {
    let (user, list) = path(&call)?;
    let MembersChange { add: UpTo(add), remove: UpTo(remove) } = call.json().await?;
    let members = check_batch("add and remove", &add, &remove, MAX_BATCH)?;
    let change = ChangeMembers { user, list, add, remove, rule: None };
    reply::items(&change_list(&call, change, members).await?)
}

/// `PUT /v1/users/{uid}/lists/{list}/members/{source}`
async fn add_member(mut call: Call) -> Answer {
    let NewMember { only, except } = call.json().await?;
    change_one(&call, true, Some(rule(only, except)?)).await
}

/// `DELETE /v1/users/{uid}/lists/{list}/members/{source}`
async fn remove_member(call: Call) -> Answer {
    change_one(&call, false, None).await
}

/// Adds or removes the member of the path.
async fn change_one(call: &Call, added: bool, rule: Option<NamedRule>) -> Answer {
    let ((user, list), source) = (path(call)?, call.id("source")?);
    let (one, none) = (vec![source.clone()], Vec::new());
    let (add, remove) = if added { (one, none) } else { (none, one) };
    let change = ChangeMembers { user, list, add, remove, rule };
    let member = change_list(call, change, vec![source]).await?.pop();
    reply::ok(&member.ok_or_else(|| Error::internal("a change of a list returned no member"))?)
}

/// Changes the members of a list. Returns the state of each after that.
async fn change_list(call: &Call, change: ChangeMembers, members: Vec<ExternalId>) -> Result<Vec<ListMember>> {
    let visibility = call.visibility();
    let change = move |feed: &Feed| -> Result<_> {
        ids::may_name(feed, &change.user, &members, visibility)?;
        if let Some(rule) = &change.rule {
            kinds::may_name(feed, rule, visibility)?;
        }
        let after = feed.submit(change)?;
        members.into_iter().zip(after).map(|(member, after)| ListMember::new(feed.read(), member, after)).collect()
    };
    call.run(Wants::Change, change).await
}

/// `GET /v1/users/{uid}/lists/{list}/timeline`
async fn timeline(call: Call) -> Answer {
    let (user, name) = path(&call)?;
    let viewer = user.clone();
    let find = move |read: Read<'_>| {
        let user = read.find(&user)?;
        Ok((user, lists::named(read, user, &name)?.id))
    };
    let read_page = |read: Read<'_>, (user, list), request: &_| timeline::list_page(read, user, list, request);
    timelines::list(&call, Some(viewer), find, read_page).await
}
