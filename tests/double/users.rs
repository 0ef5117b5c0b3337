//! Users' activity, and authors' unpushed items.

use model::error::Result;
use model::store::{Activities, Idle, Split, Tier, Touched};
use model::{Activity, Cursor, JobId, Millis, Unpushed, UserId, Work};

use super::{Double, Fault, State};

impl Activities for Double {
    fn activity(&self, user: UserId, _: Tier) -> Result<Activity> {
        let mut state = self.state();
        if self.fault == Some(Fault::InboxBeforePending) {
            let inbox = state.inbox_with_floor(user);
            state.early.insert(user, inbox);
        }
        Ok(state.activity_of(user))
    }

    fn meet(&self, user: UserId, now: Millis) -> Result<()> {
        self.state().activity.entry(user).or_insert(Activity::Dormant { seen: Some(now) });
        Ok(())
    }

    fn keep_no_inbox(&self, user: UserId) -> Result<()> {
        self.state().activity.entry(user).or_insert(Activity::Evicted);
        Ok(())
    }

    fn touch(&self, user: UserId, now: Millis) -> Result<Touched> {
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

    fn split_active(&self, users: &[UserId], seen_since: Millis) -> Result<Split> {
        let mut state = self.state();
        let mut split = Split::default();
        for user in users {
            let activity = state.activity_of(*user);
            if let Some(lapsed) = activity.lapsed(seen_since) {
                state.activity.insert(*user, lapsed);
                split.lapsed.push(*user);
            } else if activity.is_active() || (activity.seen().is_some() && self.fault != Some(Fault::ReturningSkipped))
            {
                split.active.push(*user);
            }
        }
        Ok(split)
    }

    fn not_evicted(&self, mut users: Vec<UserId>) -> Result<Vec<UserId>> {
        let state = self.state();
        users.retain(|user| state.activity_of(*user) != Activity::Evicted);
        Ok(users)
    }

    fn idle(&self, after: Option<UserId>, limit: usize, seen_before: Millis) -> Result<Idle> {
        let state = self.state();
        let looked_at: Vec<_> = state.activity.iter().filter(|(user, _)| Some(**user) > after).take(limit).collect();
        let idle = looked_at.iter().filter(|(_, activity)| activity.is_idle(seen_before));
        let next = looked_at.last().filter(|_| looked_at.len() == limit).map(|(user, _)| **user);
        Ok(Idle { users: idle.map(|(user, _)| **user).collect(), next })
    }

    fn evict(&self, user: UserId, seen_before: Millis, floor: Option<Cursor>) -> Result<bool> {
        let mut state = self.state();
        if !state.activity_of(user).is_idle(seen_before) {
            return Ok(false);
        }
        state.activity.insert(user, Activity::Evicted);
        floor.into_iter().for_each(|floor| state.raise_floor(user, floor));
        Ok(true)
    }

    fn rebuild(&self, job: JobId, user: UserId, authors: &[UserId], room: usize) -> Result<usize> {
        let mut state = self.state();
        state.end_job(job);
        let Some(rebuilt) = state.activity_of(user).rebuilt(job) else { return Ok(0) };
        state.activity.insert(user, rebuilt);
        let floor = state.floors.get(&user).copied();
        let followed = authors.iter().filter(|author| state.follows(user, **author));
        let mut entries: Vec<_> = followed.flat_map(|author| state.outbox_of(*author)).collect();
        entries.retain(|entry| Some(entry.cursor) > floor);
        entries.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.cursor));
        if let Some(left_out) = entries.get(room) {
            state.raise_floor(user, left_out.cursor);
        }
        entries.truncate(room);
        entries.iter().for_each(|entry| state.put_row(user, *entry));
        Ok(entries.len())
    }

    fn unpushed(&self, author: UserId, _: Tier) -> Result<Unpushed> {
        Ok(self.state().unpushed_of(author))
    }

    fn unpushed_version(&self) -> u64 {
        self.state().unpushed_version
    }

    fn may_have_unpushed(&self, authors: &[UserId]) -> (u64, Vec<UserId>) {
        let state = self.state();
        let may = authors.iter().filter(|author| state.unpushed.contains_key(author)).copied();
        (state.unpushed_version, may.collect())
    }

    fn authors_with_unpushed(
        &self,
        authors: &[UserId],
        floor: Option<Cursor>,
        active: bool,
        _: Tier,
    ) -> Result<Vec<UserId>> {
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
