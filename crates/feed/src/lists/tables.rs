//! Lists of sources that users keep.

use crate::follows::tables::Change;
use crate::rows::keys;
use crate::rows::mirrors::Given;
use crate::rows::tables::{LIST_MARKERS, LIST_MEMBERS, LIST_MEMBERS_BY_TIME, LISTS, MEMBER_OF};
use crate::rows::values::{Number, NumberedList, Value};
use crate::rows::walk::seconds;
use crate::store::Store;
use crate::users;
use kv::{At, Scope, Tier, WriteBatch};
use model::error::{Code, Error, Result};
use model::failpoint::Write;
use model::{Cursor, Effect, EffectKind, ListId, ListSettings, Membership, Scan, UserCursor, UserId, UserList};

/// The error for a user at the limit of lists.
fn too_many_lists(limit: usize) -> Error {
    Error::refused(Code::ListLimit, format_args!("a user can have at most {limit} lists"))
}

/// The error for a list at the limit of members.
fn too_many_members(limit: usize) -> Error {
    Error::refused(Code::MemberLimit, format_args!("a list can have at most {limit} members (graph.follow_limit)"))
}

/// Makes a list, or replaces its settings; returns the list. Refused with `list_limit`, and nothing written, if the
/// user would have more than `limit` lists. Acknowledges.
pub fn put_list(store: &Store, user: UserId, name: &str, settings: &ListSettings, limit: usize) -> Result<UserList> {
    let present = list(store, user, name, Tier::Disk)?;
    if let Some(present) = present.as_ref().filter(|present| present.settings == *settings) {
        return Ok(present.clone());
    }
    let mut change = WriteBatch::default();
    let id = match present {
        Some(present) => present.id,
        None => {
            if lists(store, user, Tier::Disk)?.len() >= limit {
                return Err(too_many_lists(limit));
            }
            let highest = store.get(&LISTS, keys::HIGHEST_LIST, Tier::Disk)?;
            let next = highest.map_or(Ok(0), |row| Number::read(&[], &row).map(|Number(highest)| highest))? + 1;
            change.put(&LISTS, keys::HIGHEST_LIST, Number(next).bytes()?);
            ListId::new(next).map_err(|_| Error::Corrupt("numbers of lists".to_owned()))?
        }
    };
    LISTS.put(&mut change, (user, name), &(id, settings.clone()))?;
    let effects = vec![Effect::on(EffectKind::ListChanged, user).named(name)];
    store.acknowledge(Write::Record, change, effects)?;
    Ok(UserList { id, name: name.to_owned(), settings: settings.clone() })
}

/// Deletes a list with its members and its marker; false if there is none of this name. Acknowledges.
pub fn delete_list(store: &Store, user: UserId, name: &str) -> Result<bool> {
    let Some(list) = list(store, user, name, Tier::Disk)? else { return Ok(false) };
    let mut change = WriteBatch::default();
    remove_list(store, &mut change, user, &list)?;
    store.acknowledge(Write::Record, change, vec![Effect::on(EffectKind::ListDeleted, user).named(name)])?;
    Ok(true)
}

/// A list by its name.
pub fn list(store: &Store, user: UserId, name: &str, tier: Tier) -> Result<Option<UserList>> {
    let list = LISTS.get(store.now(tier), (user, name))?;
    Ok(list.map(|(id, settings)| UserList { id, name: name.to_owned(), settings }))
}

/// All lists of a user, by the bytes of their names.
pub fn lists(store: &Store, user: UserId, tier: Tier) -> Result<Vec<UserList>> {
    lists_at(store.now(tier), user)
}

/// Adds members and removes others, all in one change; returns the state of each afterwards. A present member keeps its
/// time; its rule may change. Members must differ from each other. `None`, and nothing written, if there is no
/// list of this name. Refused with `member_limit`, and nothing written, if the list would have more than `limit`
/// members and more than before. Acknowledges.
pub fn change_members(
    store: &Store,
    user: UserId,
    name: &str,
    changes: &[Change],
    limit: usize,
) -> Result<Option<Vec<Option<Membership>>>> {
    let Some(UserList { id: list, .. }) = list(store, user, name, Tier::Disk)? else { return Ok(None) };
    let sources: Vec<_> = changes.iter().map(|change| change.target).collect();
    let present = memberships(store, list, &sources, Tier::Disk)?;
    let (mut change, mut added, mut removed) = (WriteBatch::default(), 0, 0);
    let (mut after, mut effects) = (Vec::with_capacity(changes.len()), Vec::new());
    for (wanted, present) in changes.iter().zip(present) {
        let rule = wanted.rule_after(present.and_then(|present| present.rule));
        let membership = |at| Membership { since: present.map_or(at, |present| present.since), rule };
        let member = wanted.follow.map(membership);
        after.push(member);
        if member == present {
            continue;
        }
        added += usize::from(present.is_none());
        removed += usize::from(member.is_none());
        let kind = match (present, member) {
            (None, _) => EffectKind::MemberCreated,
            (_, None) => EffectKind::MemberRemoved,
            _ => EffectKind::MemberChanged,
        };
        effects.push(Effect::on(kind, user).target(wanted.target).named(name));
        put_member(&mut change, list, wanted.target, [present, member])?;
    }
    if added > removed {
        let members = seconds(store.now(Tier::Disk), &LIST_MEMBERS, list, None, usize::MAX)?.len();
        if members + added - removed > limit {
            return Err(too_many_members(limit));
        }
    }
    if !change.is_empty() {
        store.acknowledge(Write::Record, change, effects)?;
    }
    Ok(Some(after))
}

/// Members of a list, by the time since when they are in it.
pub fn list_members(store: &Store, list: ListId, scan: Scan<UserId>, tier: Tier) -> Result<Vec<UserCursor>> {
    LIST_MEMBERS_BY_TIME.places(store.now(tier), list, scan)
}

/// For each of `users`, in their order, since when it is a member of a list and its rule; `None` for those who are not.
pub fn memberships(store: &Store, list: ListId, users: &[UserId], tier: Tier) -> Result<Vec<Option<Membership>>> {
    LIST_MEMBERS.get_many(store.now(tier), users.iter().map(|user| (list, *user)))
}

/// The place in the timeline of a list up to which its user has read; `None` until one was set.
pub fn list_marker(store: &Store, list: ListId, tier: Tier) -> Result<Option<Cursor>> {
    LIST_MARKERS.get(store.now(tier), list)
}

/// Moves the marker of a list by the rule of [`move_marker`](crate::users::tables::move_marker). `None`, and nothing
/// written, if there is no list of this name.
pub fn move_list_marker(
    store: &Store,
    user: UserId,
    name: &str,
    place: Cursor,
    wrong: Option<Cursor>,
) -> Result<Option<Cursor>> {
    let Some(list) = list(store, user, name, Tier::Disk)? else { return Ok(None) };
    users::tables::move_place(store, (LIST_MARKERS, list.id), (user, Some(name)), place, wrong).map(Some)
}

/// Removes the rows of a list in a change. Of a long one only the mirror takes a step for each member.
pub(crate) fn remove_list(store: &Store, change: &mut WriteBatch, user: UserId, list: &UserList) -> Result<()> {
    for member in seconds(store.now(Tier::Disk), &LIST_MEMBERS, list.id, None, usize::MAX)? {
        MEMBER_OF.delete(change, (member, list.id));
    }
    for table in [LIST_MEMBERS.spec, LIST_MEMBERS_BY_TIME.spec] {
        store.now(Tier::Disk).delete_rows(change, table, &keys::id(list.id.get()), &keys::id(list.id.get() + 1))?;
    }
    LIST_MARKERS.delete(change, list.id);
    LISTS.delete(change, (user, list.name.as_str()));
    Ok(())
}

/// Changes a member of a list; `None` for none.
pub(crate) fn put_member(
    change: &mut WriteBatch,
    list: ListId,
    member: UserId,
    membership: [Option<Membership>; 2],
) -> Result<()> {
    LIST_MEMBERS.change(change, (list, member), membership.each_ref().map(Option::as_ref), &Given::default())
}

/// The numbers of a user's exclusive lists.
pub(crate) fn exclusive_lists(at: At<'_>, user: UserId) -> Result<Vec<ListId>> {
    let lists = lists_at(at, user)?.into_iter();
    Ok(lists.filter(|list| list.settings.exclusive).map(|list| list.id).collect())
}

fn lists_at(at: At<'_>, user: UserId) -> Result<Vec<UserList>> {
    let prefix = keys::id(user.get());
    at.beginning((&LISTS, Scope::Partition), &prefix, &prefix, usize::MAX, |key, value| {
        let name = std::str::from_utf8(key.get(keys::ID..).unwrap_or_default());
        let name = name.map_err(|_| Error::Corrupt("the name of a list".to_owned()))?.to_owned();
        let (id, settings) = NumberedList::read(key, value)?;
        Ok(UserList { id, name, settings })
    })
}
