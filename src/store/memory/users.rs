//! Users' activity and authors' unpushed items.

use super::{Memory, State};
use crate::error::Result;
use crate::model::{Activity, Cursor, Job, JobId, Millis, Unpushed, UserId, Work};
use crate::store::types::{Idle, Split, Tier, Touched};

impl Memory {
    /// See [`Store::activity`](crate::store::Store::activity).
    pub fn activity(&self, user: UserId, _: Tier) -> Result<Activity> {
        Ok(self.state().activity_of(user))
    }

    /// See [`Store::meet`](crate::store::Store::meet).
    pub fn meet(&self, user: UserId, now: Millis) -> Result<()> {
        self.state().activity.entry(user).or_insert(Activity::Dormant { seen: Some(now) });
        Ok(())
    }

    /// See [`Store::touch`](crate::store::Store::touch).
    pub fn touch(&self, user: UserId, now: Millis) -> Result<Touched> {
        let mut state = self.state();
        let present = state.activity_of(user);
        let (activity, job) = match present.seen_again(now) {
            Some(activity) => (activity, None),
            None => {
                let job = state.add_job(Work::Rebuild { user });
                (present.returned(now, job.id), Some(job))
            }
        };
        state.activity.insert(user, activity);
        Ok(Touched { activity, job })
    }

    /// See [`Store::split_active`](crate::store::Store::split_active).
    pub fn split_active(&self, users: &[UserId], seen_since: Millis) -> Result<Split> {
        let mut state = self.state();
        let mut split = Split::default();
        for user in users {
            let activity = state.activity_of(*user);
            if let Some(lapsed) = activity.lapsed(seen_since) {
                state.activity.insert(*user, lapsed);
                split.lapsed.push(*user);
            } else if activity.seen().is_some() {
                split.active.push(*user);
            }
        }
        Ok(split)
    }

    /// See [`Store::not_evicted`](crate::store::Store::not_evicted).
    pub fn not_evicted(&self, mut users: Vec<UserId>) -> Result<Vec<UserId>> {
        let state = self.state();
        users.retain(|user| state.activity_of(*user) != Activity::Evicted);
        Ok(users)
    }

    /// See [`Store::idle`](crate::store::Store::idle).
    pub fn idle(&self, after: Option<UserId>, limit: usize, seen_before: Millis) -> Result<Idle> {
        let state = self.state();
        let looked_at: Vec<_> = state.activity.iter().filter(|(user, _)| Some(**user) > after).take(limit).collect();
        let idle = looked_at.iter().filter(|(_, activity)| activity.is_idle(seen_before));
        let next = looked_at.last().filter(|_| looked_at.len() == limit).map(|(user, _)| **user);
        Ok(Idle { users: idle.map(|(user, _)| **user).collect(), next })
    }

    /// See [`Store::evict`](crate::store::Store::evict).
    pub fn evict(&self, user: UserId, seen_before: Millis, floor: Cursor) -> Result<bool> {
        let mut state = self.state();
        if !state.activity_of(user).is_idle(seen_before) {
            return Ok(false);
        }
        state.activity.insert(user, Activity::Evicted);
        state.raise_floor(user, floor);
        Ok(true)
    }

    /// See [`Store::rebuild`](crate::store::Store::rebuild).
    pub fn rebuild(&self, job: JobId, user: UserId, authors: &[UserId]) -> Result<Vec<Job>> {
        let mut state = self.state();
        state.end_job(job);
        let Some(rebuilt) = state.activity_of(user).rebuilt(job) else { return Ok(Vec::new()) };
        state.activity.insert(user, rebuilt);
        Ok(authors.iter().map(|author| state.add_job(Work::Settle { user, author: *author })).collect())
    }

    /// See [`Store::unpushed`](crate::store::Store::unpushed).
    pub fn unpushed(&self, author: UserId, _: Tier) -> Result<Unpushed> {
        Ok(self.state().unpushed_of(author))
    }

    /// See [`Store::lacking`](crate::store::Store::lacking).
    pub fn lacking(&self, authors: &[UserId], floor: Option<Cursor>, active: bool, _: Tier) -> Result<Vec<UserId>> {
        let state = self.state();
        let lacks = |author: &&UserId| state.unpushed_of(**author).leaves_gaps(floor, active);
        Ok(authors.iter().filter(lacks).copied().collect())
    }
}

impl State {
    fn unpushed_of(&self, author: UserId) -> Unpushed {
        self.unpushed.get(&author).copied().unwrap_or_default()
    }

    fn activity_of(&self, user: UserId) -> Activity {
        self.activity.get(&user).copied().unwrap_or_default()
    }
}
