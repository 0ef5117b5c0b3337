//! The follow graph, and the counters of users: merged sums, read by their keys.

use crate::rows::keys::Counter;
use crate::rows::mirrors::Given;
use crate::rows::table::Table;
use crate::rows::tables::{
    BLOCKED_BY, BLOCKS, COUNTS, FOLLOW_REQUESTS, FOLLOWERS, FOLLOWERS_BY_TIME, FOLLOWING, FOLLOWING_BY_TIME,
    FRIENDS_BY_TIME, REQUESTS, SENT_REQUESTS, of_restriction,
};
use crate::rows::values::Count;
use crate::rows::walk::{have_rows, seconds};
use crate::store::Store;
use crate::{inbox, notices, users};
use kv::{Tier, WriteBatch};
use model::error::{Code, Error, Result};
use model::failpoint::Write;
use model::{
    Effect, Job, Membership, Millis, Notice, NoticeCursor, NoticeId, NoticeKind, Relation, Restriction, Rule, Scan,
    Side, UserCounts, UserCursor, UserId, Work,
};

/// A follow or unfollow by a user; also a member of a list that is added or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The user to follow or unfollow.
    pub target: UserId,
    /// The time of the follow; `None` to unfollow.
    pub follow: Option<Millis>,
    /// The rule of the follow, `Some(None)` if it shows all kinds. `None` leaves the rule of a present follow, and a new one
    /// shows all kinds.
    pub rule: Option<Option<Rule>>,
    /// Whether the target has approved the follow.
    pub approval: Approval,
}

impl Change {
    /// A follow since a time, which is a request if the target approves its followers, or an unfollow (`None`). It leaves a
    /// present rule.
    #[inline]
    pub fn new(target: UserId, follow: Option<Millis>) -> Self {
        Self { target, follow, rule: None, approval: Approval::IfNeeded }
    }

    /// The rule afterwards, if `present` is the rule before.
    #[inline]
    pub fn rule_after(&self, present: Option<Rule>) -> Option<Rule> {
        self.follow.and(self.rule.unwrap_or(present))
    }
}

/// Whether a target has approved a follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// It has: the follow is made, and a request that waits is approved.
    Given,
    /// It was not asked: the follow is made, and a request that waits ends.
    Unasked,
    /// The follow is only a request if the target approves its followers.
    IfNeeded,
    /// The follow is only a request.
    Awaited,
}

/// The result of one change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Related {
    /// The relation afterwards.
    pub relation: Relation,
    /// The settle job, if the pair changed.
    pub job: Option<Job>,
}

/// The error for a user at the limit of follows.
pub fn too_many_follows(limit: usize) -> Error {
    Error::refused(Code::FollowLimit, format_args!("a user can follow at most {limit} users (graph.follow_limit)"))
}

/// Applies follows and unfollows of one user. For each pair that changes, writes the relation in both directions,
/// the counts, the friends rows and a settle job; all pairs in one change. A follow whose [`Approval`] is not given may
/// become a request, without a job; another follow ends the request that waits. An unfollow ends a request, too. A pair
/// already in the wanted state keeps its `since` and gets no job; its rule may change. Targets must differ from each
/// other and from the user. Refused, and nothing written: with `blocked` if there is a block between the user and one
/// to follow, with `follow_limit` if the user's follows and requests together would be more than `follow_limit` and
/// more than before. Acknowledges.
///
/// [`Approval`]: crate::follows::tables::Approval
pub fn relate(store: &Store, user: UserId, changes: &[Change], follow_limit: usize) -> Result<Vec<Related>> {
    let targets: Vec<_> = changes.iter().map(|change| change.target).collect();
    let of =
        |which: fn(&Change) -> bool| changes.iter().filter(move |change| which(change)).map(|change| change.target);
    let followed: Vec<_> = of(|change| change.follow.is_some()).collect();
    if !blocked_among(store, user, &followed, Tier::Disk)?.is_empty() {
        return Err(Code::Blocked.into());
    }
    let (mut batch, mut effects) = (WriteBatch::default(), Vec::new());
    let (mut related, mut follows, mut requests) = (Vec::with_capacity(changes.len()), 0_i64, 0_i64);
    for (change, before) in changes.iter().zip(relations(store, user, &targets, Tier::Disk)?) {
        let is_request = change.follow.is_some()
            && before.following_since.is_none()
            && match change.approval {
                Approval::Given | Approval::Unasked => false,
                Approval::IfNeeded => users::tables::settings(store, change.target, Tier::Disk)?.approve_followers,
                Approval::Awaited => true,
            };
        let (following_since, requested_since) = match is_request {
            true => (None, before.requested_since.or(change.follow)),
            false => (change.follow.map(|since| before.following_since.unwrap_or(since)), None),
        };
        let rule = change.rule_after(before.rule);
        let wanted = Relation { following_since, requested_since, rule, ..before };
        let job = set_relation(store, &mut batch, &before, &wanted)?;
        if change.approval == Approval::Given && before.requested_since.is_some() {
            put_approval(store, &mut batch, &wanted)?;
        }
        effects.extend(wanted.effect_since(&before));
        let step =
            |before: Option<Millis>, after: Option<Millis>| i64::from(after.is_some()) - i64::from(before.is_some());
        follows += step(before.following_since, wanted.following_since);
        requests += step(before.requested_since, wanted.requested_since);
        related.push(Related { relation: wanted, job });
    }
    if follows + requests > 0 {
        let waiting = seconds(store.now(Tier::Disk), &REQUESTS, user, None, usize::MAX)?.len() as u64;
        let present = count(store, user, Counter::Following, Tier::Disk)? + waiting;
        if present.saturating_add_signed(follows + requests) > follow_limit as u64 {
            return Err(too_many_follows(follow_limit));
        }
    }
    if batch.is_empty() {
        return Ok(related);
    }
    store.acknowledge(Write::Relate, batch, effects)?;
    Ok(related)
}

/// Answers the request of a user to follow `target`: makes the follow since a time, as [`relate`] does, or ends
/// only the request. `None`, and nothing written, if no request waits. Acknowledges.
pub fn answer_request(store: &Store, target: UserId, user: UserId, follow: Option<Millis>) -> Result<Option<Related>> {
    let before = relations(store, user, &[target], Tier::Disk)?.pop();
    let Some(before) = before.filter(|before| before.requested_since.is_some()) else { return Ok(None) };
    let rule = follow.and(before.rule);
    let relation = Relation { following_since: follow, requested_since: None, rule, ..before };
    let mut batch = WriteBatch::default();
    let job = set_relation(store, &mut batch, &before, &relation)?;
    put_approval(store, &mut batch, &relation)?;
    let effect = relation.effect_since(&before);
    store.acknowledge(Write::Relate, batch, effect.into_iter().collect())?;
    Ok(Some(Related { relation, job }))
}

/// The relations of a user to `targets`, in their order.
pub fn relations(store: &Store, user: UserId, targets: &[UserId], tier: Tier) -> Result<Vec<Relation>> {
    let now = store.now(tier);
    let both = targets.iter().flat_map(|target| [(user, *target), (*target, user)]);
    let follows = FOLLOWING.get_many(now, both)?;
    let since = |follow: Option<Membership>| follow.map(|follow| follow.since);
    let ours = targets.iter().map(|target| (user, *target));
    let mut restrictions = Restriction::ALL.map(|_| Vec::new());
    for (restriction, rows) in Restriction::ALL.into_iter().zip(&mut restrictions) {
        *rows = of_restriction(restriction).0.get_many(now, ours.clone())?;
    }
    let requested = REQUESTS.get_many(now, ours)?;
    let relation = |(n, target): (usize, &UserId)| Relation {
        user,
        target: *target,
        following_since: since(follows[2 * n]),
        followed_since: since(follows[2 * n + 1]),
        restrictions: restrictions.each_ref().map(|rows| rows[n]),
        requested_since: since(requested[n]),
        rule: follows[2 * n].or(requested[n]).and_then(|either| either.rule),
    };
    Ok(targets.iter().enumerate().map(relation).collect())
}

/// All followees of a user, ascending.
pub fn followees(store: &Store, user: UserId, tier: Tier) -> Result<Vec<UserId>> {
    seconds(store.now(tier), &FOLLOWING, user, None, usize::MAX)
}

/// Users of one side of the graph, by `since`.
pub fn members(store: &Store, user: UserId, side: Side, scan: Scan<UserId>, tier: Tier) -> Result<Vec<UserCursor>> {
    let table = match side {
        Side::Following => FOLLOWING_BY_TIME,
        Side::Followers => FOLLOWERS_BY_TIME,
        Side::Friends => FRIENDS_BY_TIME,
        Side::Restricted(restriction) => of_restriction(restriction).1,
        Side::FollowRequests => FOLLOW_REQUESTS,
        Side::SentRequests => SENT_REQUESTS,
    };
    table.places(store.now(tier), user, scan)
}

/// Up to `limit` followers with ids above `after`, ascending.
pub fn followers_after(store: &Store, author: UserId, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
    seconds(store.now(Tier::Disk), &FOLLOWERS, author, after, limit)
}

/// The counts of a user.
pub fn user_counts(store: &Store, user: UserId, tier: Tier) -> Result<UserCounts> {
    Ok(UserCounts {
        following: count(store, user, Counter::Following, tier)?,
        followers: count(store, user, Counter::Followers, tier)?,
        friends: count(store, user, Counter::Friends, tier)?,
        content: count(store, user, Counter::Content, tier)?,
    })
}

/// The number of the author's followers.
pub fn follower_count(store: &Store, author: UserId) -> Result<u64> {
    count(store, author, Counter::Followers, Tier::Disk)
}

/// Puts the notice of a request that is now an approved follow into a change.
fn put_approval(store: &Store, batch: &mut WriteBatch, after: &Relation) -> Result<()> {
    let Some(at) = after.following_since else { return Ok(()) };
    let id = NoticeId::new(NoticeKind::RequestApproved, after.target, None);
    notices::tables::set_notice(store, batch, after.user, &Notice::plain(NoticeCursor { at, id }), true)
}

/// Puts the rows of a change of a user's follow and request into a change, with the settle job if the follow changes.
fn set_relation(store: &Store, batch: &mut WriteBatch, before: &Relation, after: &Relation) -> Result<Option<Job>> {
    let (user, target) = (before.user, before.target);
    let given = Given { followed_since: before.followed_since, ..Given::default() };
    let value = |since: Option<Millis>, rule| since.map(|since| Membership { since, rule });
    let mut set = |table: Table<(UserId, UserId), Membership>, since: [Option<Millis>; 2]| {
        let values = [value(since[0], before.rule), value(since[1], after.rule)];
        if values[0] != values[1] {
            table.change(batch, (user, target), values.each_ref().map(Option::as_ref), &given)?;
        }
        // A present one keeps its time.
        Ok::<_, Error>(since[0].xor(since[1]))
    };
    let request = set(REQUESTS, [before.requested_since, after.requested_since])?;
    let follow = set(FOLLOWING, [before.following_since, after.following_since])?;
    let notice = |at, kind, actor| Notice::plain(NoticeCursor { at, id: NoticeId::new(kind, actor, None) });
    if let Some(at) = request {
        let notice = notice(at, NoticeKind::FollowRequest, user);
        notices::tables::set_notice(store, batch, target, &notice, after.requested_since.is_some())?;
    }
    let Some(at) = follow else { return Ok(None) };
    let stands = after.following_since.is_some();
    notices::tables::set_notice(store, batch, target, &notice(at, NoticeKind::Follow, user), stands)?;
    if !stands {
        // There if the target has approved the follow.
        notices::tables::set_notice(store, batch, user, &notice(at, NoticeKind::RequestApproved, target), false)?;
    }
    inbox::tables::put_job(store, batch, Work::Settle { user, source: target }).map(Some)
}

/// Adds the ends of the follows and requests between two users to a change, with the settle jobs: first those of the
/// user; and what they are to the feed of changes.
pub(crate) fn part(
    store: &Store,
    batch: &mut WriteBatch,
    before: &Relation,
) -> Result<([Option<Job>; 2], Vec<Effect>)> {
    let Some(back) = relations(store, before.target, &[before.user], Tier::Disk)?.pop() else {
        return Ok(([None; 2], Vec::new()));
    };
    // The first end takes the friends rows, too.
    let back = Relation { followed_since: None, ..back };
    let mut effects = Vec::new();
    let mut end = |before: &Relation| {
        let after = Relation { following_since: None, requested_since: None, rule: None, ..*before };
        effects.extend(after.effect_since(before));
        set_relation(store, batch, before, &after)
    };
    Ok(([end(before)?, end(&back)?], effects))
}

/// A counter of a user.
pub(crate) fn count(store: &Store, user: UserId, what: Counter, tier: Tier) -> Result<u64> {
    let count = COUNTS.get(store.now(tier), (user, what))?.map_or(0, |Count(count)| count);
    u64::try_from(count).map_err(|_| Error::Corrupt(format!("counter of user {user}")))
}

/// Those of `users` whom a user has blocked, or who have blocked the user, in their order. As of one instant.
pub fn blocked_among(store: &Store, user: UserId, users: &[UserId], tier: Tier) -> Result<Vec<UserId>> {
    let pairs: Vec<_> = users.iter().map(|other| (user, *other)).collect();
    let blocked = have_rows(store, &[BLOCKS.spec, BLOCKED_BY.spec], &pairs, tier)?;
    Ok(users.iter().zip(blocked).filter(|(_, blocked)| *blocked).map(|(other, _)| *other).collect())
}
