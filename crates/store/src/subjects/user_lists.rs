//! Lists of sources that users keep.

use crate::Store;
use crate::access::at::At;
use crate::kv::Scope;
use crate::rows::batch::WriteBatch;
use crate::rows::mirrors::Given;
use crate::rows::tables::{LIST_MARKERS, LIST_MEMBERS, LIST_MEMBERS_BY_TIME, LISTS, MEMBER_OF};
use crate::rows::{keys, values};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::store::{Change, Tier, too_many_lists, too_many_members};
use model::{
    Cursor, Effect, EffectKind, ListId, ListSettings, Membership, Scan, ShownSources, UserCursor, UserId, UserList,
};

impl Store {
    /// Makes a list, or replaces its settings; returns the list. Refused with `list_limit`, and nothing written, if the
    /// user would have more than `limit` lists. Acknowledges.
    pub fn put_list(&self, user: UserId, name: &str, settings: &ListSettings, limit: usize) -> Result<UserList> {
        let present = self.list(user, name, Tier::Disk)?;
        if let Some(present) = present.as_ref().filter(|present| present.settings == *settings) {
            return Ok(present.clone());
        }
        let mut change = WriteBatch::default();
        let id = match present {
            Some(present) => present.id,
            None => {
                if self.lists(user, Tier::Disk)?.len() >= limit {
                    return Err(too_many_lists(limit));
                }
                let highest = self.read(LISTS, keys::HIGHEST_LIST, Tier::Disk, values::read_given)?;
                let next = highest.unwrap_or_default() + 1;
                change.put(LISTS, keys::HIGHEST_LIST, values::given(next));
                ListId::new(next).map_err(|_| Error::Corrupt("numbers of lists".to_owned()))?
            }
        };
        change.put(LISTS, keys::of_user(user, name), values::list(id, settings)?);
        let effects = vec![Effect::on(EffectKind::ListChanged, user).named(name)];
        self.acknowledge(Write::Record, change, effects, |_| ())?;
        Ok(UserList { id, name: name.to_owned(), settings: settings.clone() })
    }

    /// Deletes a list with its members and its marker; false if there is none of this name. Acknowledges.
    pub fn delete_list(&self, user: UserId, name: &str) -> Result<bool> {
        let Some(list) = self.list(user, name, Tier::Disk)? else { return Ok(false) };
        let mut change = WriteBatch::default();
        self.remove_list(&mut change, user, &list)?;
        self.acknowledge(Write::Record, change, vec![Effect::on(EffectKind::ListDeleted, user).named(name)], |_| ())?;
        Ok(true)
    }

    /// A list by its name.
    pub fn list(&self, user: UserId, name: &str, tier: Tier) -> Result<Option<UserList>> {
        self.read(LISTS, &keys::of_user(user, name), tier, |row| {
            let (id, settings) = values::read_list(row)?;
            Ok(UserList { id, name: name.to_owned(), settings })
        })
    }

    /// All lists of a user, by the bytes of their names.
    pub fn lists(&self, user: UserId, tier: Tier) -> Result<Vec<UserList>> {
        self.now(tier).lists(user)
    }

    /// Adds members and removes others, all in one change; returns the state of each afterwards. A present member keeps its
    /// time; its rule may change. Members must differ from each other. `None`, and nothing written, if there is no
    /// list of this name. Refused with `member_limit`, and nothing written, if the list would have more than `limit`
    /// members and more than before. Acknowledges.
    pub fn change_members(
        &self,
        user: UserId,
        name: &str,
        changes: &[Change],
        limit: usize,
    ) -> Result<Option<Vec<Option<Membership>>>> {
        let Some(UserList { id: list, .. }) = self.list(user, name, Tier::Disk)? else { return Ok(None) };
        let sources: Vec<_> = changes.iter().map(|change| change.target).collect();
        let present = self.memberships(list, &sources, Tier::Disk)?;
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
            let members = self.now(Tier::Disk).seconds(LIST_MEMBERS, list, None, usize::MAX)?.len();
            if members + added - removed > limit {
                return Err(too_many_members(limit));
            }
        }
        if !change.is_empty() {
            self.acknowledge(Write::Record, change, effects, |_| ())?;
        }
        Ok(Some(after))
    }

    /// Members of a list, by the time since when they are in it.
    pub fn list_members(&self, list: ListId, scan: Scan<UserId>, tier: Tier) -> Result<Vec<UserCursor>> {
        self.listed((LIST_MEMBERS_BY_TIME, list.get()), scan, tier, |place, _| Ok(place))
    }

    /// For each of `users`, in their order, since when it is a member of a list and its rule; `None` for those who are not.
    pub fn memberships(&self, list: ListId, users: &[UserId], tier: Tier) -> Result<Vec<Option<Membership>>> {
        let rows = users.iter().map(|user| keys::pair(list, *user));
        self.read_many(LIST_MEMBERS, rows, tier, values::read_membership)
    }

    /// The members of a list whose content its user is shown, ascending: less those whom the user mutes and those who hide
    /// from the user, as in [`Store::authors`]. All of one instant. With the rules of the
    /// members.
    pub fn list_authors(&self, reader: UserId, list: ListId, tier: Tier) -> Result<ShownSources> {
        let snapshot = self.kv.snapshot();
        let at = self.at(&*snapshot, tier);
        let (members, rules) = at.sources(LIST_MEMBERS, list)?;
        let (members, silenced) = at.unbarred(reader, members)?;
        Ok(ShownSources::new(members, rules).silencing(silenced))
    }

    /// The place in the timeline of a list up to which its user has read; `None` until one was set.
    pub fn list_marker(&self, list: ListId, tier: Tier) -> Result<Option<Cursor>> {
        self.read(LIST_MARKERS, &keys::id(list.get()), tier, values::read_marker)
    }

    /// Moves the marker of a list by the rule of [`Store::move_marker`]. `None`, and nothing
    /// written, if there is no list of this name.
    pub fn move_list_marker(
        &self,
        user: UserId,
        name: &str,
        place: Cursor,
        wrong: Option<Cursor>,
    ) -> Result<Option<Cursor>> {
        let Some(list) = self.list(user, name, Tier::Disk)? else { return Ok(None) };
        self.move_place((LIST_MARKERS, list.id.get()), (user, Some(name)), place, wrong).map(Some)
    }
}

impl Store {
    /// Removes the rows of a list in a change. Of a long one only the mirror takes a step for each member.
    pub(crate) fn remove_list(&self, change: &mut WriteBatch, user: UserId, list: &UserList) -> Result<()> {
        for member in self.now(Tier::Disk).seconds(LIST_MEMBERS, list.id, None, usize::MAX)? {
            change.delete(MEMBER_OF, keys::pair(member, list.id));
        }
        for table in [LIST_MEMBERS, LIST_MEMBERS_BY_TIME] {
            self.delete_rows(change, table, &keys::id(list.id.get()), &keys::id(list.id.get() + 1))?;
        }
        change.delete(LIST_MARKERS, keys::id(list.id.get()));
        change.delete(LISTS, keys::of_user(user, &list.name));
        Ok(())
    }
}

/// Changes a member of a list; `None` for none.
pub(super) fn put_member(
    change: &mut WriteBatch,
    list: ListId,
    member: UserId,
    membership: [Option<Membership>; 2],
) -> Result<()> {
    let values = membership.map(|membership| membership.map(|membership| values::membership(&membership)));
    change.change(LIST_MEMBERS, keys::pair(list, member), values, &Given::default())
}

impl At<'_> {
    /// The numbers of a user's exclusive lists.
    pub(crate) fn exclusive_lists(&self, user: UserId) -> Result<Vec<ListId>> {
        let lists = self.lists(user)?.into_iter();
        Ok(lists.filter(|list| list.settings.exclusive).map(|list| list.id).collect())
    }

    fn lists(&self, user: UserId) -> Result<Vec<UserList>> {
        let prefix = keys::id(user.get());
        self.beginning((LISTS, Scope::Partition), &prefix, &prefix, usize::MAX, |key, value| {
            let name = std::str::from_utf8(key.get(keys::ID..).unwrap_or_default());
            let name = name.map_err(|_| Error::Corrupt("the name of a list".to_owned()))?.to_owned();
            let (id, settings) = values::read_list(value)?;
            Ok(UserList { id, name, settings })
        })
    }
}
