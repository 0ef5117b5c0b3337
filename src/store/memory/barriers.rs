//! Mutes, and hiding from others.

use std::collections::BTreeMap;

use super::graph::members_of;
use super::{Memory, State};
use crate::error::Result;
use crate::model::{Barrier, Millis, Relation, UserId};
use crate::store::types::{Tier, too_many};

impl Memory {
    /// See [`Store::set_barrier`](crate::store::Store::set_barrier).
    pub fn set_barrier(
        &self,
        user: UserId,
        target: UserId,
        barrier: Barrier,
        since: Option<Millis>,
        limit: usize,
    ) -> Result<Relation> {
        let mut state = self.state();
        let stands = state.barriers(barrier).contains_key(&(user, target));
        match since {
            Some(_) if !stands && members_of(state.barriers(barrier), user).count() >= limit => {
                return Err(too_many(barrier, limit));
            }
            Some(since) if !stands => drop(state.barriers_mut(barrier).insert((user, target), since)),
            Some(_) => {}
            None => drop(state.barriers_mut(barrier).remove(&(user, target))),
        }
        Ok(state.relation(user, target))
    }

    /// See [`Store::authors`](crate::store::Store::authors).
    pub fn authors(&self, reader: UserId, _: Tier) -> Result<Vec<UserId>> {
        let state = self.state();
        let is_shown = |author: &UserId| {
            !state.mutes.contains_key(&(reader, *author)) && !state.hidden.contains_key(&(*author, reader))
        };
        Ok(members_of(&state.following, reader).map(|(author, _)| author).filter(is_shown).collect())
    }

    /// See [`Store::authors_among`](crate::store::Store::authors_among).
    pub fn authors_among(&self, reader: UserId, users: &[UserId], tier: Tier) -> Result<Vec<UserId>> {
        let authors = self.authors(reader, tier)?;
        Ok(users.iter().copied().filter(|user| authors.binary_search(user).is_ok()).collect())
    }

    /// See [`Store::barred_after`](crate::store::Store::barred_after).
    pub fn barred_after(
        &self,
        user: UserId,
        barrier: Barrier,
        after: Option<UserId>,
        limit: usize,
    ) -> Result<Vec<UserId>> {
        let state = self.state();
        let barred = members_of(state.barriers(barrier), user).map(|(target, _)| target);
        Ok(barred.filter(|target| Some(*target) > after).take(limit).collect())
    }

    /// See [`Store::hiders_after`](crate::store::Store::hiders_after).
    pub fn hiders_after(&self, reader: UserId, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        let state = self.state();
        let hiders = state.hidden.keys().filter(|(_, target)| *target == reader).map(|(owner, _)| *owner);
        Ok(hiders.filter(|owner| Some(*owner) > after).take(limit).collect())
    }
}

impl State {
    pub(super) fn barriers(&self, barrier: Barrier) -> &BTreeMap<(UserId, UserId), Millis> {
        match barrier {
            Barrier::Mute => &self.mutes,
            Barrier::Hide => &self.hidden,
        }
    }

    fn barriers_mut(&mut self, barrier: Barrier) -> &mut BTreeMap<(UserId, UserId), Millis> {
        match barrier {
            Barrier::Mute => &mut self.mutes,
            Barrier::Hide => &mut self.hidden,
        }
    }
}
