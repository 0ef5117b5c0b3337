//! The follow graph: an edge is in four tables, and a mutual pair in a fifth.

use super::names::pair;
use super::{Audit, Row, Wanted, Way};
use crate::rows::tables::{FOLLOWERS, FOLLOWERS_BY_TIME, FOLLOWING, FOLLOWING_BY_TIME, FRIENDS_BY_TIME, Table};
use crate::rows::{keys, values};
use model::Millis;
use model::error::Result;
use model::store::Tier;

impl Audit<'_> {
    pub(super) fn follows(&mut self) -> Result<()> {
        self.mirror(FOLLOWING, Way::Out, |row| {
            let ((user, target), since) = edge(row)?;
            Some(vec![
                Wanted::new(FOLLOWERS, key(target, user), values::millis(since)),
                Wanted::any(FOLLOWING_BY_TIME, keys::row(user, since, target)),
                Wanted::any(FOLLOWERS_BY_TIME, keys::row(target, since, user)),
            ])
        })?;
        self.mirror(FOLLOWERS, Way::Back, |row| {
            let ((target, user), since) = edge(row)?;
            Some(vec![Wanted::since(FOLLOWING, key(user, target), since)])
        })?;
        self.mirror(FOLLOWING_BY_TIME, Way::Back, |row| {
            let (user, since, target) = keys::split_row(&row.key)?;
            Some(vec![Wanted::since(FOLLOWING, key(user, target), since)])
        })?;
        self.mirror(FOLLOWERS_BY_TIME, Way::Back, |row| {
            let (target, since, user) = keys::split_row(&row.key)?;
            Some(vec![Wanted::since(FOLLOWING, key(user, target), since)])
        })?;
        self.friends_of_follows()?;
        self.friends()
    }

    /// Each mutual follow has a friends row since the later of the two.
    fn friends_of_follows(&mut self) -> Result<()> {
        self.each_batch(FOLLOWING, |audit, rows| {
            let edges: Vec<_> = rows.iter().filter_map(|row| Some((row, edge(row)?))).collect();
            let back = audit.since(FOLLOWING, edges.iter().map(|(_, ((user, target), _))| key(*target, *user)))?;
            let mut wanted = Vec::new();
            for ((row, ((user, target), since)), back) in edges.into_iter().zip(back) {
                if let Some(back) = back {
                    wanted.push((row, Wanted::any(FRIENDS_BY_TIME, keys::row(user, since.max(back), target))));
                }
            }
            audit.look_up(FOLLOWING, Way::Out, &wanted)
        })
    }

    /// Each friends row has both follows, with the right time.
    fn friends(&mut self) -> Result<()> {
        self.each_batch(FRIENDS_BY_TIME, |audit, rows| {
            let places: Vec<_> = rows.iter().map(|row| keys::split_row(&row.key)).collect();
            let both = places.iter().flatten().flat_map(|(user, _, other)| [key(*user, *other), key(*other, *user)]);
            let found = audit.since(FOLLOWING, both)?;
            let mut found = found.chunks_exact(2);
            for (row, place) in rows.iter().zip(places) {
                match place {
                    None => audit.unreadable(FRIENDS_BY_TIME, row),
                    Some((_, since, _)) => {
                        let later = found.next().and_then(|both| Some(both[0]?.max(both[1]?)));
                        if later != Some(since) {
                            audit.has(FRIENDS_BY_TIME, &row.key, ", which does not agree with following");
                        }
                    }
                }
            }
            Ok(())
        })
    }

    /// The times of some pairs of a table, of those that exist.
    pub(super) fn since(&self, of: Table, pairs: impl Iterator<Item = Vec<u8>>) -> Result<Vec<Option<Millis>>> {
        let rows = self.store.get_many(of, pairs, Tier::Disk)?;
        Ok(rows.into_iter().map(|row| row.and_then(|row| values::read_millis(&row).ok())).collect())
    }
}

/// The key of a pair of ids of any kind.
pub(super) fn key(first: u64, second: u64) -> Vec<u8> {
    [keys::id(first), keys::id(second)].concat()
}

/// A row of two ids, and a time that a rule may follow.
pub(super) fn edge(row: &Row) -> Option<((u64, u64), Millis)> {
    Some((pair(&row.key)?, values::read_membership(&row.value).ok()?.since))
}
