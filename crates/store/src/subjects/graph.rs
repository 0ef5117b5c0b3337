//! The follow graph, and the counters of users: merged sums, read by their keys.

use crate::Store;
use crate::access::at::At;
use crate::kv::Scope;
use crate::rows::batch::WriteBatch;
use crate::rows::keys;
use crate::rows::keys::Counter;
use crate::rows::mirrors::Given;
use crate::rows::tables::{
    COUNTS, FOLLOW_REQUESTS, FOLLOWERS, FOLLOWERS_BY_TIME, FOLLOWING, FOLLOWING_BY_TIME, FRIENDS_BY_TIME, REQUESTS,
    SENT_REQUESTS, Table, of_barrier,
};
use crate::rows::values;
use model::error::{Code, Error, Result};
use model::failpoint::Write;
use model::store::{Approval, Change, Related, Tier, too_many_follows};
use model::{
    Barrier, Effect, Job, Membership, Millis, NoticeCursor, NoticeId, NoticeKind, Relation, Scan, Side, UserCounts,
    UserCursor, UserId, Work,
};

impl Store {
    /// Applies follows and unfollows of one user. For each pair that changes, writes the relation in both directions,
    /// the counts, the friends rows and a settle job; all pairs in one change. A follow whose [`Approval`] is not given may
    /// become a request, without a job; another follow ends the request that waits. An unfollow ends a request, too. A pair
    /// already in the wanted state keeps its `since` and gets no job; its rule may change. Targets must differ from each
    /// other and from the user. Refused, and nothing written: with `blocked` if there is a block between the user and one
    /// to follow, with `follow_limit` if the user's follows and requests together would be more than `follow_limit` and
    /// more than before. Acknowledges.
    ///
    /// [`Approval`]: model::store::Approval
    pub fn relate(&self, user: UserId, changes: &[Change], follow_limit: usize) -> Result<Vec<Related>> {
        let targets: Vec<_> = changes.iter().map(|change| change.target).collect();
        let of =
            |which: fn(&Change) -> bool| changes.iter().filter(move |change| which(change)).map(|change| change.target);
        let followed: Vec<_> = of(|change| change.follow.is_some()).collect();
        if !self.blocked_among(user, &followed, Tier::Disk)?.is_empty() {
            return Err(Code::Blocked.into());
        }
        let (mut batch, mut effects) = (WriteBatch::default(), Vec::new());
        let (mut related, mut follows, mut requests) = (Vec::with_capacity(changes.len()), 0_i64, 0_i64);
        for (change, before) in changes.iter().zip(self.relations(user, &targets, Tier::Disk)?) {
            let is_request = change.follow.is_some()
                && before.following_since.is_none()
                && match change.approval {
                    Approval::Given | Approval::Unasked => false,
                    Approval::IfNeeded => self.settings(change.target, Tier::Disk)?.approve_followers,
                    Approval::Awaited => true,
                };
            let (following_since, requested_since) = match is_request {
                true => (None, before.requested_since.or(change.follow)),
                false => (change.follow.map(|since| before.following_since.unwrap_or(since)), None),
            };
            let rule = change.rule_after(before.rule);
            let wanted = Relation { following_since, requested_since, rule, ..before };
            let job = self.set_relation(&mut batch, &before, &wanted)?;
            if change.approval == Approval::Given && before.requested_since.is_some() {
                self.put_approval(&mut batch, &wanted);
            }
            effects.extend(wanted.effect_since(&before));
            let step = |before: Option<Millis>, after: Option<Millis>| {
                i64::from(after.is_some()) - i64::from(before.is_some())
            };
            follows += step(before.following_since, wanted.following_since);
            requests += step(before.requested_since, wanted.requested_since);
            related.push(Related { relation: wanted, job });
        }
        if follows + requests > 0 {
            let waiting = self.now(Tier::Disk).seconds(REQUESTS, user, None, usize::MAX)?.len() as u64;
            let present = self.count(user, Counter::Following, Tier::Disk)? + waiting;
            if present.saturating_add_signed(follows + requests) > follow_limit as u64 {
                return Err(too_many_follows(follow_limit));
            }
        }
        if batch.is_empty() {
            return Ok(related);
        }
        self.acknowledge(Write::Relate, batch, effects, |_| ())?;
        Ok(related)
    }

    /// Answers the request of a user to follow `target`: makes the follow since a time, as [`Store::relate`] does, or ends
    /// only the request. `None`, and nothing written, if no request waits. Acknowledges.
    pub fn answer_request(&self, target: UserId, user: UserId, follow: Option<Millis>) -> Result<Option<Related>> {
        let before = self.relations(user, &[target], Tier::Disk)?.pop();
        let Some(before) = before.filter(|before| before.requested_since.is_some()) else { return Ok(None) };
        let rule = follow.and(before.rule);
        let relation = Relation { following_since: follow, requested_since: None, rule, ..before };
        let mut batch = WriteBatch::default();
        let job = self.set_relation(&mut batch, &before, &relation)?;
        self.put_approval(&mut batch, &relation);
        let effect = relation.effect_since(&before);
        self.acknowledge(Write::Relate, batch, effect.into_iter().collect(), |_| ())?;
        Ok(Some(Related { relation, job }))
    }

    /// The relations of a user to `targets`, in their order.
    pub fn relations(&self, user: UserId, targets: &[UserId], tier: Tier) -> Result<Vec<Relation>> {
        let both = targets.iter().flat_map(|target| [keys::pair(user, *target), keys::pair(*target, user)]);
        let follows = self.read_many(FOLLOWING, both, tier, values::read_membership)?;
        let since = |follow: Option<Membership>| follow.map(|follow| follow.since);
        let ours = targets.iter().map(|target| keys::pair(user, *target));
        let mut barriers = Barrier::ALL.map(|_| Vec::new());
        for (barrier, rows) in Barrier::ALL.into_iter().zip(&mut barriers) {
            *rows = self.read_many(of_barrier(barrier).0, ours.clone(), tier, values::read_millis)?;
        }
        let requested = self.read_many(REQUESTS, ours, tier, values::read_membership)?;
        let relation = |(n, target): (usize, &UserId)| Relation {
            user,
            target: *target,
            following_since: since(follows[2 * n]),
            followed_since: since(follows[2 * n + 1]),
            barriers: barriers.each_ref().map(|rows| rows[n]),
            requested_since: since(requested[n]),
            rule: follows[2 * n].or(requested[n]).and_then(|either| either.rule),
        };
        Ok(targets.iter().enumerate().map(relation).collect())
    }

    /// All followees of a user, ascending.
    pub fn followees(&self, user: UserId, tier: Tier) -> Result<Vec<UserId>> {
        self.now(tier).seconds(FOLLOWING, user, None, usize::MAX)
    }

    /// Users of one side of the graph, by `since`.
    pub fn members(&self, user: UserId, side: Side, scan: Scan<UserId>, tier: Tier) -> Result<Vec<UserCursor>> {
        let table = match side {
            Side::Following => FOLLOWING_BY_TIME,
            Side::Followers => FOLLOWERS_BY_TIME,
            Side::Friends => FRIENDS_BY_TIME,
            Side::Barred(barrier) => of_barrier(barrier).1,
            Side::FollowRequests => FOLLOW_REQUESTS,
            Side::SentRequests => SENT_REQUESTS,
        };
        self.listed((table, user.get()), scan, tier, |place, _| Ok(place))
    }

    /// Up to `limit` followers with ids above `after`, ascending.
    pub fn followers_after(&self, author: UserId, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        self.now(Tier::Disk).seconds(FOLLOWERS, author, after, limit)
    }

    /// The counts of a user.
    pub fn user_counts(&self, user: UserId, tier: Tier) -> Result<UserCounts> {
        Ok(UserCounts {
            following: self.count(user, Counter::Following, tier)?,
            followers: self.count(user, Counter::Followers, tier)?,
            friends: self.count(user, Counter::Friends, tier)?,
            content: self.count(user, Counter::Content, tier)?,
        })
    }

    /// The number of the author's followers.
    pub fn follower_count(&self, author: UserId) -> Result<u64> {
        self.count(author, Counter::Followers, Tier::Disk)
    }
}

impl Store {
    /// Puts the notice of a request that is now an approved follow into a change.
    fn put_approval(&self, batch: &mut WriteBatch, after: &Relation) {
        let Some(at) = after.following_since else { return };
        let id = NoticeId::new(NoticeKind::RequestApproved, after.target, None);
        self.put_notice(batch, after.user, NoticeCursor { at, id }, Some(&values::EMPTY));
    }

    /// Puts the rows of a change of a user's follow and request into a change, with the settle job if the follow changes.
    fn set_relation(&self, batch: &mut WriteBatch, before: &Relation, after: &Relation) -> Result<Option<Job>> {
        let (user, target) = (before.user, before.target);
        let given = Given { followed_since: before.followed_since, ..Given::default() };
        let value = |since: Option<Millis>, rule| since.map(|since| values::membership(&Membership { since, rule }));
        let mut set = |table, since: [Option<Millis>; 2]| {
            let values = [value(since[0], before.rule), value(since[1], after.rule)];
            if values[0] != values[1] {
                batch.change(table, keys::pair(user, target), values, &given)?;
            }
            // A present one keeps its time.
            Ok::<_, Error>(since[0].xor(since[1]))
        };
        let request = set(REQUESTS, [before.requested_since, after.requested_since])?;
        let follow = set(FOLLOWING, [before.following_since, after.following_since])?;
        let notice = |at, kind, actor| NoticeCursor { at, id: NoticeId::new(kind, actor, None) };
        let value = |stands: Option<Millis>| stands.map(|_| &values::EMPTY[..]);
        if let Some(at) = request {
            self.put_notice(batch, target, notice(at, NoticeKind::FollowRequest, user), value(after.requested_since));
        }
        let Some(at) = follow else { return Ok(None) };
        self.put_notice(batch, target, notice(at, NoticeKind::Follow, user), value(after.following_since));
        if after.following_since.is_none() {
            // There if the target has approved the follow.
            self.put_notice(batch, user, notice(at, NoticeKind::RequestApproved, target), None);
        }
        self.put_job(batch, Work::Settle { user, source: target }).map(Some)
    }

    /// Adds the ends of the follows and requests between two users to a change, with the settle jobs: first those of the
    /// user; and what they are to the feed of changes.
    pub(super) fn part(&self, batch: &mut WriteBatch, before: &Relation) -> Result<([Option<Job>; 2], Vec<Effect>)> {
        let Some(back) = self.relations(before.target, &[before.user], Tier::Disk)?.pop() else {
            return Ok(([None; 2], Vec::new()));
        };
        // The first end takes the friends rows, too.
        let back = Relation { followed_since: None, ..back };
        let mut effects = Vec::new();
        let mut end = |before: &Relation| {
            let after = Relation { following_since: None, requested_since: None, rule: None, ..*before };
            effects.extend(after.effect_since(before));
            self.set_relation(batch, before, &after)
        };
        Ok(([end(before)?, end(&back)?], effects))
    }

    /// A counter of a user.
    pub(crate) fn count(&self, user: UserId, what: Counter, tier: Tier) -> Result<u64> {
        let decode = |row: &[u8]| {
            let count = values::read_count(row).and_then(|count| u64::try_from(count).ok());
            count.ok_or_else(|| Error::Corrupt(format!("counter of user {user}")))
        };
        Ok(self.read(COUNTS, &keys::count(user, what), tier, decode)?.unwrap_or_default())
    }
}

impl At<'_> {
    /// The second ids of a pair table's partition above `after`, ascending.
    pub(crate) fn seconds(
        &self,
        table: Table,
        first: impl Into<u64>,
        after: Option<UserId>,
        limit: usize,
    ) -> Result<Vec<UserId>> {
        self.seconds_with((table, first.into()), after, limit, |_, _| Ok(()))
    }

    /// The second ids as [`At::seconds`] has them. `see` gets each with its value.
    pub(crate) fn seconds_with(
        &self,
        (table, first): (Table, u64),
        after: Option<UserId>,
        limit: usize,
        mut see: impl FnMut(UserId, &[u8]) -> Result<()>,
    ) -> Result<Vec<UserId>> {
        let prefix = keys::id(first);
        let from = after.map_or(prefix.to_vec(), |after| keys::pair(first, after.get().saturating_add(1)).to_vec());
        self.beginning((table, Scope::Partition), &prefix, &from, limit, |key, value| {
            let id = keys::second(key).ok_or_else(|| Error::Corrupt(format!("a key in {table}")))?;
            see(id, value)?;
            Ok(id)
        })
    }
}
