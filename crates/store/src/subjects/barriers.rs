//! Mutes and hides.

use rocksdb::{ReadOptions, WriteBatch};

use crate::rows::tables::{FOLLOWING, HIDDEN, HIDDEN_BY_TIME, HIDDEN_TO, MUTES, MUTES_BY_TIME, Table};
use crate::rows::{keys, values};
use crate::{Rocks, reading};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::store::{Barriers, Graph, Tier, too_many};
use model::{Barrier, Millis, Position, Relation, UserId};

impl Barriers for Rocks {
    fn set_barrier(
        &self,
        user: UserId,
        target: UserId,
        barrier: Barrier,
        since: Option<Millis>,
        limit: usize,
    ) -> Result<Relation> {
        // All barriers of a user are written under the user's lock.
        let _user = self.user_locks.of(user.get()).lock();
        let Some(relation) = self.relations(user, &[target], Tier::Disk)?.pop() else {
            return Err(Error::Storage("a read of relations returned none".to_owned()));
        };
        let mut batch = WriteBatch::default();
        match (relation.barred_since(barrier), since) {
            (None, Some(since)) => {
                if self.barred_after(user, barrier, None, limit)?.len() >= limit {
                    return Err(too_many(barrier, limit));
                }
                self.raise(&mut batch, user, target, barrier, since)?;
            }
            (Some(since), None) => self.lift(&mut batch, user, target, barrier, since)?,
            _ => return Ok(relation),
        }
        self.acknowledge(Write::Barrier, batch, &relation)?;
        Ok(relation.with_barrier(barrier, since))
    }

    fn authors(&self, reader: UserId, tier: Tier) -> Result<Vec<UserId>> {
        // With two instants, an unfollow and then an unmute between two reads would show items that were never to be
        // seen.
        let snapshot = self.db.snapshot();
        let options = || {
            let mut options = reading(tier);
            options.set_snapshot(&snapshot);
            options
        };
        let mut authors = self.seconds(FOLLOWING, reader, None, usize::MAX, tier, options())?;
        for table in [MUTES, HIDDEN_TO] {
            let most = authors.len();
            let barred = self.seconds(table, reader, None, most.saturating_add(1), tier, options())?;
            if barred.len() <= most {
                authors.retain(|author| barred.binary_search(author).is_err());
            } else {
                authors = self.absent(table, reader, authors, tier, &options())?;
            }
        }
        Ok(authors)
    }

    fn authors_among(&self, reader: UserId, users: &[UserId], tier: Tier) -> Result<Vec<UserId>> {
        // One instant, as in `authors`.
        let snapshot = self.db.snapshot();
        let mut options = reading(tier);
        options.set_snapshot(&snapshot);
        let keys: Vec<_> = users.iter().map(|user| keys::pair(reader, *user)).collect();
        let rows = self.get_many_opt(FOLLOWING, keys.iter().map(<[u8; 16]>::as_slice), tier, &options)?;
        let mut authors: Vec<_> =
            users.iter().zip(rows).filter(|(_, row)| row.is_some()).map(|(user, _)| *user).collect();
        for table in [MUTES, HIDDEN_TO] {
            authors = self.absent(table, reader, authors, tier, &options)?;
        }
        Ok(authors)
    }

    fn hiders_among(&self, reader: UserId, users: &[UserId], tier: Tier) -> Result<Vec<UserId>> {
        let keys: Vec<_> = users.iter().map(|user| keys::pair(reader, *user)).collect();
        let rows = self.get_many(HIDDEN_TO, keys.iter().map(<[u8; 16]>::as_slice), tier)?;
        Ok(users.iter().zip(rows).filter(|(_, row)| row.is_some()).map(|(user, _)| *user).collect())
    }

    fn barred_after(&self, user: UserId, barrier: Barrier, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        self.seconds(tables(barrier).0, user, after, limit, Tier::Disk, reading(Tier::Disk))
    }

    fn hiders_after(&self, reader: UserId, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        self.seconds(HIDDEN_TO, reader, after, limit, Tier::Disk, reading(Tier::Disk))
    }
}

impl Rocks {
    fn raise(
        &self,
        batch: &mut WriteBatch,
        user: UserId,
        target: UserId,
        barrier: Barrier,
        since: Millis,
    ) -> Result<()> {
        let (by_id, by_time) = tables(barrier);
        batch.put_cf(self.family(by_id)?, keys::pair(user, target), values::millis(since));
        batch.put_cf(self.family(by_time)?, keys::member(user, Position { at: since, id: target }), []);
        if barrier == Barrier::Hide {
            batch.put_cf(self.family(HIDDEN_TO)?, keys::pair(target, user), []);
        }
        Ok(())
    }

    fn lift(
        &self,
        batch: &mut WriteBatch,
        user: UserId,
        target: UserId,
        barrier: Barrier,
        since: Millis,
    ) -> Result<()> {
        let (by_id, by_time) = tables(barrier);
        batch.delete_cf(self.family(by_id)?, keys::pair(user, target));
        batch.delete_cf(self.family(by_time)?, keys::member(user, Position { at: since, id: target }));
        if barrier == Barrier::Hide {
            batch.delete_cf(self.family(HIDDEN_TO)?, keys::pair(target, user));
        }
        Ok(())
    }

    /// Those of `seconds` without a row under `first`.
    fn absent(
        &self,
        table: Table,
        first: UserId,
        seconds: Vec<UserId>,
        tier: Tier,
        options: &ReadOptions,
    ) -> Result<Vec<UserId>> {
        let keys: Vec<_> = seconds.iter().map(|second| keys::pair(first, *second)).collect();
        let rows = self.get_many_opt(table, keys.iter().map(<[u8; 16]>::as_slice), tier, options)?;
        Ok(seconds.into_iter().zip(rows).filter(|(_, row)| row.is_none()).map(|(second, _)| second).collect())
    }
}

/// A barrier's rows by id and by time.
fn tables(barrier: Barrier) -> (Table, Table) {
    match barrier {
        Barrier::Mute => (MUTES, MUTES_BY_TIME),
        Barrier::Hide => (HIDDEN, HIDDEN_BY_TIME),
    }
}
