//! The follow graph.

use std::collections::BTreeMap;

use super::{Memory, State, walk};
use crate::error::{Code, Error, Result};
use crate::model::{Millis, Order, Relation, Side, Span, UserCursor, UserId, Work};
use crate::store::types::{Change, Related, Tier};

impl Memory {
    /// See [`Store::relate`](crate::store::Store::relate).
    pub fn relate(&self, user: UserId, changes: &[Change], follow_limit: usize) -> Result<Vec<Related>> {
        let mut state = self.state();
        let before = members_of(&state.following, user).count();
        let mut after = before;
        for change in changes {
            match (state.follows(user, change.target), change.follow) {
                (false, Some(_)) => after += 1,
                (true, None) => after -= 1,
                _ => {}
            }
        }
        if after > follow_limit && after > before {
            return Err(Error::refused(
                Code::FollowLimit,
                format!("user {user} follows at most {follow_limit} others"),
            ));
        }
        Ok(changes.iter().map(|change| state.apply(user, change)).collect())
    }

    /// See [`Store::relations`](crate::store::Store::relations).
    pub fn relations(&self, user: UserId, targets: &[UserId], _: Tier) -> Result<Vec<Relation>> {
        let state = self.state();
        Ok(targets.iter().map(|target| state.relation(user, *target)).collect())
    }

    /// See [`Store::followees`](crate::store::Store::followees).
    pub fn followees(&self, user: UserId, _: Tier) -> Result<Vec<UserId>> {
        let state = self.state();
        Ok(members_of(&state.following, user).map(|(followee, _)| followee).collect())
    }

    /// See [`Store::members`](crate::store::Store::members).
    pub fn members(
        &self,
        user: UserId,
        side: Side,
        span: Span<UserId>,
        order: Order,
        limit: usize,
        _: Tier,
    ) -> Result<Vec<UserCursor>> {
        let state = self.state();
        let rows: Vec<_> = match side {
            Side::Muted => members_of(&state.mutes, user).collect(),
            Side::HiddenFrom => members_of(&state.hidden, user).collect(),
            Side::Following => members_of(&state.following, user).collect(),
            Side::Followers => members_of(&state.followers, user).collect(),
            Side::Friends => members_of(&state.following, user)
                .filter_map(|(other, since)| {
                    state.followers.get(&(user, other)).map(|followed| (other, since.max(*followed)))
                })
                .collect(),
        };
        let places = rows.into_iter().map(|(id, at)| UserCursor { at, id });
        Ok(walk(places, |place| *place, span, order, limit))
    }

    /// See [`Store::followers_after`](crate::store::Store::followers_after).
    pub fn followers_after(&self, author: UserId, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        let state = self.state();
        let followers = members_of(&state.followers, author).map(|(follower, _)| follower);
        Ok(followers.filter(|follower| Some(*follower) > after).take(limit).collect())
    }

    /// See [`Store::follower_count`](crate::store::Store::follower_count).
    pub fn follower_count(&self, author: UserId) -> Result<u64> {
        Ok(members_of(&self.state().followers, author).count() as u64)
    }
}

impl State {
    fn apply(&mut self, user: UserId, change: &Change) -> Related {
        let target = change.target;
        let changes = self.follows(user, target) != change.follow.is_some();
        if changes {
            match change.follow {
                Some(since) => {
                    self.following.insert((user, target), since);
                    self.followers.insert((target, user), since);
                }
                None => {
                    self.following.remove(&(user, target));
                    self.followers.remove(&(target, user));
                }
            }
        }
        let job = changes.then(|| self.add_job(Work::Settle { user, author: target }));
        Related { relation: self.relation(user, target), job }
    }

    pub(super) fn relation(&self, user: UserId, target: UserId) -> Relation {
        Relation {
            user,
            target,
            following_since: self.following.get(&(user, target)).copied(),
            followed_since: self.followers.get(&(user, target)).copied(),
            muted_since: self.mutes.get(&(user, target)).copied(),
            hidden_since: self.hidden.get(&(user, target)).copied(),
        }
    }

    /// Whether a user follows an author.
    pub(super) fn follows(&self, user: UserId, author: UserId) -> bool {
        self.following.contains_key(&(user, author))
    }
}

/// One user's part of a side of the graph, by ascending id.
pub(super) fn members_of(
    side: &BTreeMap<(UserId, UserId), Millis>,
    user: UserId,
) -> impl Iterator<Item = (UserId, Millis)> {
    side.range((user, UserId::MIN)..=(user, UserId::MAX)).map(|((_, other), since)| (*other, *since))
}
