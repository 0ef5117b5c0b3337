//! Following and unfollowing, and the lists that come of it.

use std::collections::HashSet;

use super::command::{Change, Relate};
use super::entry_times::lists_of_follows;
use super::txn::Txn;
use crate::backlog::JobReservation;
use crate::streaming::ChangeTime;
use crate::timeline::ids::missing;
use crate::{Feed, Read, Visibility};
use model::error::{Code, Error, Result};
use model::failpoint;
use model::failpoint::Failpoint;
use model::store;
use model::store::Approval;
use model::{HostId, MOST_KINDS, Millis, NoticeId, NoticeKind, Relation, Rule, RuleDraft, UserId};

impl Feed {
    /// Applies all changes of one user's follows or none, and returns the relations afterwards: those to follow first,
    /// then those to unfollow. A follow without a time gets the server's clock. A present follow keeps its rule, a new one
    /// shows all kinds. A follow of a user who approves followers becomes a request; an unfollow takes a request back. Only
    /// follows give numbers to names.
    ///
    /// `self_follow`, `follow_limit`, `blocked`; `invalid_body` if a target comes twice; `time_ahead`; `overloaded`.
    pub fn relate(
        &self,
        user: HostId,
        follow: Vec<(HostId, Option<Millis>)>,
        unfollow: Vec<HostId>,
    ) -> Result<Vec<Relation>> {
        self.submit(Relate { user, follow, unfollow, rule: None, approved: false })
    }

    /// Follows a user with a rule, which replaces that of a present follow or request; returns the relation afterwards. It
    /// never becomes a request if the target has approved it, so the application says. The errors are those of
    /// [`Feed::relate`], and `too_many_kinds`.
    pub fn follow(
        &self,
        user: HostId,
        target: HostId,
        since: Option<Millis>,
        rule: RuleDraft,
        approved: bool,
    ) -> Result<Relation> {
        let (follow, unfollow) = (vec![(target, since)], Vec::new());
        let followed = self.submit(Relate { user, follow, unfollow, rule: Some(rule), approved });
        followed?.pop().ok_or_else(|| Error::Corrupt("a follow returned no relation".to_owned()))
    }

    /// A rule with the numbers of its kinds for a change; no rule if it shows all kinds.
    /// `too_many_kinds` if the server knows too many.
    pub(crate) fn numbered(&self, rule: &RuleDraft) -> Result<Option<Rule>> {
        let (is_only, names) = rule.names();
        let kinds = self.store.give_kinds(&names)?;
        Ok(if names.is_empty() { None } else { Rule::new(is_only, &kinds) })
    }

    /// `too_many_kinds` for a rule in a call of a user that would give numbers to kinds, once the server knows half as many
    /// as it can: users must not take all of them.
    pub fn may_name_kinds(&self, rule: &RuleDraft, sight: Visibility) -> Result<()> {
        let (_, names) = rule.names();
        if sight == Visibility::Application || self.store.known_kinds(&names)?.iter().all(Option::is_some) {
            return Ok(());
        }
        match self.store.kind_names()?.len() < MOST_KINDS / 2 {
            true => Ok(()),
            false => Err(Error::refused(
                Code::TooManyKinds,
                "the server knows many kinds already, and a user token cannot add one. Use only kinds that items have",
            )),
        }
    }

    /// Ends the follow of a follower, or its request, if there is one. Returns the relation of the user to the follower afterwards.
    pub fn remove_follower(&self, user: &HostId, follower: &HostId) -> Result<Relation> {
        self.relate(follower.clone(), Vec::new(), vec![user.clone()])?;
        self.relation(user, follower)
    }

    /// The relation of a user to another, as of now.
    pub(crate) fn relation(&self, user: &HostId, target: &HostId) -> Result<Relation> {
        let read = self.read();
        let relation = read.relations(read.find(user)?, &[read.find(target)?])?.pop();
        relation.ok_or_else(|| Error::Corrupt("a read of relations returned none".to_owned()))
    }

    /// To be called before a user's follow is written: from here on there may be an inbox, which must be evicted if it is
    /// never read.
    pub(crate) fn meet(&self, user: UserId, at: ChangeTime) -> Result<()> {
        match self.keeps_inbox_of(user) {
            true => self.store.meet(user, at.now()),
            false => self.store.keep_no_inbox(user),
        }
    }

    /// Writes changes and queues their jobs. Returns the relations.
    pub(crate) fn write_follows<'f>(
        &'f self,
        txn: &mut Txn<'f>,
        user: UserId,
        changes: &[store::Change],
        room: JobReservation<'f>,
    ) -> Result<Vec<Relation>> {
        let (follows, limit) =
            (changes.iter().filter(|change| change.follow.is_some()).count(), self.config.graph.follow_limit);
        // More follows than the limit are refused, unless the user follows some already and so was met; a user who is new must
        // leave nothing behind then.
        if (1..=limit).contains(&follows) {
            self.meet(user, txn.at)?;
        }
        let unsettling = self.backlog.unsettle(room, changes.iter().map(|change| (user, change.target)));
        let targets = changes.iter().map(|change| change.target).collect();
        txn.change_sources([(user, targets)]);
        let related = self.store.relate(user, changes, limit)?;
        let jobs: Vec<_> = related.iter().filter_map(|related| related.job).collect();
        txn.once_written(move || {
            unsettling.commit(jobs);
            failpoint::pass(Failpoint::RelateQueued);
        });
        Ok(related.into_iter().map(|related| related.relation).collect())
    }
}

impl Change for Relate {
    type Outcome = Vec<Relation>;

    fn warm(&self, read: Read<'_>) -> Result<()> {
        read.warm_relations(&self.user, self.follow.iter().map(|(target, _)| target).chain(&self.unfollow))
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
            false => feed.ids_for_change([user].into_iter().chain(follow.iter().map(|(target, _)| target)))?,
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
        let numbered = rule.as_ref().map(|rule| feed.numbered(rule)).transpose()?;
        let approval = if *approved { Approval::Given } else { Approval::IfNeeded };
        for (target, (_, since)) in followed.iter().zip(follow) {
            feed.follow_not_ahead(user, *target, *since, at)?;
        }
        let known = unfollowed.iter().filter(|target| **target != UserId::UNKNOWN).count();
        let room = feed.room(followed.len() + known, at)?;
        let now = match follow.iter().all(|(_, since)| since.is_some()) {
            true => at.now(),
            false => txn.entry_time(lists_of_follows(user, followed))?,
        };
        let (mut changes, mut unknown) = (Vec::with_capacity(targets.len()), Vec::new());
        for (target, (_, since)) in followed.iter().zip(follow) {
            // A time further ahead came through as the time of a follow that is there, which stays as it is. If an
            // unfollow comes between, the follow is new, and a new one must not have such a time.
            let since = since.map_or(now, |since| since.min(feed.latest(at)));
            changes.push(store::Change { rule: numbered, approval, ..store::Change::new(*target, Some(since)) });
        }
        for (place, target) in unfollowed.iter().enumerate() {
            match *target {
                UserId::UNKNOWN => unknown.push((followed.len() + place, none(target))),
                target => changes.push(store::Change::new(target, None)),
            }
        }
        let mut relations = feed.write_follows(txn, user, &changes, room)?;
        for (change, relation) in changes.iter().zip(&relations) {
            let Some(since) = change.follow else { continue };
            let mut tell = |owner, kind, actor| {
                txn.once_written(move || feed.tell_notice(owner, since, NoticeId::new(kind, actor, None)));
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
