//! Following and unfollowing.

use std::collections::HashSet;

use super::tables;
use crate::core::Core;
use crate::feed::Feed;
use crate::follows::tables::Approval;
use crate::ids::missing;
use crate::inbox::backlog::JobReservation;
use crate::read::Read;
use crate::streaming::ChangeTime;
use crate::writer::command::{Change, Relate};
use crate::writer::entry_times::lists_of_follows;
use crate::writer::txn::Txn;
use crate::{follows, ids, inbox, kinds, notices, warm, writer};
use kv::Tier;
use model::error::{Code, Error, Result};
use model::failpoint::Failpoint;
use model::{ExternalId, Millis, NamedRule, NoticeId, NoticeKind, Relation, UserId, failpoint};

/// `time_ahead` for a follow with a time too far ahead, unless it is there with this time.
pub(crate) fn follow_not_ahead(
    feed: &Core,
    user: UserId,
    target: UserId,
    since: Option<Millis>,
    at: ChangeTime,
) -> Result<()> {
    let Some(since) = since else { return Ok(()) };
    let Err(ahead) = writer::not_ahead(feed, "since", since, at) else { return Ok(()) };
    let there = tables::relations(&feed.store, user, &[target], Tier::Disk)?.pop();
    there.filter(|relation| relation.following_since == Some(since)).map(drop).ok_or(ahead)
}

/// Follows a user with a rule, which replaces that of a present follow or request; returns the relation afterwards. It
/// never becomes a request if the target has approved it, so the application says. The errors are those of
/// [`Relate`](crate::Relate), and `too_many_kinds`.
pub fn follow(
    feed: &Feed,
    user: ExternalId,
    target: ExternalId,
    since: Option<Millis>,
    rule: NamedRule,
    approved: bool,
) -> Result<Relation> {
    let (follow, unfollow) = (vec![(target, since)], Vec::new());
    let followed = feed.submit(Relate { user, follow, unfollow, rule: Some(rule), approved });
    followed?.pop().ok_or_else(|| Error::Corrupt("a follow returned no relation".to_owned()))
}

/// Ends the follow of a follower, or its request, if there is one. Returns the relation of the user to the follower afterwards.
pub fn remove_follower(feed: &Feed, user: &ExternalId, follower: &ExternalId) -> Result<Relation> {
    feed.submit(Relate::of(follower.clone(), Vec::new(), vec![user.clone()]))?;
    follows::relation(feed, user, follower)
}

/// To be called before a user's follow is written: from here on there may be an inbox, which must be evicted if it is
/// never read.
pub(crate) fn meet(feed: &Core, user: UserId, at: ChangeTime) -> Result<()> {
    match feed.keeps_inbox_of(user) {
        true => inbox::tables::meet(&feed.store, user, at.now()),
        false => inbox::tables::keep_no_inbox(&feed.store, user),
    }
}

/// Writes changes and queues their jobs. Returns the relations.
pub(crate) fn write_follows<'f>(
    feed: &'f Core,
    txn: &mut Txn<'f>,
    user: UserId,
    changes: &[tables::Change],
    room: JobReservation<'f>,
) -> Result<Vec<Relation>> {
    let (follows, limit) =
        (changes.iter().filter(|change| change.follow.is_some()).count(), feed.config.graph.follow_limit);
    // More follows than the limit are refused, unless the user follows some already and so was met; a user who is new must
    // leave nothing behind then.
    if (1..=limit).contains(&follows) {
        meet(feed, user, txn.at)?;
    }
    let unsettling = feed.backlog.unsettle(room, changes.iter().map(|change| (user, change.target)));
    let targets = changes.iter().map(|change| change.target).collect();
    txn.change_sources([(user, targets)]);
    let related = tables::relate(&feed.store, user, changes, limit)?;
    let jobs: Vec<_> = related.iter().filter_map(|related| related.job).collect();
    txn.once_written(move || {
        unsettling.commit(jobs);
        failpoint::pass(Failpoint::RelateQueued);
    });
    Ok(related.into_iter().map(|related| related.relation).collect())
}

impl Relate {
    /// Follows and unfollows of a user.
    pub fn of(user: ExternalId, follow: Vec<(ExternalId, Option<Millis>)>, unfollow: Vec<ExternalId>) -> Self {
        Self { user, follow, unfollow, rule: None, approved: false }
    }
}

impl Change for Relate {
    type Outcome = Vec<Relation>;

    fn settles(&self) -> usize {
        self.follow.len() + self.unfollow.len()
    }

    fn warm(&self, read: Read<'_>) -> Result<()> {
        warm::relations(read, &self.user, self.follow.iter().map(|(target, _)| target).chain(&self.unfollow))
    }

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let (feed, at) = (txn.feed, txn.at);
        let Self { user, follow, unfollow, rule, approved } = &self;
        let mut targets = HashSet::new();
        if !follow.iter().map(|(target, _)| target).chain(unfollow).all(|target| targets.insert(target)) {
            return Err(Error::refused(Code::InvalidBody, "a user occurs twice"));
        }
        if follow.iter().any(|(target, _)| target == user) {
            return Err(Code::SelfFollow.into());
        }
        let ids: Vec<UserId> = match follow.is_empty() {
            true => vec![feed.read().find(user)?],
            false => ids::for_change(feed, [user].into_iter().chain(follow.iter().map(|(target, _)| target)))?,
        };
        let (me, followed) = ids.split_first().ok_or_else(missing)?;
        let mut unfollowed: Vec<UserId> = feed.read().find_all(unfollow)?;
        if let Some(place) = unfollow.iter().position(|target| target == user) {
            unfollowed[place] = *me;
        }
        let user = *me;
        let none = |target: &UserId| Relation::none(user, *target);
        if user == UserId::UNKNOWN {
            return Ok(unfollowed.iter().map(none).collect());
        }
        let numbered = rule.as_ref().map(|rule| kinds::numbered(feed, rule)).transpose()?;
        let approval = if *approved { Approval::Given } else { Approval::IfNeeded };
        for (target, (_, since)) in followed.iter().zip(follow) {
            follow_not_ahead(feed, user, *target, *since, at)?;
        }
        let known = unfollowed.iter().filter(|target| **target != UserId::UNKNOWN).count();
        let room = txn.room(followed.len() + known)?;
        let now = match follow.iter().all(|(_, since)| since.is_some()) {
            true => at.now(),
            false => txn.entry_time(lists_of_follows(user, followed))?,
        };
        let (mut changes, mut unknown) = (Vec::with_capacity(targets.len()), Vec::new());
        for (target, (_, since)) in followed.iter().zip(follow) {
            // A time further ahead came through as the time of a follow that is there, which stays as it is. If an
            // unfollow comes between, the follow is new, and a new one must not have such a time.
            let since = since.map_or(now, |since| since.min(writer::latest(feed, at)));
            changes.push(tables::Change { rule: numbered, approval, ..tables::Change::new(*target, Some(since)) });
        }
        for (place, target) in unfollowed.iter().enumerate() {
            match *target {
                UserId::UNKNOWN => unknown.push((followed.len() + place, none(target))),
                target => changes.push(tables::Change::new(target, None)),
            }
        }
        let mut relations = write_follows(feed, txn, user, &changes, room)?;
        for (change, relation) in changes.iter().zip(&relations) {
            let Some(since) = change.follow else { continue };
            let mut tell = |owner, kind, actor| {
                txn.once_written(move || notices::tell(feed, owner, since, NoticeId::new(kind, actor, None)));
            };
            // One that was there keeps its time.
            if relation.following_since == Some(since) {
                tell(change.target, NoticeKind::Follow, user);
                // There is one if a request waited.
                if *approved {
                    tell(user, NoticeKind::RequestApproved, change.target);
                }
            } else if relation.requested_since == Some(since) {
                tell(change.target, NoticeKind::FollowRequest, user);
            }
        }
        // In ascending order, so that each comes to its own place.
        unknown.into_iter().for_each(|(place, relation)| relations.insert(place, relation));
        Ok(relations)
    }
}
