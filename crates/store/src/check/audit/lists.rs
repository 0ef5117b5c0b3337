//! Tables of pairs, their lists by time and their mirror images; and blocks, which end follows.

use super::follows::{edge, key};
use super::names::pair;
use super::{Audit, Wanted, Way};
use crate::rows::keys;
use crate::rows::tables::{ALL, BLOCKS};
use model::error::Result;

impl Audit<'_> {
    /// Each pair is in the list, and each row of the list has its pair.
    pub(super) fn lists_of_pairs(&mut self) -> Result<()> {
        for (by_time, pairs) in ALL.iter().filter_map(|table| Some((*table, table.lists?))) {
            self.mirror(pairs, Way::Out, |row| {
                let ((user, target), since) = edge(row)?;
                Some(vec![Wanted::any(by_time, keys::row(user, since, target))])
            })?;
            self.mirror(by_time, Way::Back, |row| {
                let (user, since, target) = keys::split_row(&row.key)?;
                Some(vec![Wanted::since(pairs, key(user, target), since)])
            })?;
        }
        Ok(())
    }

    /// Each pair is in the mirror image, and each row of the image has its pair.
    pub(super) fn mirrors_of_pairs(&mut self) -> Result<()> {
        for (image, pairs) in ALL.iter().filter_map(|table| Some((*table, table.mirrors?))) {
            self.mirror(pairs, Way::Out, |row| {
                // Reported with the list if it cannot be read.
                Some(edge(row).map(|((user, target), _)| Wanted::any(image, key(target, user))).into_iter().collect())
            })?;
            self.mirror(image, Way::Back, |row| {
                let (target, user) = pair(&row.key)?;
                Some(vec![Wanted::any(pairs, key(user, target))])
            })?;
        }
        Ok(())
    }

    /// No block stands between users of whom one follows the other.
    pub(super) fn blocks(&mut self) -> Result<()> {
        self.each_batch(BLOCKS, |audit, rows| {
            let pairs: Vec<_> = rows.iter().filter_map(|row| Some((row, pair(&row.key)?))).collect();
            let both = pairs.iter().flat_map(|(_, (user, target))| [key(*user, *target), key(*target, *user)]);
            let follows = audit.since(both)?;
            for ((row, _), follows) in pairs.iter().zip(follows.chunks_exact(2)) {
                if follows.iter().any(Option::is_some) {
                    audit.has(BLOCKS, &row.key, ", which does not agree with following");
                }
            }
            Ok(())
        })
    }
}
