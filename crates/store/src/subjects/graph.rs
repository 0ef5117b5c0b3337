//! The follow graph, and the counters of users: merged sums, read by their keys.

use std::ops::ControlFlow;

use parking_lot::Mutex;
use rocksdb::{ReadOptions, WriteBatch};

use crate::rows::keys;
use crate::rows::keys::Counter;
use crate::rows::tables::{
    COUNTS, FOLLOWERS, FOLLOWERS_BY_TIME, FOLLOWING, FOLLOWING_BY_TIME, FRIENDS_BY_TIME, HIDDEN, HIDDEN_BY_TIME, MUTES,
    MUTES_BY_TIME, Table,
};
use crate::rows::values;
use crate::rows::walk::{MOST_ROWS, Walk};
use crate::{Rocks, reading, storage};
use model::error::{Code, Error, Result};
use model::failpoint::Write;
use model::store::{Change, Graph, Related, Tier};
use model::{Millis, Order, Position, Relation, Side, Span, UserCounts, UserCursor, UserId, Work};

impl Graph for Rocks {
    fn relate(&self, user: UserId, changes: &[Change], follow_limit: usize) -> Result<Vec<Related>> {
        // The user's lock keeps the count exact, the pairs' locks the friends rows: the target may follow the user
        // right now. Always locked in this order, so no two calls deadlock.
        let _user = self.user_locks.of(user.get()).lock();
        let _pairs = self.pair_locks.many(changes.iter().map(|change| pair_number(user, change.target)), Mutex::lock);
        let targets: Vec<_> = changes.iter().map(|change| change.target).collect();
        let mut batch = WriteBatch::default();
        let (mut related, mut growth) = (Vec::with_capacity(changes.len()), 0_i64);
        for (change, before) in changes.iter().zip(self.relations(user, &targets, Tier::Disk)?) {
            let job = match (before.following_since, change.follow) {
                (None, Some(since)) => {
                    growth += 1;
                    self.put_follow(&mut batch, &before, since)?;
                    Some(self.put_job(&mut batch, Work::Settle { user, author: change.target })?)
                }
                (Some(since), None) => {
                    growth -= 1;
                    self.delete_follow(&mut batch, &before, since)?;
                    Some(self.put_job(&mut batch, Work::Settle { user, author: change.target })?)
                }
                _ => None,
            };
            let following_since = if job.is_some() { change.follow } else { before.following_since };
            related.push(Related { relation: Relation { following_since, ..before }, job });
        }
        if growth > 0 {
            let count = self.count(user, Counter::Following, Tier::Disk)?.saturating_add_signed(growth);
            if count > follow_limit as u64 {
                return Err(Error::refused(
                    Code::FollowLimit,
                    format!("a user can follow at most {follow_limit} users (graph.follow_limit)"),
                ));
            }
        }
        if batch.is_empty() {
            return Ok(related);
        }
        if growth != 0 {
            batch.merge_cf(self.family(COUNTS)?, keys::count(user, Counter::Following), values::count(growth));
        }
        self.acknowledge(Write::Relate, batch, &(user, targets))?;
        Ok(related)
    }

    fn relations(&self, user: UserId, targets: &[UserId], tier: Tier) -> Result<Vec<Relation>> {
        let since = |table, keys: Vec<[u8; 16]>| -> Result<Vec<Option<Millis>>> {
            let rows = self.get_many(table, keys.iter().map(<[u8; 16]>::as_slice), tier)?;
            rows.into_iter().map(|row| row.map(|row| values::read_millis(&row)).transpose()).collect()
        };
        let ours: Vec<_> = targets.iter().map(|target| keys::pair(user, *target)).collect();
        let follows =
            since(FOLLOWING, targets.iter().zip(&ours).flat_map(|(t, o)| [*o, keys::pair(*t, user)]).collect())?;
        let (muted, hidden) = (since(MUTES, ours.clone())?, since(HIDDEN, ours)?);
        let relation = |(n, target): (usize, &UserId)| Relation {
            user,
            target: *target,
            following_since: follows[2 * n],
            followed_since: follows[2 * n + 1],
            muted_since: muted[n],
            hidden_since: hidden[n],
        };
        Ok(targets.iter().enumerate().map(relation).collect())
    }

    fn followees(&self, user: UserId, tier: Tier) -> Result<Vec<UserId>> {
        self.seconds(FOLLOWING, user, None, usize::MAX, tier, reading(tier))
    }

    fn members(
        &self,
        user: UserId,
        side: Side,
        span: Span<UserId>,
        order: Order,
        limit: usize,
        tier: Tier,
    ) -> Result<Vec<UserCursor>> {
        let table = match side {
            Side::Following => FOLLOWING_BY_TIME,
            Side::Followers => FOLLOWERS_BY_TIME,
            Side::Friends => FRIENDS_BY_TIME,
            Side::Muted => MUTES_BY_TIME,
            Side::HiddenFrom => HIDDEN_BY_TIME,
        };
        let mut found = Vec::new();
        Walk::new(self, table, tier)?.rows(user.get(), span, order, &mut |place, _| {
            if found.len() == limit {
                return Ok(ControlFlow::Break(()));
            }
            found.push(place);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    fn followers_after(&self, author: UserId, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        self.seconds(FOLLOWERS, author, after, limit, Tier::Disk, reading(Tier::Disk))
    }

    fn user_counts(&self, user: UserId, tier: Tier) -> Result<UserCounts> {
        Ok(UserCounts {
            following: self.count(user, Counter::Following, tier)?,
            followers: self.count(user, Counter::Followers, tier)?,
            friends: self.count(user, Counter::Friends, tier)?,
            content: self.count(user, Counter::Content, tier)?,
        })
    }

    fn follower_count(&self, author: UserId) -> Result<u64> {
        self.count(author, Counter::Followers, Tier::Disk)
    }
}

impl Rocks {
    fn put_follow(&self, batch: &mut WriteBatch, before: &Relation, since: Millis) -> Result<()> {
        let (user, target) = (before.user, before.target);
        batch.put_cf(self.family(FOLLOWING)?, keys::pair(user, target), values::millis(since));
        batch.put_cf(self.family(FOLLOWERS)?, keys::pair(target, user), values::millis(since));
        let place = |id| Position { at: since, id };
        batch.put_cf(self.family(FOLLOWING_BY_TIME)?, keys::member(user, place(target)), []);
        batch.put_cf(self.family(FOLLOWERS_BY_TIME)?, keys::member(target, place(user)), []);
        batch.merge_cf(self.family(COUNTS)?, keys::count(target, Counter::Followers), values::count(1));
        if let Some(followed) = before.followed_since {
            let place = |id| Position { at: since.max(followed), id };
            batch.put_cf(self.family(FRIENDS_BY_TIME)?, keys::member(user, place(target)), []);
            batch.put_cf(self.family(FRIENDS_BY_TIME)?, keys::member(target, place(user)), []);
            for friend in [user, target] {
                batch.merge_cf(self.family(COUNTS)?, keys::count(friend, Counter::Friends), values::count(1));
            }
        }
        Ok(())
    }

    fn delete_follow(&self, batch: &mut WriteBatch, before: &Relation, since: Millis) -> Result<()> {
        let (user, target) = (before.user, before.target);
        batch.delete_cf(self.family(FOLLOWING)?, keys::pair(user, target));
        batch.delete_cf(self.family(FOLLOWERS)?, keys::pair(target, user));
        let place = |id| Position { at: since, id };
        batch.delete_cf(self.family(FOLLOWING_BY_TIME)?, keys::member(user, place(target)));
        batch.delete_cf(self.family(FOLLOWERS_BY_TIME)?, keys::member(target, place(user)));
        batch.merge_cf(self.family(COUNTS)?, keys::count(target, Counter::Followers), values::count(-1));
        if let Some(followed) = before.followed_since {
            let place = |id| Position { at: since.max(followed), id };
            batch.delete_cf(self.family(FRIENDS_BY_TIME)?, keys::member(user, place(target)));
            batch.delete_cf(self.family(FRIENDS_BY_TIME)?, keys::member(target, place(user)));
            for friend in [user, target] {
                batch.merge_cf(self.family(COUNTS)?, keys::count(friend, Counter::Friends), values::count(-1));
            }
        }
        Ok(())
    }

    /// The second ids of a pair table's partition above `after`, ascending.
    pub(crate) fn seconds(
        &self,
        table: Table,
        first: UserId,
        after: Option<UserId>,
        limit: usize,
        tier: Tier,
        mut options: ReadOptions,
    ) -> Result<Vec<UserId>> {
        options.set_prefix_same_as_start(true);
        let mut rows = self.db.raw_iterator_cf_opt(self.family(table)?, options);
        let mut found = Vec::new();
        match after {
            None => rows.seek(keys::id(first.get())),
            Some(after) => rows.seek(keys::pair(first, after)),
        }
        while found.len() < limit
            && let Some(key) = rows.key()
            && key.starts_with(&keys::id(first.get()))
        {
            let id = keys::second(key).ok_or_else(|| Error::Corrupt(format!("a key in {table}")))?;
            if tier == Tier::Memory && found.len() == MOST_ROWS {
                return Err(Error::NotCached);
            }
            if Some(id) != after {
                found.push(id);
            }
            rows.next();
        }
        rows.status().map_err(storage)?;
        Ok(found)
    }

    pub(crate) fn count(&self, user: UserId, what: Counter, tier: Tier) -> Result<u64> {
        match self.get(COUNTS, &keys::count(user, what), tier)? {
            None => Ok(0),
            Some(row) => values::read_count(&row)
                .and_then(|count| u64::try_from(count).ok())
                .ok_or_else(|| Error::Corrupt(format!("counter of user {user}"))),
        }
    }
}

/// A number of a pair, equal for both directions.
fn pair_number(a: UserId, b: UserId) -> u64 {
    let (low, high) = (a.get().min(b.get()), a.get().max(b.get()));
    low.wrapping_mul(0xC2B2_AE3D_27D4_EB4F) ^ high
}
