//! Lists of sources that users keep.

use std::collections::BTreeMap;

use model::error::{Error, Result};
use model::store::{Change, Tier, UserLists, too_many_lists, too_many_members};
use model::{
    Cursor, Effect, EffectKind, ListId, ListSettings, Membership, Scan, ShownSources, UserCursor, UserId, UserList,
};

use super::digests::{Row, key, place, record, rule};
use super::{Double, State, walk};

#[derive(Debug, Default)]
pub(super) struct Tables {
    /// By user and name.
    lists: BTreeMap<(UserId, String), (ListId, ListSettings)>,
    members: BTreeMap<(ListId, UserId), Membership>,
    markers: BTreeMap<ListId, Cursor>,
    /// The highest number ever given.
    highest: u64,
}

impl Tables {
    fn find(&self, user: UserId, name: &str) -> Option<ListId> {
        self.lists.get(&(user, name.to_owned())).map(|(id, _)| *id)
    }

    fn of(&self, user: UserId) -> impl Iterator<Item = UserList> {
        let of_user = self.lists.iter().filter(move |((owner, _), _)| *owner == user);
        of_user.map(|((_, name), (id, settings))| UserList { id: *id, name: name.clone(), settings: settings.clone() })
    }

    /// Whether a user is a member of an exclusive list of another.
    pub(super) fn excludes(&self, owner: UserId, user: UserId) -> bool {
        let mut exclusive = self.of(owner).filter(|list| list.settings.exclusive);
        exclusive.any(|list| self.members.contains_key(&(list.id, user)))
    }

    /// The names of a user's lists.
    pub(super) fn names_of(&self, user: UserId) -> Vec<String> {
        self.of(user).map(|list| list.name).collect()
    }

    /// The lists that have a user as a member.
    pub(super) fn lists_with(&self, user: UserId) -> Vec<u64> {
        self.members.keys().filter(|(_, member)| *member == user).map(|(list, _)| list.get()).collect()
    }

    /// Whoever is a member of a list.
    pub(super) fn listed(&self) -> impl Iterator<Item = UserId> {
        self.members.keys().map(|(_, member)| *member)
    }

    /// Removes a list; false if there is none.
    pub(super) fn remove(&mut self, user: UserId, name: &str) -> bool {
        let Some((id, _)) = self.lists.remove(&(user, name.to_owned())) else { return false };
        self.members.retain(|(list, _), _| *list != id);
        self.markers.remove(&id);
        true
    }

    /// Removes a member; false if it is none.
    pub(super) fn leave(&mut self, list: u64, user: UserId) -> bool {
        ListId::new(list).is_ok_and(|list| self.members.remove(&(list, user)).is_some())
    }

    /// The rows that the store on disk has.
    pub(super) fn rows(&self) -> Result<Vec<(&'static str, Vec<Row>)>> {
        let list = |((user, name), (id, ListSettings { title, exclusive })): (&(UserId, String), &(ListId, _))| {
            Ok(([key(&[user.get()]), name.clone().into_bytes()].concat(), record((id.get(), title, exclusive))?))
        };
        let mut lists = self.lists.iter().map(list).collect::<Result<Vec<_>>>()?;
        lists.extend((self.highest > 0).then(|| (Vec::new(), key(&[self.highest]))));
        let members = self.members.iter().map(|((list, user), of)| {
            (key(&[list.get(), user.get()]), [key(&[of.since]), rule(of.rule.as_ref())].concat())
        });
        let by_time = self.members.iter().map(|((list, user), of)| (place(*list, of.since, *user), Vec::new()));
        let markers = self.markers.iter().map(|(list, at)| (key(&[list.get()]), key(&[at.at, at.id.get()])));
        Ok(vec![
            ("lists", lists),
            ("list_members", members.collect()),
            ("list_members_by_time", by_time.collect()),
            (
                "member_of",
                self.members.keys().map(|(list, user)| (key(&[user.get(), list.get()]), Vec::new())).collect(),
            ),
            ("list_markers", markers.collect()),
        ])
    }
}

impl UserLists for Double {
    fn put_list(&self, user: UserId, name: &str, settings: &ListSettings, limit: usize) -> Result<UserList> {
        let mut state = self.state();
        let lists = &mut state.lists;
        let present = lists.lists.get(&(user, name.to_owned())).cloned();
        let id = match &present {
            Some((id, _)) => *id,
            None if lists.of(user).count() >= limit => return Err(too_many_lists(limit)),
            None => {
                lists.highest += 1;
                ListId::new(lists.highest).map_err(|e| Error::Corrupt(e.to_string()))?
            }
        };
        if present.is_none_or(|(_, present)| present != *settings) {
            lists.lists.insert((user, name.to_owned()), (id, settings.clone()));
            state.put_effects([Effect::on(EffectKind::ListChanged, user).named(name)]);
        }
        Ok(UserList { id, name: name.to_owned(), settings: settings.clone() })
    }

    fn delete_list(&self, user: UserId, name: &str) -> Result<bool> {
        let mut state = self.state();
        if !state.lists.remove(user, name) {
            return Ok(false);
        }
        state.put_effects([Effect::on(EffectKind::ListDeleted, user).named(name)]);
        Ok(true)
    }

    fn list(&self, user: UserId, name: &str, _: Tier) -> Result<Option<UserList>> {
        Ok(self.state().lists.of(user).find(|list| list.name == name))
    }

    fn lists(&self, user: UserId, _: Tier) -> Result<Vec<UserList>> {
        Ok(self.state().lists.of(user).collect())
    }

    fn change_members(
        &self,
        user: UserId,
        name: &str,
        changes: &[Change],
        limit: usize,
    ) -> Result<Option<Vec<Option<Membership>>>> {
        let mut state = self.state();
        let Some(list) = state.lists.find(user, name) else { return Ok(None) };
        let mut after = state.lists.members.clone();
        for change in changes {
            let present = after.remove(&(list, change.target));
            if let Some(since) = change.follow {
                let since = present.map_or(since, |present| present.since);
                let rule = change.rule_after(present.and_then(|present| present.rule));
                after.insert((list, change.target), Membership { since, rule });
            }
        }
        let count =
            |members: &BTreeMap<(ListId, UserId), Membership>| members.keys().filter(|(of, _)| *of == list).count();
        if count(&after) > limit && count(&after) > count(&state.lists.members) {
            return Err(too_many_members(limit));
        }
        let effects = changes.iter().filter_map(|change| {
            let key = (list, change.target);
            let kind = match (state.lists.members.get(&key), after.get(&key)) {
                (None, Some(_)) => EffectKind::MemberCreated,
                (Some(_), None) => EffectKind::MemberRemoved,
                (before, after) if before != after => EffectKind::MemberChanged,
                _ => return None,
            };
            Some(Effect::on(kind, user).target(change.target).named(name))
        });
        let effects: Vec<_> = effects.collect();
        if after != state.lists.members {
            state.put_effects(effects);
            state.lists.members = after;
        }
        let of = |change: &Change| state.lists.members.get(&(list, change.target)).copied();
        Ok(Some(changes.iter().map(of).collect()))
    }

    fn list_members(&self, list: ListId, scan: Scan<UserId>, _: Tier) -> Result<Vec<UserCursor>> {
        let state = self.state();
        let places = state.lists.members.iter().filter(|((of, _), _)| *of == list);
        Ok(walk(places.map(|((_, id), of)| UserCursor { at: of.since, id: *id }), |place| *place, scan))
    }

    fn memberships(&self, list: ListId, users: &[UserId], _: Tier) -> Result<Vec<Option<Membership>>> {
        let state = self.state();
        Ok(users.iter().map(|user| state.lists.members.get(&(list, *user)).copied()).collect())
    }

    fn list_authors(&self, reader: UserId, list: ListId, _: Tier) -> Result<ShownSources> {
        let state = self.state();
        let members = state.lists.members.iter().filter(|((of, _), _)| *of == list);
        let shown = members.filter(|((_, member), _)| !state.is_barred(reader, *member));
        let (ids, rules): (Vec<_>, Vec<_>) =
            shown.map(|((_, member), of)| (*member, of.rule.map(|rule| (*member, rule)))).unzip();
        let sources = ShownSources::new(ids, rules.into_iter().flatten().collect());
        Ok(sources.silencing(Some(state.silenced(reader))))
    }

    fn list_marker(&self, list: ListId, _: Tier) -> Result<Option<Cursor>> {
        Ok(self.state().lists.markers.get(&list).copied())
    }

    fn move_list_marker(
        &self,
        user: UserId,
        name: &str,
        place: Cursor,
        wrong: Option<Cursor>,
    ) -> Result<Option<Cursor>> {
        let mut state = self.state();
        let Some(list) = state.lists.find(user, name) else { return Ok(None) };
        let present = state.lists.markers.get(&list).copied();
        if present >= Some(place) && present != wrong {
            return Ok(present);
        }
        state.lists.markers.insert(list, place);
        state.put_effects([Effect::on(EffectKind::MarkerMoved, user).named(name)]);
        Ok(Some(place))
    }
}

impl State {
    /// Whether a reader is not shown a user's content.
    pub(super) fn is_barred(&self, reader: UserId, author: UserId) -> bool {
        self.graph.mutes.contains_key(&(reader, author))
            || self.graph.hidden.contains_key(&(author, reader))
            || self.blocked(reader, author)
    }

    /// All users whose content a reader is not shown.
    pub(super) fn silenced(&self, reader: UserId) -> Vec<UserId> {
        let (mutes, hidden, blocks) = (&self.graph.mutes, &self.graph.hidden, &self.graph.blocks);
        let of_reader = |(user, target): &(UserId, UserId)| (*user == reader).then_some(*target);
        let to_reader = |(user, target): &(UserId, UserId)| (*target == reader).then_some(*user);
        let own = mutes.keys().chain(blocks.keys()).filter_map(of_reader);
        own.chain(hidden.keys().chain(blocks.keys()).filter_map(to_reader)).collect()
    }
}
