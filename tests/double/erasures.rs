//! Erasures of users, by one look at all tables.

use std::collections::{BTreeMap, BTreeSet};

use model::error::Result;
use model::store::{Change, Erasures, FINAL};
use model::{
    Barrier, Changed, Content, ContentId, Effect, EffectKind, ErasedPart, ErasedUser, Erasure, ErasurePlace, Event,
    EventKind, Job, Logged, Millis, Moment, UserId,
};

use super::digests::{Row, key};
use super::{Double, State};

#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) under_way: BTreeMap<UserId, Erasure>,
    over: BTreeMap<String, ErasedUser>,
}

impl Tables {
    /// The rows that the store on disk has.
    pub(super) fn rows(&self) -> [(&'static str, Vec<Row>); 2] {
        let under_way = self.under_way.keys().map(|user| (key(&[user.get()]), Vec::new()));
        let over = self.over.keys().map(|hash| (hash.clone().into_bytes(), Vec::new()));
        [("erasures", under_way.collect()), ("erased", over.collect())]
    }
}

impl Erasures for Double {
    fn begin_erasure(&self, erasure: &Erasure, event: Option<&Event>) -> Result<bool> {
        let mut state = self.state();
        if state.erasures.under_way.contains_key(&erasure.user) {
            return Ok(false);
        }
        state.erasures.under_way.insert(erasure.user, erasure.clone());
        if let Some(event) = event {
            state.log(event.clone());
            state.put_effects([Effect::on(EffectKind::UserErased, erasure.user).named(erasure.hash.as_str())]);
        }
        Ok(true)
    }

    fn erasures(&self) -> Result<Vec<Erasure>> {
        Ok(self.state().erasures.under_way.values().cloned().collect())
    }

    fn has_erasures(&self) -> bool {
        !self.state().erasures.under_way.is_empty()
    }

    fn is_erasing(&self, user: UserId) -> bool {
        self.state().erasures.under_way.contains_key(&user)
    }

    fn to_erase(&self, user: UserId, place: &mut ErasurePlace, _most: usize) -> Result<Option<ErasedPart>> {
        let state = self.state();
        let parts = [
            ErasedPart::Items(state.items_of_user(user)),
            ErasedPart::Others(state.others_of(user)),
            ErasedPart::TakenOff(
                state.taken_off.keys().filter(|(_, source)| *source == user).map(|(id, _)| id.get()).collect(),
            ),
            ErasedPart::Reactions(state.reactions_of_user(user)),
            ErasedPart::Lists(state.lists.names_of(user)),
            ErasedPart::Memberships(state.lists.lists_with(user)),
            ErasedPart::Changes(state.changes_of(user)),
        ];
        place.table += 1;
        Ok(parts.into_iter().nth(place.table - 1))
    }

    fn erase(&self, user: UserId, part: &ErasedPart) -> Result<Vec<Job>> {
        let _changing = self.changing();
        let mut state = self.state();
        if !state.erasures.under_way.contains_key(&user) {
            return Ok(Vec::new());
        }
        let mut jobs = Vec::new();
        let rows = match part {
            ErasedPart::Items(ids) => ids.iter().filter(|id| state.erase_item(user, **id)).count(),
            ErasedPart::Others(others) => {
                others.iter().filter(|other| state.erase_other(user, **other, &mut jobs)).count()
            }
            ErasedPart::TakenOff(ids) => {
                let removed =
                    |id: &&u64| ContentId::new(**id).is_ok_and(|id| state.taken_off.remove(&(id, user)).is_some());
                ids.iter().filter(removed).count()
            }
            ErasedPart::Reactions(reactions) => reactions.iter().filter(|of| state.erase_reaction(user, of)).count(),
            ErasedPart::Lists(names) => names.iter().filter(|name| state.lists.remove(user, name)).count(),
            ErasedPart::Memberships(lists) => lists.iter().filter(|list| state.lists.leave(**list, user)).count(),
            ErasedPart::Changes(numbers) => numbers.iter().filter(|number| state.erase_change(user, **number)).count(),
        };
        if let Some(erasure) = state.erasures.under_way.get_mut(&user) {
            erasure.rows += rows as u64;
        }
        Ok(jobs)
    }

    fn erased_paths(&self, ids: &[ContentId]) -> Result<Vec<UserId>> {
        let state = self.state();
        let mut sources = BTreeSet::new();
        for content in ids.iter().filter_map(|id| state.content.get(id)) {
            sources.extend(&content.to);
            sources.extend(state.taken_off.keys().filter(|(id, _)| *id == content.id).map(|(_, source)| *source));
        }
        sources.extend(ids.iter().filter_map(|id| state.purged.get(id)).flat_map(|(.., sources)| sources));
        Ok(sources.into_iter().collect())
    }

    fn clear_inboxes(&self, readers: &[UserId], author: UserId) -> Result<()> {
        self.state().inbox.retain(|(reader, ..), entry| !readers.contains(reader) || entry.author != author);
        Ok(())
    }

    fn end_erasure(&self, user: UserId, at: Millis, forgotten: Millis) -> Result<bool> {
        let mut state = self.state();
        let Some(Erasure { hash, since, rows, .. }) = state.erasures.under_way.remove(&user) else { return Ok(false) };
        state.records.forget(user);
        state.notices.forget(user);
        state.activity.remove(&user);
        state.unpushed.remove(&user);
        state.floors.remove(&user);
        state.inbox.retain(|(reader, ..), _| *reader != user);
        state.erasures.over.retain(|_, erased| erased.over >= forgotten);
        let erased = ErasedUser { hash: hash.clone(), since, over: at, rows };
        state.erasures.over.insert(hash, erased);
        let is_item = ContentId::new(user.get())
            .is_ok_and(|id| state.content.contains_key(&id) || state.deleted.contains_key(&id));
        if !is_item {
            let State { names, erased_names, .. } = &mut *state;
            names.retain(|_, number| *number != user.get() || !erased_names.insert(*number));
        }
        Ok(true)
    }

    fn erased(&self) -> Result<Vec<ErasedUser>> {
        Ok(self.state().erasures.over.values().cloned().collect())
    }
}

impl State {
    fn items_of_user(&self, user: UserId) -> Vec<u64> {
        let names = |item: &&Content| item.author == user || item.to.contains(&user) || item.mentions.contains(&user);
        let purged = self.purged.values().filter(|(.., sources)| sources.contains(&user)).map(|(_, place, _)| place.id);
        self.content.values().filter(names).map(|item| item.id).chain(purged).map(ContentId::get).collect()
    }

    fn others_of(&self, user: UserId) -> Vec<u64> {
        let pairs = self.graph.pairs().filter(|(one, other)| *one == user || *other == user);
        let mut others: BTreeSet<_> = pairs.map(|(one, other)| if one == user { other } else { one }).collect();
        others.extend(self.notices.marked_at(user).filter(|other| *other != user));
        others.into_iter().map(UserId::get).collect()
    }

    fn reactions_of_user(&self, user: UserId) -> Vec<(u8, Millis, u64)> {
        let of_user = self.reactions.keys().filter(|(_, _, other)| *other == user);
        let place = |(id, kind, _): &(ContentId, String, UserId)| {
            let byte = self.used_kinds.iter().position(|used| used == kind)?;
            Some((byte as u8, self.content.get(id)?.published_at, id.get()))
        };
        of_user.filter_map(place).collect()
    }

    fn changes_of(&self, user: UserId) -> Vec<u64> {
        self.logged.values().filter(|row| row.names(user)).map(Logged::number).collect()
    }

    fn erase_item(&mut self, user: UserId, id: u64) -> bool {
        let Ok(id) = ContentId::new(id) else { return false };
        let Some(content) = self.content.get(&id).cloned() else {
            return self.purged.get_mut(&id).is_some_and(|(.., sources)| sources.remove(&user));
        };
        let deleted_at = self.deleted.get(&content.id).copied();
        if content.author == user && deleted_at != Some(FINAL) {
            if !self.delete(content.id, Moment { at: FINAL, event: None }) {
                self.deleted.insert(content.id, FINAL);
            }
            self.content.insert(content.id, content.blank());
            true
        } else if content.author != user && (content.to.contains(&user) || content.mentions.contains(&user)) {
            self.outbox.remove(&(user, content.cursor()));
            if content.mentions.contains(&user) {
                self.notices.end_mention(user, content.id);
            }
            self.content.insert(content.id, content.without_user(user));
            true
        } else {
            false
        }
    }

    fn erase_other(&mut self, user: UserId, other: u64, jobs: &mut Vec<Job>) -> bool {
        let Ok(other) = UserId::new(other) else { return false };
        let mut changes = self.notices.unmark(other, user);
        for (one, two) in [(user, other), (other, user)] {
            changes |= self.graph.pairs().any(|pair| pair == (one, two));
            jobs.extend(self.apply(one, &Change::new(two, None)).job);
            for barrier in Barrier::ALL {
                self.barriers_mut(barrier).remove(&(one, two));
            }
        }
        changes
    }

    fn erase_reaction(&mut self, user: UserId, (byte, _, id): &(u8, Millis, u64)) -> bool {
        let Some(kind) = self.used_kinds.get(usize::from(*byte)).cloned() else { return false };
        ContentId::new(*id).is_ok_and(|id| self.reactions.remove(&(id, kind, user)).is_some())
    }

    fn erase_change(&mut self, user: UserId, number: u64) -> bool {
        let is_newest = self.logged.keys().next_back() == Some(&number);
        let Some(row) = self.logged.get(&number).filter(|row| row.names(user)).cloned() else { return false };
        self.logged.remove(&number);
        let gap = Logged::Event(row.replaced_by(EventKind::Gap));
        let left = match row {
            Logged::Event(event) if event.entry.author != user => Some(Logged::Event(event.without_path(user))),
            Logged::Event(event) if event.kind == EventKind::Suspension => Some(gap),
            Logged::Effect { changed, top } if changed.effect.kind == EffectKind::UserErased => {
                let changed = Changed { effect: changed.effect.without_user(), ..changed };
                Some(Logged::Effect { changed, top })
            }
            _ => Some(gap).filter(|_| is_newest),
        };
        self.logged.extend(left.map(|row| (number, row)));
        true
    }
}
