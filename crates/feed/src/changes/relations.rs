//! Following and unfollowing, and the lists that come of it.

use std::collections::HashSet;

use super::command::{Command, Follow, Outcome, outcome};
use crate::backlog::JobReservation;
use crate::streaming::ChangeTime;
use crate::{Feed, Held};
use config::AcceptedIds;
use model::error::{Code, Error, Result};
use model::failpoint;
use model::failpoint::Failpoint;
use model::store::{Change, Tier};
use model::{HostId, Millis, Order, Page, PageRequest, Relation, Side, Span, UserCursor, UserId};

/// Most follows of one user that an import puts into one change.
const IMPORT_GROUP: usize = 256;

impl Feed {
    /// Applies all changes of one user's follows or none, and returns the relations afterwards: those to follow first,
    /// then those to unfollow. A follow without a time gets the server's clock. Only follows give numbers to names.
    ///
    /// `self_follow`, `follow_limit`; `invalid_body` if a target comes twice; `time_ahead`; `overloaded`.
    pub fn relate(
        &self,
        user: HostId,
        follow: Vec<(HostId, Option<Millis>)>,
        unfollow: Vec<HostId>,
    ) -> Result<Vec<Relation>> {
        let command = Command::Relate { user, follow, unfollow };
        outcome!(self.submit(command), Outcome::Relations(relations) => relations)
    }

    pub(crate) fn apply_relate(
        &self,
        user: &HostId,
        follow: &[(HostId, Option<Millis>)],
        unfollow: &[HostId],
        at: ChangeTime,
    ) -> Result<Vec<Relation>> {
        let mut targets = HashSet::new();
        if !follow.iter().map(|(target, _)| target).chain(unfollow).all(|target| targets.insert(target)) {
            return Err(Error::refused(Code::InvalidBody, "a user occurs twice"));
        }
        if follow.iter().any(|(target, _)| target == user) {
            return Err(Code::SelfFollow.into());
        }
        let held: Held<UserId> = match follow.is_empty() {
            true => Held::all(vec![self.find(user, Tier::Disk)?]),
            false => self.hold([user].into_iter().chain(follow.iter().map(|(target, _)| target)))?,
        };
        let mut unfollowed: Vec<UserId> = self.find_all(unfollow, Tier::Disk)?;
        if let Some(place) = unfollow.iter().position(|target| target == user) {
            unfollowed[place] = held.id();
        }
        let (user, followed) = (held.id(), held.ids.get(1..).unwrap_or_default());
        let none = |target: &UserId| Relation::none(user, *target);
        if user == UserId::UNKNOWN {
            return Ok(unfollowed.iter().map(none).collect());
        }
        let (now, mut changes, mut decided) = (at.now(), Vec::with_capacity(targets.len()), Vec::new());
        for (place, (target, (_, since))) in followed.iter().zip(follow).enumerate() {
            match self.sift_follow(user, *target, *since, at)? {
                Some(relation) => decided.push((place, relation)),
                None => changes.push(Change { target: *target, follow: Some(since.unwrap_or(now)) }),
            }
        }
        for (place, target) in unfollowed.iter().enumerate() {
            match *target {
                UserId::UNKNOWN => decided.push((followed.len() + place, none(target))),
                target => changes.push(Change { target, follow: None }),
            }
        }
        let room = self.room(changes.len(), at)?;
        let mut relations: Vec<_> =
            self.write_follows(user, &changes, room, at)?.into_iter().map(|(relation, _)| relation).collect();
        // In ascending order, so that each comes to its own place.
        decided.into_iter().for_each(|(place, relation)| relations.insert(place, relation));
        Ok(relations)
    }

    /// Applies each valid follow, in order. Returns for each whether it is new. Waits while the queue of jobs is full.
    pub fn import_follows(&self, follows: Vec<Follow>) -> Result<Vec<Result<bool>>> {
        outcome!(self.submit(Command::ImportFollows { follows }), Outcome::Lines(results) => results)
    }

    pub(crate) fn apply_follows<'f>(&self, follows: &'f [Follow], at: ChangeTime) -> Result<Vec<Result<bool>>> {
        let now = at.now();
        let mut results = Vec::with_capacity(follows.len());
        let mut rest = follows;
        while let Some(first) = rest.first() {
            if let Some(decided) = self.decided(first, at)? {
                results.push(decided);
                rest = &rest[1..];
                continue;
            }
            let (mut targets, latest) = (HashSet::new(), self.latest(at));
            let fine = |since: &Option<Millis>| since.is_none_or(|since| since <= latest);
            let alike = |line: &&'f Follow| {
                let (user, target, since) = line;
                *user == first.0
                    && target != user
                    && (*target == first.1 || fine(since) && self.is_accepted(target))
                    && targets.insert(target)
            };
            let (group, later) = rest.split_at(rest.iter().take(IMPORT_GROUP).take_while(alike).count());
            match self.follow_waiting(group, now, at) {
                Err(error) if error.code() == Some(Code::FollowLimit) => {
                    for line in group {
                        match self.follow_waiting(std::slice::from_ref(line), now, at) {
                            Ok(news) => results.extend(news.into_iter().map(Ok)),
                            Err(error) if error.code() == Some(Code::FollowLimit) => results.push(Err(error)),
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

    /// The result of a line that changes nothing, before its names get numbers.
    fn decided(&self, (user, target, since): &Follow, at: ChangeTime) -> Result<Option<Result<bool>>> {
        if user == target {
            return Ok(Some(Err(Code::SelfFollow.into())));
        }
        let sifted = self.find_all([user, target], Tier::Disk);
        match sifted.and_then(|ids: Vec<UserId>| self.sift_follow(ids[0], ids[1], *since, at)) {
            Ok(there) => Ok(there.map(|_| Ok(false))),
            Err(error) if matches!(error.code(), Some(Code::TimeAhead | Code::InvalidId)) => Ok(Some(Err(error))),
            Err(error) => Err(error),
        }
    }

    fn is_accepted(&self, id: &HostId) -> bool {
        self.config.ids.accept == AcceptedIds::Any || id.name().is_none() || self.find::<UserId>(id, Tier::Disk).is_ok()
    }

    /// Applies follows of one user.
    fn follow_waiting(&self, lines: &[Follow], now: Millis, at: ChangeTime) -> Result<Vec<bool>> {
        let users = lines.first().map(|(user, ..)| user).into_iter().chain(lines.iter().map(|(_, target, _)| target));
        let held: Held<UserId> = self.hold(users)?;
        let change =
            |(target, (.., since)): (&UserId, &Follow)| Change { target: *target, follow: Some(since.unwrap_or(now)) };
        let changes: Vec<_> = held.ids.iter().skip(1).zip(lines).map(change).collect();
        let room = self.backlog.reserve_waiting(changes.len());
        self.write_follows(held.id(), &changes, room, at)
            .map(|related| related.into_iter().map(|(_, new)| new).collect())
    }

    /// Writes changes and queues their jobs. Returns for each pair its relation and whether it changed.
    fn write_follows(
        &self,
        user: UserId,
        changes: &[Change],
        mut room: JobReservation<'_>,
        at: ChangeTime,
    ) -> Result<Vec<(Relation, bool)>> {
        let (follows, limit) =
            (changes.iter().filter(|change| change.follow.is_some()).count(), self.config.graph.follow_limit);
        // From here on there may be an inbox, which must be evicted if it is never read. More follows than the limit are
        // refused, unless the user follows some already and so was met; a user who is new must leave nothing behind then.
        if (1..=limit).contains(&follows) {
            match self.keeps_inbox_of(user) {
                true => self.store.meet(user, at.now())?,
                false => self.store.keep_no_inbox(user)?,
            }
        }
        let unsettling: Vec<_> = changes.iter().map(|change| self.backlog.unsettle(user, change.target)).collect();
        let change = self.followees.change(&*self.store, user, changes.iter().map(|change| change.target).collect());
        let related = self.store.relate(user, changes, limit)?;
        drop(change);
        for (pair, related) in unsettling.into_iter().zip(&related) {
            if let Some(job) = related.job {
                pair.commit(&mut room, job);
            }
        }
        failpoint::pass(Failpoint::RelateQueued);
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
