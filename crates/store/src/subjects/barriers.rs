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
                self.put_barrier(&mut batch, &relation, barrier, since, true)?;
            }
            (Some(since), None) => self.put_barrier(&mut batch, &relation, barrier, since, false)?,
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
                authors = self.with_row(table, reader, authors, false, tier, &options())?;
            }
        }
        Ok(authors)
    }

    fn authors_among(&self, reader: UserId, users: &[UserId], tier: Tier) -> Result<Vec<UserId>> {
        // One instant, as in `authors`.
        let snapshot = self.db.snapshot();
        let mut options = reading(tier);
        options.set_snapshot(&snapshot);
        let mut authors = self.with_row(FOLLOWING, reader, users.to_vec(), true, tier, &options)?;
        for table in [MUTES, HIDDEN_TO] {
            authors = self.with_row(table, reader, authors, false, tier, &options)?;
        }
        Ok(authors)
    }

    fn hiders_among(&self, reader: UserId, users: &[UserId], tier: Tier) -> Result<Vec<UserId>> {
        self.with_row(HIDDEN_TO, reader, users.to_vec(), true, tier, &reading(tier))
    }

    fn barred_after(&self, user: UserId, barrier: Barrier, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        self.seconds(tables(barrier).0, user, after, limit, Tier::Disk, reading(Tier::Disk))
    }

    fn hiders_after(&self, reader: UserId, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        self.seconds(HIDDEN_TO, reader, after, limit, Tier::Disk, reading(Tier::Disk))
    }
}

impl Rocks {
    /// Puts the rows of a barrier since a time into a change, or removes them.
    fn put_barrier(
        &self,
        batch: &mut WriteBatch,
        &Relation { user, target, .. }: &Relation,
        barrier: Barrier,
        since: Millis,
        stands: bool,
    ) -> Result<()> {
        let ((by_id, by_time), listed) = (tables(barrier), stands.then_some(values::EMPTY));
        self.set(batch, by_id, keys::pair(user, target), stands.then(|| values::millis(since)))?;
        self.set(batch, by_time, keys::entry(user, Position { at: since, id: target }), listed)?;
        if barrier == Barrier::Hide {
            self.set(batch, HIDDEN_TO, keys::pair(target, user), listed)?;
        }
        Ok(())
    }

    /// Those of `seconds` with a row under `first`, or those without one.
    pub(crate) fn with_row(
        &self,
        table: Table,
        first: UserId,
        seconds: Vec<UserId>,
        has_row: bool,
        tier: Tier,
        options: &ReadOptions,
    ) -> Result<Vec<UserId>> {
        let keys = seconds.iter().map(|second| keys::pair(first, *second));
        let mut rows = self.get_many_opt(table, keys, tier, options)?.into_iter();
        Ok(seconds.into_iter().filter(|_| rows.next().flatten().is_some() == has_row).collect())
    }
}

/// A barrier's rows by id and by time.
fn tables(barrier: Barrier) -> (Table, Table) {
    match barrier {
        Barrier::Mute => (MUTES, MUTES_BY_TIME),
        Barrier::Hide => (HIDDEN, HIDDEN_BY_TIME),
    }
}
