//! Following and unfollowing, and the lists that come of it.

use std::collections::HashSet;

use super::Feed;
use crate::clock::now;
use crate::error::{Error, Result};
use crate::failpoint::{self, Place};
use crate::model::{Millis, Order, Page, PageRequest, Relation, Side, Span, UserCursor, UserId};
use crate::store::{Change, Tier};

/// Most follows of one user that an import puts into one change.
const IMPORT_GROUP: usize = 256;

/// One line of an import: who follows whom, and since when.
pub type Follow = (UserId, UserId, Option<Millis>);

impl Feed {
    /// Applies all changes of one user's follows or none, and returns the relations afterwards: those
    /// to follow first, then those to unfollow. A follow without a time gets the server's clock.
    ///
    /// `self_follow`, `follow_limit`; `invalid_body` if a target comes twice; `overloaded`.
    pub fn relate(
        &self,
        user: UserId,
        follow: &[(UserId, Option<Millis>)],
        unfollow: &[UserId],
    ) -> Result<Vec<Relation>> {
        let now = now();
        let follows =
            follow.iter().map(|(target, since)| Change { target: *target, follow: Some(since.unwrap_or(now)) });
        let unfollows = unfollow.iter().map(|target| Change { target: *target, follow: None });
        let changes: Vec<_> = follows.chain(unfollows).collect();
        let mut targets = HashSet::new();
        if let Some(twice) = changes.iter().find(|change| !targets.insert(change.target)) {
            return Err(Error::invalid("invalid_body", format!("user {} comes twice", twice.target)));
        }
        if follow.iter().any(|(target, _)| *target == user) {
            return Err(self_follow());
        }
        let room = self.backlog.reserve(changes.len())?;
        self.apply(user, &changes, room).map(|related| related.into_iter().map(|(relation, _)| relation).collect())
    }

    /// Follows each pair that can be, in order; for each whether it is new. Waits where the queue of
    /// jobs is full.
    pub fn import_follows(&self, follows: &[Follow]) -> Result<Vec<Result<bool>>> {
        let now = now();
        let mut results = Vec::with_capacity(follows.len());
        let mut rest = follows;
        while let Some((user, target, _)) = rest.first() {
            if user == target {
                results.push(Err(self_follow()));
                rest = &rest[1..];
                continue;
            }
            let mut targets = HashSet::new();
            let alike = |(u, t, _): &&Follow| u == user && t != user && targets.insert(*t);
            let (group, later) = rest.split_at(rest.iter().take(IMPORT_GROUP).take_while(alike).count());
            let changes: Vec<_> = group
                .iter()
                .map(|(_, target, since)| Change { target: *target, follow: Some(since.unwrap_or(now)) })
                .collect();
            match self.follow_waiting(*user, &changes) {
                Err(Error::Refused { .. }) => {
                    for change in &changes {
                        match self.follow_waiting(*user, std::slice::from_ref(change)) {
                            Ok(news) => results.extend(news.into_iter().map(Ok)),
                            Err(error @ Error::Refused { .. }) => results.push(Err(error)),
                            Err(error) => return Err(error),
                        }
                    }
                }
                news => results.extend(news?.into_iter().map(Ok)),
            }
            rest = later;
        }
        Ok(results)
    }

    fn follow_waiting(&self, user: UserId, changes: &[Change]) -> Result<Vec<bool>> {
        let room = self.backlog.reserve_waiting(changes.len());
        self.apply(user, changes, room).map(|related| related.into_iter().map(|(_, new)| new).collect())
    }

    /// Writes changes and queues their jobs; for each pair its relation and whether it changed.
    fn apply(
        &self,
        user: UserId,
        changes: &[Change],
        mut room: crate::backlog::Room<'_>,
    ) -> Result<Vec<(Relation, bool)>> {
        if changes.iter().any(|change| change.follow.is_some()) {
            // From here on there may be an inbox, which is to be dropped when nobody ever reads it.
            self.store.meet(user, now())?;
        }
        let unsettling: Vec<_> = changes.iter().map(|change| self.backlog.unsettle(user, change.target)).collect();
        let change = self.followees.change(user);
        let related = self.store.relate(user, changes, self.rules.follow_limit)?;
        drop(change);
        for (pair, related) in unsettling.into_iter().zip(&related) {
            if let Some(job) = related.job {
                pair.commit(&mut room, job);
            }
        }
        failpoint::pass(Place::RelateQueued);
        Ok(related.into_iter().map(|related| (related.relation, related.job.is_some())).collect())
    }

    /// The relations of a user to `targets`, in their order, each once.
    pub fn relations(&self, user: UserId, targets: &[UserId], tier: Tier) -> Result<Vec<Relation>> {
        let mut seen = HashSet::new();
        let distinct: Vec<_> = targets.iter().copied().filter(|target| seen.insert(*target)).collect();
        self.store.relations(user, &distinct, tier)
    }

    /// A page of one side of the graph around a user.
    pub fn members(
        &self,
        user: UserId,
        side: Side,
        request: &PageRequest<UserId>,
        tier: Tier,
    ) -> Result<Page<UserCursor, UserId>> {
        let found = self.store.members(user, side, request.span, request.order(), request.limit + 1, tier)?;
        let older_exist = |place| {
            let span = Span { before: Some(place), after: None };
            Ok(!self.store.members(user, side, span, Order::NewestFirst, 1, tier)?.is_empty())
        };
        Page::from_walk(request, found, |place| *place, older_exist)
    }
}

fn self_follow() -> Error {
    Error::refused("self_follow", "a user cannot follow itself")
}
