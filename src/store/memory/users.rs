//! Users' activity and authors' unpushed items.

use super::{Memory, State};
use crate::error::Result;
use crate::model::{Activity, Cursor, Job, JobId, Millis, Unpushed, UserId, Work};
use crate::store::types::{Split, Tier, Touched};

impl Memory {
    /// See [`Store::activity`](crate::store::Store::activity).
    pub fn activity(&self, user: UserId, _: Tier) -> Result<Activity> {
        Ok(self.state().activity_of(user))
    }

    /// See [`Store::touch`](crate::store::Store::touch).
    pub fn touch(&self, user: UserId, now: Millis) -> Result<Touched> {
        let mut state = self.state();
        let (activity, job) = match state.activity_of(user) {
            Activity::Dormant => (Activity::Returning { seen: now }, Some(state.add_job(Work::Rebuild { user }))),
            Activity::Returning { seen } => (Activity::Returning { seen: seen.max(now) }, None),
            Activity::Active { seen } => (Activity::Active { seen: seen.max(now) }, None),
        };
        state.activity.insert(user, activity);
        Ok(Touched { activity, job })
    }

    /// See [`Store::split_active`](crate::store::Store::split_active).
    pub fn split_active(&self, users: &[UserId], seen_since: Millis) -> Result<Split> {
        let mut state = self.state();
        let mut split = Split::default();
        for user in users {
            match state.activity_of(*user).seen() {
                None => {}
                Some(seen) if seen < seen_since => {
                    state.activity.remove(user);
                    split.lapsed.push(*user);
                }
                Some(_) => split.active.push(*user),
            }
        }
        Ok(split)
    }

    /// See [`Store::rebuild`](crate::store::Store::rebuild).
    pub fn rebuild(&self, job: JobId, user: UserId, authors: &[UserId]) -> Result<Vec<Job>> {
        let mut state = self.state();
        state.end_job(job);
        let Activity::Returning { seen } = state.activity_of(user) else { return Ok(Vec::new()) };
        state.activity.insert(user, Activity::Active { seen });
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
