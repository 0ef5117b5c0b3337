//! The removal of the rows that name a user who is erased, part by part.

use std::ops::ControlFlow;

use super::barriers::put_barrier;
use super::notices::put_notice_marker;
use super::user_lists::put_member;
use crate::Store;
use crate::rows::batch::WriteBatch;
use crate::rows::tables::{DELETED, ERASURES, EVENTS, LIST_MEMBERS, REACTIONS, TAKEN_OFF, UNLISTED};
use crate::rows::values::{ItemSteps, Stored};
use crate::rows::{keys, values};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::store::{FINAL, Tier};
use model::{
    Barrier, Changed, ContentId, Cursor, EffectKind, Entry, ErasedPart, EventKind, Id, Job, ListId, Logged, Millis,
    Relation, UserId,
};

impl Store {
    /// Removes the rows of a part, as far as they are there and name the user, in one change. Items of the user have no text
    /// any more, and are to be purged; users who follow the user no more have settle jobs, and so has the user. Returns the
    /// jobs. Nothing is written if no erasure of the user is under way. Acknowledges.
    pub fn erase(&self, user: UserId, part: &ErasedPart) -> Result<Vec<Job>> {
        if !self.erasing.has(user) {
            return Ok(Vec::new());
        }
        match part {
            ErasedPart::Items(ids) => self.erase_items(user, &ids_of(ids)?),
            ErasedPart::Others(ids) => self.erase_others(user, &ids_of(ids)?),
            ErasedPart::TakenOff(ids) => self.erase_taken_off(user, &ids_of(ids)?),
            ErasedPart::Reactions(reactions) => self.erase_reactions(user, reactions),
            ErasedPart::Lists(names) => self.erase_lists(user, names),
            ErasedPart::Memberships(lists) => self.erase_memberships(user, &ids_of(lists)?),
            ErasedPart::Changes(numbers) => self.erase_changes(user, numbers),
        }
    }

    /// Writes a part with the count of its rows; nothing if no erasure of the user is under way.
    fn write_part(
        &self,
        user: UserId,
        mut change: WriteBatch,
        rows: usize,
        changing: impl Send + 'static,
    ) -> Result<()> {
        let Some(mut erasure) = self.erasure(user)? else { return Ok(()) };
        if rows > 0 {
            erasure.rows += rows as u64;
            change.put(ERASURES, keys::id(user.get()), values::erasures::erasure(&erasure));
        }
        if change.is_empty() {
            return Ok(());
        }
        // A part that a power cut takes is found again: the end alone is durable before it counts. Others would wait for the
        // device behind each part.
        self.put(Some(Write::Erase), change, false, Box::new(move |_| drop(changing)))
    }

    fn erase_items(&self, user: UserId, ids: &[ContentId]) -> Result<Vec<Job>> {
        let stored = self.stored(ids, Tier::Disk)?;
        let indexing = self.indexing(stored.iter().flatten().map(|stored| &stored.content))?;
        let (mut change, mut deleted) = (WriteBatch::default(), Vec::new());
        let mut rows = 0;
        for (id, stored) in ids.iter().zip(&stored) {
            let Some(Stored { content, deleted_at }) = stored else {
                rows += usize::from(self.erase_purged(&mut change, user, *id)?);
                continue;
            };
            let (is_own, is_mentioned) = (content.author == user, content.mentions.contains(&user));
            let left = if is_own && *deleted_at != Some(FINAL) {
                deleted.push(content.id);
                Stored { content: content.clone().blank(), deleted_at: Some(FINAL) }
            } else if !is_own && (is_mentioned || content.to.contains(&user)) {
                Stored { content: content.clone().without_user(user), deleted_at: *deleted_at }
            } else {
                continue;
            };
            if is_mentioned && !is_own {
                self.remove_mention(&mut change, user, content);
            }
            self.change_item(&mut change, [stored.as_ref(), Some(&left)], &indexing)?;
            rows += 1;
        }
        // Before the rows are visible.
        deleted.iter().for_each(|id| self.deleted.add(id.get()));
        self.write_part(user, change, rows, indexing.changing)?;
        Ok(Vec::new())
    }

    /// Removes the user from the sources of a purged item of another; false if the user is none of them.
    fn erase_purged(&self, change: &mut WriteBatch, user: UserId, id: ContentId) -> Result<bool> {
        let Some((_, deleted_at, mut purged)) = self.purged_among(&[id])?.pop() else { return Ok(false) };
        let Some(place) = purged.sources.iter().position(|source| *source == user) else { return Ok(false) };
        purged.sources.remove(place);
        change.put(DELETED, keys::id(id.get()), values::deletions::deletion(deleted_at, Some(&purged)));
        change.delete(UNLISTED, keys::entry(user, Cursor { at: purged.published_at, id }));
        Ok(true)
    }

    fn erase_taken_off(&self, user: UserId, ids: &[ContentId]) -> Result<Vec<Job>> {
        let present = self.get_many(TAKEN_OFF, ids.iter().map(|id| keys::pair(*id, user)), Tier::Disk)?;
        let mut change = WriteBatch::default();
        for id in ids {
            change.delete(TAKEN_OFF, keys::pair(*id, user));
        }
        self.write_part(user, change, present.iter().flatten().count(), ())?;
        Ok(Vec::new())
    }

    fn erase_others(&self, user: UserId, others: &[UserId]) -> Result<Vec<Job>> {
        let (mut change, mut jobs, mut rows) = (WriteBatch::default(), Vec::new(), 0);
        for relation in self.relations(user, others, Tier::Disk)? {
            let back = self.relations(relation.target, &[user], Tier::Disk)?;
            let marker = self.notice_marker(relation.target, Tier::Disk)?;
            let marker = marker.filter(|place| place.actor() == Some(user));
            if let Some(place) = marker {
                let after = Some(place.without_actor());
                put_notice_marker(&mut change, relation.target, [marker, after])?;
            }
            rows += usize::from(marker.is_some() || back.iter().chain([&relation]).any(is_any));
            let (ended, _) = self.part(&mut change, &relation)?;
            jobs.extend(ended.into_iter().flatten());
            for relation in back.iter().chain([&relation]) {
                for barrier in Barrier::ALL {
                    if let Some(since) = relation.barred_since(barrier) {
                        put_barrier(&mut change, relation, barrier, [Some(since), None])?;
                    }
                }
            }
        }
        self.write_part(user, change, rows, ())?;
        Ok(jobs)
    }

    fn erase_reactions(&self, user: UserId, reactions: &[(u8, Millis, u64)]) -> Result<Vec<Job>> {
        let ids: Vec<ContentId> = ids_of(&reactions.iter().map(|(_, _, id)| *id).collect::<Vec<_>>())?;
        let keys = ids.iter().zip(reactions).map(|(id, (byte, ..))| keys::reaction(*id, *byte, user));
        let since = self.read_many(REACTIONS, keys, Tier::Disk, values::read_millis)?;
        let (mut change, mut rows) = (WriteBatch::default(), 0);
        let changing = self.newest_reactions.change(user);
        let counts: Vec<_> = ids.iter().map(|id| self.item_counts.change(*id)).collect();
        let authors = self.authors_of(&ids)?;
        for ((id, (byte, at, _)), since) in ids.iter().zip(reactions).zip(since) {
            // Its notice is the author's.
            let item = Entry::plain(Cursor { at: *at, id: *id }, authors.get(id).copied().unwrap_or(user));
            self.put_reaction(&mut change, item, (user, *byte, since.unwrap_or_default()), false)?;
            if since.is_some() {
                let steps = ItemSteps { reactions: [(*byte, -1)].into(), ..ItemSteps::default() };
                self.count_item(&mut change, *id, &steps);
                rows += 1;
            }
        }
        self.write_part(user, change, rows, (changing, counts))?;
        Ok(Vec::new())
    }

    fn erase_lists(&self, user: UserId, names: &[String]) -> Result<Vec<Job>> {
        let (mut change, mut rows) = (WriteBatch::default(), 0);
        for name in names {
            if let Some(list) = self.list(user, name, Tier::Disk)? {
                self.remove_list(&mut change, user, &list)?;
                rows += 1;
            }
        }
        self.write_part(user, change, rows, ())?;
        Ok(Vec::new())
    }

    fn erase_memberships(&self, user: UserId, lists: &[ListId]) -> Result<Vec<Job>> {
        let keys = lists.iter().map(|list| keys::pair(*list, user));
        let members = self.read_many(LIST_MEMBERS, keys, Tier::Disk, values::read_membership)?;
        let (mut change, mut rows) = (WriteBatch::default(), 0);
        for (list, membership) in lists.iter().zip(members) {
            if let Some(membership) = membership {
                put_member(&mut change, *list, user, [Some(membership), None])?;
                rows += 1;
            }
        }
        self.write_part(user, change, rows, ())?;
        Ok(Vec::new())
    }

    /// The newest change keeps its number: the next start goes on behind it.
    fn erase_changes(&self, user: UserId, numbers: &[u64]) -> Result<Vec<Job>> {
        let mut newest = None;
        self.newest_logged(&mut |row| {
            newest = Some(row.number());
            ControlFlow::Break(())
        })?;
        let (mut change, mut rows) = (WriteBatch::default(), 0);
        for number in numbers {
            let key = keys::id(*number);
            let read = |row: &[u8]| values::events::read_logged(*number, row);
            let Some(row) = self.read(EVENTS, &key, Tier::Disk, read)?.filter(|row| row.names(user)) else { continue };
            rows += 1;
            let left = match &row {
                Logged::Event(event) if event.entry.author != user => {
                    Some(Logged::Event(event.clone().without_path(user)))
                }
                // The begin of an erasure is told to readers who come late, too.
                Logged::Effect { changed, top } if changed.effect.kind == EffectKind::UserErased => {
                    let effect = changed.effect.clone().without_user();
                    Some(Logged::Effect { changed: Changed { effect, ..*changed }, top: *top })
                }
                // Streams that come late are not told of the user's items one by one: they load all again.
                Logged::Event(event) if event.kind == EventKind::Suspension => {
                    Some(Logged::Event(row.replaced_by(EventKind::Gap)))
                }
                _ => (newest == Some(*number)).then(|| Logged::Event(row.replaced_by(EventKind::Gap))),
            };
            change.set(EVENTS, key, left.map(|row| values::events::logged(&row)));
        }
        self.write_part(user, change, rows, ())?;
        Ok(Vec::new())
    }
}

/// Whether one user has anything to do with the other.
fn is_any(of: &Relation) -> bool {
    let barred = Barrier::ALL.into_iter().any(|barrier| of.barred_since(barrier).is_some());
    of.following_since.is_some() || of.requested_since.is_some() || barred
}

fn ids_of<I: Id>(raw: &[u64]) -> Result<Vec<I>> {
    let id = |raw: &u64| I::of(*raw).map_err(|_| Error::Corrupt("the id 0".to_owned()));
    raw.iter().map(id).collect()
}
